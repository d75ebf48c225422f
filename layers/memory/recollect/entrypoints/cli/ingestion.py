"""Puts drafts into memory in batches, through the same use case as `POST /v1/events`; counts what became of them.

A journal remembers the ids that a batch was given, so that a batch cut short gets the same ones when it is sent again.
Exactly once needs none of this: the store knows a turn by its source id. But turns of one instant stand in the order
of their ids, and an engine may have stored the later half of a batch before the process was killed.
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

from recollect.app import App
from recollect.core.errors import Throttled, Unavailable
from recollect.core.ids import IdSeed, id_milliseconds
from recollect.core.scope import Scope
from recollect.core.time import utc_now
from recollect.importing.turns import BadEntry, Draftable, LeftOut, Place, PlacedDraft
from recollect.timeline.ingest import IngestAnswer, IngestStatus

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
            for conversation_id, drafts in _by_conversation(batch).items():
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


def _batches(drafts: Iterator[PlacedDraft], turns: int) -> Iterator[list[PlacedDraft]]:
    while batch := list(islice(drafts, turns)):
        yield batch


def _by_conversation(batch: Sequence[PlacedDraft]) -> dict[str, list[PlacedDraft]]:
    """One call takes one conversation; within it the order of the file stays."""
    grouped: dict[str, list[PlacedDraft]] = {}
    for one in batch:
        grouped.setdefault(one.conversation_id, []).append(one)
    return grouped


def _name_of(conversation_id: str, drafts: Sequence[PlacedDraft]) -> str:
    said = [[str(one.draft.timestamp), str(one.draft.metadata.get("source_id"))] for one in drafts]
    return hashlib.sha256(json.dumps([conversation_id, said]).encode()).hexdigest()
