"""How `recollect memories` shows a memory on a line, and the steps of its history, with the words that it lost."""

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from rich.text import Text

from recollect.contradictions.told import Ending, endings_of
from recollect.entrypoints.cli.console import one_line, printable, write_line
from recollect.entrypoints.cli.decisions import when_ended
from recollect.memories.memory import Memory, MemoryStatus, text_at
from recollect.memories.reading import MemoryVersion

_SHOWN = 400
_COMPARED = ("status", "importance", "keywords", "key", "valid_to", "superseded_by", "expires_at", "metadata")


@dataclass(frozen=True, slots=True)
class Listed:
    """A memory, and what of it has ended."""

    memory: Memory
    endings: tuple[Ending, ...]


def line_of(one: Listed, now: datetime) -> Text:
    """Id, time, key and words; of a current memory until when it holds, and what it has lost, or is to lose."""
    memory = one.memory
    line = Text(f"{memory.id}  {memory.timestamp:%Y-%m-%d %H:%M}  ", style="dim")
    if memory.status is not MemoryStatus.ACTIVE:
        line.append(f"{memory.status.value}  ")
    elif memory.valid_to is not None:  # by its own words
        line.append(f"until {memory.valid_to:%Y-%m-%d %H:%M}  ")
    if memory.key is not None:
        line.append(one_line(f"{memory.key}: ", 70) + " ", style="bold")
    line.append(one_line(memory.content, _SHOWN), style="not dim")
    for ending in one.endings if memory.status is MemoryStatus.ACTIVE else ():
        if ending.until is None or now < ending.until:
            line.append(f"  ({when_ended(ending)}: {printable(ending.words)})")
    return line


@dataclass(frozen=True, slots=True)
class Version:
    """A version of a memory: the words that held when it was made, and what had ended by then or was to end."""

    made: MemoryVersion
    words: str
    endings: tuple[Ending, ...]


def as_it_was(version: MemoryVersion, now: datetime) -> Version:
    """An earlier version as its history keeps it: with all words, also those that had ended."""
    memory, made_at = version.memory, version.change.at if version.change is not None else now
    return Version(version, text_at(memory, made_at) or memory.content, endings_of(memory))


def write_step(step: tuple[Version | None, Version]) -> None:
    """A version and what differs from the one before; of the first its words."""
    before, after = step
    write_line(_head_of_version(after.made))
    said = [f"said: {one_line(after.words, _SHOWN)}"]
    for line in said if before is None else _changes(before, after):
        write_line(f"    {line}")


def _head_of_version(version: MemoryVersion) -> Text:
    change, number = version.change, version.memory.version
    head = Text(f"version {number}  " + (f"{change.at:%Y-%m-%d %H:%M}  " if change else ""), style="dim")
    if change is not None:
        head.append(f"{change.action.value} by {change.actor.kind.value} {one_line(change.actor.id, 40)}", "not dim")
        reasons = [one_line(one, _SHOWN) for one in (change.rule, change.reason) if one]
        head.append(f": {', '.join(reasons)}" if reasons else "", "not dim")
    return head


def _changes(before: Version, after: Version) -> list[str]:
    """What differs, each as it was and as it became."""
    words = [("was", before.words), ("now", after.words)] if before.words != after.words else []
    lines = [f"{when}: {one_line(content, _SHOWN)}" for when, content in words]
    lines += [f"{when_ended(one)}: {one.words}" for one in after.endings if one not in before.endings]
    was, now = before.made.memory, after.made.memory
    again = [one for one in before.endings if one not in after.endings] if was.content == now.content else []
    lines += [f"holds again: {one.words}" for one in again]
    pairs = ((name, _shown(getattr(was, name)), _shown(getattr(now, name))) for name in _COMPARED)
    changed = [f"{name.replace('_', ' ')}: {one} -> {other}" for name, one, other in pairs if one != other]
    return (lines or ["the words stayed"]) + changed


def _shown(value: Any) -> str:
    """One value on a line: a time as `list` has it, `none` where there is none."""
    if value in (None, (), {}):
        return "none"
    if isinstance(value, datetime):
        return f"{value:%Y-%m-%d %H:%M}"
    if isinstance(value, tuple):
        return one_line(", ".join(value), _SHOWN)
    return one_line(f"{value:.2f}" if isinstance(value, float) else _text_of(value), _SHOWN)


def _text_of(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(dict(value), ensure_ascii=False)
