"""Which of some records are in doubt by a newer one among them: an open conflict stands between the two (P-24)."""

from collections.abc import Mapping, Sequence
from itertools import combinations

from recollect.contradictions.decisions import ConflictStatus, conflict_in, conflict_key, pair_id
from recollect.core.scope import Scope
from recollect.ports import Items


class FindDoubts:
    """Reads by key, one for each pair: meant for a dozen records."""

    def __init__(self, items: Items) -> None:
        self._items = items

    def among(self, scope: Scope, oldest_first: Sequence[str]) -> Mapping[str, tuple[str, ...]]:
        """By the id of each older record the newer ones, in the order given; of the memories of records, their ids."""
        pairs = {conflict_key(pair_id(newer, older)): (newer, older) for older, newer in combinations(oldest_first, 2)}
        stored = self._items.get(scope.user, list(pairs)) if pairs else {}
        found: dict[str, tuple[str, ...]] = {}
        for key, (newer, older) in pairs.items():
            if key in stored and conflict_in(stored[key].value).status is ConflictStatus.OPEN:
                found[older] = (*found.get(older, ()), newer)
        return found
