"""Ingest: each event is durable before the answer and before anything derives from it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from recollect.core.event import Event, EventRef
from recollect.core.ids import IdSeed
from recollect.core.scope import Scope
from recollect.deletion.suppression import SuppressionCheck, SuppressionList
from recollect.memories.audit_log import AuditRefusals
from recollect.ports import Items, Timeline
from recollect.rules.groups import Rules
from recollect.timeline.record import EventDraft, draft_event, event_identity
from recollect.timeline.timeline import AppendOutcome, AppendStatus, EventWrite
from recollect.usage import Counted, uncounted

KEY_REUSED = "key_reused"
"""The reason of a refusal: the event's idempotency key came with another text, role or speaker before."""

_REJECTED = AppendOutcome(AppendStatus.REFUSED, None, reason="rejected")


class IngestStatus(StrEnum):
    """The result for one event of a request."""

    CREATED = "created"
    DUPLICATE = "duplicate"
    REFUSED = "refused"
    INVALID = "invalid"


@dataclass(frozen=True, slots=True)
class FieldError:
    """The fault of one field; `loc` is the path from the event's root."""

    loc: tuple[str | int, ...]
    message: str


@dataclass(frozen=True, slots=True)
class InvalidDraft:
    """An invalid event: reported in its place, never stored."""

    errors: tuple[FieldError, ...]


@dataclass(frozen=True, slots=True)
class IngestResult:
    """One per event, in order. `event` is the stored one where it was created; `at` is when that of `event_id` was."""

    status: IngestStatus
    event_id: str | None = None
    event: Event | None = None
    reason: str | None = None
    errors: tuple[FieldError, ...] = ()
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class IngestAnswer:
    """The conversation of the events, and the result for each."""

    conversation_id: str
    results: tuple[IngestResult, ...]


class IngestEvents:
    """Behind `POST /v1/events` (K-74: stored before anything that can fail)."""

    def __init__(
        self,
        timeline: Timeline,
        items: Items,
        announce: Callable[[Scope, Sequence[EventRef]], None],
        counted: Counted = uncounted,
    ) -> None:
        self._timeline = timeline
        self._gate = SuppressionList(items)
        self._audit_refusals = AuditRefusals(items)
        self._announce = announce
        self._counted = counted

    def ingest(
        self,
        scope: Scope,
        conversation_id: str | None,
        drafts: Sequence[EventDraft | InvalidDraft],
        seed: IdSeed,
        now: datetime,
        rules: Rules,
        given_marks: SuppressionCheck | None = None,
    ) -> IngestAnswer:
        """Stores the valid events. `seed` gives the events' ids in order, and then the conversation's (K-61).

        `given_marks` are the rejected values, where the caller has read them already.
        """
        marks = given_marks or self._gate.marks(scope)
        conversation = conversation_id or seed.nth(len(drafts))
        writes = {
            position: _write(
                scope,
                conversation_id,
                draft_event(scope, draft, seed.nth(position), conversation, now, rules),
                draft.timestamp is not None,
                marks,
            )
            for position, draft in enumerate(drafts)
            if isinstance(draft, EventDraft)
        }
        outcomes = self._append(scope, writes, marks)
        if not marks.keys:
            outcomes |= self._refused_again(scope, writes, outcomes)
        self._audit(scope, writes, outcomes, seed, len(drafts) + 1, now)
        firsts = self._firsts(scope, writes, outcomes)
        results = tuple(
            IngestResult(IngestStatus.INVALID, errors=draft.errors)
            if isinstance(draft, InvalidDraft)
            else _result(writes[position].event, outcomes[position], firsts.get(position))
            for position, draft in enumerate(drafts)
        )
        self._counted(scope.tenant, sum(result.event is not None for result in results))
        return IngestAnswer(_conversation(conversation, list(outcomes.values())), results)

    def _audit(
        self,
        scope: Scope,
        writes: dict[int, EventWrite],
        outcomes: dict[int, AppendOutcome],
        seed: IdSeed,
        first: int,
        now: datetime,
    ) -> None:
        refused = [(writes[p].event, one.reason) for p, one in outcomes.items() if one.reason is not None]
        if refused:
            self._audit_refusals.record(scope, refused, seed, first, now)

    def _refused_again(
        self, scope: Scope, writes: dict[int, EventWrite], outcomes: dict[int, AppendOutcome]
    ) -> dict[int, AppendOutcome]:
        """Appends events again that were refused before the tenant's key was read.

        The rejected value may be another.
        """
        refused = {position: writes[position] for position, one in outcomes.items() if one.reason == _REJECTED.reason}
        if not refused:
            return {}
        marks = self._gate.marks(scope)
        named = {p: replace(w, fingerprint=marks.fingerprint(scope.tenant, w.event)) for p, w in refused.items()}
        return self._append(scope, named, marks)

    def _firsts(
        self, scope: Scope, writes: dict[int, EventWrite], outcomes: dict[int, AppendOutcome]
    ) -> dict[int, Event]:
        """The stored events of the idempotency keys that came again, wherever they lie in time."""
        keyed = {p: write.event for p, write in writes.items() if write.event.idempotency_key is not None}
        firsts = {p: i for p, e in keyed.items() if (i := outcomes[p].event_id) is not None and i != e.id}
        if not firsts:
            return {}
        there = {event.id: event for event in keyed.values()}
        there |= self._timeline.read(scope, [EventRef(i, keyed[p].timestamp) for p, i in firsts.items()])
        there |= {i: e for i in firsts.values() if i not in there and (e := self._timeline.find(scope, i))}
        return {p: there[i] for p, i in firsts.items() if i in there}

    def _append(self, scope: Scope, writes: dict[int, EventWrite], marks: SuppressionCheck) -> dict[int, AppendOutcome]:
        """Appends each identity once; repetitions in the same request share the outcome."""
        rejected = [position for position, write in writes.items() if marks.refuses(write.event)]
        if rejected:
            rest = {position: write for position, write in writes.items() if position not in rejected}
            return self._append(scope, rest, SuppressionCheck.none(scope)) | dict.fromkeys(rejected, _REJECTED)
        first = {write.identity: position for position, write in reversed(writes.items())}
        distinct = [position for position, write in writes.items() if first[write.identity] == position]
        appended = self._timeline.append(scope, [writes[position] for position in distinct]) if distinct else []
        by_identity = {writes[p].identity: outcome for p, outcome in zip(distinct, appended, strict=True)}
        self._announce(scope, [writes[position].event.ref for position in distinct])
        return {position: by_identity[write.identity] for position, write in writes.items()}


def _write(
    scope: Scope, given_conversation: str | None, event: Event, given_timestamp: bool, marks: SuppressionCheck
) -> EventWrite:
    identity = event_identity(scope, event, given_conversation, given_timestamp)
    return EventWrite(event, identity, marks.fingerprint(scope.tenant, event))


def _says_the_same(event: Event, first: Event) -> bool:
    return (event.content, event.role, event.speaker) == (first.content, first.role, first.speaker)


def _result(event: Event, outcome: AppendOutcome, first: Event | None) -> IngestResult:
    """`first` has the event's idempotency key, and is stored."""
    if first is not None and not _says_the_same(event, first):
        return IngestResult(IngestStatus.REFUSED, first.id, reason=KEY_REUSED, at=first.timestamp)
    status = IngestStatus(outcome.status.value)
    if status is IngestStatus.CREATED and outcome.event_id != event.id:
        status = IngestStatus.DUPLICATE  # the repetition of an event that this same request created
    stored = event if status is IngestStatus.CREATED else None
    at = (first or event).timestamp if first or stored or event.idempotency_key is None else None
    return IngestResult(status, outcome.event_id, stored, outcome.reason, at=at)


def _conversation(conversation: str, outcomes: Sequence[AppendOutcome]) -> str:
    """The conversation of the stored events, where the request only repeats them."""
    stored = {outcome.conversation_id for outcome in outcomes}
    return next((c for c in stored if c is not None), conversation) if len(stored) == 1 else conversation
