"""Which index, and what it is made of: `index_mapping.json` completed for one embedder's generation.

What an index holds, and how it goes: counts, listings, the removal of a tenant's part and of the index itself.

The client's own errors come out of here; `opensearch.py` translates them.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass, replace
from importlib import resources
from typing import TYPE_CHECKING, Any

from recollect.adapters.aws.index_documents import owner_of
from recollect.core.event import EventRef
from recollect.core.items import of_tenant
from recollect.core.scope import Scope
from recollect.core.time import from_microseconds
from recollect.retrieval.nomination import IndexCount, IndexedPage
from recollect.search_index.state import NO_GENERATION

if TYPE_CHECKING:
    from opensearchpy import OpenSearch


MAPPING_FILE = "index_mapping.json"
_UNSAFE = re.compile(r"[^a-z0-9._-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexPlan:
    """An index for the vectors of one embedder generation, which never meet another's.

    `generation` None (with `dimension` 0) is the index of a deployment without an embedder: it has no vectors.
    `shards` and `refresh_seconds` (how soon searches show a write) hold when the index is created.
    """

    prefix: str = "recollect"
    generation: str | None = None
    dimension: int = 0
    shards: int = 1
    refresh_seconds: float = 1.0

    @property
    def has_vectors(self) -> bool:
        """Whether the index holds vectors at all."""
        return self.generation is not None and self.dimension > 0

    @property
    def alias(self) -> str:
        """What requests name. Writes demand that it is an alias, so that none ever creates an index by itself."""
        return f"{self.prefix}-{_safe(self.generation_name)}"

    @property
    def generation_name(self) -> str:
        """The generation's, or `none`."""
        return self.generation if self.generation is not None and self.has_vectors else NO_GENERATION

    def of(self, generation: str) -> IndexPlan:
        """The plan of another generation's index, to speak to it; what it takes to create one is not known here."""
        named = None if generation == NO_GENERATION else generation
        return replace(self, generation=named, dimension=0 if named is None else max(1, self.dimension))

    @property
    def index(self) -> str:
        """The index behind the alias, with the version of its mapping."""
        return f"{self.alias}-v{mapping_format()}"

    def body(self) -> dict[str, Any]:
        """What creates the index, alias included."""
        body = read_mapping()
        body["settings"]["index"]["number_of_shards"] = self.shards
        body["settings"]["index"]["refresh_interval"] = f"{round(self.refresh_seconds * 1000)}ms"
        properties = body["mappings"]["properties"]
        if self.has_vectors:
            properties["vector"]["dimension"] = self.dimension
        else:
            del properties["vector"]
        return {**body, "aliases": {self.alias: {}}}


def read_mapping() -> dict[str, Any]:
    """Settings and mappings as the file has them: without the vectors' dimension."""
    text = resources.files(__package__).joinpath(MAPPING_FILE).read_text("utf-8")
    mapping: dict[str, Any] = json.loads(text)
    return mapping


def mapping_format() -> int:
    """The version of the mapping, kept in its `_meta`."""
    number: int = read_mapping()["mappings"]["_meta"]["format"]
    return number


def _safe(generation: str) -> str:
    """A name that an index may have; a hash tells apart what was written alike."""
    safe = _UNSAFE.sub("-", generation.lower())[:100]
    return safe if safe == generation else f"{safe}-{hashlib.sha256(generation.encode()).hexdigest()[:8]}"


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
