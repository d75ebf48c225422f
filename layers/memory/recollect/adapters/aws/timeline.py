"""The port `Timeline` on DynamoDB: one conditional transaction for each append, a few in flight at once.

An append reads first whether its value is rejected: as a part of the transaction that check would cost two write units
of an event's eight. An append that a rejection overtakes after that is before it, as what is stored already.
"""

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any

from botocore.exceptions import ClientError

from recollect.adapters.aws import keys
from recollect.adapters.aws.clients import CANCELLED_BY_CONDITION, THROTTLED, code_of, from_client_error, translated
from recollect.adapters.aws.item_format import (
    Attributes,
    admitted,
    dedupe_item,
    event_in,
    event_item,
    event_ref_in,
    item_bytes,
    marked_ref,
    moment_in,
    pending_item,
    projected_ref,
    slot_entry_in,
)
from recollect.adapters.aws.items import operations, retry_writes
from recollect.adapters.aws.keys import Key
from recollect.adapters.aws.removal import bury_identities, lift_rejection, reject_value, remove_event
from recollect.adapters.aws.table import ABSENT, SERVICE, ItemAccess, Walk
from recollect.core.errors import Conflict, InvalidInput, StoredDataError, Throttled, UpstreamFailed, VersionMismatch
from recollect.core.event import Event, EventRef
from recollect.core.items import ItemWrite, checked
from recollect.core.scope import Scope
from recollect.core.time import sortable
from recollect.retrieval.filters import DropReason, TimeWindow
from recollect.timeline.slots import SlotEntry, beside, named_slot
from recollect.timeline.timeline import (
    COUNTED_RECORDS,
    TAIL_EVENTS,
    AppendOutcome,
    AppendStatus,
    Conversation,
    ConversationPage,
    EventWrite,
    RecordPage,
    Removal,
    Tail,
    WindowPage,
    WindowQuery,
)

MAX_ITEM_BYTES = 350 * 1024  # the service takes 400 KB; what an event gains later must fit too

RECORDS_PER_PAGE = 1000

_EVENT, _DEDUPE, _MARKER, _ITEMS = range(4)


@dataclass(frozen=True, slots=True)
class DynamoDBTimeline:
    """A page of `window` or `records` reads at most 1,000 records.

    Where a persona or household narrows them, `newest`, `of_conversation` and `important` read at most 10,000.
    """

    access: ItemAccess

    def append(self, scope: Scope, writes: Sequence[EventWrite]) -> list[AppendOutcome]:
        """Makes each event durable by itself: one outcome per write, in order (P-20)."""
        return _append(self.access, scope, writes) if writes else []

    def read(self, scope: Scope, refs: Sequence[EventRef]) -> dict[str, Event]:
        found = self.access.get_many(keys.event_key(scope, ref) for ref in refs)
        events = [event_in(item) for item in found.values()]
        return {event.id: event for event in events}

    def find(self, scope: Scope, event_id: str) -> Event | None:
        """One event by its id, by way of its marker or its projection."""
        ref = self._place_of(scope, event_id)
        return self.read(scope, [ref]).get(event_id) if ref else None

    def identified(self, scope: Scope, identities: Sequence[str]) -> dict[str, str | None]:
        places = {keys.dedupe_key(scope, identity): identity for identity in identities}
        found = self.access.get_many(places)
        return {places[key]: item["n"]["S"] if "n" in item else None for key, item in found.items()}

    def window(self, scope: Scope, query: WindowQuery) -> WindowPage:
        page = _Page(scope, query)
        sort_keys = keys.event_range(query.window, query.after)
        if sort_keys.low <= sort_keys.high:
            for item in self._events(scope, sort_keys, query.limit + 2):
                if not page.take(item):
                    break
        return page.result()

    def newest(self, scope: Scope, limit: int) -> list[Event]:
        items = self._events(scope, keys.event_range(TimeWindow()), limit)
        events = (event_in(item) for item in islice(items, COUNTED_RECORDS))
        return list(islice((e for e in events if not e.is_carrier and _admits(scope, e)), limit))

    def of_conversation(self, scope: Scope, conversation_id: str, limit: int) -> list[EventRef]:
        partition = keys.conversation_index(scope, conversation_id)
        walk = Walk(partition, newest_first=True, index="conversation", partition_name="c")
        return _refs(scope, self.access.walk(walk, limit), limit)

    def important(self, scope: Scope, limit: int) -> list[EventRef]:
        """Events of importance 0.6 and more, the most important first; lacks the tail (K-20)."""
        walk = Walk(keys.user_partition(scope), newest_first=True, index="importance")
        return _refs(scope, self.access.walk(walk, limit), limit)

    def records(self, scope: Scope, limit: int, after: EventRef | None) -> RecordPage:
        walk = Walk(keys.user_partition(scope), keys.records_from(after))
        stored = (event_in(item) for item in self.access.walk(walk, limit + 2))
        read: list[Event] = []
        admitted_ones: list[Event] = []
        for event in (event for event in stored if event.ref != after):
            if len(admitted_ones) == limit or len(read) == RECORDS_PER_PAGE:
                return RecordPage(tuple(admitted_ones), read[-1].ref)
            read.append(event)
            if _admits(scope, event):
                admitted_ones.append(event)
        return RecordPage(tuple(admitted_ones), None)

    def tail(self, scope: Scope) -> Tail:
        """The newest 100 pending events of the user, newest arrival first; older ones are not counted."""
        walk = Walk(*keys.pending_of_user(scope), newest_first=True)
        items, _ = self.access.page(walk, TAIL_EVENTS + 1)
        refs = tuple(marked_ref(item) for item in items)
        newest = refs[:TAIL_EVENTS]
        return Tail(newest, cut=len(refs) > TAIL_EVENTS, waiting=len(newest))

    def conversations(self, scope: Scope, limit: int, after: str | None) -> ConversationPage:
        """The user's conversations, the last begun first.

        Their keys are ids, so that entering one costs one write, and none where it is listed; so each page reads all
        of them (about 7,000 in 1 MB) and sorts them here.
        """
        items = self.access.walk(Walk(keys.user_partition(scope), keys.conversation_range()))
        listed = sorted(((_begun(item), item) for item in items), key=lambda pair: pair[0], reverse=True)
        rest = [(place, item) for place, item in listed if after is None or place < after]
        page = rest[:limit]
        more = page[-1][0] if len(rest) > limit else None
        return ConversationPage(tuple(Conversation(item["n"]["S"], moment_in(item, "t")) for _, item in page), more)

    def slot_history(self, scope: Scope, slot: tuple[str, str, str]) -> list[SlotEntry]:
        walk = Walk(keys.user_partition(scope), keys.slot_range(slot))
        return [slot_entry_in(item) for item in self.access.walk(walk)]

    def of_slot(self, scope: Scope, slot: tuple[str, str, str]) -> list[Event]:
        """The stored events of a slot, newest first: those of its histories and those that are pending."""
        entries = [*self.slot_history(scope, slot), *self.slot_history(scope, beside(slot))]
        listed = [entry.ref for entry in entries if entry.emptied is None]
        pending = [marked_ref(item) for item in self.access.walk(Walk(*keys.pending_of_user(scope)))]
        found = self.read(scope, [*listed, *pending]).values()
        return sorted((e for e in found if named_slot(e) == slot), key=lambda e: (e.timestamp, e.id), reverse=True)

    def remove(self, scope: Scope, event: Event, removal: Removal) -> bool:
        """Removes the event in one transaction (P-22)."""
        return remove_event(self.access, scope, event, removal)

    def bury(self, scope: Scope, identities: Sequence[str]) -> None:
        bury_identities(self.access, scope, identities)

    def reject(self, scope: Scope, fingerprint: str, items: Sequence[ItemWrite], now: datetime) -> None:
        reject_value(self.access, scope, fingerprint, items, now)

    def lift(self, scope: Scope, fingerprint: str, items: Sequence[ItemWrite], now: datetime) -> None:
        lift_rejection(self.access, scope, fingerprint, items, now)

    def _events(self, scope: Scope, sort_keys: keys.SortRange, first: int) -> Iterator[Attributes]:
        return self.access.walk(Walk(keys.user_partition(scope), sort_keys, newest_first=True), first)

    def _place_of(self, scope: Scope, event_id: str) -> EventRef | None:
        marker, projection = keys.pending_key(scope, event_id), keys.projection_key(scope, event_id)
        found = self.access.get_many([marker, projection])
        if marker in found:
            return marked_ref(found[marker])
        return projected_ref(found[projection]) if projection in found else None


def _append(access: ItemAccess, scope: Scope, writes: Sequence[EventWrite]) -> list[AppendOutcome]:
    """One outcome per write, in order. Raises InvalidInput before anything is stored where an item is too large.

    Writes of one identity are made in their order, since the first one wins.
    """
    transactions = [_Transaction(access, scope, write) for write in writes]
    rejected = access.get_many(transaction.rejection for transaction in transactions)
    outcomes: dict[int, AppendOutcome] = {}
    for group in _groups(writes):
        for done in access.side_by_side(lambda line: {n: transactions[n].run(rejected) for n in line}, group):
            outcomes |= done
    return [outcomes[n] for n in range(len(writes))]


def _groups(writes: Sequence[EventWrite]) -> list[list[list[int]]]:
    """Two groups of lines: the first of each identity, each by itself; then the repetitions, all in one line."""
    first: list[list[int]] = []
    repeated: list[int] = []
    seen: set[str] = set()
    for position, write in enumerate(writes):
        if write.identity in seen:
            repeated.append(position)
        else:
            first.append([position])
        seen.add(write.identity)
    return [group for group in (first, [repeated] if repeated else []) if group]


class _Transaction:
    """The request that stores one event with its items.

    Its ClientRequestToken is the SDK's, one for each call, and not made of the event: within ten minutes the service
    would answer an event's token with success even where the event was deleted meanwhile.
    """

    def __init__(self, access: ItemAccess, scope: Scope, write: EventWrite) -> None:
        event = event_item(scope, write)
        if item_bytes(event) > MAX_ITEM_BYTES:
            raise InvalidInput("an event of more than 350 KB", ("event",))
        self.rejection = keys.rejection_key(scope, write.fingerprint)
        self._access, self._scope, self._write = access, scope, write
        self._texts = checked(write.items)
        table = access.table
        self._own = [
            _put(table, event),
            _put(table, dedupe_item(scope, write)),
            {"Put": {"TableName": table, "Item": pending_item(scope, write.event.ref)}},
        ]

    def run(self, rejected: Container[Key]) -> AppendOutcome:
        """Makes the request, again while it is throttled or in conflict; none for a value that is rejected."""
        if self.rejection in rejected:
            stored = self._access.get(keys.dedupe_key(self._scope, self._write.identity))
            return self._known(stored) if stored else AppendOutcome(AppendStatus.REFUSED, None, reason="rejected")
        return retry_writes(self._access, self._write.items, self._attempt)

    def _attempt(self) -> AppendOutcome:
        write, event = self._write, self._write.event
        items = operations(self._access, self._scope, write.items, self._texts, event.recorded_at)
        with translated(SERVICE):
            try:
                self._access.client.transact_write_items(TransactItems=[*self._own, *items])
            except ClientError as error:
                if code_of(error) != "TransactionCanceledException":
                    raise
                return self._outcome(len(self._own) + len(items), error)
        return AppendOutcome(AppendStatus.CREATED, event.id, event.conversation_id)

    def _outcome(self, count: int, error: ClientError) -> AppendOutcome:
        reasons = error.response.get("CancellationReasons") or []
        codes = [reason.get("Code") for reason in reasons]
        if len(codes) != count:
            raise UpstreamFailed("DynamoDB: a transaction was cancelled without reasons") from error
        if codes[_DEDUPE] == CANCELLED_BY_CONDITION:
            return self._known(self._stored_dedupe(reasons[_DEDUPE]))
        if not THROTTLED.isdisjoint(codes):
            raise Throttled("DynamoDB: a transaction met another") from error
        if codes[_EVENT] == CANCELLED_BY_CONDITION:
            raise Conflict("an event of this id and instant exists under another identity") from error
        if CANCELLED_BY_CONDITION in codes[_ITEMS:]:
            raise VersionMismatch("DynamoDB: an item changed since it was read") from error
        raise from_client_error(SERVICE, error) from error

    def _known(self, stored: Attributes) -> AppendOutcome:
        event_id, conversation = (stored[name]["S"] if name in stored else None for name in ("n", "k"))
        return AppendOutcome.of_known(self._write.event, event_id, conversation)

    def _stored_dedupe(self, reason: dict[str, Any]) -> Attributes:
        """The conflicting record: in the answer, else read.

        Raises Throttled where it is deleted by now: a retry passes.
        """
        place = keys.dedupe_key(self._scope, self._write.identity)
        item: Attributes | None = reason.get("Item") or self._access.get(place)
        if item is None:
            raise Throttled("DynamoDB: a dedupe record was deleted meanwhile")
        return item


def _put(table: str, item: Attributes) -> dict[str, Any]:
    condition = {"ConditionExpression": ABSENT, "ReturnValuesOnConditionCheckFailure": "ALL_OLD"}
    return {"Put": {"TableName": table, "Item": item} | condition}


class _Page:
    def __init__(self, scope: Scope, query: WindowQuery) -> None:
        self._scope, self._query = scope, query
        self._events: list[Event] = []
        self._unreadable: list[EventRef] = []
        self._dropped: Counter[DropReason] = Counter()
        self._last: EventRef | None = None
        self._read = 0
        self._full = False

    def take(self, item: Attributes) -> bool:
        """False where the page is full: the next one goes on after the last record taken."""
        place = event_ref_in(item)
        if place == self._query.after:
            return True
        self._full = self._taken == self._query.limit or self._read == RECORDS_PER_PAGE
        if not self._full:
            self._last = place
            self._read += 1
            self._sort_out(item, place)
        return not self._full

    def result(self) -> WindowPage:
        """The page; `more` only where a record was left."""
        scanned, more = self._taken + self._dropped.total(), self._last if self._full else None
        return WindowPage(tuple(self._events), scanned, self._dropped, more, tuple(self._unreadable))

    @property
    def _taken(self) -> int:
        return len(self._events) + len(self._unreadable)

    def _sort_out(self, item: Attributes, place: EventRef) -> None:
        try:
            event = event_in(item)
        except StoredDataError:
            if not self._query.around_unreadable:
                raise
            self._unreadable.append(place)
            return
        if event.is_carrier:
            return
        reason = self._reason_against(event)
        if reason is None:
            self._events.append(event)
        else:
            self._dropped[reason] += 1

    def _reason_against(self, event: Event) -> DropReason | None:
        if not _admits(self._scope, event):
            return DropReason.SCOPE
        if event.expired(self._query.now):
            return DropReason.EXPIRED
        pairs = ((self._query.conversation_id, event.conversation_id), (self._query.event_type, event.event_type))
        fits = all(asked is None or asked == has for asked, has in pairs) and self._query.admits(event.labels)
        return None if fits else DropReason.FILTER


def _admits(scope: Scope, event: Event) -> bool:
    return scope.admits(event.persona_id, event.household_id)


def _refs(scope: Scope, entries: Iterable[Attributes], limit: int) -> list[EventRef]:
    seen = islice(entries, COUNTED_RECORDS)
    return [projected_ref(entry) for entry in islice((e for e in seen if admitted(scope, e)), limit)]


def _begun(item: Attributes) -> str:
    return f"{sortable(moment_in(item, 't'))}{item['sk']['S']}"
