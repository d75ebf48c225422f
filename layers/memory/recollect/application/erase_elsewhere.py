"""What an erasure reaches outside of the store: the index, the archive, copies, the list of users (P-22)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime

from recollect.application.forget_copies import ForgetCopies
from recollect.application.known_users import KnownUsers
from recollect.application.rewrite_segments import RewriteSegments
from recollect.domain.erasure import Kept
from recollect.domain.job import RemainingSeconds
from recollect.domain.retention import archive_folder
from recollect.domain.scope import Scope
from recollect.ports import SearchIndex, SnapshotStore, Timeline

_PAGE = 500
_RESERVE_SECONDS = 4.0


class EraseDocuments:
    """The search index; a document of what is there again stays."""

    def __init__(self, index: SearchIndex) -> None:
        self._index = index

    def __call__(
        self, scope: Scope, kept: Kept, _now: datetime, deadline: RemainingSeconds
    ) -> Mapping[str, int] | None:
        """Removes what is listed, page by page."""
        count, after = 0, None
        while True:
            page = self._index.listed(scope, _PAGE, after)
            gone = [ref.id for ref in page.refs if not kept.keeps_record(ref.id)]
            if gone:
                self._index.remove(scope, gone)
            count, after = count + len(gone), page.more
            if after is None:
                return {"index": count}
            if deadline() < _RESERVE_SECONDS:
                return None

    def left(self, scope: Scope, kept: Kept) -> int:
        """How many documents are there."""
        count, after = 0, None
        while True:
            page = self._index.listed(scope, _PAGE, after)
            count += sum(not kept.keeps_record(ref.id) for ref in page.refs)
            after = page.more
            if after is None:
                return count


@dataclass(frozen=True, slots=True)
class Indexed:
    """Snapshots of the tenant's indexes: how many objects were erased, how many records are left but those it keeps."""

    erase: Callable[[Scope], int]
    left: Callable[[Scope, Callable[[str], bool]], int]


class EraseArchive:
    """Segments, snapshots, those of indexes and retention's archives, with every earlier version of each object."""

    def __init__(self, rewrite: RewriteSegments, store: SnapshotStore, indexed: Indexed) -> None:
        self._rewrite = rewrite
        self._store = store
        self._indexed = indexed

    def __call__(
        self, scope: Scope, _kept: Kept, _now: datetime, _deadline: RemainingSeconds
    ) -> Mapping[str, int] | None:
        """Takes them away; of what the user has said since, segments are written again."""
        report, indexed = self._rewrite.erase(scope), self._indexed.erase(scope)
        archived = self._archived(scope)
        for name in archived:
            self._store.delete(scope.tenant, name)
            self._store.purge(scope.tenant, name)
        return {
            "segments": report.segments,
            "snapshots": report.pieces,
            "index_snapshots": indexed,
            "archives": len(archived),
        }

    def left(self, scope: Scope, kept: Kept) -> int:
        """How many records are read back that should be gone, and how many of retention's archives are there."""
        records = self._rewrite.left(scope, kept.keeps_record) + self._indexed.left(scope, kept.keeps_record)
        return records + len(self._archived(scope))

    def _archived(self, scope: Scope) -> list[str]:
        return list(self._store.names(scope.tenant, f"{archive_folder(scope.user_id)}/"))


class EraseCopies:
    """What others imported from the user."""

    def __init__(self, copies: ForgetCopies) -> None:
        self._copies = copies

    def __call__(
        self, scope: Scope, _kept: Kept, now: datetime, deadline: RemainingSeconds
    ) -> Mapping[str, int] | None:
        """Deletes them, page by page."""
        count = 0
        while True:
            found = self._copies.page(scope, _PAGE, now)
            count += found.forgotten
            if found.last:
                return {"copies": count}
            if deadline() < _RESERVE_SECONDS:
                return None

    def left(self, scope: Scope, _kept: Kept) -> int:
        """Whether there are any."""
        return self._copies.left(scope)


class EraseFromList:
    """The tenant's list of users: a user who is there again stays on it."""

    def __init__(self, users: KnownUsers, timeline: Timeline) -> None:
        self._users = users
        self._timeline = timeline

    def __call__(
        self, scope: Scope, _kept: Kept, now: datetime, _deadline: RemainingSeconds
    ) -> Mapping[str, int] | None:
        """Takes the user off; whoever comes meanwhile is noted again by the next projection."""
        if self._timeline.records(scope, 1, None).events:
            return {}
        self._users.forget(scope, now)
        return {"users": 1}
