"""A record as one line of JSON: what exports, segments and snapshots are made of.

A line holds an event as stored, how its identity was made, where it came from first, and, where the record has one, the
memory that has its id, with the memory's earlier versions. It holds no vector of ours: those can be made again.

| field      | meaning                                                                                            |
|------------|----------------------------------------------------------------------------------------------------|
| `v`        | format of the line                                                                                 |
| `kind`     | `event`; `memory` where the event only carries a memory                                            |
| `origin`   | `{user_id, event_id}`: the record that this one is a copy of; its own where it is none             |
| `given`    | what its request named, so that its identity can be told again (`Given`)                           |
| `event`    | `domain.record`                                                                                    |
| `memory`   | `domain.memory_items`; or `same_as`, the id of the memory that this event is in                    |
| `versions` | the memory's earlier versions, oldest first                                                        |
| `decisions`| what was decided against the memory, taken back or not, so that it is not decided again            |
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from recollect.domain.decisions import Decision, decision_document, decision_in
from recollect.domain.errors import InvalidInput, StoredDataError
from recollect.domain.event import Event
from recollect.domain.identity import event_identity, possible_identities
from recollect.domain.memory import Memory
from recollect.domain.memory_items import SAME_AS, memory_document, memory_in
from recollect.domain.record import from_record, to_record
from recollect.domain.scope import Scope

FORMAT_VERSION = 1
KIND_EVENT, KIND_MEMORY = "event", "memory"
_FIELDS = frozenset({"v", "kind", "origin", "given", "event", "memory", SAME_AS, "versions", "decisions"})


class Given(StrEnum):
    """What an event's request named of what its identity is made from (P-20)."""

    CONVERSATION = "conversation"
    """Conversation and time."""
    TIME = "time"
    """Its time, and no conversation."""
    NOTHING = "nothing"
    """No time: the event is its own."""


@dataclass(frozen=True, slots=True)
class RecordOrigin:
    """The record that a record was copied from; its own place where it is no copy."""

    user_id: str
    event_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordLine:
    """One record with what belongs to it. At most one of `memory` and `same_as` is set."""

    event: Event
    origin: RecordOrigin
    given: Given = Given.NOTHING
    memory: Memory | None = None
    same_as: str | None = None
    versions: tuple[Memory, ...] = ()
    decisions: tuple[Decision, ...] = ()

    @property
    def copied(self) -> bool:
        """Whether it was made from another record of the tenant."""
        return self.origin != RecordOrigin(self.event.user_id, self.event.id)

    def of_user(self, user_id: str) -> "RecordLine":
        """The same record as that user's; ids, times and origin stay."""
        memory = replace(self.memory, user_id=user_id) if self.memory else None
        versions = tuple(replace(version, user_id=user_id) for version in self.versions)
        return replace(self, event=replace(self.event, user_id=user_id), memory=memory, versions=versions)


def identity_of(scope: Scope, line: RecordLine) -> str:
    """The dedupe key that the record has in this user's timeline: that of `identities_of`, alone."""
    conversation = line.event.conversation_id if line.given is Given.CONVERSATION else None
    return event_identity(scope, line.event, conversation, line.given is not Given.NOTHING)


def identities_of(scope: Scope, event: Event) -> dict[Given, str]:
    """All dedupe keys that the record can have."""
    return dict(zip(Given, possible_identities(scope, event), strict=True))


def line_text(line: RecordLine) -> str:
    """One line of JSON, without its end."""
    document: dict[str, Any] = {
        "v": FORMAT_VERSION,
        "kind": KIND_MEMORY if line.event.is_carrier else KIND_EVENT,
        "origin": {"user_id": line.origin.user_id, "event_id": line.origin.event_id},
        "given": line.given.value,
        "event": to_record(line.event),
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
    """Reads what `line_text` wrote. Raises StoredDataError where it is something else, or of a newer format."""
    try:
        document = json.loads(text)
        return _line(document)
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError, InvalidInput) as error:
        raise StoredDataError(f"a record's line cannot be read: {type(error).__name__}") from error


def is_line(document: object) -> bool:
    """Whether a JSON value looks like a record's line: what tells an export from other files."""
    return isinstance(document, dict) and {"v", "kind", "origin", "event"} <= document.keys()


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
