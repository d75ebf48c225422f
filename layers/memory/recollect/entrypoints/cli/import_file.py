"""`recollect import`: a file of turns, a chat export, or an export of ours. Safe to run twice, and to kill."""

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Annotated

import typer

from recollect.app import App
from recollect.archive.record_line import is_line
from recollect.archive.transfer import ImportOrder, LineOutcome
from recollect.core.errors import InvalidInput
from recollect.core.scope import Scope
from recollect.core.time import parse_instant, utc_now
from recollect.entrypoints.cli.console import counting_progress, say, share_progress, write_line
from recollect.entrypoints.cli.ingestion import ImportReport, Ingestion, journal_for
from recollect.entrypoints.cli.opening import (
    INDEXED_BY,
    LOCAL_TENANT,
    Household,
    Persona,
    Tenant,
    User,
    ensure_model,
    opened,
    scope_of,
    settings_of_environment,
    warn_of_other_vectors,
)
from recollect.entrypoints.http.models import embedding_dimension
from recollect.entrypoints.http.routes.snapshots import GivenPage, take_line
from recollect.entrypoints.worker import count_pending, drain
from recollect.importing.reading import ExportFile, ExportFormat, read_entries
from recollect.importing.turns import WITHOUT_DATE, Dating, Place, drafts_of
from recollect.memories.audit import Actor, ActorKind
from recollect.timeline.ingest import IngestStatus
from recollect.timeline.timeline import TAIL_EVENTS

_AT_ONCE = 500
_NAMED = 5
_LONGEST_FIRST_LINE = 8 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class _Import:
    """What the command was asked for."""

    file: ExportFile
    scope: Scope
    dating: Dating


def import_file(
    file: Annotated[Path, typer.Argument(help="JSON Lines of turns, or an export.")],
    user: User,
    format_: Annotated[
        ExportFormat, typer.Option("--format", help="What the file is; auto looks.")
    ] = ExportFormat.AUTO,
    at: Annotated[
        str | None, typer.Option(help="When turns without a time were said, such as 2024-05-01T09:00.")
    ] = None,
    conversation: Annotated[str | None, typer.Option(help="The conversation of turns that name none.")] = None,
    persona: Persona = None,
    household: Household = None,
    tenant: Tenant = LOCAL_TENANT,
) -> None:
    """Imports FILE: turns as JSON Lines, ChatGPT's, Claude's or WhatsApp's export, a list of messages, or what
    `recollect export` wrote, which stays as it was.

    Run it again at any time: what is stored already is a duplicate, and an import that was killed goes on.
    """
    scope = scope_of(user, persona, household, tenant)
    wanted = _Import(ExportFile(path=_existing(file), format=format_, conversation_id=conversation), scope, _dating(at))
    settings = settings_of_environment()
    waits = settings.projector == "on"
    if waits:
        ensure_model(settings)
    with opened(settings) as app:
        faults = _import_export(app, wanted) if is_export(file) else _import_turns(app, wanted, at)
        projected = _project(app) if waits else _leave(app)
        warn_of_other_vectors(app, wanted.scope.tenant)
    if faults or not projected:
        raise typer.Exit(1)


def _import_turns(app: App, wanted: _Import, at: str | None) -> bool:
    report = _ingest(app, wanted)
    _tell(report, wanted.dating, at)
    return bool(report.faults)


def _import_export(app: App, wanted: _Import) -> bool:
    return bool(import_export(app, wanted.scope.user, wanted.file.path)[LineOutcome.INVALID])


def _existing(file: Path) -> Path:
    if not file.is_file():
        raise InvalidInput(f"there is no file {file}")
    return file


def _dating(at: str | None) -> Dating:
    try:
        moment: datetime = WITHOUT_DATE if at is None else parse_instant(at)
    except InvalidInput as error:
        raise InvalidInput(f"--at: {error}") from None
    return Dating(moment)


def _ingest(app: App, wanted: _Import) -> ImportReport:
    entries = drafts_of(wanted.dating(read_entries(wanted.file)))
    journal = journal_for(app.settings.home, wanted.scope, wanted.file.path)
    with share_progress() as bar:
        task = bar.add_task("importing", total=wanted.file.path.stat().st_size, turns=0)

        def progress(place: Place, turns: int) -> None:
            bar.update(task, completed=place.offset_bytes, turns=turns)

        report = Ingestion(app, wanted.scope, journal).run(entries, progress)
        bar.update(task, completed=wanted.file.path.stat().st_size, turns=report.stored_or_known)
    return report


def _tell(report: ImportReport, dating: Dating, at: str | None) -> None:
    counts = ", ".join(f"{report.statuses[status]} {status.value}" for status in IngestStatus)
    write_line(counts)
    if report.left_out:
        say(f"{report.left_out} entries left out: system lines, tools, messages without words")
    for fault in report.faults:
        say(f"invalid: {fault}")
    if report.statuses[IngestStatus.INVALID] > len(report.faults):
        say(f"invalid: {report.statuses[IngestStatus.INVALID] - len(report.faults)} more")
    if dating.undated and at is None:
        say(f"{dating.undated} turns say no time: they stand at {WITHOUT_DATE:%Y-%m-%d}, before everything else")
        say("where that is wrong, import them into a fresh user with --at TIME")


def _project(app: App) -> bool:
    """Waits until every imported event has its vector; False where some failed."""
    with counting_progress() as bar:
        task = bar.add_task("indexing", total=count_pending(app))
        drained = drain(app, lambda count: bar.advance(task, count))
    if drained.failures:
        kinds = ", ".join(f"{kind} ({count})" for kind, count in drained.failures.items())
        say(f"error: not everything could be indexed: {kinds}; see `recollect doctor`, then import again")
    if drained.noted:
        say(f"error: some events could not be indexed: {drained.refusals}; see `recollect jobs failed`")
    return not drained.failures and not drained.noted


def _leave(app: App) -> bool:
    waiting = f"{count_pending(app):,} events wait for their vector (RECOLLECT_PROJECTOR=off)"
    if app.settings.engines == "aws":
        say(f"{waiting}: search finds the newest {TAIL_EVENTS} of a user")
    else:
        say(f"{waiting}; words find them already: {INDEXED_BY}")
    return True


def is_export(file: Path) -> bool:
    """Whether the file's first line is one of an export of ours."""
    with file.open("rb") as stream:
        first = stream.readline(_LONGEST_FIRST_LINE)
    try:
        return is_line(json.loads(first))
    except (ValueError, RecursionError):
        return False


def import_export(app: App, scope: Scope, file: Path) -> Counter[LineOutcome]:
    """Imports the file, whose progress a bar shows; run again, what is stored is a duplicate."""
    order = ImportOrder(actor=Actor(ActorKind.USER, scope.user_id), via="import", now=utc_now())
    counts: Counter[LineOutcome] = Counter()
    dimension = embedding_dimension(app.settings)
    named = 0
    with counting_progress() as bar:
        task = bar.add_task("importing", total=sum(1 for _ in _lines(file)))
        for first, texts in _slices(_lines(file)):
            page = GivenPage()
            for place, text in enumerate(texts, start=first):
                take_line(page, place, text, dimension)
            counts.update(app.archive.imports.import_lines(scope, page.lines, order).counts)
            counts[LineOutcome.INVALID] += len(page.faults)
            for fault in page.faults[: max(0, _NAMED - named)]:
                say(f"invalid: line {fault['line']}: {fault['message']}")
            named += len(page.faults)
            bar.advance(task, len(texts))
    write_line(", ".join(f"{counts[outcome]} {outcome.value}" for outcome in LineOutcome))
    return counts


def _lines(file: Path) -> Iterator[str]:
    with file.open(encoding="utf-8", errors="surrogateescape", newline="\n") as stream:
        yield from stream


def _slices(lines: Iterator[str]) -> Iterator[tuple[int, list[str]]]:
    """Batches of lines, each with the number of its first line; empty lines count."""
    first = 1
    while texts := list(islice(lines, _AT_ONCE)):
        yield first, texts
        first += len(texts)
