"""Export and import of a user's records, as pages of NDJSON lines.

An export has private records and memories too, superseded ones as such. An import keeps ids, times and origins. Each
record is durable by itself, atomically with its memory and audit entry; a stored record is a duplicate, so a page may
be sent twice. Deleted records are refused by their identity, here and at their origin; `TombstoneRefusal` adds erased
users, `SuppressionList` rejected values. The audit names the ids of refused records, except those of an erased user.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from recollect.archive.record_line import (
    MOST_DECISIONS,
    MOST_VERSIONS,
    Given,
    RecordLine,
    identities_of,
    identity_of,
    line_text,
)
from recollect.contradictions.decisions import Decision, decision_document, decision_in, decision_key, pair_id
from recollect.core.errors import Conflict
from recollect.core.event import Event, EventRef, RecordOrigin
from recollect.core.idempotency import retry_on_conflict
from recollect.core.ids import IdSource
from recollect.core.items import ABSENT, Item, ItemKey, ItemWrite, in_parts, of_tenant, write_all
from recollect.core.scope import Scope
from recollect.deletion.storage import (
    ORIGINS,
    copy_entry,
    deleted_key,
    erased_user_key,
    origin_entry,
    origin_in,
    origin_key,
)
from recollect.deletion.suppression import SuppressionList
from recollect.memories.audit import Action, Actor, AuditEntry, audit_write
from recollect.memories.audit_log import DELETED, REJECTED, AuditRefusedWrite, RefusedWrite
from recollect.memories.memory import Memory, content_identity
from recollect.memories.storage import (
    SAME_AS,
    content_key,
    memory_document,
    memory_in,
    memory_key,
    version_key,
    versions_path,
)
from recollect.ports import Items, Projections, Timeline
from recollect.timeline.fill_slots import FillSlots
from recollect.timeline.timeline import AppendOutcome, AppendStatus, EventWrite
from recollect.usage import Counted, uncounted

PAGE_BYTES = 4_000_000
PAGE_LINES = 2_000
_EXPORTED_AT_ONCE = 250
_IMPORTED_AT_ONCE = 500
_WRITES_AT_ONCE = 24


class RecordLines:
    """Reads events with their identities, memories, origins and the earlier versions of those memories, in batches."""

    def __init__(self, timeline: Timeline, items: Items) -> None:
        self._timeline = timeline
        self._items = items

    def read(self, scope: Scope, events: Sequence[Event], now: datetime) -> list[RecordLine]:
        """One line for each event that is not expired, in order."""
        lasting = [event for event in events if not event.expired(now)]
        if not lasting:
            return []
        given = self._given(scope, lasting)
        origins = self._origins(scope, lasting)
        found = self._items.get(scope.user, [memory_key(event.id) for event in lasting])
        kept = {key.key: item for key, item in found.items()}
        return [self._line(scope, event, given[event.id], origins, kept.get(event.id)) for event in lasting]

    def _line(
        self, scope: Scope, event: Event, given: Given, origins: Mapping[str, RecordOrigin], item: Item | None
    ) -> RecordLine:
        origin = origins.get(event.id) or RecordOrigin(event.user_id, event.id)
        if item is None:
            return RecordLine(event=event, origin=origin, given=given)
        if SAME_AS in item.value:
            return RecordLine(event=event, origin=origin, given=given, same_as=str(item.value[SAME_AS]))
        memory = memory_in(item.value)
        versions = self._versions(scope, memory) if memory.version > 1 else ()
        decisions = self._decisions(scope, memory, versions)
        return RecordLine(
            event=event, origin=origin, given=given, memory=memory, versions=versions, decisions=decisions
        )

    def _given(self, scope: Scope, events: Sequence[Event]) -> dict[str, Given]:
        """Which of its possible identities each event was stored under."""
        possible = {event.id: identities_of(scope, event) for event in events}
        known = self._timeline.identified(scope, [one for named in possible.values() for one in named.values()])
        return {
            event_id: next((given for given, one in named.items() if known.get(one, "") == event_id), Given.NOTHING)
            for event_id, named in possible.items()
        }

    def _origins(self, scope: Scope, events: Sequence[Event]) -> dict[str, RecordOrigin]:
        if not self._items.page(scope.user, ORIGINS, 1, None).items:
            return {}
        found = self._items.get(scope.user, [origin_key(event.id) for event in events])
        return {key.key: origin_in(item.value) for key, item in found.items()}

    def _versions(self, scope: Scope, memory: Memory) -> tuple[Memory, ...]:
        """The newest 20, oldest first."""
        page = self._items.page(scope.user, versions_path(memory.id), MOST_VERSIONS, None, descending=True)
        return tuple(memory_in(item.value) for item in reversed(page.items))

    def _decisions(self, scope: Scope, memory: Memory, versions: Sequence[Memory]) -> tuple[Decision, ...]:
        """The decisions that ended one of these versions, or a part of it."""
        winners = {by for version in (*versions, memory) for by in _ended_by(version)} - {memory.id}
        keys = [decision_key(pair_id(by, memory.id)) for by in sorted(winners)[-MOST_DECISIONS:]]
        found = self._items.get(scope.user, keys) if keys else {}
        return tuple(decision_in(found[key].value) for key in keys if key in found)


def _ended_by(memory: Memory) -> set[str]:
    by = {lapse.by for lapse in memory.lapses}
    return by | {memory.superseded_by} if memory.superseded_by is not None else by


@dataclass(frozen=True, slots=True)
class ExportPage:
    """Lines, oldest record first, each with its line end; `more` is the cursor of the next page."""

    text: str
    lines: int
    more: EventRef | None


@dataclass(frozen=True, slots=True)
class LinesPage:
    """Lines of what a user has besides, each with its line end; `more` is the cursor of the next page."""

    text: str
    lines: int
    more: str | None


def fitting_page(read: Callable[[int], LinesPage], most: int) -> LinesPage:
    """A page of at most `most` stored things, of fewer where they are larger together than 4 MB."""
    limit = most
    while len((page := read(limit)).text.encode()) > PAGE_BYTES and limit > 1:
        limit = max(1, limit // 4)
    return page


class ExportMemories:
    """The use case behind `GET …/export`. A walk returns each record that exists from its start to its end once."""

    def __init__(self, timeline: Timeline, lines: RecordLines) -> None:
        self._timeline = timeline
        self._lines = lines

    def page(self, scope: Scope, after: EventRef | None, now: datetime) -> ExportPage:
        """At most 2,000 records and 4 MB, except for a first record that is larger by itself."""
        texts: list[str] = []
        size = 0
        while True:
            page = self._timeline.records(scope, _EXPORTED_AT_ONCE, after)
            for line in self._lines.read(scope, page.events, now):
                text = line_text(line) + "\n"
                size += len(text.encode())
                if texts and size > PAGE_BYTES:
                    return ExportPage("".join(texts), len(texts), after)
                texts.append(text)
                after = line.event.ref
            after = page.more
            if after is None or len(texts) + _EXPORTED_AT_ONCE > PAGE_LINES:
                return ExportPage("".join(texts), len(texts), after)


class LineOutcome(StrEnum):
    """The outcome of a line."""

    CREATED = "created"
    DUPLICATE = "duplicate"
    REFUSED = "refused"
    INVALID = "invalid"


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportOrder:
    """Who imports, via which route (`import`, `restore`), and when."""

    actor: Actor
    via: str
    now: datetime

    @property
    def action(self) -> Action:
        return Action.RESTORE if self.via == "restore" else Action.CREATE


@dataclass(slots=True)
class ImportReport:
    """The outcomes of the lines, and the records that are new."""

    counts: Counter[LineOutcome] = field(default_factory=Counter)
    created: list[EventRef] = field(default_factory=list)


@dataclass(slots=True)
class _Judged:
    """The outcomes known before any write; `unstored` are refused events of which nothing is stored.

    `reasons` has the ids of deleted and rejected records.
    """

    outcomes: dict[int, LineOutcome] = field(default_factory=dict)
    unstored: list[Event] = field(default_factory=list)
    reasons: dict[str, str] = field(default_factory=dict)


class TombstoneRefusal:
    """The lines that an import refuses beside those whose identity is tombstoned: their positions, in one read each."""

    def __init__(self, items: Items) -> None:
        self._items = items

    def deleted(self, scope: Scope, lines: Sequence[RecordLine]) -> AbstractSet[int]:
        """Those deleted before the table was lost: the slot of a current value then stays empty (P-22)."""
        ids = {key.key for key in self._items.get(scope.user, [deleted_key(line.event.id) for line in lines])}
        return {position for position, line in enumerate(lines) if line.event.id in ids}

    def erased(self, scope: Scope, lines: Sequence[RecordLine]) -> AbstractSet[int]:
        """Those recorded before an erasure of their user, or of their origin's: nothing of them is stored."""
        users = {scope.user_id, *(line.origin.user_id for line in lines)}
        keys = {erased_user_key(user_id): user_id for user_id in users}
        found = self._items.get(of_tenant(scope.tenant), list(keys))
        bounds = {keys[key]: str(item.value["before"]) for key, item in found.items()}
        return {
            position
            for position, line in enumerate(lines)
            if line.event.id < bounds.get(scope.user_id, "")
            or line.origin.event_id < bounds.get(line.origin.user_id, "")
        }


@dataclass(frozen=True, slots=True)
class ImportMemories:
    """`announce` notifies the projector; `forget` deletes a copy whose origin was deleted during the import.

    `noted` tells the summaries of all that the import found or stored, in case they have passed its place.
    """

    _timeline: Timeline
    _projections: Projections
    _items: Items
    _ids: IdSource
    _announce: Callable[[Scope, Sequence[EventRef]], None]
    _forget: Callable[[Scope, EventRef, datetime], None]
    _gate: SuppressionList
    _refusal: TombstoneRefusal
    _noted: Callable[[Scope, Sequence[Event], datetime], None]
    _counted: Counted = uncounted

    def import_lines(self, scope: Scope, lines: Sequence[RecordLine], order: ImportOrder) -> ImportReport:
        """Stores the lines as this user's. Raises Unavailable with some of them stored; a retry continues."""
        report = ImportReport()
        owned = [line.of_user(scope.user_id) for line in lines]
        for part in in_parts(owned, _IMPORTED_AT_ONCE):
            self._slice(scope.user, part, order, report)
        self._counted(scope.tenant, len(report.created))
        return report

    def _slice(self, scope: Scope, lines: Sequence[RecordLine], order: ImportOrder, report: ImportReport) -> None:
        judged = self._judged(scope, lines)
        report.counts.update(judged.outcomes.values())
        self._note(scope, judged.reasons, order)
        self._leave_slots_empty(scope, judged.unstored)  # before any older value of theirs can be read
        there = [line for position, line in enumerate(lines) if judged.outcomes.get(position) is LineOutcome.DUPLICATE]
        fresh = [line for position, line in enumerate(lines) if position not in judged.outcomes]
        created = self._brought(scope, fresh, order, report) if fresh else []
        self._noted(scope, [line.event for line in (*there, *created)], order.now)

    def _brought(
        self, scope: Scope, fresh: Sequence[RecordLine], order: ImportOrder, report: ImportReport
    ) -> list[RecordLine]:
        self._register_copies(scope, fresh, order.now)
        self._register_decisions(scope, fresh, order.now)
        created = self._stored(scope, fresh, order, report.counts)
        for line in created:
            self._projections.fill_slot(scope, line.event)  # so that no older value is current in between
        self._announce(scope, [line.event.ref for line in created])
        for line in self._deleted_origins(scope.tenant, created):
            self._forget(scope, line.event.ref, order.now)
        report.created += [line.event.ref for line in created]
        return created

    def _note(self, scope: Scope, reasons: Mapping[str, str], order: ImportOrder) -> None:
        for reason in dict.fromkeys(reasons.values()):
            ids = [event_id for event_id, why in reasons.items() if why == reason]
            refused = RefusedWrite(actor=order.actor, via=order.via, now=order.now, target_ids=ids, reason=reason)
            AuditRefusedWrite(self._items, self._ids).record(scope, refused)

    def _leave_slots_empty(self, scope: Scope, refused: Sequence[Event]) -> None:
        slots = FillSlots(self._timeline, self._projections)
        changed = [ref for event in refused for ref in slots.leave_empty(scope, event)]
        if changed:
            self._announce(scope, changed)

    def _judged(self, scope: Scope, lines: Sequence[RecordLine]) -> _Judged:
        identities = [identity_of(scope, line) for line in lines]
        known = self._timeline.identified(scope, identities)
        there = self._timeline.read(scope, [line.event.ref for line in lines])
        elsewhere = self._elsewhere(scope, lines)
        origins = {line.event.id for line in self._deleted_origins(scope.tenant, lines)}
        erased = self._refusal.erased(scope, lines)
        rejected = self._rejected(scope, lines)
        refused = rejected | self._refusal.deleted(scope, lines) | erased
        judged = _Judged()
        seen: set[str] = set()
        for position, (line, identity) in enumerate(zip(lines, identities, strict=True)):
            event_id = line.event.id
            if known.get(identity, event_id) is None or event_id in origins or position in refused:
                judged.outcomes[position] = LineOutcome.REFUSED
                judged.unstored += [line.event] if event_id not in there and position not in erased else []
                if position not in erased:
                    judged.reasons[event_id] = REJECTED if position in rejected else DELETED
            elif event_id in elsewhere or (event_id in there and there[event_id].ref != line.event.ref):
                judged.outcomes[position] = LineOutcome.INVALID
            elif identity in known or event_id in there or seen & {event_id, identity}:
                judged.outcomes[position] = LineOutcome.DUPLICATE
            seen |= {event_id, identity}
        return judged

    def _rejected(self, scope: Scope, lines: Sequence[RecordLine]) -> AbstractSet[int]:
        """The lines whose value, or whose memory's value, was rejected."""
        rejections = self._gate.load(scope)
        if not rejections:
            return frozenset()
        return {
            position
            for position, line in enumerate(lines)
            for one in (line.event, line.memory)
            if one is not None and rejections.rejects(one.content, one.persona_id, one.household_id)
        }

    def _elsewhere(self, scope: Scope, lines: Sequence[RecordLine]) -> set[str]:
        """The ids that are stored at another instant: no two records of a user share one."""
        refs = {line.event.id: line.event.ref for line in lines}
        found = self._projections.vectors(scope, list(refs))
        return {event_id for event_id, one in found.items() if one.ref != refs[event_id]}

    def _deleted_origins(self, tenant: str, lines: Sequence[RecordLine]) -> list[RecordLine]:
        """The copies whose origin was deleted."""
        deleted: list[RecordLine] = []
        for user_id in {line.origin.user_id for line in lines if line.copied}:
            owner = Scope(tenant, user_id)
            copies = [line for line in lines if line.copied and line.origin.user_id == user_id]
            identities = {line.event.id: identity_of(owner, line.of_user(user_id)) for line in copies}
            known = self._timeline.identified(owner, list(identities.values()))
            deleted += [line for line in copies if known.get(identities[line.event.id], "") is None]
        return deleted

    def _register_copies(self, scope: Scope, lines: Sequence[RecordLine], now: datetime) -> None:
        copies = [line for line in lines if line.copied]
        entries = [copy_entry(line.origin, line.event.user_id, line.event.ref) for line in copies]
        origins = [origin_entry(line.origin, line.event.id) for line in copies]
        for owner, writes in ((of_tenant(scope.tenant), entries), (scope.user, origins)):
            write_all(self._items.write, owner, writes, now, _WRITES_AT_ONCE)

    def _register_decisions(self, scope: Scope, lines: Sequence[RecordLine], now: datetime) -> None:
        """Before the memories, so that nothing is decided again; existing decisions stay."""
        decisions = {decision_key(one.id): one for line in lines for one in line.decisions}
        known = self._items.get(scope.user, list(decisions)) if decisions else {}
        writes = [ItemWrite(key, decision_document(one)) for key, one in decisions.items() if key not in known]
        write_all(self._items.write, scope.user, writes, now, _WRITES_AT_ONCE)

    def _stored(
        self, scope: Scope, lines: Sequence[RecordLine], order: ImportOrder, counts: Counter[LineOutcome]
    ) -> list[RecordLine]:
        def append() -> list[AppendOutcome] | None:
            try:
                return list(self._timeline.append(scope, self._writes(scope, lines, order)))
            except Conflict:
                return None

        outcomes = retry_on_conflict(append, "a memory of the user")
        if outcomes is None:
            return self._one_by_one(scope, lines, order, counts)
        created, refused = _counted(lines, outcomes, counts), _refused(lines, outcomes)
        self._note(scope, refused, order)
        self._leave_slots_empty(scope, [line.event for line in lines if line.event.id in refused])
        if created and created[0] is not lines[0]:
            self._items.write(scope.user, [audit_write(self._entry(created, order))], order.now)
        return created

    def _one_by_one(
        self, scope: Scope, lines: Sequence[RecordLine], order: ImportOrder, counts: Counter[LineOutcome]
    ) -> list[RecordLine]:
        """One id belongs to another record: stores all lines but that one."""
        if len(lines) == 1:
            counts[LineOutcome.INVALID] += 1
            return []
        return [one for line in lines for one in self._stored(scope, [line], order, counts)]

    def _writes(self, scope: Scope, lines: Sequence[RecordLine], order: ImportOrder) -> list[EventWrite]:
        """The audit's entry goes with the first record: it names all records of this transaction."""
        contents = {line.event.id: _content_key(line.memory) for line in lines if line.memory}
        targets = [memory_key(line.same_as) for line in lines if line.same_as]
        own = [memory_key(line.event.id) for line in lines]
        found = self._items.get(scope.user, list(dict.fromkeys([*contents.values(), *targets, *own])))
        marks = self._gate.marks(scope)
        made: set[ItemKey] = set()
        writes = []
        for position, line in enumerate(lines):
            items = [*_memory_writes(line, contents.get(line.event.id), found, made)]
            if position == 0:
                items.append(audit_write(self._entry(lines, order)))
            made |= {item.key for item in items}
            fingerprint = marks.fingerprint(scope.tenant, line.event)
            writes.append(EventWrite(line.event, identity_of(scope, line), fingerprint, tuple(items)))
        return writes

    def _entry(self, lines: Sequence[RecordLine], order: ImportOrder) -> AuditEntry:
        return AuditEntry(
            id=self._ids.fresh(),
            at=order.now,
            actor=order.actor,
            action=order.action,
            target_ids=tuple(line.event.id for line in lines),
            via=order.via,
        )


def _counted(
    lines: Sequence[RecordLine], outcomes: Sequence[AppendOutcome], counts: Counter[LineOutcome]
) -> list[RecordLine]:
    counts.update(LineOutcome(outcome.status.value) for outcome in outcomes)
    return [line for line, one in zip(lines, outcomes, strict=True) if one.status is AppendStatus.CREATED]


def _refused(lines: Sequence[RecordLine], outcomes: Sequence[AppendOutcome]) -> dict[str, str]:
    """Records that were deleted or rejected since the check, by id, with the reason."""
    pairs = zip(lines, outcomes, strict=True)
    return {line.event.id: one.reason or DELETED for line, one in pairs if one.status is AppendStatus.REFUSED}


def _content_key(memory: Memory) -> ItemKey:
    return content_key(content_identity(memory))


def _memory_writes(
    line: RecordLine, content: ItemKey | None, found: dict[ItemKey, Item], made: set[ItemKey]
) -> list[ItemWrite]:
    """The memory with its history, unless it exists; a content record only where there is none."""
    key = memory_key(line.event.id)
    if key in found:
        return []
    if line.same_as is not None:
        target = memory_key(line.same_as)
        return [ItemWrite(key, {SAME_AS: line.same_as}, ABSENT)] if target in found or target in made else []
    if line.memory is None or content is None:
        return []
    history = [ItemWrite(version_key(one.id, one.version), memory_document(one)) for one in line.versions]
    record = [] if content in found or content in made else [ItemWrite(content, {"id": line.event.id}, ABSENT)]
    return [ItemWrite(key, memory_document(line.memory), ABSENT), *record, *history]
