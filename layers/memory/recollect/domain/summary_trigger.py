"""When a summary is due, and what it covers (H-04 to H-11, H-15, P-5)."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from recollect.domain.event import EventRef
from recollect.domain.rules import SummaryRules
from recollect.domain.summary import Reason


@dataclass(frozen=True, slots=True)
class Backlog:
    """What no summary covers yet.

    `uncovered`: messages strictly after the last summary's place, oldest first. `messages_since`: how many are newer
    than the newest that the last summary's making saw; all of them before the first. `since`: the last summary's
    time, else the first message's; None without either.
    """

    uncovered: tuple[EventRef, ...]
    messages_since: int
    since: datetime | None

    def days_since(self, now: datetime) -> float:
        """Days of 24 hours, ≥ 0."""
        return max(0.0, (now - self.since) / timedelta(days=1)) if self.since else 0.0


@dataclass(frozen=True, slots=True)
class Trigger:
    """A summary is due: why, and of which messages, oldest first, at least one."""

    reason: Reason
    covers: tuple[EventRef, ...]


def trigger(backlog: Backlog, rules: SummaryRules, now: datetime, *, force: bool = False) -> Trigger | None:
    """Whether a summary is due (P-5).

    By messages: `rules.messages` or more since the last; by age: `rules.days` of 24 hours or more since the last, and
    a new message; forced: anything uncovered. It covers all but the newest `raw_window`; where that leaves nothing,
    an aged or a forced one covers everything.
    """
    uncovered = backlog.uncovered
    older = uncovered[: max(0, len(uncovered) - rules.raw_window)]
    if older and backlog.messages_since >= rules.messages:
        return Trigger(Reason.MESSAGES, older)
    if uncovered and backlog.messages_since and _aged(backlog, rules, now):
        return Trigger(Reason.AGE, older or uncovered)
    return Trigger(Reason.FORCED, older or uncovered) if uncovered and force else None


def _aged(backlog: Backlog, rules: SummaryRules, now: datetime) -> bool:
    return backlog.since is not None and now - backlog.since >= timedelta(days=rules.days)
