"""A record as one line of JSON, of which exports, segments and snapshots are made; and the checks of a line from
outside.

A line has an event as stored, how its identity was made, its origin and, where the record has one, the memory of that
id with its earlier versions. It has no vector of ours: those can be computed again.

| field      | meaning                                                                                     |
|------------|---------------------------------------------------------------------------------------------|
| `v`        | format of the line                                                                          |
| `kind`     | `event`; `memory` where the event only carries a memory                                     |
| `origin`   | `{user_id, event_id}`: the record that this one is a copy of; its own where it is no copy   |
| `given`    | what its request named, so that its identity can be computed again (`Given`)                |
| `event`    | `timeline.record`                                                                           |
| `memory`   | `memories.storage`; or `same_as`, the id of the memory that this event is in                |
| `versions` | the memory's earlier versions, oldest first                                                 |
| `decisions`| the decisions against the memory, reverted or not, so that they are not made again          |

An export is a file that anybody can edit: `line_fault` checks the bounds of first storage, and names what is wrong by
its field, never by its text.
"""

import json
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, TypeAlias
from uuid import UUID

from recollect.contradictions.decisions import Decision, decision_document, decision_in
from recollect.core.errors import InvalidInput, StoredDataError
from recollect.core.event import Event, RecordOrigin, Role, Source
from recollect.core.ids import id_fault
from recollect.core.scope import Scope, namespace_fault
from recollect.core.time import EARLIEST, LATEST
from recollect.core.vectors import unpack_vector
from recollect.memories.memory import Lapse, Memory, Origin
from recollect.memories.storage import SAME_AS, memory_document, memory_in
from recollect.timeline.record import event_identity, from_record, possible_identities, to_record

FORMAT_VERSION = 1
KIND_EVENT, KIND_MEMORY = "event", "memory"
CONTENT_BYTES = 64 * 1024
TEXT_BYTES = 16 * 1024
METADATA_BYTES = 16 * 1024
METADATA_DEPTH = 8
MOST_TAGS = 1_000
MOST_VERSIONS = 20
MOST_LAPSES = 200
MOST_DECISIONS = 20
_LARGEST = 2**63 - 1
_FIELDS = frozenset({"v", "kind", "origin", "given", "event", "memory", SAME_AS, "versions", "decisions"})

Check: TypeAlias = Callable[[Any], bool]


class Given(StrEnum):
    """Which parts of an event's identity its request named (P-20)."""

    CONVERSATION = "conversation"
    """Conversation and time."""
    TIME = "time"
    """Time, but no conversation."""
    NOTHING = "nothing"
    """No time: the event is unique."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordLine:
    """One record with its memory. At most one of `memory` and `same_as` is set."""

    event: Event
    origin: RecordOrigin
    given: Given = Given.NOTHING
    memory: Memory | None = None
    same_as: str | None = None
    versions: tuple[Memory, ...] = ()
    decisions: tuple[Decision, ...] = ()

    @property
    def copied(self) -> bool:
        return self.origin != RecordOrigin(self.event.user_id, self.event.id)

    def of_user(self, user_id: str) -> "RecordLine":
        """The same record as that user's; ids, times and origin stay."""
        memory = replace(self.memory, user_id=user_id) if self.memory else None
        versions = tuple(replace(version, user_id=user_id) for version in self.versions)
        return replace(self, event=replace(self.event, user_id=user_id), memory=memory, versions=versions)


def identity_of(scope: Scope, line: RecordLine) -> str:
    """The dedupe key of the record in this user's timeline."""
    conversation = line.event.conversation_id if line.given is Given.CONVERSATION else None
    return event_identity(scope, line.event, conversation, line.given is not Given.NOTHING)


def identities_of(scope: Scope, event: Event) -> dict[Given, str]:
    """All dedupe keys that the record can have."""
    return dict(zip(Given, possible_identities(scope, event), strict=True))


def line_text(line: RecordLine) -> str:
    """One line of JSON, without its line end."""
    document: dict[str, Any] = {
        "v": FORMAT_VERSION,
        "kind": KIND_MEMORY if line.event.is_carrier else KIND_EVENT,
        "origin": {"user_id": line.origin.user_id, "event_id": line.origin.event_id},
        "given": line.given.value,
        "event": to_record(replace(line.event, holds_until=None)),
    }
    if line.memory is not None:
        document["memory"] = memory_document(line.memory)
    if line.same_as is not None:
        document[SAME_AS] = line.same_as
    if line.versions:
        document["versions"] = [memory_document(version) for version in line.versions]
    if line.decisions:
        document["decisions"] = [decision_document(decision) for decision in line.decisions]
    return json.dumps(document, ensure_ascii=False, separators=(",", ":"))


def read_line(text: str) -> RecordLine:
    """Reads what `line_text` wrote. Raises StoredDataError for anything else, or a newer format."""
    try:
        document = json.loads(text)
        return _line(document)
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError, InvalidInput) as error:
        raise StoredDataError(f"a record's line cannot be read: {type(error).__name__}") from error


def is_line(document: object) -> bool:
    """Whether a JSON value looks like a line of a record, an item or a log: how an export is recognised."""
    items, logs = {"v", "kind", "namespace", "value"}, {"v", "kind", "conversation_id", "sequence"}
    kinds = ({"v", "kind", "origin", "event"}, items, logs)
    return isinstance(document, dict) and any(names <= document.keys() for names in kinds)


def _line(document: Mapping[str, Any]) -> RecordLine:
    if document["v"] != FORMAT_VERSION or not document.keys() <= _FIELDS:
        raise ValueError("another format")
    origin, memory, same_as = document["origin"], document.get("memory"), document.get(SAME_AS)
    line = RecordLine(
        event=from_record(document["event"]),
        origin=RecordOrigin(origin["user_id"], origin["event_id"]),
        given=Given(document["given"]),
        memory=None if memory is None else memory_in(memory),
        same_as=same_as,
        versions=tuple(memory_in(version) for version in document.get("versions", ())),
        decisions=tuple(decision_in(decision) for decision in document.get("decisions", ())),
    )
    if memory is not None and same_as is not None:
        raise ValueError("a memory of its own, and another")
    return line


def line_fault(line: RecordLine, dimension: int | None) -> str | None:
    """The first field that is wrong, such as `event.importance`; None where the line may be stored.

    `dimension` is that of this deployment's vectors, None where unknown.
    """
    return next(_faults(line, dimension), None)


def _faults(line: RecordLine, dimension: int | None) -> Iterator[str]:
    yield from _wrong("origin", line.origin, {"user_id": _is_id, "event_id": _is_own_id})
    yield from _wrong("event", line.event, _EVENT)
    if line.event.embedding is not None and not _is_vector(line.event.embedding, dimension):
        yield "event.embedding"
    if line.event.role is Role.BOT and line.event.source is Source.USER:
        yield "event.source"
    if not line.event.derive and (line.event.key is not None or line.memory is not None or line.same_as is not None):
        yield "event.derive"
    if line.same_as is not None and not _is_own_id(line.same_as):
        yield "same_as"
    if line.event.is_carrier and line.memory is None:
        yield "memory"
    if len(line.versions) > MOST_VERSIONS or (line.versions and line.memory is None):
        yield "versions"
    for place, memory in (("memory", line.memory), *(("versions", version) for version in line.versions)):
        if memory is not None:
            yield from _memory_faults(place, memory, line)
    if len(line.decisions) > MOST_DECISIONS or not all(_is_decision(decision, line) for decision in line.decisions):
        yield "decisions"


def _memory_faults(place: str, memory: Memory, line: RecordLine) -> Iterator[str]:
    yield from _wrong(place, memory, _MEMORY)
    event = line.event
    if (memory.id, memory.timestamp, memory.persona_id, memory.household_id, memory.labels, memory.key) != (
        event.id, event.timestamp, event.persona_id, event.household_id, event.labels, event.key,
    ):  # fmt: skip
        yield f"{place}.id"
    if memory.origin is not Origin.MERGED and (memory.origin is Origin.EVENT) == event.is_carrier:
        yield f"{place}.origin"
    if not _are_lapses(memory):
        yield f"{place}.lapses"
    if place == "versions" and line.memory is not None and memory.version >= line.memory.version:
        yield f"{place}.version"


def _is_decision(decision: Decision, line: RecordLine) -> bool:
    """Only a decision against the memory of the line."""
    of_the_line = line.memory is not None and decision.loser == line.memory.id
    return of_the_line and next(_wrong("decisions", decision, _DECISION), None) is None


def _are_lapses(memory: Memory) -> bool:
    return len(memory.lapses) <= MOST_LAPSES and all(_is_lapse(lapse, memory.content) for lapse in memory.lapses)


def _is_lapse(lapse: Lapse, content: object) -> bool:
    place = isinstance(content, str) and _is_count(lapse.start) and _is_count(lapse.end)
    if not place or not lapse.start < lapse.end <= len(str(content)):
        return False
    named = _is_own_id(lapse.by) and _RULE(lapse.rule)
    dated = _is_moment(lapse.since) and _optional(_is_moment)(lapse.until)
    return named and dated and isinstance(lapse.announced, bool)


def _wrong(place: str, holder: Event | Memory | Decision | Any, checks: Mapping[str, Check]) -> Iterator[str]:
    for name, holds in checks.items():
        if not holds(getattr(holder, name)):
            yield f"{place}.{name}"


def _optional(check: Check) -> Check:
    return lambda value: value is None or check(value)


def _is_id(value: Any) -> bool:
    return id_fault(value) is None


def _is_own_id(value: Any) -> bool:
    try:
        return isinstance(value, str) and str(UUID(value)) == value
    except ValueError:
        return False


def _text(most_bytes: int, *, blank: bool = True) -> Check:
    return lambda value: isinstance(value, str) and _bytes(value) <= most_bytes and (blank or bool(value.strip()))


def _bytes(value: str) -> int:
    try:
        return len(value.encode())
    except UnicodeEncodeError:
        return _LARGEST


def _is_share(value: Any) -> bool:
    return _is_number(value) and 0 <= value <= 1


def _is_number(value: Any) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, int) and not isinstance(value, bool)  # which may be too large for a float


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _LARGEST


def _is_moment(value: Any) -> bool:
    return isinstance(value, datetime) and value.utcoffset() == timedelta(0) and EARLIEST <= value < LATEST


def _is_list(check: Check, most: int) -> Check:
    return lambda value: isinstance(value, tuple) and len(value) <= most and all(check(part) for part in value)


def is_metadata(value: Any) -> bool:
    """Whether an event may have this metadata: JSON of at most 16 KiB and 8 levels."""
    if not isinstance(value, Mapping) or not _is_json(dict(value), METADATA_DEPTH):
        return False
    return _bytes(json.dumps(dict(value), ensure_ascii=False, separators=(",", ":"))) <= METADATA_BYTES


def _is_json(value: Any, levels: int) -> bool:
    if isinstance(value, dict | list):
        parts = (*value, *value.values()) if isinstance(value, dict) else value
        return levels > 0 and all(_is_json(part, levels - 1) for part in parts)
    if isinstance(value, str):
        return _bytes(value) < _LARGEST
    if value is None or isinstance(value, bool):
        return True
    return _is_number(value) and (isinstance(value, float) or abs(value) <= _LARGEST)


def _is_vector(data: bytes, dimension: int | None) -> bool:
    try:
        return bool(data) and bool(unpack_vector(data, dimension).any())
    except InvalidInput:
        return False


_RULE = _text(256, blank=False)
_WORDS = _is_list(_text(1024), MOST_TAGS)
_COMMON: Mapping[str, Check] = {
    "id": _is_own_id,
    "user_id": _is_id,
    "persona_id": _optional(_is_id),
    "household_id": _optional(_is_id),
    "agent_id": _optional(_is_id),
    "app_id": _optional(_is_id),
    "namespace": lambda value: (
        isinstance(value, tuple) and all(isinstance(one, str) for one in value) and not namespace_fault(value)
    ),
    "content": _text(CONTENT_BYTES, blank=False),
    "importance": _is_share,
    "timestamp": _is_moment,
    "recorded_at": _is_moment,
    "key": _optional(_is_id),
    "expires_at": _optional(_is_moment),
    "metadata": is_metadata,
    "superseded_by": _optional(_is_own_id),
    "version": lambda value: _is_count(value) and value > 0,
}
_EVENT: Mapping[str, Check] = {
    **_COMMON,
    "conversation_id": lambda value: value == "" or _is_id(value),
    "speaker": _optional(_text(TEXT_BYTES)),
    "tags": _WORDS,
    "space_id": _optional(_is_id),
    "title": _optional(_text(TEXT_BYTES)),
    "category": _optional(_text(TEXT_BYTES)),
    "notes": _optional(_text(TEXT_BYTES)),
    "views": _is_count,
    "is_private": lambda value: isinstance(value, bool),
    "derive": lambda value: isinstance(value, bool),
    "idempotency_key": _optional(_is_id),
    "superseded_at": _optional(_is_moment),
}
_MEMORY: Mapping[str, Check] = {
    **_COMMON,
    "keywords": _WORDS,
    "valid_from": _is_moment,
    "valid_to": _optional(_is_moment),
    "source_event_ids": _is_list(_is_own_id, MOST_TAGS),
    "embedding_id": _optional(_text(256)),
    "settled_by": _optional(_RULE),
}
_DECISION: Mapping[str, Check] = {
    "winner": _is_own_id,
    "loser": _is_own_id,
    "at": _is_moment,
    "until": _optional(_is_moment),
    "rule": _RULE,
    "reason": _text(1024),
    "before": _is_count,
    "after": _is_count,
    "confidence": _is_share,
}
