"""Whether searches find all that they should: the index's part of readiness (A-34, A-35)."""

from collections import Counter
from collections.abc import Callable
from itertools import islice

from recollect.application.check_readiness import PartState
from recollect.application.index_states import IndexStates
from recollect.application.known_users import KnownUsers
from recollect.domain.index_state import INCOMPLETE, LOST, NOT_WARM, OTHER_GENERATION, UNFINISHED
from recollect.domain.items import of_tenant
from recollect.domain.scope import Scope
from recollect.ports import SearchIndex, Timeline

MOST_TENANTS = 50
_LOOKED_INTO = 5
_USERS = 5
_TOLD = {
    OTHER_GENERATION: "with another embedder's, so by words alone",
    LOST: "lost",
    UNFINISHED: "unfinished",
    INCOMPLETE: "where vectors are missing",
}


class CheckIndex:
    """Looks at the pointers of the first 50 tenants, and into the indexes of the first 5 of them."""

    def __init__(
        self,
        check: Callable[[], PartState],
        index: SearchIndex,
        states: IndexStates,
        users: KnownUsers,
        timeline: Timeline,
    ) -> None:
        self._check = check
        self._index = index
        self._states = states
        self._users = users
        self._timeline = timeline

    def __call__(self) -> PartState:
        """Not ready while a tenant's index is another embedder's, was lost, or is empty where records are.

        `pending`: tenants whose index must be made anew. Raises NotReady and Unavailable.
        """
        part = self._check()
        lagging = self.lagging()
        if not lagging:
            return part
        reasons = Counter(lagging.values())
        told = ", ".join(f"{count} {_TOLD[reason]}" for reason, count in sorted(reasons.items()))
        detail = f"{part.detail}; tenants whose index is to be made anew by the job reindex: {told}"
        return PartState(part.ready and not reasons.keys() & NOT_WARM, detail, len(lagging))

    def lagging(self, most_tenants: int = MOST_TENANTS) -> dict[str, str]:
        """Tenants whose index must be made anew, of so many, and why: words of `index_state`."""
        identity, generation = self._index.identity(), self._index.generation
        found = {}
        for place, (tenant, state) in enumerate(islice(self._states.all(), most_tenants)):
            reason = state.lags(generation, identity)
            if reason is None and place < _LOOKED_INTO and self._is_empty(tenant):
                reason = LOST
            if reason is not None:
                found[tenant] = reason
        return found

    def _is_empty(self, tenant: str) -> bool:
        """Whether the index has nothing of the tenant, though there are records."""
        if self._index.count(of_tenant(tenant)).documents:
            return False
        users = self._users.page(tenant, _USERS, None).user_ids
        return any(self._timeline.records(Scope(tenant, user_id), 1, None).events for user_id in users)
