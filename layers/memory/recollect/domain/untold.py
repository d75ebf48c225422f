"""Deletions that are not known to be kept outside of the table yet: each written in one step with what it tells of.

| collection         | owner           | key                                      | value         |
|--------------------|-----------------|------------------------------------------|---------------|
| `untold_deletions` | user, or tenant | id of record, rejection, erasure; `keys` | the tombstone |

It goes when that is done. One that is left, because a process ended in between, is told by the next reconciliation.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from recollect.domain.items import Due, ItemKey, ItemPath, ItemWrite

QUEUE = "untold_deletions"
UNTOLD = ItemPath("untold_deletions")


def untold_key(key: str) -> ItemKey:
    """Where it stands."""
    return ItemKey(UNTOLD, key)


def untold_write(key: str, tombstone: Mapping[str, Any]) -> ItemWrite:
    """What is written together with a deletion. To tell twice is no harm, so it is due from the start."""
    return ItemWrite(untold_key(key), tombstone, due=Due(QUEUE, datetime.fromtimestamp(0, UTC)))
