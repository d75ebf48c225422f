"""A snapshot of an index: the vectors of a user's records, by generation (A-36, A-37).

| object of the tenant                                                      | content                            |
|---------------------------------------------------------------------------|------------------------------------|
| `semantic-index/{generation}/{user hash}/{rotation}/{first}-{n}.vectors`  | up to 500 records' vectors         |
| `semantic-index/{generation}/{user hash}/{rotation}/whole`                | nothing: written last              |

`first` is the instant of the first record in microseconds: so the object that may hold a record is found by the
record's own place. What else an index holds is made of the records themselves. A vector names the words it was made
of by a hash: after an edit it is made anew.
"""

import base64
import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from recollect.domain.embedding import FloatArray, pack_vector, unpack_vector
from recollect.domain.errors import InvalidInput
from recollect.domain.event import EventRef
from recollect.domain.instants import microseconds
from recollect.domain.segments import user_hash

FOLDER = "semantic-index/"
WHOLE = "whole"
SUFFIX = ".vectors"
_DIGITS = 20
_PLAIN = re.compile(r"[a-z0-9_-][a-z0-9._-]{0,99}")


@dataclass(frozen=True, slots=True)
class KeptVector:
    """A record's vector and the hash of the words that it was made of."""

    event_id: str
    words: str
    vector: FloatArray


def words_hash(passage: str) -> str:
    """16 hex digits that tell one text from another."""
    return hashlib.sha256(passage.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def index_folder(generation: str, user_id: str | None = None) -> str:
    """How the names of a generation's objects begin, or of one user's in it."""
    safe = generation if _PLAIN.fullmatch(generation) else "~" + hashlib.sha256(generation.encode()).hexdigest()[:16]
    return f"{FOLDER}{safe}/" + (f"{user_hash(user_id)}/" if user_id is not None else "")


def page_name(first: EventRef, number: int) -> str:
    """The last part of the name of a page's object."""
    return f"{microseconds(first.timestamp):0{_DIGITS}d}-{number:06d}{SUFFIX}"


def covering(names: Iterable[str], ref: EventRef) -> list[str]:
    """Of a rotation's pages, those that may hold the record: the last that begins before it, and all at its instant."""
    at = f"{microseconds(ref.timestamp):0{_DIGITS}d}"
    pages = sorted(name for name in names if name.endswith(SUFFIX))
    before = [name for name in pages if _first(name) < at]
    return [*before[-1:], *(name for name in pages if _first(name) == at)]


def _first(name: str) -> str:
    return name.rpartition("/")[2][:_DIGITS]


def page_bytes(vectors: Iterable[KeptVector]) -> bytes:
    """JSON Lines: id, hash of the words, and the stored bytes in base64; they do not compress."""
    return b"".join(_line(one) for one in vectors)


def _line(one: KeptVector) -> bytes:
    packed = base64.b64encode(pack_vector(one.vector)).decode()
    document = {"id": one.event_id, "words": one.words, "vector": packed}
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def page_in(data: bytes) -> dict[str, KeptVector]:
    """What can be read of a page, by event id; the rest can be made again."""
    found: dict[str, KeptVector] = {}
    for line in data.splitlines():
        try:
            one = json.loads(line)
            vector = unpack_vector(base64.b64decode(one["vector"]))
            found[one["id"]] = KeptVector(one["id"], one["words"], vector)
        except (KeyError, TypeError, ValueError, InvalidInput):
            continue
    return found


def without(vectors: Mapping[str, KeptVector], event_ids: AbstractSet[str]) -> bytes:
    """The page less these."""
    return page_bytes(one for event_id, one in vectors.items() if event_id not in event_ids)
