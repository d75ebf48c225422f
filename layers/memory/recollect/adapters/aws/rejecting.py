"""Rejected values as an append compares them, changed in one transaction with the items that tell of it."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from botocore.exceptions import ClientError

from recollect.adapters.aws import item_writes, keys
from recollect.adapters.aws.errors import cancellation_codes, translated
from recollect.adapters.aws.item_access import SERVICE, ItemAccess
from recollect.domain.errors import RecollectError, Throttled, VersionMismatch
from recollect.domain.items import ItemWrite, checked
from recollect.domain.scope import Scope

_FAILED = "ConditionalCheckFailed"


def reject(access: ItemAccess, scope: Scope, fingerprint: str, items: Sequence[ItemWrite], now: datetime) -> None:
    """From now on appends of the fingerprint are refused. Raises VersionMismatch, InvalidInput, Throttled."""
    place = keys.rejection_key(scope, fingerprint).attributes
    _change(access, scope, {"Put": {"TableName": access.table, "Item": place}}, items, now)


def lift(access: ItemAccess, scope: Scope, fingerprint: str, items: Sequence[ItemWrite], now: datetime) -> None:
    """From now on they are stored again. Raises VersionMismatch, InvalidInput, Throttled."""
    place = keys.rejection_key(scope, fingerprint).attributes
    _change(access, scope, {"Delete": {"TableName": access.table, "Key": place}}, items, now)


def _change(access: ItemAccess, scope: Scope, own: dict[str, Any], items: Sequence[ItemWrite], now: datetime) -> None:
    """Conflicts with appends of the same text are waited out, for about a second in all."""
    texts = checked(items)
    failure: RecollectError = Throttled("DynamoDB: no try was allowed")
    for _ in access.backoff.attempts():
        try:
            wanted = item_writes.resolved(access, scope, items, texts, now)
            _transact(access, [own, *item_writes.operations(access.table, wanted)])
        except Throttled as throttled:
            failure = throttled
        except VersionMismatch as mismatch:
            if not item_writes.may_pass(items):
                raise
            failure = mismatch
        else:
            return
    raise failure


def _transact(access: ItemAccess, operations: Sequence[dict[str, Any]]) -> None:
    with translated(SERVICE):
        try:
            access.client.transact_write_items(TransactItems=operations)
        except ClientError as error:
            if _FAILED in cancellation_codes(error):
                raise VersionMismatch("DynamoDB: an item changed since it was read") from error
            raise
