"""A rehearsal of a restore: what it is to show, and what it found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from recollect.archive.snapshot import ADDED, CHANGED, REMOVED, SnapshotDiff
from recollect.archive.transfer import LineOutcome


@dataclass(frozen=True, slots=True, kw_only=True)
class RehearsalOrder:
    """What is rehearsed: `snapshot_id` None is the tenant's newest, `user_id` None the first `most_users` in it.

    `seconds` bound the whole but its clearing away; `questions` are how many searches are compared.
    """

    tenant: str
    snapshot_id: str | None = None
    user_id: str | None = None
    most_users: int = 100
    seconds: float = 900.0
    questions: int = 20


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that a restore must bring, and whether it did; no text of a user is in `detail`."""

    name: str
    passed: bool
    detail: str


@dataclass(frozen=True, slots=True)
class RehearsalReport:
    """What a rehearsal found, in the order of its checks."""

    snapshot_id: str
    users: int
    counts: Mapping[str, int]
    checks: tuple[Check, ...]
    seconds: float

    @property
    def passed(self) -> bool:
        return all(check.passed for check in self.checks)


def outcome_check(counts: Mapping[str, int], lines: int) -> Check:
    """Every record of the snapshot is there or was refused, since it was deleted."""
    accounted = counts.get(LineOutcome.CREATED, 0) + counts.get(LineOutcome.REFUSED, 0)
    unread = counts.get(LineOutcome.INVALID, 0) + counts.get(LineOutcome.DUPLICATE, 0)
    told = f"{counts.get(LineOutcome.CREATED, 0)} restored, {counts.get(LineOutcome.REFUSED, 0)} refused"
    return Check("counts", accounted == lines and not unread, f"{lines} records: {told}")


def content_check(diff: SnapshotDiff, counts: Mapping[str, int]) -> Check:
    """A snapshot of what was restored says line by line what the rehearsed one says, without what was refused."""
    found: Counter[str] = diff.counts
    same = not found[ADDED] and not found[CHANGED] and found[REMOVED] == counts.get(LineOutcome.REFUSED, 0)
    told = f"{found[CHANGED]} records differ, {found[ADDED]} are new, {found[REMOVED]} are missing"
    return Check("contents", same, told)


def forgotten_check(returned: int, deletions: int, ready: bool) -> Check:
    """Nothing that the log of deletions names came back, and the store knows the whole log."""
    return Check("deletions", not returned and ready, f"{deletions} deleted records looked up, {returned} came back")


def recall_check(asked: int, same: int) -> Check:
    """What a search of the store in use shows, a search of the restored one shows."""
    return Check("recall", same == asked, f"{asked} searches compared, {same} answer the same")


def report_json(report: RehearsalReport) -> dict[str, object]:
    """The report as an answer."""
    checks = [{"name": one.name, "passed": one.passed, "detail": one.detail} for one in report.checks]
    head = {"snapshot_id": report.snapshot_id, "passed": report.passed, "users": report.users}
    return {**head, "counts": dict(report.counts), "checks": checks, "seconds": round(report.seconds, 1)}
