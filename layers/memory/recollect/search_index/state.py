"""Which index a tenant's records are found in: a pointer, kept as one item of the tenant.

| collection     | owner  | key     | item                                                                       |
|----------------|--------|---------|----------------------------------------------------------------------------|
| `search_index` | tenant | `state` | `IndexState`; always due in the queue `search_index`: so all can be listed |

An index is built beside the one in use, and the pointer is moved when it is whole: one conditional write. Meanwhile
writes go to both, and reads to the one in use.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from recollect.core.errors import StoredDataError
from recollect.core.items import Due, Item, ItemKey, ItemPath, ItemWrite

NO_GENERATION = "none"
QUEUE = "search_index"
STATE = ItemKey(ItemPath("search_index"), "state")
FORMAT_VERSION = 1
OTHER_GENERATION, LOST, UNFINISHED, INCOMPLETE = "generation", "lost", "unfinished", "incomplete"
NOT_WARM = frozenset({OTHER_GENERATION, LOST})
"""Why searches do not find all that they should: the index is not ready (A-35)."""

_ALWAYS_DUE = datetime(2000, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexState:
    """`generation` is in use; `building` is the one that is being built, the same where it is made anew in place.

    `identity` is that of the index in use as it was last known to be whole (`SearchIndex.identity`; A-34). `incomplete`
    names generations to which documents were written without vectors, where their model was missing.
    """

    generation: str
    identity: str
    building: str | None = None
    incomplete: tuple[str, ...] = ()

    @property
    def generations(self) -> tuple[str, ...]:
        """All that writes go to, the one in use first."""
        both = (self.generation, self.building)
        return tuple(dict.fromkeys(one for one in both if one is not None))

    def lags(self, generation: str, identity: str) -> str | None:
        """Why it must be built for this generation: a word of ours; None where it is whole."""
        if self.generation != generation:
            return OTHER_GENERATION
        if self.identity != identity:
            return LOST
        if self.building is not None:
            return UNFINISHED
        return INCOMPLETE if generation in self.incomplete else None

    def lacking(self, generations: Iterable[str]) -> "IndexState":
        """With these among the incomplete ones."""
        return replace(self, incomplete=tuple(sorted({*self.incomplete, *generations})))

    def begun(self, generation: str) -> "IndexState":
        """While this generation is being built: what it lacks from now on is noted anew."""
        return replace(self, building=generation, incomplete=tuple(g for g in self.incomplete if g != generation))

    def switched(self, generation: str, identity: str) -> "IndexState":
        """With this generation in use; what it came to lack while it was built is still noted."""
        lacking = (generation,) if generation in self.incomplete else ()
        return IndexState(generation=generation, identity=identity, incomplete=lacking)


def state_in(item: Item) -> IndexState:
    """Reads what `state_write` wrote. Raises StoredDataError."""
    value = item.value
    try:
        if value["format"] > FORMAT_VERSION:
            raise StoredDataError("an index's state of a newer format")
        return IndexState(
            generation=value["generation"],
            identity=value["identity"],
            building=value.get("building"),
            incomplete=tuple(value["incomplete"]),
        )
    except (KeyError, TypeError) as error:
        raise StoredDataError(f"an index's state cannot be read: {type(error).__name__}") from error


def state_write(state: IndexState, expected: int) -> ItemWrite:
    """The write that makes it so, on the condition that the item has this version."""
    value: dict[str, Any] = {
        "format": FORMAT_VERSION,
        "generation": state.generation,
        "identity": state.identity,
        "building": state.building,
        "incomplete": list(state.incomplete),
    }
    return ItemWrite(STATE, value, expected, Due(QUEUE, _ALWAYS_DUE))
