"""What an export is read as: turns, entries that are no turns, lines that cannot be read; whose each turn is."""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias

from recollect.core.event import Role

_ASSISTANTS = frozenset({
    "ai", "ai assistant", "assistant", "bot", "chatbot", "chatgpt", "claude", "copilot", "gemini", "gpt", "gpt-4",
    "llm", "meta ai", "model",
})  # fmt: skip
_PEOPLE = frozenset({"user", "human", "person", "customer"})
_NOBODY = frozenset({"system", "developer", "tool", "function"})
_LENGTH = 32


@dataclass(frozen=True, slots=True)
class Place:
    """Where an entry stands: words for a person (`line 17`), and how many bytes of the file end with it."""

    label: str
    offset_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One thing said. `timestamp` None: the export does not say when.

    `source_id` is unique in the conversation and the same whenever the export is read.
    """

    place: Place
    conversation_id: str
    role: Role
    speaker: str | None
    content: str
    timestamp: datetime | None
    source_id: str


@dataclass(frozen=True, slots=True)
class LeftOut:
    """An entry that is no turn: a system line, a tool's output, an image without words."""

    place: Place


@dataclass(frozen=True, slots=True)
class BadEntry:
    """An entry that cannot be read, and why; `reason` holds nothing of the content."""

    place: Place
    reason: str


Entry: TypeAlias = Turn | LeftOut | BadEntry
Entries: TypeAlias = Iterator[Entry]


def role_of_speaker(speaker: str | None) -> Role:
    """The role by the speaker's name, where the export gives none: a person's unless it is an assistant's."""
    return Role.BOT if speaker is not None and speaker.strip().casefold() in _ASSISTANTS else Role.USER


def role_of_name(role: str) -> Role | None:
    """The role of a role's name; None where nobody speaks in it (system, tool). Raises KeyError for an unknown one."""
    name = role.strip().casefold()
    if name in _NOBODY:
        return None
    if name in _ASSISTANTS or name in _PEOPLE:
        return Role.BOT if name in _ASSISTANTS else Role.USER
    raise KeyError(name)


def stable_id(*parts: str | int | None) -> str:
    """32 hex digits of what identifies the turn: its conversation, its position, who said what.

    The content is in it, so that another turn at the same position of a conversation of the same name is not
    taken for this one.
    """
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:_LENGTH]
