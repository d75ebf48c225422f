"""Where output goes: data to standard output, messages and progress to standard error."""

import json
import re
import sys
import unicodedata
from functools import cache
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn
from rich.text import Text

_WIDTH_OF_FILES = 140
_KEPT = "\n\t"
_CONTROLS = re.compile("[\x7f-\x9f]")  # JSON itself escapes those below a space


@cache
def data_console() -> Console:
    """Standard output; wide where it is no terminal, so that nothing is folded away."""
    console = Console(highlight=False, markup=False, emoji=False)
    if not console.is_terminal:
        console.width = _WIDTH_OF_FILES
    return console


@cache
def message_console() -> Console:
    """Standard error."""
    return Console(stderr=True, highlight=False, markup=False, emoji=False)


def say(message: str) -> None:
    """One message to the person."""
    message_console().print(Text(printable(message)), soft_wrap=True)


def write_line(line: str | Text = "") -> None:
    """One line of data, as long as it is."""
    data_console().print(Text(printable(line)) if isinstance(line, str) else line, soft_wrap=True)


def write_json(value: Any, *, indent: int | None = 2) -> None:
    """A document on standard output; `indent` None for one line of JSON Lines."""
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    sys.stdout.write(_CONTROLS.sub(lambda match: f"\\u{ord(match[0]):04x}", text) + "\n")


def write_raw(text: str) -> None:
    """JSON Lines that are ready, on standard output; what commands a terminal is escaped, as JSON may."""
    sys.stdout.write(_CONTROLS.sub(lambda match: f"\\u{ord(match[0]):04x}", text))


def printable(text: str) -> str:
    """The text without control characters: another user may have written it, and they command a terminal."""
    return "".join(c if c in _KEPT or unicodedata.category(c) != "Cc" else "\ufffd" for c in text)


def one_line(text: str, length: int) -> str:
    """The text on one line, cut to so many characters."""
    line = " ".join(printable(text).split())
    return line if len(line) <= length else f"{line[: length - 1]}…"


def counting_progress() -> Progress:
    """A bar over counted things."""
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=message_console(),
    )


def share_progress() -> Progress:
    """A bar over a share, such as of a file's bytes; `turns` is a field of its task."""
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[turns]} turns"),
        TimeRemainingColumn(),
        console=message_console(),
    )
