"""What an index holds, and how it goes: counts, listings, the removal of a tenant's part and of the index itself.

The client's own errors come out of here; `opensearch.py` translates them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recollect.adapters.aws.index_documents import owner_of
from recollect.adapters.aws.index_mapping import IndexPlan
from recollect.domain.event import EventRef
from recollect.domain.instants import from_microseconds
from recollect.domain.items import of_tenant
from recollect.domain.nomination import IndexCount, IndexedPage
from recollect.domain.scope import Scope

if TYPE_CHECKING:
    from opensearchpy import OpenSearch

DROP_TIMEOUT_SECONDS = 60


def count(client: OpenSearch, plan: IndexPlan, owner: Scope) -> IndexCount:
    """What searches show of a user or of a whole tenant."""
    embedded = {"exists": {"field": "vector"}} if plan.has_vectors else {"match_none": {}}
    body = {
        "size": 0,
        "track_total_hits": True,
        "query": {"bool": {"filter": [_owned(owner)]}},
        "aggs": {"embedded": {"filter": embedded}},
    }
    answer = client.search(index=plan.alias, body=body, params=_routing(owner))
    return IndexCount(answer["hits"]["total"]["value"], answer["aggregations"]["embedded"]["doc_count"])


def listed(client: OpenSearch, alias: str, scope: Scope, limit: int, after: str | None) -> IndexedPage:
    """The user's documents by id, in the order of the engine's keywords: bytes of UTF-8."""
    body: dict[str, Any] = {
        "size": limit + 1,
        "track_total_hits": False,
        "_source": ["event_id", "timestamp"],
        "query": {"bool": {"filter": [_owned(scope)]}},
        "sort": [{"event_id": "asc"}],
    }
    if after is not None:
        body["search_after"] = [after]
    answer = client.search(index=alias, body=body, params=_routing(scope))
    sources = [hit["_source"] for hit in answer["hits"]["hits"]]
    refs = tuple(EventRef(one["event_id"], from_microseconds(one["timestamp"])) for one in sources[:limit])
    return IndexedPage(refs, refs[-1].id if len(sources) > limit else None)


def identity(client: OpenSearch, alias: str) -> str:
    """The engine's own ids of the index behind the alias: one that is made anew has another."""
    found = client.indices.get_settings(index=alias, name="index.uuid")
    return ",".join(sorted(index["settings"]["index"]["uuid"] for index in found.values()))


def drop(client: OpenSearch, plan: IndexPlan, tenant: str, limit: int, *, whole: bool) -> int:
    """Removes the tenant's documents, `limit` at most; and the index, where that is asked for and it is empty."""
    if not client.indices.exists_alias(name=plan.alias):
        return 0
    answer = client.delete_by_query(
        index=plan.alias,
        body={"query": _owned(of_tenant(tenant)), "max_docs": limit},
        params={"conflicts": "proceed", "refresh": "true", "request_timeout": DROP_TIMEOUT_SECONDS},
    )
    deleted = int(answer["deleted"])
    if not deleted and whole and client.count(index=plan.alias)["count"] == 0:
        _delete_index(client, plan.alias)
    return deleted


def _delete_index(client: OpenSearch, alias: str) -> None:
    """By its own name: an alias cannot be deleted as an index is."""
    for name in client.indices.get_alias(name=alias):
        client.indices.delete(index=name, params={"request_timeout": DROP_TIMEOUT_SECONDS})


def _owned(owner: Scope) -> dict[str, Any]:
    if owner == of_tenant(owner.tenant):
        return {"term": {"tenant": {"value": owner.tenant}}}
    return {"term": {"owner": {"value": owner_of(owner)}}}


def _routing(owner: Scope) -> dict[str, str]:
    return {} if owner == of_tenant(owner.tenant) else {"routing": owner_of(owner)}
