"""What an index has of a record: its document, and its vector in a snapshot of the index (A-36, A-37).

| object of the tenant                                                      | content                            |
|---------------------------------------------------------------------------|------------------------------------|
| `semantic-index/{generation}/{user hash}/{rotation}/{first}-{n}.vectors`  | up to 500 records' vectors         |
| `semantic-index/{generation}/{user hash}/{rotation}/whole`                | nothing: written last              |

`first` is the instant of the first record in microseconds: the object that may hold a record is found by the record's
own place. The rest of an index is made of the records themselves. A vector has a hash of the words that it was made of:
after an edit it is made again.
"""

import base64
import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from recollect.core.errors import InvalidInput
from recollect.core.event import Event, EventRef, Role
from recollect.core.scope import Scope, user_hash
from recollect.core.time import microseconds
from recollect.core.vectors import FloatArray, pack_vector, unpack_vector
from recollect.retrieval.attributes import tokens_of
from recollect.retrieval.filters import metadata_facets
from recollect.retrieval.nomination import ASKING, IndexDocument
from recollect.text.sentences import only_asks
from recollect.text.terms import terms

FOLDER = "semantic-index/"
WHOLE = "whole"
SUFFIX = ".vectors"
_DIGITS = 20
_PLAIN = re.compile(r"[a-z0-9_-][a-z0-9._-]{0,99}")


@dataclass(frozen=True, slots=True)
class SnapshotVector:
    """A record's vector and the hash of the words that it was made of."""

    event_id: str
    words: str
    vector: FloatArray


def words_hash(passage: str) -> str:
    """16 hex digits: a hash of the text."""
    return hashlib.sha256(passage.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def safe_name(generation: str) -> str:
    """A generation as part of an object's name."""
    return generation if _PLAIN.fullmatch(generation) else "~" + hashlib.sha256(generation.encode()).hexdigest()[:16]


def index_folder(generation: str, user_id: str | None = None) -> str:
    """The prefix of a generation's objects, or of one user's in it."""
    return f"{FOLDER}{safe_name(generation)}/" + (f"{user_hash(user_id)}/" if user_id is not None else "")


def page_name(first: EventRef, number: int) -> str:
    """The last part of a page's object name."""
    return f"{microseconds(first.timestamp):0{_DIGITS}d}-{number:06d}{SUFFIX}"


def covering(names: Iterable[str], ref: EventRef) -> list[str]:
    """The pages that may hold the record: the last that begins before it, and all at its instant."""
    at = f"{microseconds(ref.timestamp):0{_DIGITS}d}"
    pages = sorted(name for name in names if name.endswith(SUFFIX))
    before = [name for name in pages if _first(name) < at]
    return [*before[-1:], *(name for name in pages if _first(name) == at)]


def _first(name: str) -> str:
    return name.rpartition("/")[2][:_DIGITS]


def page_bytes(vectors: Iterable[SnapshotVector]) -> bytes:
    """JSON Lines: id, hash of the words, and the stored bytes in base64."""
    return b"".join(_line(one) for one in vectors)


def _line(one: SnapshotVector) -> bytes:
    packed = base64.b64encode(pack_vector(one.vector)).decode()
    document = {"id": one.event_id, "words": one.words, "vector": packed}
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def page_in(data: bytes) -> dict[str, SnapshotVector]:
    """The readable vectors of a page, by event id; the others can be made again."""
    found: dict[str, SnapshotVector] = {}
    for line in data.splitlines():
        try:
            one = json.loads(line)
            vector = unpack_vector(base64.b64decode(one["vector"]))
            found[one["id"]] = SnapshotVector(one["id"], one["words"], vector)
        except (KeyError, TypeError, ValueError, InvalidInput):
            continue
    return found


def without(vectors: Mapping[str, SnapshotVector], event_ids: AbstractSet[str]) -> bytes:
    return page_bytes(one for event_id, one in vectors.items() if event_id not in event_ids)


def voice_of(event: Event) -> str:
    """The event's role as ranking sees it: a user who only asks states nothing. A saved memory never asks."""
    asks = event.role is Role.USER and not event.is_carrier and only_asks(event.content)
    return ASKING if asks else event.role.value


def index_document(scope: Scope, event: Event, vector: FloatArray | None) -> IndexDocument:
    """The document of an event; one that is not searchable has no words and no vector: counted, never found."""
    return IndexDocument(
        tenant=scope.tenant,
        user_id=event.user_id,
        persona_id=event.persona_id,
        household_id=event.household_id,
        ref=event.ref,
        version=event.version,
        recorded_at=event.recorded_at,
        conversation_id=event.conversation_id,
        role=voice_of(event),
        speaker=event.speaker,
        event_type=event.event_type,
        source=event.source,
        key=event.key,
        space_id=event.space_id,
        tags=event.tags,
        importance=event.importance,
        is_private=event.is_private,
        superseded=event.superseded_by is not None,
        expires_at=event.expires_at,
        terms=tuple(terms(event.searchable_text)) if event.is_searchable else (),
        facets=metadata_facets(event.metadata),
        attributes=tokens_of(event) if event.is_searchable else (),
        vector=vector if event.is_searchable else None,
    )
