"""Making events durable: one conditional transaction for each, a few in flight at once."""

from collections.abc import Sequence
from typing import Any

from botocore.exceptions import ClientError

from recollect.adapters.aws import item_writes, keys
from recollect.adapters.aws.errors import THROTTLED, code_of, from_client_error, translated
from recollect.adapters.aws.item_access import SERVICE, ItemAccess
from recollect.adapters.aws.item_format import Item, dedupe_item, event_item, item_bytes, pending_item
from recollect.domain.errors import Conflict, InvalidInput, Throttled, UpstreamFailed, VersionMismatch
from recollect.domain.items import checked
from recollect.domain.scope import Scope
from recollect.domain.timeline import AppendOutcome, AppendStatus, EventWrite

MAX_ITEM_BYTES = 350 * 1024  # the service takes 400 KB; what an event gains later must fit too

_ABSENT = "attribute_not_exists(pk)"
_FAILED = "ConditionalCheckFailed"
_EVENT, _DEDUPE, _MARKER, _REJECTION, _ITEMS = range(5)


def append(access: ItemAccess, scope: Scope, writes: Sequence[EventWrite]) -> list[AppendOutcome]:
    """One outcome per write, in order. Raises InvalidInput before anything is stored where an item is too large.

    Writes of one identity are done in their order, since the first is the one that stands; so are writes of one
    text, whose transactions would be in each other's way at the check of its rejection.
    """
    transactions = [_Transaction(access.table, scope, write) for write in writes]
    outcomes: dict[int, AppendOutcome] = {}
    for wave in _waves(writes):
        for done in access.side_by_side(lambda line: {n: _run(access, transactions[n]) for n in line}, wave):
            outcomes |= done
    return [outcomes[n] for n in range(len(writes))]


def _waves(writes: Sequence[EventWrite]) -> list[list[list[int]]]:
    """Two waves of lines: the first of each identity, a line for each text; then the repetitions, all in one line."""
    lines: dict[str, list[int]] = {}
    repeated: list[int] = []
    seen: set[str] = set()
    for position, write in enumerate(writes):
        line = repeated if write.identity in seen else lines.setdefault(write.fingerprint, [])
        line.append(position)
        seen.add(write.identity)
    return [wave for wave in (list(lines.values()), [repeated] if repeated else []) if wave]


class _Transaction:
    """The request that stores one event with its items.

    The SDK gives each call a ClientRequestToken, so that what it sends again counts once. We make none of the event:
    within ten minutes the service would answer such a token with success even where the event was deleted meanwhile.
    """

    def __init__(self, table: str, scope: Scope, write: EventWrite) -> None:
        event = event_item(scope, write)
        if item_bytes(event) > MAX_ITEM_BYTES:
            raise InvalidInput("an event of more than 350 KB", ("event",))
        self.scope, self.write = scope, write
        self._texts = checked(write.items)
        self._own = [
            _put(table, event),
            _put(table, dedupe_item(scope, write)),
            {"Put": {"TableName": table, "Item": pending_item(scope, write.event.ref)}},
            _absence(table, keys.rejection_key(scope, write.fingerprint)),
        ]

    def operations(self, access: ItemAccess) -> list[dict[str, Any]]:
        """Its own four, then the items', which are read where one takes any version."""
        items = self.write.items
        if not items:
            return self._own
        wanted = item_writes.resolved(access, self.scope, items, self._texts, self.write.event.recorded_at)
        return [*self._own, *item_writes.operations(access.table, wanted)]


def _put(table: str, item: Item) -> dict[str, Any]:
    condition = {"ConditionExpression": _ABSENT, "ReturnValuesOnConditionCheckFailure": "ALL_OLD"}
    return {"Put": {"TableName": table, "Item": item} | condition}


def _absence(table: str, key: keys.Key) -> dict[str, Any]:
    return {"ConditionCheck": {"TableName": table, "Key": key.attributes, "ConditionExpression": _ABSENT}}


def _run(access: ItemAccess, transaction: _Transaction) -> AppendOutcome:
    """Tries until it is stored or refused; conflicts and throttling are waited out, for about a second in all."""
    failure: Exception = Throttled("DynamoDB: no try was allowed")
    for _ in access.backoff.attempts():
        try:
            with translated(SERVICE):
                return _try(access, transaction)
        except Throttled as throttled:
            failure = throttled
        except VersionMismatch as mismatch:
            if not item_writes.may_pass(transaction.write.items):
                raise
            failure = mismatch
    raise failure


def _try(access: ItemAccess, transaction: _Transaction) -> AppendOutcome:
    event, operations = transaction.write.event, transaction.operations(access)
    try:
        access.client.transact_write_items(TransactItems=operations)
    except ClientError as error:
        if code_of(error) != "TransactionCanceledException":
            raise
        return _outcome_of(access, transaction, len(operations), error)
    return AppendOutcome(AppendStatus.CREATED, event.id, event.conversation_id)


def _outcome_of(access: ItemAccess, transaction: _Transaction, count: int, error: ClientError) -> AppendOutcome:
    reasons = error.response.get("CancellationReasons") or []
    codes = [reason.get("Code") for reason in reasons]
    if len(codes) != count:
        raise UpstreamFailed("DynamoDB: a transaction was cancelled without reasons") from error
    if codes[_DEDUPE] == _FAILED:
        return _of_dedupe(transaction.write, _stored_dedupe(access, transaction, reasons[_DEDUPE]))
    if codes[_REJECTION] == _FAILED:
        return AppendOutcome(AppendStatus.REFUSED, None, reason="rejected")
    if not THROTTLED.isdisjoint(codes):
        raise Throttled("DynamoDB: a transaction met another") from error
    if codes[_EVENT] == _FAILED:
        raise Conflict("an event of this id and instant exists under another identity") from error
    if _FAILED in codes[_ITEMS:]:
        raise VersionMismatch("DynamoDB: an item changed since it was read") from error
    raise from_client_error(SERVICE, error) from error


def _stored_dedupe(access: ItemAccess, transaction: _Transaction, reason: dict[str, Any]) -> Item:
    """The record that was in the way: in the answer, else read; gone by now means that a retry will pass."""
    item: Item | None = reason.get("Item") or access.get(keys.dedupe_key(transaction.scope, transaction.write.identity))
    if item is None:
        raise Throttled("DynamoDB: a dedupe record went away meanwhile")
    return item


def _of_dedupe(write: EventWrite, dedupe: Item) -> AppendOutcome:
    if "n" not in dedupe:
        return AppendOutcome(AppendStatus.REFUSED, None, reason="deleted")
    event_id, conversation = dedupe["n"]["S"], dedupe["k"]["S"]
    status = AppendStatus.CREATED if event_id == write.event.id else AppendStatus.DUPLICATE
    return AppendOutcome(status, event_id, conversation)
