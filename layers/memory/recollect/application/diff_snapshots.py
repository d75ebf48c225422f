"""What changed from one snapshot to another: records added, removed, changed."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime

from recollect.application.snapshot_store import Snapshots
from recollect.domain.record_line import RecordLine, line_text
from recollect.domain.scope import Scope
from recollect.domain.snapshot import SnapshotUser

ADDED, REMOVED, CHANGED = "added", "removed", "changed"


@dataclass(frozen=True, slots=True)
class RecordChange:
    """A record that is in one of them alone, or in both and not the same."""

    kind: str
    user_id: str
    record_id: str


@dataclass(slots=True)
class SnapshotDiff:
    """All changes counted, and the first of them named."""

    counts: Counter[str] = field(default_factory=Counter)
    changes: list[RecordChange] = field(default_factory=list)


class DiffSnapshots:
    """Walks both side by side, a piece of each in memory at a time."""

    def __init__(self, snapshots: Snapshots) -> None:
        self._snapshots = snapshots

    def __call__(self, tenant: str, first: str, second: str, named: int = 100) -> SnapshotDiff:
        """From the first to the second; `named` changes at most are listed. Raises NotFound."""
        before, after = self._snapshots.one(tenant, first), self._snapshots.one(tenant, second)
        users = dict.fromkeys(user.user_id for one in (before, after) for user in self._users(tenant, one.id))
        diff = SnapshotDiff()
        for user_id in users:
            scope = Scope(tenant, user_id)
            for kind, record_id in _changes(self._lines(scope, before.id), self._lines(scope, after.id)):
                diff.counts[kind] += 1
                if len(diff.changes) < named:
                    diff.changes.append(RecordChange(kind, user_id, record_id))
        return diff

    def _users(self, tenant: str, snapshot_id: str) -> Iterator[SnapshotUser]:
        return (user for _, user in self._snapshots.users(tenant, snapshot_id, None))

    def _lines(self, scope: Scope, snapshot_id: str) -> Iterator[RecordLine]:
        user, _ = self._snapshots.user(scope, snapshot_id)
        for number in range(len(user.pieces)):
            yield from self._snapshots.lines(scope, snapshot_id, number)


def _changes(before: Iterator[RecordLine], after: Iterator[RecordLine]) -> Iterator[tuple[str, str]]:
    """Both are in the order of their records' places."""
    old, new = next(before, None), next(after, None)
    while old is not None or new is not None:
        if new is None or (old is not None and _place(old) < _place(new)):
            assert old is not None
            yield REMOVED, old.event.id
            old = next(before, None)
        elif old is None or _place(new) < _place(old):
            yield ADDED, new.event.id
            new = next(after, None)
        else:
            if line_text(old) != line_text(new):
                yield CHANGED, new.event.id
            old, new = next(before, None), next(after, None)


def _place(line: RecordLine) -> tuple[datetime, str]:
    return line.event.timestamp, line.event.id
