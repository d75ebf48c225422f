"""Ids of records that were deleted before the table was lost: no import and no restore brings them back (P-22).

| collection    | owner | key       | value |
|---------------|-------|-----------|-------|
| `deleted_ids` | user  | record id | `{}`  |
"""

from recollect.domain.items import ItemKey, ItemPath, ItemWrite

DELETED_IDS = ItemPath("deleted_ids")


def deleted_key(record_id: str) -> ItemKey:
    """Where it is told that a record was deleted."""
    return ItemKey(DELETED_IDS, record_id)


def deleted_write(record_id: str) -> ItemWrite:
    """What tells it; again is no harm."""
    return ItemWrite(deleted_key(record_id), {})
