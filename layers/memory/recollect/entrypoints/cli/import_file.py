"""`recollect import`: a file of turns, a chat export, or an export of ours. Safe to run twice, and to kill.

Drafts go in by batches, through the same use case as `POST /v1/events`. A journal remembers the ids that a batch was
given, so that a batch cut short gets the same ones when it is sent again. Exactly once needs none of this: the store
knows a turn by its source id. But turns of one instant stand in the order of their ids, and an engine may have stored
the later half of a batch before the process was killed.
"""

import hashlib
import json
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Annotated, TypeVar

import typer
from rich.progress import Progress

from recollect.app import App
from recollect.archive.record_line import is_line
from recollect.archive.transfer import ImportOrder, LineOutcome
from recollect.contradictions.decisions import ConflictStatus, OpenConflict
from recollect.core.errors import InvalidInput, Throttled, Unavailable
from recollect.core.ids import IdSeed, id_milliseconds
from recollect.core.scope import Scope
from recollect.core.time import parse_instant, utc_now
from recollect.entrypoints.cli.commands import opened, options_of
from recollect.entrypoints.cli.console import (
    INDEXED_BY,
    counting_progress,
    ensure_model,
    number_of,
    say,
    settings_of_environment,
    share_progress,
    warn_of_other_vectors,
    write_line,
)
from recollect.entrypoints.cli.decisions import numbered_conflicts, numbered_decisions
from recollect.entrypoints.http.models import embedding_dimension
from recollect.entrypoints.http.routes.snapshots import GivenPage, take_line
from recollect.entrypoints.worker import Drained, count_pending, drain
from recollect.importing.contents import by_conversation
from recollect.importing.reading import ExportFile, read_entries
from recollect.importing.turns import (
    TIME_FIELDS,
    WITHOUT_DATE,
    BadEntry,
    Dating,
    Draftable,
    ExportFormat,
    LeftOut,
    Place,
    PlacedDraft,
    drafts_of,
)
from recollect.memories.audit import Actor, ActorKind
from recollect.settings import Settings
from recollect.timeline.ingest import IngestAnswer, IngestStatus
from recollect.timeline.timeline import TAIL_EVENTS

_T = TypeVar("_T")
_AT_ONCE = 500
_NAMED = 5
_LONGEST_FIRST_LINE = 8 * 1024 * 1024
_KEPT_FOR = timedelta(hours=24)
BATCH_TURNS = 100
_FAULTS_TOLD = 10
_PAUSES_SECONDS = (0.2, 0.5, 1.0, 2.0, 4.0, 8.0)


@dataclass(slots=True)
class SeedJournal:
    """A file with the batches that were begun and not finished, and their seeds.

    It has the batch under way, and one for each time that the import was killed. The import goes on without a file that
    cannot be read or written.
    """

    path: Path
    _begun: dict[str, str] | None = None

    def begin(self, batch: str, now: datetime, fresh: Callable[[], IdSeed]) -> IdSeed:
        """The seed that this batch had when it was cut short within a day, or a new one."""
        begun = self._read() if self._begun is None else self._begun
        seed = _recent(begun.get(batch), now) or fresh()
        self._begun = {**begun, batch: seed.encode()}
        self._write(self._begun)
        return seed

    def finish(self, batch: str) -> None:
        """The batch is stored; its seed leaves the file with the next write."""
        (self._begun or {}).pop(batch, None)

    def close(self) -> None:
        """Everything is stored: nothing is under way."""
        with suppress(OSError):
            self.path.unlink(missing_ok=True)

    def _read(self) -> dict[str, str]:
        try:
            known = json.loads(self.path.read_bytes())
        except (OSError, ValueError):
            return {}
        return {str(batch): str(seed) for batch, seed in known.items()} if isinstance(known, dict) else {}

    def _write(self, begun: dict[str, str]) -> None:
        with suppress(OSError):
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            scratch = self.path.with_suffix(".new")
            scratch.write_text(json.dumps(begun), encoding="utf-8")
            scratch.replace(self.path)


def _recent(encoded: str | None, now: datetime) -> IdSeed | None:
    if encoded is None:
        return None
    try:
        seed = IdSeed.decode(encoded)
        age = timedelta(milliseconds=now.timestamp() * 1000 - id_milliseconds(seed.nth(0)))
    except (ValueError, OverflowError):
        return None
    return seed if age < _KEPT_FOR else None


def journal_for(home: Path, scope: Scope, file: Path) -> SeedJournal:
    """The journal of the import of one file into one scope."""
    whose = (scope.tenant, scope.user_id, scope.persona_id, scope.household_id, str(file.resolve()))
    name = hashlib.sha256(json.dumps(whose).encode("utf-8", "surrogatepass")).hexdigest()[:32]
    return SeedJournal(home / "imports" / f"{name}.json")


@dataclass(slots=True)
class ImportReport:
    """What became of the entries of a file; the first ten faults, with their places."""

    statuses: Counter[IngestStatus] = field(default_factory=Counter)
    left_out: int = 0
    faults: list[str] = field(default_factory=list)

    @property
    def stored_or_known(self) -> int:
        """How many turns of the file are in memory now."""
        return self.statuses[IngestStatus.CREATED] + self.statuses[IngestStatus.DUPLICATE]

    def fault(self, entry: BadEntry) -> None:
        """Counts an entry that cannot be stored."""
        self.statuses[IngestStatus.INVALID] += 1
        if len(self.faults) < _FAULTS_TOLD:
            self.faults.append(f"{entry.place.label}: {entry.reason}")


@dataclass(slots=True)
class Ingestion:
    """One import: its scope, its journal, the clock of what is recorded."""

    app: App
    scope: Scope
    journal: SeedJournal | None = None
    clock: Callable[[], datetime] = utc_now
    sleep: Callable[[float], object] = time.sleep
    batch_turns: int = BATCH_TURNS
    report: ImportReport = field(default_factory=ImportReport)

    def run(self, entries: Iterable[Draftable], progress: Callable[[Place, int], None]) -> ImportReport:
        """Stores all of them, at most 100 in a call; calls `progress` after each batch.

        Raises Unavailable where the engines do not answer in 16 s: what is stored is stored, and the same import
        run again goes on from there.
        """
        for batch in _batches(self._sorted_out(entries), self.batch_turns):
            for conversation_id, drafts in by_conversation(batch).items():
                self._store(conversation_id, drafts)
            progress(batch[-1].place, self.report.stored_or_known)
        if self.journal:
            self.journal.close()
        return self.report

    def _sorted_out(self, entries: Iterable[Draftable]) -> Iterator[PlacedDraft]:
        for entry in entries:
            if isinstance(entry, PlacedDraft):
                yield entry
            elif isinstance(entry, BadEntry):
                self.report.fault(entry)
            elif isinstance(entry, LeftOut):
                self.report.left_out += 1

    def _store(self, conversation_id: str, drafts: Sequence[PlacedDraft]) -> None:
        now = self.clock()
        name = _name_of(conversation_id, drafts)
        seed = self.journal.begin(name, now, lambda: self._fresh(drafts)) if self.journal else self._fresh(drafts)
        answer = self._patiently(lambda: self._ingest(conversation_id, drafts, seed, now))
        self.report.statuses.update(result.status for result in answer.results)
        if self.journal:
            self.journal.finish(name)

    def _ingest(self, conversation_id: str, drafts: Sequence[PlacedDraft], seed: IdSeed, now: datetime) -> IngestAnswer:
        rules = self.app.rules.resolved(self.scope.tenant)
        return self.app.timeline.events.ingest(
            self.scope, conversation_id, [one.draft for one in drafts], seed, now, rules
        )

    def _patiently(self, call: Callable[[], IngestAnswer]) -> IngestAnswer:
        """Tries again while the engines do not answer: with the same ids, so that nothing is stored twice."""
        for pause in _PAUSES_SECONDS:
            try:
                return call()
            except Unavailable as error:
                wished = error.retry_after_seconds if isinstance(error, Throttled) else None
                self.sleep(wished or pause)
        return call()

    def _fresh(self, drafts: Sequence[PlacedDraft]) -> IdSeed:
        return self.app.ids.seed(int(time.time() * 1000), len(drafts) + 1)


def _batches(items: Iterator[_T], size: int) -> Iterator[list[_T]]:
    while batch := list(islice(items, size)):
        yield batch


def _name_of(conversation_id: str, drafts: Sequence[PlacedDraft]) -> str:
    said = [[str(one.draft.timestamp), str(one.draft.metadata.get("source_id"))] for one in drafts]
    return hashlib.sha256(json.dumps([conversation_id, said]).encode()).hexdigest()


def import_file(
    file: Annotated[Path, typer.Argument(help="Turns, or an export.")],
    scope: Scope,
    format_: Annotated[
        ExportFormat, typer.Option("--format", help="What the file is; auto looks.")
    ] = ExportFormat.AUTO,
    at: Annotated[str | None, typer.Option(help="The time for turns that have none, such as 2024-05-01T09:00.")] = None,
    conversation: Annotated[str | None, typer.Option(help="The conversation of turns that name none.")] = None,
) -> None:
    """Imports FILE: turns as JSON Lines or CSV, ChatGPT's, Claude's or WhatsApp's export (its zip too), mem0's
    memories, a list of messages, or what `recollect export` wrote, which stays as it was.

    Run it again at any time: what is stored already is a duplicate, and an import that was killed goes on.
    """
    export = ExportFile(path=_existing(file), format=format_, conversation_id=conversation)
    dating = _dating(at)
    settings = settings_of_environment()
    waits = settings.projector == "on"
    if waits:
        ensure_model(settings)
    began = utc_now()
    with opened(settings) as app:
        if is_export(file):
            faults = import_export(app, scope.user, file)[LineOutcome.INVALID]
        else:
            report = _import_turns(app, scope, export, dating)
            _tell(report, 0 if at else dating.undated)
            faults = len(report.faults)
        projected = _project(app) if waits else _leave(app)
        warn_of_other_vectors(app, scope.tenant)
        if waits:
            _tell_decided(app, scope, began)
    if faults or not projected:
        raise typer.Exit(1)


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


def _import_turns(app: App, scope: Scope, export: ExportFile, dating: Dating) -> ImportReport:
    size = export.path.stat().st_size
    with share_progress() as bar:
        task = bar.add_task("importing", total=size, turns=number_of(0, "turns"))

        def progress(place: Place, turns: int) -> None:
            bar.update(task, completed=place.offset_bytes, turns=number_of(turns, "turns"))

        journal = journal_for(app.settings.home, scope, export.path)
        report = Ingestion(app, scope, journal).run(drafts_of(dating(read_entries(export))), progress)
        bar.update(task, completed=size, turns=number_of(report.stored_or_known, "turns"))
    return report


def _tell(report: ImportReport, undated: int) -> None:
    write_line(", ".join(f"{report.statuses[status]} {status.value}" for status in IngestStatus))
    if report.left_out:
        say(f"{number_of(report.left_out, 'entries')} left out: system lines, tools, messages without words")
    for fault in report.faults:
        say(f"invalid: {fault}")
    if report.statuses[IngestStatus.INVALID] > len(report.faults):
        say(f"invalid: {report.statuses[IngestStatus.INVALID] - len(report.faults)} more")
    if undated:
        say(f"{number_of(undated, 'turns')} without a time: dated {WITHOUT_DATE:%Y-%m-%d}, before everything else")
        say("where that is wrong, import them into a fresh user with --at TIME")
        say(f"of a file that names its fields a time is read from {', '.join(TIME_FIELDS)}")


def index_all(app: App, bar: Progress, clock: Callable[[], datetime] = utc_now) -> Drained:
    """Projects whatever waits, beside a bar; its total grows with what is marked again meanwhile."""
    waiting, done = count_pending(app), 0
    task = bar.add_task("indexing", total=waiting)

    def progress(count: int) -> None:
        nonlocal done
        done += count
        bar.update(task, completed=done, total=max(waiting, done))

    return drain(app, progress, clock)


def say_what_failed(drained: Drained) -> None:
    """A line for each kind of error that left events without an index entry."""
    for kind in drained.failures | drained.noted:
        say(f"not everything could be indexed: {kind}")


def _project(app: App) -> bool:
    """Waits until every imported event has its vector; False where some failed."""
    with counting_progress() as bar:
        drained = index_all(app, bar)
    if drained.failures:
        kinds = ", ".join(f"{kind} ({count})" for kind, count in drained.failures.items())
        say(f"error: not everything could be indexed: {kinds}; see `recollect doctor`, then import again")
    if drained.noted:
        say(f"error: some events could not be indexed: {drained.refusals}; see `recollect jobs failed`")
    return not drained.failures and not drained.noted


def _tell_decided(app: App, scope: Scope, began: datetime) -> None:
    """What the judge made of the import, where there is one."""
    if app.parts.pair_model is None:
        return
    decided = sum(one.one.at >= began for one in numbered_decisions(app, scope))
    doubts = sum(one.at >= began for one in _open(app, scope))
    own = options_of(scope)
    lists = f": `recollect decisions list {own}`, `recollect conflicts list {own} --status open`"
    led_to = f"the import led to {number_of(decided, 'decisions')} and {number_of(doubts, 'open doubts')} so far"
    say(led_to + (lists if decided or doubts else ""))


def _open(app: App, scope: Scope) -> Iterator[OpenConflict]:
    return (one.one for one in numbered_conflicts(app, scope) if one.one.status is ConflictStatus.OPEN)


def _is_judged(settings: Settings) -> bool:
    """Whether a judge is configured: what projects elsewhere may have its model alone."""
    return settings.judge != "none" and (settings.judge != "auto" or settings.embedder == "e5")


def _leave(app: App) -> bool:
    """Says how many events wait; True, since that is no failure."""
    later = "; decisions and doubts come with it" if _is_judged(app.settings) else ""
    waiting = f"{count_pending(app):,} events wait for their vector (RECOLLECT_PROJECTOR=off)"
    if app.settings.engines == "aws":
        say(f"{waiting}: search finds the newest {TAIL_EVENTS} of a user{later}")
    else:
        say(f"{waiting}; words find them already: {INDEXED_BY}{later}")
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
        for batch in _batches(enumerate(_lines(file), start=1), _AT_ONCE):
            page = GivenPage()
            for number, text in batch:
                take_line(page, number, text, dimension)
            counts.update(app.archive.imports.import_lines(scope, page.lines, order).counts)
            counts.update(app.archive.item_imports.import_lines(scope, page.items, order.now))
            counts.update(app.archive.log_imports.import_lines(scope, page.logged, order.now))
            counts[LineOutcome.INVALID] += len(page.faults)
            for fault in page.faults[: max(0, _NAMED - named)]:
                say(f"invalid: line {fault['line']}: {fault['message']}")
            named += len(page.faults)
            bar.advance(task, len(batch))
    write_line(", ".join(f"{counts[outcome]} {outcome.value}" for outcome in LineOutcome))
    return counts


def _lines(file: Path) -> Iterator[str]:
    with file.open(encoding="utf-8", errors="surrogateescape", newline="\n") as stream:
        yield from stream
