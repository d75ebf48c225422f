"""Where summaries, their state and goals are stored: collections of items, each of a user and a persona (P-5, P-21).

| collection         | labels  | key                        | item                                              |
|--------------------|---------|----------------------------|---------------------------------------------------|
| `summary_states`   | persona | `state`                    | trigger, coverage, lease; due in queue `summary`  |
| `summaries`        | persona | time it was made, and id   | summary                                           |
| `summary_list`     | none    | the same                   | whose it is: the list over all personas           |
| `summary_covered`  | persona | the same                   | which messages it covers (`late`)                 |
| `summary_failures` | persona | `failures`                 | counts by kind, no text                           |
| `goals`            | none    | id                         | goal                                              |
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from recollect.core.errors import StoredDataError
from recollect.core.event import Event, EventRef
from recollect.core.items import ABSENT, Due, Item, ItemKey, ItemPath, ItemWrite
from recollect.core.time import LATEST, from_iso, iso, sortable
from recollect.rules.groups import SummaryRules
from recollect.summaries.goals import Goal, goal_document, goal_from
from recollect.summaries.late import NOTED_WITHIN, LateSpan, covered_write, widened
from recollect.summaries.summary import Summary, place, summary_document

QUEUE = "summary"
GOALS = ItemPath("goals")
SUMMARIES = ItemPath("summaries")
SUMMARY_STATES = ItemPath("summary_states")
SUMMARY_LIST = ItemPath("summary_list")
LONGEST_LEASE = timedelta(minutes=20)
_STATE_FORMAT = 2
_FIRST_PAUSE = timedelta(minutes=5)
_LONGEST_PAUSE = timedelta(hours=6)
_DOUBLINGS = 8


@dataclass(frozen=True, slots=True)
class Lease:
    """The maker of a summary, and until when nobody else may begin one."""

    holder: str
    until: datetime

    def holds(self, now: datetime) -> bool:
        """Whether it still bars others; one from a clock that ran far ahead bars nobody."""
        return now < self.until <= now + LONGEST_LEASE


@dataclass(frozen=True, slots=True)
class LastSummary:
    """The newest summary: its id, the key of its item, when it was made."""

    id: str
    key: str
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryState:
    """How far the summaries of a user and a persona have come; trigger and lease go by it (P-5, P-21).

    `seen`: the newest message that the last run saw; `covered`: the last message that a summary covers. `hint` counts
    messages noted since; it may be too high, never too low: reading the timeline decides what is due. `late` is where
    messages may have come late; whatever was recorded by `unlisted_until` counts as covered at a covered place, since
    summaries of before have no list of what they cover. `retry_at`: not before then, after `failures` in a row.
    """

    persona_id: str | None = None
    seen: EventRef | None = None
    covered: EventRef | None = None
    late: LateSpan | None = None
    unlisted_until: datetime | None = None
    first_message_at: datetime | None = None
    last: LastSummary | None = None
    hint: int = 0
    lease: Lease | None = None
    failures: int = 0
    retry_at: datetime | None = None

    def is_new(self, ref: EventRef) -> bool:
        """Whether a message counts for the next summary: newer than anything the last run saw."""
        return self.seen is None or place(ref) > place(self.seen)

    def is_uncovered(self, ref: EventRef) -> bool:
        """Whether it lies strictly after what the summaries cover (H-08)."""
        return self.covered is None or place(ref) > place(self.covered)

    def noted(self, messages: Iterable[Event], now: datetime, *, imported: bool = False) -> "SummaryState":
        """With these messages counted; itself where none is new or may have come late.

        What an import has stored keeps the time at which it was recorded elsewhere: any of it may be late, and what is
        new is counted when it is projected.
        """
        late, new = list[EventRef](), list[EventRef]()
        for message in messages:
            if self.is_new(message.ref):
                new.append(message.ref)
            elif imported or self._is_recent(message, now):
                late.append(message.ref)
        new = [] if imported and not self.lease else new
        if not new and not late:
            return self
        known = [moment for moment in (self.first_message_at, *(ref.timestamp for ref in new)) if moment is not None]
        span = widened(self.late, [*late, *new] if self.lease else late)  # of what is read just now it may be too late
        first = min(known) if known else None
        return replace(self, hint=self.hint + len(new) + len(late), first_message_at=first, late=span)

    def _is_recent(self, message: Event, now: datetime) -> bool:
        since = min(now, self.last.created_at) if self.last else now
        return message.recorded_at > since - NOTED_WITHIN

    def failed(self, now: datetime, due_by_itself: bool) -> "SummaryState":
        """Released after a failure: still due, but after a pause that doubles with each failure in a row (H-31)."""
        if not due_by_itself:
            return replace(self, lease=None)
        pause = min(_FIRST_PAUSE * 2 ** min(self.failures, _DOUBLINGS), _LONGEST_PAUSE)
        return replace(self, lease=None, failures=self.failures + 1, retry_at=now + pause)

    def summarized(self, summary: Summary, key: str, seen: EventRef, hint_before: int) -> "SummaryState":
        """After a summary: only messages that were noted meanwhile still count. `late` stays for who knows of it."""
        return SummaryState(
            persona_id=self.persona_id,
            seen=seen,
            covered=summary.covered,
            late=self.late,
            unlisted_until=self.unlisted_until,
            first_message_at=self.first_message_at,
            last=LastSummary(summary.id, key, summary.created_at),
            hint=max(0, self.hint - hint_before),
        )

    def due_at(self, rules: SummaryRules, now: datetime) -> datetime | None:
        """When a run must check it: now at the count, else at the age; None where nothing is new (H-10)."""
        if not self.hint:
            return None
        since = self.last.created_at if self.last else self.first_message_at or now
        days = min(timedelta(days=rules.days), LATEST - since)
        at = now if self.hint >= rules.messages else since + days
        return max(at, self.retry_at) if self.retry_at else at


def state_document(state: SummaryState) -> dict[str, Any]:
    known: dict[str, Any] = {
        "format": _STATE_FORMAT,
        "persona_id": state.persona_id,
        "seen": state.seen and {"id": state.seen.id, "at": iso(state.seen.timestamp)},
        "covered": state.covered and {"id": state.covered.id, "at": iso(state.covered.timestamp)},
        "late": state.late and {"since": iso(state.late.since), "until": iso(state.late.until)},
        "unlisted_until": state.unlisted_until and iso(state.unlisted_until),
        "first_message_at": state.first_message_at and iso(state.first_message_at),
        "last": state.last and {"id": state.last.id, "key": state.last.key, "at": iso(state.last.created_at)},
        "hint": state.hint,
        "lease": state.lease and {"holder": state.lease.holder, "until": iso(state.lease.until)},
        "failures": state.failures or None,
        "retry_at": state.retry_at and iso(state.retry_at),
    }
    return {name: value for name, value in known.items() if value is not None}


def state_from(document: Mapping[str, Any]) -> SummaryState:
    """Reads what `state_document` wrote. Raises StoredDataError where it cannot.

    A state of before lists were kept looks once at all that is covered, for what came after its last summary.
    """
    try:
        last, lease = document.get("last"), document.get("lease")
        state = SummaryState(
            persona_id=document.get("persona_id"),
            seen=_ref(document.get("seen")),
            covered=_ref(document.get("covered")),
            late=_span(document.get("late")),
            unlisted_until=_instant(document.get("unlisted_until")),
            first_message_at=_instant(document.get("first_message_at")),
            last=LastSummary(last["id"], last["key"], from_iso(last["at"])) if last else None,
            hint=document["hint"],
            lease=Lease(lease["holder"], from_iso(lease["until"])) if lease else None,
            failures=document.get("failures", 0),
            retry_at=_instant(document.get("retry_at")),
        )
        return state if "format" in document else _before_lists(state)
    except (KeyError, TypeError, ValueError) as error:
        raise StoredDataError(f"the state of summaries cannot be read: {type(error).__name__}") from error


def _ref(document: Mapping[str, Any] | None) -> EventRef | None:
    return EventRef(document["id"], from_iso(document["at"])) if document else None


def _span(document: Mapping[str, Any] | None) -> LateSpan | None:
    return LateSpan(from_iso(document["since"]), from_iso(document["until"])) if document else None


def _before_lists(state: SummaryState) -> SummaryState:
    if state.last is None or state.covered is None:
        return state
    return replace(state, late=LateSpan.until_place(state.covered), unlisted_until=state.last.created_at)


def _instant(text: str | None) -> datetime | None:
    return from_iso(text) if text else None


def state_key(persona_id: str | None) -> ItemKey:
    return ItemKey(ItemPath(SUMMARY_STATES.collection, _labels(persona_id)), "state")


def failures_key(persona_id: str | None) -> ItemKey:
    """Where a model's invalid answers are counted."""
    return ItemKey(ItemPath("summary_failures", _labels(persona_id)), "failures")


def summaries_path(persona_id: str | None) -> ItemPath:
    """The summaries of one persona, by time."""
    return ItemPath(SUMMARIES.collection, _labels(persona_id))


def covered_path(persona_id: str | None) -> ItemPath:
    """What the summaries of one persona cover, by their keys."""
    return ItemPath("summary_covered", _labels(persona_id))


def summary_key(persona_id: str | None, key: str) -> ItemKey:
    return ItemKey(summaries_path(persona_id), key)


def goal_key(goal_id: str) -> ItemKey:
    return ItemKey(GOALS, goal_id)


def key_of(summary: Summary) -> str:
    """By time; of one instant, the later one last."""
    return f"{sortable(summary.created_at)}.{summary.id}"


def summary_writes(summary: Summary, covered: Iterable[EventRef]) -> list[ItemWrite]:
    """A new summary, its entry in the list, and which messages it covers."""
    key = key_of(summary)
    listed = {"persona_id": summary.persona_id} if summary.persona_id is not None else {}
    return [
        ItemWrite(summary_key(summary.persona_id, key), summary_document(summary), ABSENT),
        ItemWrite(ItemKey(SUMMARY_LIST, key), listed, ABSENT),
        covered_write(covered_path(summary.persona_id), key, covered),
    ]


def state_write(state: SummaryState, rules: SummaryRules, now: datetime, expected: int | None) -> ItemWrite:
    """The state, due when its rules say so."""
    at = state.due_at(rules, now)
    due = Due(QUEUE, at) if at else None
    return ItemWrite(state_key(state.persona_id), state_document(state), expected, due)


def noted_write(state: SummaryState, rules: SummaryRules, now: datetime, item: Item | None) -> ItemWrite:
    """The same over what is stored, with its due time where that is no later.

    Who goes on talking keeps the place in the queue, and no message moves an entry of the index.
    """
    write = state_write(state, rules, now, item.version if item else ABSENT)
    before = item.due if item else None
    if before is None or write.due is None or before.at > write.due.at or before.at < (state.retry_at or before.at):
        return write
    return replace(write, due=before)


def state_in(item: Item | None, persona_id: str | None) -> SummaryState:
    """The state of an item; a new one without."""
    return state_from(item.value) if item else SummaryState(persona_id=persona_id)


def goal_write(goal: Goal) -> ItemWrite:
    """A goal, conditional on the version that was read."""
    return ItemWrite(goal_key(goal.id), goal_document(goal), goal.version)


def goal_in(item: Item) -> Goal:
    return goal_from(item.value, item.version)


def failures_with(document: Mapping[str, Any], kinds: Mapping[str, int], at: str) -> dict[str, Any]:
    counts = dict(Counter(document.get("kinds", {})) + Counter(kinds))
    return {"kinds": counts, "total": sum(counts.values()), "last": {"at": at, "kinds": dict(kinds)}}


def _labels(persona_id: str | None) -> tuple[str, ...]:
    """The default persona has a label that no chosen persona can have."""
    return ("default",) if persona_id is None else ("persona", persona_id)
