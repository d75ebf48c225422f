"""Items of applications, in the wire of LangGraph's store (langgraph-sdk 0.4.14), with what it lacks beside it.

Beyond that wire: `ETag`, `If-Match` and `If-None-Match`; `where`, the grammar of docs/filters.md; vectors of one's own;
`user_id`, the owner; and several operations in one request. An item that is not there is answered as `null`, as
LangGraph's own server does.
"""

from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Annotated, Any, Self

from pydantic import Field, RootModel, model_validator

from recollect.app import App
from recollect.core.errors import InvalidInput, VersionMismatch
from recollect.core.filter import EVERYTHING, AllOf, Filter, filter_of
from recollect.core.vectors import FloatArray, vector_of
from recollect.entrypoints.http.headers import countdown
from recollect.entrypoints.http.messages import Reply, Request, etag
from recollect.entrypoints.http.models import (
    AnswerModel,
    Conditions,
    Count,
    Free,
    Identifier,
    Maybe,
    Read,
    RequestModel,
    Text,
    Time,
    Vector,
    YesOrNo,
    check_depth,
    fault,
    is_unicode,
    within_page,
)
from recollect.entrypoints.http.problems import located
from recollect.entrypoints.http.routing import Routes
from recollect.items.item import (
    ABSENT,
    MOST_CHARACTERS,
    MOST_LABELS,
    MOST_LEVELS_OF_VALUE,
    MOST_RESULTS,
    FoundItem,
    ItemPlace,
    Namespace,
    NamespacedItem,
    NamespaceListing,
    check_new_namespace,
)
from recollect.items.langgraph_filter import langgraph_filter
from recollect.items.use_cases import Get, Operation, Outcome, Put, Search

MOST_OPERATIONS = 1_000
_SAMPLES = 20
_MOST_SECONDS = 6.0
_RESERVE_SECONDS = 5.0
_LARGEST_OFFSET = 100_000
_MOST_VECTORS = 64
_LABELS_IN_QUERY = Text(4 * (MOST_CHARACTERS + MOST_LABELS))


def _value(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise fault("must be an object")
    check_depth(value, MOST_LEVELS_OF_VALUE)
    return value


def _index(value: Any) -> list[str] | bool:
    if isinstance(value, bool):
        return value
    if not isinstance(value, list) or not all(isinstance(path, str) and is_unicode(path) for path in value):
        raise fault("must be false or a list of paths")
    return value


_INDEX_SCHEMA = {"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "boolean"}]}
Label = Annotated[str, Text(4 * MOST_CHARACTERS)]
Labels = Annotated[list[Label], Field(max_length=MOST_LABELS)]
Value = Annotated[dict[str, Any], Read(_value, {"type": "object", "additionalProperties": True})]
Index = Annotated[list[str] | bool, Read(_index, _INDEX_SCHEMA)]
Minutes = Annotated[float, Field(gt=0)]
Results = Annotated[int, Field(ge=0, le=MOST_RESULTS)]
Offset = Annotated[int, Field(ge=0, le=_LARGEST_OFFSET)]


class ItemQuery(RequestModel):
    namespace: Annotated[str, _LABELS_IN_QUERY] = Field(description="The labels with dots between.")
    key: Label
    refresh_ttl: Maybe[YesOrNo] = Field(None, description="`false` leaves the item's lifetime as it is.")


class PlaceBody(RequestModel, title="ItemPlace"):
    namespace: Labels = Field(description="At most 16 labels of 1,024 characters together, without dots.")
    key: Label

    @property
    def place(self) -> ItemPlace:
        """Where the item is."""
        return ItemPlace(tuple(self.namespace), self.key)


class DeleteItem(PlaceBody, title="DeleteItem"):
    pass


class GetItem(PlaceBody, title="GetItem"):
    refresh_ttl: Maybe[bool] = None


class PutItem(PlaceBody, title="PutItem"):
    value: Value = Field(description="A JSON object of at most 256 KiB; it replaces what was there.")
    index: Maybe[Index] = Field(
        None, description="Paths of the texts that are embedded; false: none. Absent: the whole document."
    )
    ttl: Maybe[Minutes] = Field(None, description="Minutes until it ends; a read begins them anew.")
    user_id: Maybe[Identifier] = Field(
        None, description="The user who owns it, so that erasing and exporting them reaches it."
    )
    vectors: Maybe[Annotated[list[Vector], Field(max_length=_MOST_VECTORS)]] = Field(
        None,
        description="The application's own vectors, all of one length, instead of ours; compared with `query_vector`.",
    )


class SearchItems(RequestModel):
    namespace_prefix: Labels = Field(default_factory=list)
    filter: Maybe[Conditions] = Field(None, description="LangGraph's form: fields, `$eq $ne $gt $gte $lt $lte`.")
    where: Maybe[Conditions] = Field(None, description="The grammar of docs/filters.md; with `filter` both hold.")
    query: Maybe[Annotated[str, Text(64 * 1024)]] = Field(None, description="What is looked for, by meaning.")
    query_vector: Maybe[Vector] = Field(None, description="Compared with the application's own vectors of its length.")
    limit: Results = 10
    offset: Offset = 0
    refresh_ttl: Maybe[bool] = None


class DeleteItems(RequestModel):
    """Which items go: those below the prefix that pass; something must be named."""

    namespace_prefix: Labels = Field(default_factory=list)
    filter: Maybe[Conditions] = Field(None, description="LangGraph's form: fields, `$eq $ne $gt $gte $lt $lte`.")
    where: Maybe[Conditions] = Field(None, description="The grammar of docs/filters.md; with `filter` both hold.")
    dry_run: bool = Field(False, description="Counts, and deletes nothing.")
    limit: Annotated[int, Field(ge=1, le=MOST_RESULTS)] = Field(MOST_RESULTS, description="Items of this call.")


class ListNamespaces(RequestModel):
    prefix: Maybe[Labels] = Field(None, description="`*` is any one label.")
    suffix: Maybe[Labels] = None
    max_depth: Maybe[Annotated[int, Field(ge=1, le=MOST_LABELS)]] = Field(
        None, description="Longer ones are cut to so many labels, each shown once."
    )
    limit: Results = 100
    offset: Offset = 0


class BatchPut(PutItem, title="PutOrDeleteItem"):
    cleared_by_null = frozenset({"value"})

    value: Value | None = Field(description="null deletes the item.")  # type: ignore[assignment]
    version: Maybe[Annotated[int, Field(ge=0)]] = Field(
        None, description="Only that version is replaced; 0: only where there is no item."
    )


class BatchOperation(RequestModel):
    """One of the four."""

    get: Maybe[GetItem] = None
    put: Maybe[BatchPut] = None
    search: Maybe[SearchItems] = None
    list_namespaces: Maybe[ListNamespaces] = None

    @model_validator(mode="after")
    def _one(self) -> Self:
        if len(self.given()) != 1:
            raise fault("must be one of get, put, search, list_namespaces")
        return self


class Batch(RequestModel, title="ItemBatch"):
    operations: Annotated[list[BatchOperation], Field(max_length=MOST_OPERATIONS)]


class ItemAnswer(AnswerModel, title="Item"):
    namespace: list[str]
    key: str
    value: Free
    created_at: Time
    updated_at: Time
    version: int
    user_id: Maybe[str] = None
    expires_at: Maybe[Time] = None

    @classmethod
    def of(cls, item: NamespacedItem, **more: Any) -> Self:
        """The item as it is shown."""
        place = {"namespace": item.place.namespace, "key": item.place.key, "user_id": item.owner}
        return cls.made_of(item, **place, **more)


class FoundItemAnswer(ItemAnswer, title="FoundItem"):
    score: Maybe[float] = None


class ItemOrNull(RootModel[ItemAnswer | None], defer_build=True):
    """The item; null where there is none."""


class FoundItems(AnswerModel):
    items: list[FoundItemAnswer]


class PlaceAnswer(AnswerModel, title="ItemPlaceAnswer"):
    namespace: list[str]
    key: str


class ItemsDeleted(AnswerModel):
    matched: Count = Field(description="Of this call.")
    deleted: Count
    items: list[PlaceAnswer] = Field(description="Some of them, at most 20.")
    more: bool = Field(description="There may be more than these.")


class Namespaces(AnswerModel):
    namespaces: list[list[str]]


class BatchResult(AnswerModel, title="ItemBatchResult"):
    """What one operation gave: an item where one was asked for and is there, what was found, or namespaces."""

    item: Maybe[ItemAnswer] = None
    items: Maybe[list[FoundItemAnswer]] = None
    namespaces: Maybe[list[list[str]]] = None


class BatchResults(AnswerModel, title="ItemBatchResults"):
    results: list[BatchResult]


routes = Routes()
_ITEMS = "/store/items"


@routes.get(_ITEMS, answer=ItemOrNull)
def get_item(app: App, request: Request, query: ItemQuery) -> Reply:
    """One item, or null."""
    place = ItemPlace(tuple(query.namespace.split(".")), query.key)
    with located(lambda _: ("query",)):
        item = app.items.get(_tenant(request), Get(place, query.refresh_ttl != "false"), request.now, _reader(request))
    if item is None:
        return Reply(200, "null", log={"found": False})
    return Reply(200, ItemAnswer.of(item), etag(item.version), log={"found": True})


@routes.add("PUT", _ITEMS, good=(204,), errors=(412,))
def put_item(app: App, request: Request, body: PutItem) -> Reply:
    """Keeps a document at a namespace and a key, in the place of what was there."""
    app.timeline.limits.take(_tenant(request), 1, app.rules.resolved(_tenant(request)))
    with located(_in_body):
        check_new_namespace(body.place.namespace)
        wanted = _put(body, _expected(app, request, body.place))
        item = app.items.put(_tenant(request), wanted, request.now, _reader(request))
    return Reply(204, "", etag(item.version) if item else {})


@routes.delete(_ITEMS, good=(204,), errors=(412,))
def delete_item(app: App, request: Request, body: DeleteItem) -> Reply:
    """Deletes an item; one that is not there is deleted already."""
    with located(_in_body):
        wanted = Put(place=body.place, value=None, expected=_expected(app, request, body.place))
        app.items.put(_tenant(request), wanted, request.now, _reader(request))
    return Reply(204, "")


@routes.post(f"{_ITEMS}/search", answer=FoundItems)
def search_items(app: App, request: Request, body: SearchItems) -> Reply:
    """Items below a prefix of namespaces, by fields and by meaning; the last written first where nothing is asked."""
    with located(_in_body):
        found = app.items.search(_tenant(request), _search(body), request.now, _reader(request))
    shown = within_page([_found(one) for one in found])
    return Reply(200, FoundItems(items=list(shown)), log={"returned": len(shown)})


@routes.post(f"{_ITEMS}/delete", answer=ItemsDeleted)
def delete_items(app: App, request: Request, body: DeleteItems) -> Reply:
    """Deletes all items that match; with `dry_run` it says how many there are.

    An item that is written meanwhile stays. A call ends after some seconds; while there are `more`, the same goes on.
    """
    left = countdown(min(request.call.remaining_seconds - _RESERVE_SECONDS, _MOST_SECONDS))
    wanted = Search(
        prefix=tuple(body.namespace_prefix), filter=_filter(body), limit=body.limit, offset=0, refresh=False
    )
    if not wanted.prefix and wanted.filter in (EVERYTHING, AllOf((EVERYTHING,))):
        raise InvalidInput("names no items: a namespace_prefix, filter or where", ("body", "where"))
    with located(_in_body):
        found = app.items.search(_tenant(request), wanted, request.now, _reader(request))
    deleted = 0
    for one in () if body.dry_run else found:
        if deleted and left() <= 0:
            break
        with suppress(VersionMismatch):
            gone = Put(place=one.item.place, value=None, expected=one.item.version)
            app.items.put(_tenant(request), gone, request.now, _reader(request))
            deleted += 1
    more = len(found) == body.limit or (not body.dry_run and deleted < len(found))
    samples = [PlaceAnswer.model_validate(one.item.place) for one in found[:_SAMPLES]]
    shown = ItemsDeleted(matched=len(found), deleted=deleted, items=samples, more=more)
    return Reply(200, shown, log={"matched": len(found), "deleted": deleted})


@routes.post("/store/namespaces", answer=Namespaces)
def list_item_namespaces(app: App, request: Request, body: ListNamespaces) -> Reply:
    """Namespaces that have items, sorted."""
    with located(_in_body):
        found = app.items.namespaces(_tenant(request), _listing(body), request.now, _reader(request))
    return Reply(200, Namespaces(namespaces=[list(one) for one in found]), log={"returned": len(found)})


@routes.post("/store/batch", answer=BatchResults, errors=(412,))
def batch_items(app: App, request: Request, body: Batch) -> Reply:
    """Several operations at once: what is read is read before anything is written.

    Of several puts to one place the last counts; each write is durable by itself, also where another meets a version
    that it does not expect.
    """
    puts = sum(one.put is not None for one in body.operations)
    app.timeline.limits.take(_tenant(request), puts, app.rules.resolved(_tenant(request)))
    with located(_in_body):
        operations = [_operation(one) for one in body.operations]
        outcomes = app.items.batch(_tenant(request), operations, request.now, _reader(request))
    results = [_result(one, outcome) for one, outcome in zip(operations, outcomes, strict=True)]
    return Reply(200, BatchResults(results=results), log={"operations": len(operations), "puts": puts})


def _tenant(request: Request) -> str:
    return request.principal.tenant


def _reader(request: Request) -> str | None:
    """The one user whose items the credentials reach; None for everybody's."""
    principal = request.principal
    if not principal.limited_to_subject:
        return None
    request.check_user(principal.subject or "")
    return principal.subject


def _in_body(_: str) -> tuple[str, ...]:
    return ("body",)


def _expected(app: App, request: Request, place: ItemPlace) -> int | None:
    """The version to replace, by the headers; None for any. Raises VersionMismatch."""
    if request.call.headers.get("if-none-match", "").strip() == "*":
        return ABSENT
    if not request.names_version:
        return None
    item = app.items.get(_tenant(request), Get(place, refresh=False), request.now, _reader(request))
    if item is None:
        raise VersionMismatch("there is nothing that this could be the version of")
    request.expected(item.version, "the item changed since it was read")
    return item.version


def _put(body: PutItem | BatchPut, expected: int | None = None) -> Put:
    return Put(
        place=body.place,
        value=body.value,
        index=body.index,
        vectors=None if body.vectors is None else [_vector(one) for one in body.vectors],
        ttl=None if body.ttl is None else timedelta(minutes=min(body.ttl, 1e9)),
        owner=body.user_id,
        expected=expected,
    )


def _vector(numbers: list[float]) -> FloatArray:
    return vector_of(numbers, len(numbers))


def _search(body: SearchItems) -> Search:
    return Search(
        prefix=tuple(body.namespace_prefix),
        filter=_filter(body),
        query=body.query,
        vector=None if body.query_vector is None else _vector(body.query_vector),
        limit=body.limit,
        offset=body.offset,
        refresh=body.refresh_ttl is not False,
    )


def _filter(body: SearchItems | DeleteItems) -> Filter:
    given = [langgraph_filter(body.filter)] if body.filter else []
    with located(lambda _: ("where",)):
        given += [filter_of(body.where)] if body.where else []
    return AllOf(tuple(given)) if given else EVERYTHING


def _listing(body: ListNamespaces) -> NamespaceListing:
    return NamespaceListing(
        prefix=tuple(body.prefix or ()),
        suffix=tuple(body.suffix or ()),
        max_depth=body.max_depth,
        limit=body.limit,
        offset=body.offset,
    )


def _operation(body: BatchOperation) -> Operation:
    if body.get is not None:
        return Get(body.get.place, body.get.refresh_ttl is not False)
    if body.put is not None:
        return _put(body.put, body.put.version)
    if body.search is not None:
        return _search(body.search)
    return NamespaceListing() if body.list_namespaces is None else _listing(body.list_namespaces)


def _result(operation: Operation, outcome: Outcome) -> BatchResult:
    if isinstance(operation, Search):
        return BatchResult(items=[_found(one) for one in _listed(outcome) if isinstance(one, FoundItem)])
    if isinstance(operation, NamespaceListing):
        return BatchResult(namespaces=[list(one) for one in _listed(outcome) if isinstance(one, tuple)])
    if isinstance(operation, Get) and isinstance(outcome, NamespacedItem):
        return BatchResult(item=ItemAnswer.of(outcome))
    return BatchResult()


def _listed(outcome: Outcome) -> Sequence[FoundItem | Namespace]:
    return outcome if isinstance(outcome, list) else ()


def _found(found: FoundItem) -> FoundItemAnswer:
    return FoundItemAnswer.of(found.item, score=found.score)
