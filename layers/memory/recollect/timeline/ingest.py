"""Ingest: each event is durable before the answer, and before anything is derived from it.

Throttling: a tenant that writes faster than its rules allow is asked to slow down (A-39).

The count is each process's own: a deployment of several lets through as many times the rate at most. What bounds a
whole deployment is the throttling of the HTTP API before it.
"""

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from recollect.core.errors import Throttled
from recollect.core.event import Event, EventRef
from recollect.core.ids import IdSeed
from recollect.core.scope import Scope
from recollect.deletion.suppression import ValueGate, ValueMarks
from recollect.memories.audit_log import AuditRefusals
from recollect.ports import Items, Timeline
from recollect.rules.groups import Rules
from recollect.timeline.record import EventDraft, draft_event, event_identity
from recollect.timeline.timeline import AppendOutcome, AppendStatus, EventWrite

_REJECTED = AppendOutcome(AppendStatus.REFUSED, None, reason="rejected")


class IngestStatus(StrEnum):
    """What became of one event of a request."""

    CREATED = "created"
    DUPLICATE = "duplicate"
    REFUSED = "refused"
    INVALID = "invalid"


@dataclass(frozen=True, slots=True)
class FieldError:
    """What is wrong with one field; `loc` is the path from the event's root."""

    loc: tuple[str | int, ...]
    message: str


@dataclass(frozen=True, slots=True)
class InvalidDraft:
    """An event that breaks a rule: reported in its place, never stored."""

    errors: tuple[FieldError, ...]


@dataclass(frozen=True, slots=True)
class IngestResult:
    """One per event, in order. `event` is the stored one where it was created."""

    status: IngestStatus
    event_id: str | None = None
    event: Event | None = None
    reason: str | None = None
    errors: tuple[FieldError, ...] = ()


@dataclass(frozen=True, slots=True)
class IngestAnswer:
    """The conversation the events are in, and what became of each."""

    conversation_id: str
    results: tuple[IngestResult, ...]


class IngestEvents:
    """The use case behind `POST /v1/events` (K-74: stored before anything that can fail)."""

    def __init__(self, timeline: Timeline, items: Items, announce: Callable[[Scope, Sequence[EventRef]], None]) -> None:
        self._timeline = timeline
        self._gate = ValueGate(items)
        self._note_refusals = AuditRefusals(items)
        self._announce = announce

    def __call__(
        self,
        scope: Scope,
        conversation_id: str | None,
        drafts: Sequence[EventDraft | InvalidDraft],
        seed: IdSeed,
        now: datetime,
        rules: Rules,
        given_marks: ValueMarks | None = None,
    ) -> IngestAnswer:
        """Stores what is valid. `seed` gives ids for the events in order, and then the conversation's (K-61).

        `given_marks` spares a read where the caller made it beside its own.
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
            outcomes |= self._asked_again(scope, writes, outcomes)
        self._note(scope, writes, outcomes, seed, len(drafts) + 1, now)
        results = tuple(
            IngestResult(IngestStatus.INVALID, errors=draft.errors)
            if isinstance(draft, InvalidDraft)
            else _result(writes[position].event, outcomes[position])
            for position, draft in enumerate(drafts)
        )
        return IngestAnswer(_conversation(conversation, list(outcomes.values())), results)

    def _note(
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
            self._note_refusals(scope, refused, seed, first, now)

    def _asked_again(
        self, scope: Scope, writes: dict[int, EventWrite], outcomes: dict[int, AppendOutcome]
    ) -> dict[int, AppendOutcome]:
        """What was refused for a value though the tenant had no key: somebody has just rejected one, maybe another."""
        refused = {position: writes[position] for position, one in outcomes.items() if one.reason == _REJECTED.reason}
        if not refused:
            return {}
        marks = self._gate.marks(scope)
        named = {p: replace(w, fingerprint=marks.fingerprint(scope.tenant, w.event)) for p, w in refused.items()}
        return self._append(scope, named, marks)

    def _append(self, scope: Scope, writes: dict[int, EventWrite], marks: ValueMarks) -> dict[int, AppendOutcome]:
        """Appends each identity once; its repetitions in the same request share the outcome."""
        rejected = [position for position, write in writes.items() if marks.refuses(write.event)]
        if rejected:
            rest = {position: write for position, write in writes.items() if position not in rejected}
            return self._append(scope, rest, ValueMarks.none(scope)) | dict.fromkeys(rejected, _REJECTED)
        first = {write.identity: position for position, write in reversed(writes.items())}
        distinct = [position for position, write in writes.items() if first[write.identity] == position]
        appended = self._timeline.append(scope, [writes[position] for position in distinct]) if distinct else []
        by_identity = {writes[p].identity: outcome for p, outcome in zip(distinct, appended, strict=True)}
        self._announce(scope, [writes[position].event.ref for position in distinct])
        return {position: by_identity[write.identity] for position, write in writes.items()}


def _write(
    scope: Scope, given_conversation: str | None, event: Event, given_timestamp: bool, marks: ValueMarks
) -> EventWrite:
    identity = event_identity(scope, event, given_conversation, given_timestamp)
    return EventWrite(event, identity, marks.fingerprint(scope.tenant, event))


def _result(event: Event, outcome: AppendOutcome) -> IngestResult:
    status = IngestStatus(outcome.status.value)
    if status is IngestStatus.CREATED and outcome.event_id != event.id:
        status = IngestStatus.DUPLICATE  # the repetition of an event that this same request created
    stored = event if status is IngestStatus.CREATED else None
    return IngestResult(status, outcome.event_id, stored, outcome.reason)


def _conversation(conversation: str, outcomes: Sequence[AppendOutcome]) -> str:
    """A request that only repeats what is stored names the conversation it is stored in."""
    stored = {outcome.conversation_id for outcome in outcomes}
    return next((c for c in stored if c is not None), conversation) if len(stored) == 1 else conversation


_ROUNDING = 1e-9


@dataclass(slots=True)
class _Bucket:
    """What may be written now, in writes; below zero after a request that was larger than what was left."""

    tokens: float
    at: float


class WriteLimits:
    """A token bucket for each tenant that holds a second's worth, one write at least.

    A request is let through while one write is left, whatever its size, and what it took too much is waited for by the
    next one: so a batch that is larger than a second's worth is slow, not impossible.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._buckets: dict[str, _Bucket] = {}
        self._lock = threading.Lock()

    def take(self, tenant: str, writes: int, rules: Rules) -> None:
        """Counts so many records about to be written. Raises Throttled, with the seconds until the next may come."""
        rate = rules.limits.writes_per_second
        if rate is None or writes <= 0:
            return
        with self._lock:
            bucket = self._filled(tenant, rate)
            if bucket.tokens < 1.0 - _ROUNDING:
                raise Throttled("too many writes for this tenant's limit", (1.0 - bucket.tokens) / rate)
            bucket.tokens -= writes

    def _filled(self, tenant: str, rate: float) -> _Bucket:
        now, most = self._clock(), max(1.0, rate)
        bucket = self._buckets.setdefault(tenant, _Bucket(most, now))
        bucket.tokens = min(most, bucket.tokens + (now - bucket.at) * rate)
        bucket.at = now
        return bucket
