"""The scheduled run: makes every summary that is due, of every tenant, as far as the time goes (P-5, H-10)."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from recollect.application.summarize import IDS, NotDue, Summarize, SummaryOrder
from recollect.domain.errors import Conflict, VersionMismatch
from recollect.domain.ids import IdSource
from recollect.domain.items import Due, DueItem, ItemWrite
from recollect.domain.rules import Rules
from recollect.domain.scope import Scope
from recollect.domain.summary_items import QUEUE
from recollect.ports import Items

RESERVE_SECONDS = 60.0
_PAGE = 100
_MOST_PAGES = 1_000
_PAUSE = timedelta(minutes=15)


@dataclass(slots=True)
class SummaryRun:
    """What a run did: summaries made, users who were not due after all, and failures by kind of error.

    `busy`: somebody else was at it. `complete`: everything that was due has been looked at once.
    """

    made: int = 0
    not_due: int = 0
    busy: int = 0
    failed: Counter[str] = field(default_factory=Counter)
    complete: bool = False

    @property
    def counts(self) -> dict[str, int]:
        """For a log line and metrics."""
        return {"made": self.made, "not_due": self.not_due, "busy": self.busy, "failed": self.failed.total()}


class RunSummaries:
    """Pages through the due index; a user whose summary fails is put off and does not stop the rest."""

    def __init__(self, items: Items, summarize: Summarize, rules_of: Callable[[str], Rules], ids: IdSource) -> None:
        self._items = items
        self._summarize = summarize
        self._rules_of = rules_of
        self._ids = ids

    def __call__(
        self, clock: Callable[[], datetime], remaining_seconds: Callable[[], float], tenant: str | None = None
    ) -> SummaryRun:
        """Begins no summary with less than 60 s left, and gives none of them the last 60 s; `tenant` alone, if given.

        Raises as `Items.due`.
        """
        run, started = SummaryRun(), clock()
        after: str | None = None
        for _ in range(_MOST_PAGES):
            page = self._items.due(QUEUE, started, _PAGE, after)
            for due in page.items:
                if tenant not in (None, due.owner.tenant):
                    continue
                if remaining_seconds() < RESERVE_SECONDS:
                    return run
                self._one(due, clock(), lambda: remaining_seconds() - RESERVE_SECONDS, run)
            after = page.more
            if after is None:
                run.complete = True
                break
        return run

    def _one(self, due: DueItem, now: datetime, remaining_seconds: Callable[[], float], run: SummaryRun) -> None:
        try:
            made = self._summarized(due, now, remaining_seconds)
        except Conflict:
            run.busy += 1
        except Exception as error:  # noqa: BLE001 - one user's failure, a defect too, must not starve the others
            run.failed[type(error).__name__] += 1
            self._put_off(due, now, run)
        else:
            run.made += made
            run.not_due += not made

    def _summarized(self, due: DueItem, now: datetime, remaining_seconds: Callable[[], float]) -> bool:
        item = self._items.get(due.owner, [due.key]).get(due.key)
        if item is None or item.due is None or item.due.at > now:
            return False
        owner, persona_id = due.owner, item.value.get("persona_id")
        order = SummaryOrder(
            now=now,
            rules=self._rules_of(owner.tenant).summary,
            seed=self._ids.seed(int(now.timestamp() * 1000), IDS),
            remaining_seconds=remaining_seconds,
        )
        made = self._summarize(Scope(owner.tenant, owner.user_id, persona_id), order)
        return not isinstance(made, NotDue)

    def _put_off(self, due: DueItem, now: datetime, run: SummaryRun) -> None:
        """What failed before a summary was begun (so that no pause is noted yet) is looked at again a while later."""
        try:
            item = self._items.get(due.owner, [due.key]).get(due.key)
            if item is None or item.due is None or item.due.at > now:
                return
            later = Due(QUEUE, now + _PAUSE)
            self._items.write(due.owner, [ItemWrite(due.key, item.value, item.version, later)], now)
        except VersionMismatch:
            return
        except Exception as error:  # noqa: BLE001 - as above
            run.failed[type(error).__name__] += 1
