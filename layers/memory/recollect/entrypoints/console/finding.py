"""What the list of memories holds of all that was said, and what a search finds beside it."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from recollect.entrypoints.console.api import user_path
from recollect.entrypoints.console.reach import similarity_of
from recollect.entrypoints.console.visit import Visit
from recollect.memories.memory import MemoryStatus, Origin
from recollect.retrieval.reasons import RELATED

_COUNTED = 200
_FOUND = 20
_READ = 100
"""A search cannot be asked for those of one status alone."""

Hit = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Held:
    """Of so many messages that were `said`, `kept` became memories; `written` were written down beside them.

    `statuses` counts the memories by theirs. Of more than 200 messages or memories nothing is counted: `said` is None.
    """

    said: int | None
    kept: int = 0
    written: int = 0
    statuses: Mapping[str, int] | None = None


def held_of(visit: Visit) -> Held:
    """By two reads, of 200 records at most each."""
    user_id = visit.ids["user_id"]
    said = visit.api.get(user_path(user_id, "events"), limit=_COUNTED, **{"from": "1970-01-01T00:00:00Z"})
    made = visit.api.get(user_path(user_id, "memories"), limit=_COUNTED)
    if "next_cursor" in said or "next_cursor" in made:
        return Held(None)
    memories, messages = made["memories"], {one["id"] for one in said["events"]}
    kept = {event_id for one in memories for event_id in one["source_event_ids"]}
    written = sum(one["origin"] == Origin.DIRECT.value for one in memories)
    return Held(len(messages), len(messages & kept), written, Counter(one["status"] for one in memories))


@dataclass(frozen=True, slots=True)
class Finding:
    """Hits of the status that is asked for: those that `match`, and what is merely nearest.

    `elsewhere` counts the matches of each other status.
    """

    matches: list[Hit]
    others: list[Hit]
    elsewhere: Mapping[str, int]


def found_by(visit: Visit, status: str) -> Finding:
    """What has the words of the question or is related to it; of all statuses 100 hits are read."""
    asked = {"user_id": visit.ids["user_id"], "query": visit.query["q"], "explain": True}
    answer = visit.api.post("/v1/search", {**asked, "top_k": _READ, "include_superseded": True})
    hits = [*answer["results"], *answer.get("near_misses", ())]
    wanted = [one for one in hits if status in ("all", _status_of(one))]
    elsewhere = Counter(_status_of(one) for one in _matching(hits) if status not in ("all", _status_of(one)))
    most, matches = visit.most(_FOUND), list(_matching(wanted))
    return Finding(matches[:most], [one for one in wanted if one not in matches][:most], elsewhere)


def _status_of(hit: Hit) -> str:
    """What was said has none, and is superseded where another replaced it."""
    ended = MemoryStatus.SUPERSEDED if hit.get("superseded_by") else MemoryStatus.ACTIVE
    return str(hit.get("status", ended.value))


def _matching(hits: Iterable[Hit]) -> Iterable[Hit]:
    return (hit for hit in hits if hit["scores"].get("bm25", 0.0) > 0 or similarity_of(hit) >= RELATED)
