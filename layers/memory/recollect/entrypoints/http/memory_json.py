"""Memories as JSON, alone, in their history, and as results of a search (api.md, *Shapes*). None is left out."""

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from recollect.core.time import iso
from recollect.entrypoints.http.representations import event_json, score_json, why_json
from recollect.memories.audit import audit_json
from recollect.memories.memory import Memory
from recollect.memories.reading import MemoryVersion
from recollect.memories.representation import replacement_note
from recollect.memories.storage import lapse_document

if TYPE_CHECKING:
    from recollect.retrieval.search import SearchDiagnostics, SearchResult

_OF_THE_EVENT = (
    "content", "timestamp", "importance", "source", "role", "speaker", "conversation_id", "event_type", "key",
    "space_id", "title", "persona_id", "household_id", "tags", "metadata", "superseded_by", "version",
)  # fmt: skip
_OF_THE_MEMORY = (
    "content", "timestamp", "importance", "source", "key", "persona_id", "household_id", "keywords", "metadata",
    "status", "valid_from", "valid_to", "superseded_by", "source_event_ids", "version",
)  # fmt: skip
_WHERE_IT_WAS_SAID = ("role", "speaker", "conversation_id", "event_type", "space_id", "title", "tags")
_OF_THE_CHANGE = ("at", "actor", "action", "via", "rule", "reason")


def memory_json(memory: Memory) -> dict[str, Any]:
    """A memory as it stands; `lapses` only where there are some."""
    values = {name: _json(getattr(memory, name)) for name in Memory.__slots__ if name != "lapses"}
    lapses = {"lapses": [lapse_document(one) for one in memory.lapses]} if memory.lapses else {}
    return {**{name: value for name, value in values.items() if value is not None}, **lapses}


def version_json(one: MemoryVersion) -> dict[str, Any]:
    """A version of a memory, with what the audit says of the change that made it: who, when, by which way."""
    change = audit_json(one.change) if one.change else {}
    return memory_json(one.memory) | {name: change[name] for name in _OF_THE_CHANGE if name in change}


def result_json(result: "SearchResult", explain: bool) -> dict[str, Any]:
    """A hit: the memory where one was made of the record, else the event."""
    shown = {"kind": "event", **_event_hit(result)} if result.memory is None else _memory_hit(result, result.memory)
    found = {**shown, "score": round(result.ranked.score, 6), "scores": score_json(result.ranked)}
    note = replacement_note(result.replaces)
    found |= {"note": note} if note is not None else {}
    return {**found, "why": why_json(result.ranked, result.place, result.replaces)} if explain else found


def _event_hit(result: "SearchResult") -> dict[str, Any]:
    event = event_json(result.event)
    shown = {name: event[name] for name in _OF_THE_EVENT if name in event}
    return {"id": event["id"], **shown, "source_event_ids": [event["id"]]}


def _memory_hit(result: "SearchResult", memory: Memory) -> dict[str, Any]:
    """With where it was said, unless it was saved directly."""
    kept = memory_json(memory)
    said = {} if result.event.is_carrier else event_json(result.event)
    shown = {name: kept[name] for name in _OF_THE_MEMORY if name in kept}
    return {"id": memory.id, "kind": "memory", **shown, **{n: said[n] for n in _WHERE_IT_WAS_SAID if n in said}}


def diagnostics_json(seen: "SearchDiagnostics", returned: int) -> dict[str, Any]:
    """The counts of a search; `returned` results fitted into the answer."""
    diagnostics: dict[str, Any] = {
        "matched_count": seen.matched_count,
        "filtered_count": seen.filtered_count,
        "returned_count": returned,
        "dropped": {str(reason): count for reason, count in seen.dropped.items()},
        "exact": seen.exact,
        "missing": list(seen.missing),
        "tail": seen.tail,
        "tail_cut": seen.tail_cut,
        "pending": seen.pending,
    }
    return {**diagnostics, "fallback": seen.fallback} if seen.fallback else diagnostics


def _json(value: object) -> object:
    if isinstance(value, datetime):
        return iso(value)
    if isinstance(value, tuple):
        return list(value)
    return dict(value) if isinstance(value, Mapping) else value
