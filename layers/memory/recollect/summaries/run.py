"""The scheduled run and the job over all summaries that are due, and the projection step that counts messages.

The count is a hint (H-05, H-10, P-5). It may be too high, where an event is projected twice, never too low: events are
counted before their markers are deleted. Reading the timeline decides what is due.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from time import monotonic
from typing import Any

from recollect.core.errors import Conflict, VersionMismatch
from recollect.core.event import Event, EventRef
from recollect.core.idempotency import retry_on_conflict
from recollect.core.ids import IdSource
from recollect.core.items import Due, DueItem, Item, ItemWrite, pages
from recollect.core.scope import Scope
from recollect.jobs.job import JobProgress, Pace, RemainingSeconds, portion_of
from recollect.ports import Items
from recollect.rules.groups import Rules, SummaryRules
from recollect.summaries.reading import RedactSummaries
from recollect.summaries.storage import QUEUE, noted_write, state_in, state_key
from recollect.summaries.summarize import IDS, NotDue, Summarize, SummaryMade, SummaryOrder

RESERVE_SECONDS = 60.0
_PAGE = 100
_MOST_PAGES = 1_000
_MOST_COUNTED_PAGES = 20
_PAUSE = timedelta(minutes=15)


@dataclass(slots=True)
class SummaryRun:
    """Summaries made, users who were not due after all, and failures by kind of error.

    `remembered`: messages that a model chose, and that are in memories now; told where there is one. `busy`: another
    maker held the lease. `complete`: everything that was due has been tried once.
    """

    made: int = 0
    not_due: int = 0
    busy: int = 0
    remembered: int = 0
    failed: Counter[str] = field(default_factory=Counter)
    complete: bool = False

    @property
    def counts(self) -> dict[str, int]:
        """For a log line and metrics."""
        known = {"made": self.made, "not_due": self.not_due, "busy": self.busy, "failed": self.failed.total()}
        return {**known, "remembered": self.remembered} if self.remembered else known

    @property
    def seen(self) -> int:
        """How many summaries it looked at."""
        return self.made + self.not_due + self.busy + self.failed.total()


class RunSummaries:
    """Pages through the due index; a failing user is put off and does not stop the rest."""

    def __init__(self, items: Items, summarize: Summarize, rules_of: Callable[[str], Rules], ids: IdSource) -> None:
        self._items = items
        self._summarize = summarize
        self._rules_of = rules_of
        self._ids = ids

    def run(
        self,
        clock: Callable[[], datetime],
        remaining_seconds: Callable[[], float],
        tenant: str | None = None,
        is_over: Callable[[], bool] = lambda: False,
    ) -> SummaryRun:
        """Begins no summary with less than 60 s left, and reserves the last 60 s; `tenant` alone, if given.

        It ends after a summary where it `is_over`. Raises as `Items.due`.
        """
        run, started = SummaryRun(), clock()
        for page in pages(lambda after: self._items.due(QUEUE, started, _PAGE, after), _MOST_PAGES):
            for due in page.items:
                if tenant not in (None, due.owner.tenant):
                    continue
                if remaining_seconds() < RESERVE_SECONDS:
                    return run
                self._one(due, clock(), lambda: remaining_seconds() - RESERVE_SECONDS, run)
                if is_over():
                    return run
            run.complete = page.more is None
        return run

    def due(self, tenant: str, now: datetime) -> int:
        """How many are due of the tenant, of the first 2,000 of all. Raises as `Items.due`."""
        found = pages(lambda after: self._items.due(QUEUE, now, _PAGE, after), _MOST_COUNTED_PAGES)
        return sum(due.owner.tenant == tenant for page in found for due in page.items)

    def _one(self, due: DueItem, now: datetime, remaining_seconds: Callable[[], float], run: SummaryRun) -> None:
        try:
            outcome = self._summarized(due, now, remaining_seconds)
        except Conflict:
            run.busy += 1
        except Exception as error:  # noqa: BLE001 - one user's failure, a defect too, must not starve the others
            run.failed[type(error).__name__] += 1
            self._put_off(due, now, run)
        else:
            made = outcome if isinstance(outcome, SummaryMade) else None
            run.made += made is not None
            run.not_due += made is None
            run.remembered += made.choice.remembered if made is not None else 0

    def _summarized(
        self, due: DueItem, now: datetime, remaining_seconds: Callable[[], float]
    ) -> SummaryMade | NotDue | None:
        item = self._still_due(due, now)
        if item is None:
            return None
        owner, persona_id = due.owner, item.value.get("persona_id")
        order = SummaryOrder(
            now=now,
            rules=self._rules_of(owner.tenant).summary,
            seed=self._ids.seed(int(now.timestamp() * 1000), IDS),
            remaining_seconds=remaining_seconds,
        )
        return self._summarize.summarize(Scope(owner.tenant, owner.user_id, persona_id), order)

    def _still_due(self, due: DueItem, now: datetime) -> Item | None:
        item = self._items.get(due.owner, [due.key]).get(due.key)
        return item if item is not None and item.due is not None and item.due.at <= now else None

    def _put_off(self, due: DueItem, now: datetime, run: SummaryRun) -> None:
        """A failure before the summary began left no pause in the state."""
        try:
            item = self._still_due(due, now)
            if item is not None:
                later = ItemWrite(due.key, item.value, item.version, Due(QUEUE, now + _PAUSE))
                self._items.write(due.owner, [later], now)
        except VersionMismatch:
            return
        except Exception as error:  # noqa: BLE001 - as above
            run.failed[type(error).__name__] += 1


class SummarizeJob:
    """The job `summarize`: every summary of one tenant that is due, now instead of at the next scheduled run."""

    def __init__(self, run: RunSummaries) -> None:
        self._run = run

    def step(self, tenant: str, state: Mapping[str, Any], now: datetime, deadline: RemainingSeconds) -> JobProgress:
        """See `JobKind`: as many as the time allows, one at least."""
        began, begun = monotonic(), 0
        pace = Pace(deadline, 0.0)
        going = {"total": self._run.due(tenant, now), "seen": 0, **state}

        def clock() -> datetime:
            return now + timedelta(seconds=monotonic() - began)

        def remaining_seconds() -> float:
            nonlocal begun
            begun += 1
            return RESERVE_SECONDS + (deadline() if begun > 1 else max(deadline(), 1.0))

        report = self._run.run(clock, remaining_seconds, tenant, lambda: pace.over)
        going["seen"] += report.seen
        portion = portion_of(going["seen"], going["total"], "summaries")
        return JobProgress(
            state=going, counts=report.counts, errors=report.failed, done=report.complete, portion=portion
        )


class NoteMessages:
    """One read and at most one small write per persona for a batch of one user's events.

    `imported`: for what an import has stored, before it is projected (`SummaryState.noted`).
    """

    def __init__(self, items: Items, *, imported: bool = False) -> None:
        self._items = items
        self._imported = imported

    def note(self, scope: Scope, events: Iterable[Event], rules: SummaryRules, now: datetime) -> None:
        """Counts the messages among these events. Raises Conflict where others change the state all the time."""
        by_persona = _messages(events, now)
        if not by_persona:
            return
        keys = [state_key(persona_id) for persona_id in by_persona]
        found = self._items.get(scope.user, keys)
        noting = _Noting(self._items, scope.user, rules, now, self._imported)
        for persona_id, messages in by_persona.items():
            first = [found.get(state_key(persona_id))]
            attempt = partial(noting.count, persona_id, messages, first)
            retry_on_conflict(attempt, "the state of the summaries")


@dataclass(frozen=True, slots=True)
class _Noting:
    items: Items
    user: Scope
    rules: SummaryRules
    now: datetime
    imported: bool

    def count(self, persona_id: str | None, messages: Sequence[Event], first: list[Item | None]) -> None:
        """`first` has the state for the first try, and is empty afterwards."""
        key = state_key(persona_id)
        current = first.pop() if first else self.items.get(self.user, [key]).get(key)
        state = state_in(current, persona_id)
        noted = state.noted(messages, self.now, imported=self.imported)
        if noted is not state:
            self.items.write(self.user, [noted_write(noted, self.rules, self.now, current)], self.now)


def _messages(events: Iterable[Event], now: datetime) -> Mapping[str | None, list[Event]]:
    by_persona: dict[str | None, list[Event]] = {}
    for event in events:
        if event.is_summarized and not event.is_carrier and not event.expired(now):
            by_persona.setdefault(event.persona_id, []).append(event)
    return by_persona


@dataclass(frozen=True, slots=True)
class LostWords:
    """Events that are deleted or said otherwise by now, and others of which something holds no more."""

    deleted: Sequence[EventRef] = ()
    ended: Sequence[EventRef] = ()


class RedactLostWords:
    """A projection step: runs before the markers are deleted, so that nothing is lost where it fails; idempotent."""

    def __init__(self, redact: RedactSummaries) -> None:
        self._redact = redact

    def follow(self, scope: Scope, lost: LostWords, now: datetime) -> None:
        """Redacts what is lost from stored summaries and goals."""
        if lost.deleted:
            self._redact.redact(scope, lost.deleted, now)
        if lost.ended:
            self._redact.end(scope, lost.ended, now)
