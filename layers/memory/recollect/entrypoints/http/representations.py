"""Events and what search says of them, as JSON (api.md, *Shapes*). What is None is left out."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from recollect.core.event import Event, EventRef
from recollect.core.time import iso
from recollect.entrypoints.http.json_values import json_text
from recollect.knowledge.entries import KnowledgeEntry

if TYPE_CHECKING:
    from recollect.retrieval.ranking import Ranked

PAGE_BYTES = 4_500_000  # of the 5.5 MB that an answer may have
_INTERNAL = frozenset({"embedding", "holds_until", "superseded_at"})


def event_json(event: Event) -> dict[str, Any]:
    """An event without its vector."""
    values = {name: _json(getattr(event, name)) for name in Event.__slots__ if name not in _INTERNAL}
    return {name: value for name, value in values.items() if value is not None}


def score_json(ranked: "Ranked") -> dict[str, float]:
    """The raw signals of a result: cosine, BM25 and whatever else was weighed."""
    return dict(ranked.signals)


def why_json(ranked: "Ranked", place: int, replaces: Sequence[EventRef] = ()) -> dict[str, Any]:
    """Why a result stands where it does: its place, its rank in each arm, each signal's share of the score.

    Where it replaces older records, those are named: rank and signals may be of one of them.
    """
    why = {
        "place": place,
        "arms": {str(arm): rank for arm, rank in ranked.candidate.arms.items()},
        "shares": {name: round(share, 6) for name, share in ranked.shares.items()},
        "signals": score_json(ranked),
    }
    stands_for = [{"id": ref.id, "timestamp": iso(ref.timestamp)} for ref in replaces]
    return {**why, "stands_for": stands_for} if stands_for else why


def knowledge_json(entry: KnowledgeEntry) -> dict[str, Any]:
    """An entry of the knowledge, its value as it is stored."""
    shown = {
        "namespace": entry.namespace,
        "key": entry.key,
        "value": entry.value,
        "version": entry.version,
        "updated_at": iso(entry.updated_at),
    }
    return shown if entry.source is None else {**shown, "source": entry.source.value}


def within_page(items: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
    """The first items that fit into one answer; the first one always."""
    total = 0
    for position, item in enumerate(items):
        total += len(json_text(item).encode())
        if total > PAGE_BYTES and position:
            return items[:position]
    return items


def _json(value: object) -> object:
    if isinstance(value, datetime):
        return iso(value)
    if isinstance(value, tuple):
        return list(value)
    return dict(value) if isinstance(value, Mapping) else value
