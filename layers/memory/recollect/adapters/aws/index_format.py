"""What an OpenSearch index is made of: its name and mapping for one embedder's generation, and a document's form.

`index_mapping.json` has the settings and mappings; `IndexPlan` completes them.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from importlib import resources
from typing import Any

from recollect.core.event import EventRef
from recollect.core.scope import Scope
from recollect.core.time import from_microseconds, microseconds
from recollect.core.vectors import FloatArray, pack_vector, unit, unpack_vector
from recollect.retrieval.nomination import Arm, Candidate, IndexDocument
from recollect.search_index.state import NO_GENERATION

FETCHED_FIELDS = (
    "event_id", "timestamp", "conversation_id", "terms", "length", "packed", "role", "speaker", "importance",
)  # fmt: skip
_MAPPING_FILE = "index_mapping.json"
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
        """The name in requests. Writes require an alias, so that none ever creates an index by itself."""
        return f"{self.prefix}-{_safe(self.generation_name)}"

    @property
    def generation_name(self) -> str:
        """The generation's, or `none`."""
        return self.generation if self.generation is not None and self.has_vectors else NO_GENERATION

    def of(self, generation: str) -> IndexPlan:
        """The plan of another generation's index, to read and drop it: without its dimension it cannot be created."""
        named = None if generation == NO_GENERATION else generation
        return replace(self, generation=named, dimension=0 if named is None else max(1, self.dimension))

    @property
    def index(self) -> str:
        """The index behind the alias, with the version of its mapping."""
        return f"{self.alias}-v{mapping_format()}"

    def body(self) -> dict[str, Any]:
        """The body of the request that creates the index, alias included."""
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
    """Settings and mappings of the file, without the vectors' dimension."""
    text = resources.files(__package__).joinpath(_MAPPING_FILE).read_text("utf-8")
    mapping: dict[str, Any] = json.loads(text)
    return mapping


def mapping_format() -> int:
    """The version of the mapping, from its `_meta`."""
    number: int = read_mapping()["mappings"]["_meta"]["format"]
    return number


def owner_of(scope: Scope) -> str:
    """Tenant and user as one term, 32 hex digits: every search filters by it, and it routes to one shard."""
    return _digest(scope.tenant, scope.user_id)[:32]


def document_id(scope: Scope, event_id: str) -> str:
    """64 hex digits: two users may have events of the same id."""
    return _digest(scope.tenant, scope.user_id, event_id)


def scope_of(document: IndexDocument) -> Scope:
    """The document's user."""
    return Scope(document.tenant, document.user_id)


def source_of(document: IndexDocument) -> dict[str, Any]:
    """The engine's form. An absent persona, household or other id is "", which no client can choose."""
    return {
        "owner": owner_of(scope_of(document)),
        "tenant": document.tenant,
        "user_id": document.user_id,
        "persona_id": document.persona_id or "",
        "household_id": document.household_id or "",
        "conversation_id": document.conversation_id,
        "event_id": document.ref.id,
        "event_type": document.event_type,
        "role": document.role,
        "speaker": document.speaker or "",
        "source": document.source,
        "key": document.key or "",
        "space_id": document.space_id or "",
        "tags": document.tags,
        "facets": [*document.facets, *document.attributes],
        "importance": document.importance,
        "is_private": document.is_private,
        "superseded": document.superseded,
        "terms": " ".join(document.terms),
        "length": len(document.terms),
        **_times(document),
        **_vectors(document.vector),
    }


def _times(document: IndexDocument) -> dict[str, int]:
    times: dict[str, datetime | None] = {
        "timestamp": document.ref.timestamp,
        "recorded_at": document.recorded_at,
        "expires_at": document.expires_at,
    }
    return {name: microseconds(moment) for name, moment in times.items() if moment is not None}


def _vectors(vector: FloatArray | None) -> dict[str, Any]:
    """`packed` is the vector that ranking computes with, `vector` the engine's: the same, at length 1.

    The engine refuses a vector without length under cosine: such a one has no `vector`.
    """
    if vector is None:
        return {}
    packed = pack_vector(vector)
    found: dict[str, Any] = {"packed": base64.b64encode(packed).decode()}
    searchable = unit(unpack_vector(packed))
    return found | ({"vector": sent_vector(searchable)} if searchable.any() else {})


def sent_vector(vector: FloatArray) -> list[float]:
    """Numbers of a vector of length 1 as JSON carries them: 7 digits are float32's, more only weigh."""
    numbers: list[float] = vector.astype("f8").round(7).tolist()
    return numbers


def counts_of(source: Mapping[str, Any], query_terms: Collection[str]) -> dict[str, int]:
    """How often the query's terms are in a fetched document."""
    words = source["terms"].split(" ")
    return {term: words.count(term) for term in set(words).intersection(query_terms)}


def vectors_of(sources: Mapping[str, Mapping[str, Any]]) -> dict[str, FloatArray]:
    """The vectors of fetched documents by their keys, read in one go: they are of one generation."""
    packed = {key: base64.b64decode(source["packed"]) for key, source in sources.items() if "packed" in source}
    if not packed:
        return {}
    rows = unpack_vector(b"".join(packed.values())).reshape(len(packed), -1)
    return dict(zip(packed, rows, strict=True))


def candidate_of(
    source: Mapping[str, Any], arms: Mapping[Arm, int], counts: Mapping[str, int], vector: FloatArray | None
) -> Candidate:
    """A fetched document as a candidate."""
    return Candidate(
        ref=EventRef(source["event_id"], from_microseconds(source["timestamp"])),
        arms=arms,
        conversation_id=source["conversation_id"],
        counts=counts,
        length=source["length"],
        vector=vector,
        role=source["role"],
        speaker=source["speaker"] or None,
        importance=source["importance"],
    )


def _digest(*parts: str) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _safe(generation: str) -> str:
    """A valid name of an index; a hash distinguishes generations of one safe name."""
    safe = _UNSAFE.sub("-", generation.lower())[:100]
    return safe if safe == generation else f"{safe}-{hashlib.sha256(generation.encode()).hexdigest()[:8]}"
