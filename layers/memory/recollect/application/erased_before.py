"""What must not come back, from wherever it is imported: what was deleted or erased before (P-22)."""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import Protocol

from recollect.domain.deleted_ids import deleted_key
from recollect.domain.erasure import erased_user_key
from recollect.domain.items import of_tenant
from recollect.domain.record_line import RecordLine
from recollect.domain.scope import Scope
from recollect.ports import Items


class Refusal(Protocol):
    """Which lines must not come back to this user, beside those whose identity is tombstoned: their positions."""

    def deleted(self, scope: Scope, lines: Sequence[RecordLine]) -> AbstractSet[int]:
        """Those that were deleted: where one was a slot's value, its slot stays empty (P-22)."""

    def erased(self, scope: Scope, lines: Sequence[RecordLine]) -> AbstractSet[int]:
        """Those of erased users: nothing at all is kept of them."""


class NoRefusal:
    """Nothing more is refused."""

    def deleted(self, scope: Scope, lines: Sequence[RecordLine]) -> AbstractSet[int]:  # noqa: ARG002
        return frozenset()

    def erased(self, scope: Scope, lines: Sequence[RecordLine]) -> AbstractSet[int]:  # noqa: ARG002
        return frozenset()


class ErasedBefore:
    """A `Refusal` by what the tables tell; each is one read."""

    def __init__(self, items: Items) -> None:
        self._items = items

    def deleted(self, scope: Scope, lines: Sequence[RecordLine]) -> AbstractSet[int]:
        """The positions of those that were deleted from a table that is lost."""
        ids = {key.key for key in self._items.get(scope.user, [deleted_key(line.event.id) for line in lines])}
        return {position for position, line in enumerate(lines) if line.event.id in ids}

    def erased(self, scope: Scope, lines: Sequence[RecordLine]) -> AbstractSet[int]:
        """The positions of those that were recorded before an erasure of their user, or of their origin's."""
        users = {scope.user_id, *(line.origin.user_id for line in lines)}
        keys = {erased_user_key(user_id): user_id for user_id in users}
        found = self._items.get(of_tenant(scope.tenant), list(keys))
        bounds = {keys[key]: str(item.value["before"]) for key, item in found.items()}
        return {
            position
            for position, line in enumerate(lines)
            if line.event.id < bounds.get(scope.user_id, "")
            or line.origin.event_id < bounds.get(line.origin.user_id, "")
        }
