"""AgentCore's memory records: those that a client put there, and our own memories of the actor.

A record that was put is an item, embedded, below the labels of its namespace. Our own memories and the actor's own
words stand in the namespaces of the memory's strategies, where these name the actor: nothing is copied, they are found
by our search. The id of such a one has ours and a hash of the actor.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any
from uuid import UUID

from recollect.core.errors import Conflict, InvalidInput, NotFound, VersionMismatch
from recollect.core.event import Event
from recollect.core.filter import EVERYTHING, AllOf, Condition, Filter, Operator
from recollect.core.idempotency import retry_on_conflict
from recollect.core.scope import Scope
from recollect.core.time import iso, parse_instant
from recollect.entrypoints.http.agentcore.memories import AgentMemory
from recollect.entrypoints.http.agentcore.namespaces import (
    Source,
    is_where_its_owner_is,
    labels_of,
    owner_of,
    path_of,
    sources_of,
)
from recollect.entrypoints.http.agentcore.wire import Kept, document, epoch, short_digest, user_of
from recollect.entrypoints.http.messages import user_in
from recollect.items.item import ABSENT, ItemPlace, NamespacedItem
from recollect.items.use_cases import Get, Put, Search
from recollect.memories.memory import Memory, MemoryStatus
from recollect.memories.reading import MemoryQuery
from recollect.retrieval.filters import SearchFilters
from recollect.retrieval.pipeline import RecallRequest
from recollect.retrieval.ranking import Mode

_MOVED = "~"
NO_STRATEGY = "none"
"""AgentCore's strategy of a record without one."""
_DERIVED_ID = re.compile("mem-([0-9a-f]{32})-([0-9a-f]{13})")
_OPERATORS = {
    "EQUALS_TO": Operator.EQ,
    "CONTAINS": Operator.CONTAINS,
    "BEFORE": Operator.LT,
    "AFTER": Operator.GT,
    "GREATER_THAN": Operator.GT,
    "GREATER_THAN_OR_EQUALS": Operator.GTE,
    "LESS_THAN": Operator.LT,
    "LESS_THAN_OR_EQUALS": Operator.LTE,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordQuery:
    """Which records: of exactly a namespace, or below it; of a strategy; that pass a filter."""

    namespace: str
    below: bool
    strategy: str | None = None
    filter: Filter = EVERYTHING

    @property
    def as_filter(self) -> Filter:
        """What the items must fulfil besides their labels."""
        exact = [] if self.below else [Condition(("path",), Operator.EQ, path_of(self.namespace))]
        strategy = [] if self.strategy is None else [Condition(("strategy",), Operator.EQ, self.strategy)]
        return AllOf((*exact, *strategy, self.filter))


def record_filter(conditions: Sequence[Mapping[str, Any]]) -> Filter:
    """What conditions on the metadata of records ask. Raises InvalidInput."""
    return AllOf(tuple(_condition(one) for one in conditions))


def _condition(given: Mapping[str, Any]) -> Filter:
    try:
        path = ("sought", short_digest(str(given["left"]["metadataKey"])))
        operator = given["operator"]
        if operator in ("EXISTS", "NOT_EXISTS"):
            return Condition(path, Operator.EXISTS, operator == "EXISTS")
        ((_, value),) = given["right"]["metadataValue"].items()
        return Condition(path, _OPERATORS[operator], value)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InvalidInput("is no condition", ("metadataFilters",)) from error


def put_record(
    kept: Kept, memory: AgentMemory, given: Mapping[str, Any], record_id: str, ttl: timedelta | None
) -> None:
    """Stores a record under this id, in the place of one that is there. Raises InvalidInput."""
    record = _document(kept, memory, given, record_id, ttl)
    kept.put(_pointer(memory, record))
    kept.put(record)


def _document(
    kept: Kept, memory: AgentMemory, given: Mapping[str, Any], key: str, ttl: timedelta | None, **more: Any
) -> Put:
    namespace = next(iter(given["namespaces"]), "/")
    metadata = given.get("metadata") or {}
    value = {
        "text": given["content"]["text"],
        "namespaces": list(given["namespaces"]),
        "path": path_of(namespace),
        "strategy": given.get("memoryStrategyId") or NO_STRATEGY,
        "at": iso(given["timestamp"]),
        "metadata": metadata,
        "sought": {short_digest(name): next(iter(one.values()), None) for name, one in metadata.items()},
    }
    place, owner = ItemPlace(labels_of(memory, namespace), key), owner_of(kept, memory, namespace)
    return document(place, value, owner=owner, ttl=ttl, index=["text"], **more)


def _pointer(memory: AgentMemory, record: Put, **more: Any) -> Put:
    """Says where the record of an id is."""
    place = ItemPlace(memory.at("places"), _id_in(record.place))
    value = {"labels": list(record.place.namespace), "key": record.place.key}
    return document(place, value, owner=record.owner, ttl=record.ttl, **more)


def _id_in(place: ItemPlace) -> str:
    """The id of the record there: behind it stands which move has brought it."""
    return place.key.partition(_MOVED)[0]


@dataclass(frozen=True, slots=True)
class _Stored:
    """A record that was put, and what says where it is."""

    pointer: NamespacedItem
    item: NamespacedItem


def _stored(kept: Kept, memory: AgentMemory, record_id: str) -> _Stored:
    """Raises NotFound."""
    pointer = _any(kept, ItemPlace(memory.at("places"), record_id))
    found = None if pointer is None else _any(kept, _pointed_at(pointer))
    if pointer is None or found is None or kept.reader not in (None, found.owner):
        raise NotFound("there is no such record")
    if not is_where_its_owner_is(memory, found):
        raise NotFound("there is no such record")
    return _Stored(pointer, found)


def _pointed_at(pointer: NamespacedItem) -> ItemPlace:
    return ItemPlace(tuple(pointer.value["labels"]), pointer.value.get("key", pointer.place.key))


def _any(kept: Kept, place: ItemPlace) -> NamespacedItem | None:
    return kept.app.items.get(kept.tenant, Get(place, refresh=False), kept.now)


def record_json(item: NamespacedItem, score: float | None = None) -> dict[str, Any]:
    """A record as it is shown."""
    value = item.value
    shown = {
        "memoryRecordId": _id_in(item.place),
        "content": {"text": value["text"]},
        "memoryStrategyId": value["strategy"],
        "namespaces": value["namespaces"],
        "createdAt": epoch(item.created_at),
        "timestamp": epoch(parse_instant(value["at"])),
    }
    shown |= {"metadata": value["metadata"]} if value["metadata"] else {}
    shown |= {} if item.expires_at is None else {"expiresAt": epoch(item.expires_at)}
    return shown if score is None else {**shown, "score": score}


def get_record(kept: Kept, memory: AgentMemory, record_id: str) -> dict[str, Any]:
    """A record. Raises NotFound."""
    derived = _derived(kept, memory, record_id)
    return record_json(_stored(kept, memory, record_id).item) if derived is None else derived[1]


def delete_record(kept: Kept, memory: AgentMemory, record_id: str) -> None:
    """Deletes a record; one of our own with what it was made from. Raises NotFound."""
    derived = _derived(kept, memory, record_id)
    if derived is None:
        stored = _stored(kept, memory, record_id)
        kept.delete(stored.item.place, stored.pointer.place)
        return
    scope, _ = derived
    found = _own(kept, scope, _our_id(record_id))
    if isinstance(found, Memory):
        kept.app.deletion.events.memory(scope, found, now=kept.now, actor=user_in(scope))
    else:
        kept.app.deletion.events.forget(scope, event_id=found.id, now=kept.now)


def update_record(kept: Kept, memory: AgentMemory, given: Mapping[str, Any]) -> None:
    """Changes a record that was put. Raises NotFound, and Conflict for one of our own memories."""
    if _DERIVED_ID.fullmatch(given["memoryRecordId"]):
        raise Conflict("this one is a memory that was made: change it at /v1/users/{user_id}/memories")
    retry_on_conflict(lambda: _update(kept, memory, given), "the record")


def _update(kept: Kept, memory: AgentMemory, given: Mapping[str, Any]) -> None:
    """In its place on the version that was read; into another one as a new item, to which the pointer is then set."""
    stored = _stored(kept, memory, given["memoryRecordId"])
    item, pointer = stored.item, stored.pointer
    record = _document(kept, memory, _changed(item, given), item.place.key, item.ttl, expected=item.version)
    is_moved = record.place != item.place
    if is_moved:
        key = f"{_id_in(item.place)}{_MOVED}{kept.app.ids.fresh()}"
        record = replace(record, place=replace(record.place, key=key), expected=ABSENT)
    kept.put(record)
    try:
        if is_moved or record.owner != pointer.owner:
            kept.put(_pointer(memory, record, expected=pointer.version))
    except VersionMismatch:
        if is_moved:
            kept.delete(record.place)
        raise
    if is_moved:
        retry_on_conflict(lambda: _leave(kept, memory, item, record, given), "the record")


def _leave(kept: Kept, memory: AgentMemory, item: NamespacedItem, record: Put, given: Mapping[str, Any]) -> None:
    """Deletes a record where it was; what was changed there since it was read goes along."""
    late = _any(kept, item.place)
    if late is None:
        return
    if late.version != item.version:
        changed = _document(kept, memory, _changed(late, given), record.place.key, late.ttl)
        kept.put(changed)
    kept.put(Put(place=late.place, value=None, expected=late.version))


def _changed(item: NamespacedItem, given: Mapping[str, Any]) -> dict[str, Any]:
    stored = {
        "content": {"text": item.value["text"]},
        "namespaces": item.value["namespaces"],
        "memoryStrategyId": item.value["strategy"],
        "metadata": item.value["metadata"],
    }
    return {**stored, **given}


def retrieve(kept: Kept, memory: AgentMemory, wanted: RecordQuery, text: str, most: int) -> list[dict[str, Any]]:
    """The best records for a text, the best first."""
    search = replace(_search(memory, wanted), query=text, limit=most)
    stored = kept.app.items.search(kept.tenant, search, kept.now, kept.reader)
    found = [record_json(one.item, one.score or 0.0) for one in stored if is_where_its_owner_is(memory, one.item)]
    for source in _wanted_sources(kept, memory, wanted):
        found += _recalled(kept, source, text, most)
    found.sort(key=lambda one: -float(one["score"]))
    return _distinct(found)[:most]


def _search(memory: AgentMemory, wanted: RecordQuery) -> Search:
    """For the records that were put; of very many in one place the last ones are looked at."""
    return Search(
        prefix=labels_of(memory, wanted.namespace),
        filter=wanted.as_filter,
        refresh=False,
        exact=not wanted.below,
        bounded=True,
    )


def _distinct(found: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    return list({one["memoryRecordId"]: one for one in [*found][::-1]}.values())[::-1]


def _recalled(kept: Kept, source: Source, text: str, most: int) -> Iterator[dict[str, Any]]:
    request = RecallRequest(
        text=text,
        vector=None,
        mode=Mode.HYBRID,
        filters=SearchFilters(now=kept.now, conversation_id=source.conversation),
        wanted=most,
        rerank=True,
    )
    answer = kept.app.retrieval.memory.search(kept.scope(source.actor), request)
    for result in answer.results:
        if result.memory is not None or result.event.is_own_words:
            yield _derived_json(result.memory or result.event, source, round(result.ranked.score, 6))


def list_stored(
    kept: Kept, memory: AgentMemory, wanted: RecordQuery, limit: int, offset: int
) -> tuple[list[dict[str, Any]], bool]:
    """A page of the records that were put, the last written first; whether there may be more."""
    search = replace(_search(memory, wanted), limit=limit, offset=offset)
    found = kept.app.items.search(kept.tenant, search, kept.now, kept.reader)
    shown = [record_json(one.item) for one in found if is_where_its_owner_is(memory, one.item)]
    return shown, len(found) == limit


def list_derived(
    kept: Kept, memory: AgentMemory, wanted: RecordQuery, limit: int, after: str | None
) -> tuple[list[dict[str, Any]], str | None]:
    """A page of our own memories in the first strategy's namespace that is asked for, the last made first."""
    source = next(iter(_wanted_sources(kept, memory, wanted)), None)
    if source is None:
        return [], None
    query = MemoryQuery(status=MemoryStatus.ACTIVE, conversation_id=source.conversation)
    page = kept.app.memories.listing.page(kept.scope(source.actor), query, limit, after, kept.now)
    return [_derived_json(one, source, None) for one in page.memories], page.more


def _wanted_sources(kept: Kept, memory: AgentMemory, wanted: RecordQuery) -> Iterator[Source]:
    """None where metadata is asked for, since our memories have none of AgentCore's."""
    if wanted.filter == EVERYTHING:
        for source in sources_of(kept, memory, wanted.namespace, below=wanted.below):
            if wanted.strategy in (None, source.strategy):
                yield source


def _derived_json(found: Memory | Event, source: Source, score: float | None) -> dict[str, Any]:
    shown = {
        "memoryRecordId": f"mem-{UUID(found.id).hex}-{short_digest(source.actor)}",
        "content": {"text": found.content},
        "memoryStrategyId": source.strategy,
        "namespaces": [source.namespace],
        "createdAt": epoch(found.recorded_at),
        "timestamp": epoch(found.timestamp),
    }
    return shown if score is None else {**shown, "score": score}


def _our_id(record_id: str) -> str:
    return str(UUID(record_id[4:36]))


def _derived(kept: Kept, memory: AgentMemory, record_id: str) -> tuple[Scope, dict[str, Any]] | None:
    """Whose our own memory of that id is, and the record; None for an id of another form. Raises NotFound."""
    match = _DERIVED_ID.fullmatch(record_id)
    if match is None:
        return None
    noted = kept.app.items.get(kept.tenant, Get(ItemPlace(memory.at("actors"), match[2]), refresh=False), kept.now)
    scope = Scope(kept.tenant, "" if noted is None else user_of(noted.value["actor"]))
    if noted is None or scope.user_id != noted.owner or kept.reader not in (None, scope.user_id):
        raise NotFound("there is no such record")
    actor = noted.value["actor"]
    found = _own(kept, scope, _our_id(record_id))
    return scope, _derived_json(found, Source(NO_STRATEGY, f"/{actor}", actor, None), None)


def _own(kept: Kept, scope: Scope, our_id: str) -> Memory | Event:
    """The memory of that id, else the event. Raises NotFound."""
    try:
        return kept.app.memories.store.one(scope, our_id, kept.now)
    except NotFound:
        return kept.app.timeline.listing.one(scope, our_id, kept.now)


def expiry_of(given: Mapping[str, Any] | None) -> timedelta | None:
    """How long records of a request last. Raises InvalidInput."""
    days = (given or {}).get("recordExpiryDurationDays")
    if days is not None and not (isinstance(days, int) and 1 <= days <= 3650):
        raise InvalidInput("1 to 3650 days", ("recordExpirySpecification",))
    return None if days is None else timedelta(days=days)
