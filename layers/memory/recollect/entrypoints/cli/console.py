"""Where output goes, what several commands say or ask, and the embedding model that they need."""

import json
import os
import re
import sys
import tempfile
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol, TypeVar

import typer
from rich import progress
from rich.console import Console
from rich.text import Text

from recollect.app import App
from recollect.bootstrap.providers import model_folder
from recollect.core.errors import INSTALL, InvalidInput, RecollectError, require_package
from recollect.entrypoints.cli.commands import opened
from recollect.settings import Settings
from recollect.timeline.timeline import TAIL_EVENTS

_One = TypeVar("_One")
_Done = TypeVar("_Done")
_WIDTH_OF_FILES = 140
_SECONDS_TO_FINISH = 3.0
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
    write_raw(json.dumps(value, ensure_ascii=False, indent=indent) + "\n")


def write_each(
    noun: str, items: Iterable[_One], as_json: bool, shape: Callable[[_One], Any], show: Callable[[_One], None]
) -> None:
    """Each item as soon as it is read, its shape as a line of JSON or as `show` writes it; then their number."""
    count = 0
    for item in items:
        count += 1
        if as_json:
            write_json(shape(item), indent=None)
        else:
            show(item)
    say(number_of(count, noun))


def write_list(
    name: str,
    items: Sequence[_One],
    as_json: bool,
    shape: Callable[[_One], Any],
    line: Callable[[_One], str],
    *,
    numbered: bool = True,
) -> None:
    """The items in one JSON document under that name; or a line each, and `numbered` their number after them."""
    if as_json:
        write_json({name: [shape(item) for item in items]})
        return
    for item in items:
        write_line(line(item))
    if numbered:
        say(number_of(len(items), name))


def number_of(count: int, nouns: str) -> str:
    """How many, such as "2 memories"; the singular for one: "1 memory"."""
    if count != 1:
        return f"{count} {nouns}"
    return f"1 {nouns[:-3]}y" if nouns.endswith("ies") else f"1 {nouns.removesuffix('s')}"


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


def counting_progress() -> progress.Progress:
    """A bar over counted things."""
    return progress_bar(progress.MofNCompleteColumn(), progress.TimeRemainingColumn())


def share_progress() -> progress.Progress:
    """A bar over a share, such as of a file's bytes; `turns`, such as "2 turns", is a field of its task."""
    turns = progress.TextColumn("{task.fields[turns]}")
    return progress_bar(progress.TaskProgressColumn(), turns, progress.TimeRemainingColumn())


def progress_bar(*columns: progress.ProgressColumn) -> progress.Progress:
    """A bar on standard error after its description, these columns after it."""
    description = progress.TextColumn("{task.description}")
    return progress.Progress(description, progress.BarColumn(), *columns, console=message_console())


WORDS_ALONE = "search is by words alone"
MADE_ANEW = "`recollect jobs run reindex` makes it anew, and `recollect serve` does so by itself"
INDEXED_BY = "`recollect jobs run reconcile` makes what is missing, and `recollect serve` does so by itself"
OTHER_VECTORS = f"the index is another embedding model's, so {WORDS_ALONE}: {MADE_ANEW}"


@contextmanager
def passing_app(prefix: str) -> Iterator[App]:
    """An app over the local engines, in a folder that is gone afterwards."""
    settings = local_settings()
    with tempfile.TemporaryDirectory(prefix=prefix) as folder, opened(replace(settings, home=Path(folder))) as app:
        yield app


@contextmanager
def projecting(app: App) -> Iterator[Callable[[], None]]:
    """Projects in the background meanwhile, where the settings want it.

    What it gives waits until what was stored is projected, at most for some seconds; the end does so too. On the AWS
    engines the table's stream goes on without this process.
    """
    from recollect.entrypoints.worker import LOCAL_POLICY, AwaitedProjector, background_projector

    if app.settings.projector != "on":
        yield lambda: None
    elif app.settings.engines == "aws":
        with background_projector(app):
            yield lambda: None
    else:
        with AwaitedProjector(app, LOCAL_POLICY) as projector:
            yield lambda: projector.finish(_SECONDS_TO_FINISH)
            projector.finish(_SECONDS_TO_FINISH)


def counted(counts: Mapping[str, int]) -> str:
    """The counts by name, such as `2 events, 1 key`; empty without any."""
    return ", ".join(number_of(count, name) for name, count in sorted(counts.items()))


def sure(yes: bool, question: str) -> None:
    """Asks unless that was answered on the command line. Raises typer.Abort for any answer but yes."""
    if not yes:
        typer.confirm(question, abort=True, err=True)


def required_text(text: str, what: str) -> str:
    """The text. Raises InvalidInput where it is blank."""
    if not text.strip():
        raise InvalidInput(f"{what} is empty")
    return text


class _Page(Protocol):
    @property
    def more(self) -> Any: ...


_P = TypeVar("_P", bound=_Page)


def pages(read: Callable[[Any], _P]) -> Iterator[_P]:
    """Every page of a list; `read` gets None for the first one, then the `more` of the page before."""
    page = read(None)
    yield page
    while page.more is not None:
        page = read(page.more)
        yield page


def json_of(text: str, fault: str = "is no JSON", loc: tuple[str, ...] = ()) -> Any:
    """What the text says as JSON. Raises InvalidInput with this fault."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise InvalidInput(fault, loc) from None


def naming_the_part(work: Callable[[], _Done]) -> _Done:
    """The result; an error says which part of the command it is about."""
    try:
        return work()
    except InvalidInput as error:
        where = ".".join(str(step) for step in error.loc)
        raise InvalidInput(f"{where}: {error}" if where else str(error), error.loc) from None


def settings_of_environment() -> Settings:
    """The settings. Raises ConfigurationError."""
    return Settings.from_environment(os.environ)


def ensure_model(settings: Settings, tell: Callable[[str], None] = say) -> bool:
    """Builds the in-process model where it is set and missing; whether there is one now.

    Where it cannot be built, `tell` gets the reason and the command goes on by words alone.
    """
    if settings.embedder != "e5":
        return settings.embedder != "none"
    try:
        build_model(settings, tell)
    except RecollectError as error:
        if _embeds(settings):
            tell(f"no judge, so keys alone settle contradictions: {error}")
            return True
        tell(f"no embedding model, so {WORDS_ALONE}: {error}")
        return False
    return True


def _embeds(settings: Settings) -> bool:
    """Whether the embedding model is there, as in a folder that was built before there was a judge."""
    from recollect.adapters.embedders.model_folder import read_manifest

    try:
        read_manifest(model_folder(settings))
    except RecollectError:
        return False
    return True


def build_model(settings: Settings, tell: Callable[[str], None] = say) -> str | None:
    """Builds the model that is set, and the judge beside it, unless both are there; the folder if it was built.

    Raises NotReady, UpstreamFailed.

    A terminal shows a spinner meanwhile; elsewhere `tell` gets one line.
    """
    require_package("onnxruntime", "the embedding model")
    from recollect.adapters.embedders.building.build import DOWNLOAD_MEGABYTES, require_current
    from recollect.adapters.embedders.building.build import build_model as build
    from recollect.adapters.embedders.model_folder import read_manifest

    folder = model_folder(settings)
    try:
        read_manifest(folder)
        require_current(folder)
    except RecollectError:
        fetching = f"Fetching and building the embedding model ({DOWNLOAD_MEGABYTES} MB, once) …"
        console = message_console()
        if not console.is_terminal:
            tell(fetching)
        with console.status(fetching):
            build(folder)
        return str(folder)
    return None


def how_to_build_the_model() -> str:
    """What a person is to do; where a package is missing, first what installs it, since `recollect init` fails then."""
    from recollect.adapters.embedders.building import PACKAGES

    absent = " and ".join(name for name in PACKAGES if find_spec(name) is None)
    return f"install {absent} first ({INSTALL}), then run `recollect init`" if absent else "run `recollect init`"


def without_model(settings: Settings) -> Settings:
    """The same settings, by words alone."""
    return replace(settings, embedder="none")


def local_settings() -> Settings:
    """The user's settings over the local engines; by words alone where there is no model."""
    given = settings_of_environment()
    settings = replace(given, engines="local", projector="on")
    return settings if ensure_model(given) else without_model(settings)


def warn_of_missing(missing: Sequence[str], *, by_words: bool = False) -> None:
    """One line on standard error; none where all answered. `by_words`: no vector was compared."""
    if "vectors" in missing:
        say(OTHER_VECTORS)
    elif by_words or "embedder" in missing:
        say(f"no embedding model, so {WORDS_ALONE}: {how_to_build_the_model()}; `recollect doctor` says more")
    elif missing:
        say(f"did not answer: {', '.join(missing)}; `recollect doctor` says more")


def warn_of_pending(pending: int, *, cut: bool) -> None:
    """One line where more wait to be projected than a search makes vectors for itself (`SearchDiagnostics`)."""
    if not cut:
        return
    if pending > TAIL_EVENTS:  # this store counts them all, and shows their words since they were stored
        say(f"{pending:,} events still wait for their vector; words find them already: {INDEXED_BY}")
    else:
        say(f"more than {TAIL_EVENTS} events wait to be indexed; of those, search sees the newest {TAIL_EVENTS}")


def warn_of_other_vectors(app: App, tenant: str) -> None:
    """Where the embedder that is set is not the one that the tenant's index was made with."""
    if app.parts.embedder is not None and not app.search_index.in_use.holds_vectors(tenant):
        say(OTHER_VECTORS)
