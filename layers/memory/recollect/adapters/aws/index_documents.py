"""Our documents as the engine keeps them, and back."""

import base64
import hashlib
import json
from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any

from recollect.core.event import EventRef
from recollect.core.scope import Scope
from recollect.core.time import from_microseconds, microseconds
from recollect.core.vectors import FloatArray, pack_vector, unit, unpack_vector
from recollect.retrieval.nomination import Arm, Candidate, IndexDocument

FETCHED_FIELDS = (
    "event_id", "timestamp", "conversation_id", "terms", "length", "packed", "role", "speaker", "importance",
)  # fmt: skip


def owner_of(scope: Scope) -> str:
    """Tenant and user as one term, 32 hex digits: every search filters by it, and it routes to one shard."""
    return _digest(scope.tenant, scope.user_id)[:32]


def document_id(scope: Scope, event_id: str) -> str:
    """64 hex digits: two users may have events of the same id."""
    return _digest(scope.tenant, scope.user_id, event_id)


def _digest(*parts: str) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def scope_of(document: IndexDocument) -> Scope:
    """Whose document it is."""
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
        "facets": document.facets,
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
    """`packed` is what the domain computes with, `vector` what the engine searches by: the same, at length 1.

    The engine refuses a vector without length under cosine, so such a one is kept and not searched by.
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


def hit_of(
    source: Mapping[str, Any], arms: Mapping[Arm, int], counts: Mapping[str, int], vector: FloatArray | None
) -> Candidate:
    """A fetched document as a hit."""
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
