"""Zep's answers, saved as JSON: messages of threads, episodes, and facts (the edges of its graph).

The fields are those of zep-cloud 2, 3 and 4: a message of version 2 has its kind in `role_type` and a name in `role`,
later ones have the kind in `role` and a name in `name`; version 4 calls every list `items`.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from recollect.core.errors import InvalidInput
from recollect.core.event import Role
from recollect.importing.turns import BadEntry, Entries, Entry, LeftOut, Place, Turn, role_of_name, stable_id, time_of

Placed = tuple[Place, object]
LISTS = ("messages", "episodes", "edges", "items")
"""What the lists in its answers are called."""

_OF_A_MESSAGE = frozenset({"role_type", "processed", "thread_uuid", "reference_time"})
_CONVERSATION = ("thread_id", "thread_uuid", "session_id")
_NAME = ("role_name", "name")


def are_zeps(values: Iterable[object]) -> bool:
    """Whether one of them is a message, an episode or a fact of Zep's."""
    return any(_is_fact(one) or _is_message(one) for one in values)


def list_in(record: Mapping[str, object]) -> str | None:
    """The name of the list of Zep's that an answer of its has; None for what is no such answer."""
    return next((name for name in LISTS if isinstance(given := record.get(name), list) and are_zeps(given)), None)


def turns_of_zep(placed: Sequence[Placed], answer: Mapping[str, object], conversation_id: str) -> Entries:
    """A turn for each message, episode and fact that still holds.

    `answer` is what they stood in; its thread, else `conversation_id`, is for what names none.
    """
    fallback = _first(answer, _CONVERSATION) or conversation_id
    for number, (place, given) in enumerate(placed, start=1):
        try:
            yield _entry(given, place, number, fallback)
        except InvalidInput as error:
            yield BadEntry(place, str(error))


def _is_fact(value: object) -> bool:
    return isinstance(value, dict) and isinstance(value.get("fact"), str) and "source_node_uuid" in value


def _is_message(value: object) -> bool:
    return isinstance(value, dict) and "content" in value and "uuid" in value and not _OF_A_MESSAGE.isdisjoint(value)


def _entry(given: Any, place: Place, number: int, fallback: str) -> Entry:
    if _is_fact(given):
        return _fact(given, place, fallback)
    if not isinstance(given, dict) or "content" not in given:
        return BadEntry(place, "is no message, episode or fact of Zep's")
    if not isinstance(given.get("metadata"), dict | None):
        return BadEntry(place, "the metadata is no object")
    return _message(given, place, number, fallback)


def _fact(given: Mapping[str, Any], place: Place, fallback: str) -> Entry:
    """What has ended at Zep's would come back as true here: it is left out."""
    if given.get("invalid_at") or given.get("expired_at"):
        return LeftOut(place)
    return Turn(
        place=place,
        conversation_id=fallback,
        role=Role.USER,
        content=given["fact"],
        timestamp=time_of(given.get("valid_at") or given.get("created_at")),
        source_id=str(given.get("uuid") or stable_id(fallback, given["fact"])),
    )


def _message(given: Mapping[str, Any], place: Place, number: int, fallback: str) -> Entry:
    role, content = _role(given), given["content"]
    if role is None or content is None or given.get("source") == "json":
        return LeftOut(place)
    if not isinstance(content, str):
        return BadEntry(place, "the content is not text")
    conversation_id = _first(given, _CONVERSATION) or fallback
    return Turn(
        place=place,
        conversation_id=conversation_id,
        role=role,
        speaker=_speaker(given),
        content=content,
        timestamp=time_of(given.get("reference_time") or given.get("created_at")),
        source_id=str(given.get("uuid") or stable_id(conversation_id, number, content)),
        metadata=given.get("metadata") or {},
    )


def _role(given: Mapping[str, Any]) -> Role | None:
    """An episode of plain text has none: it is told of the user. None for system and tools."""
    named = given.get("role_type") or given.get("role")
    if named is None:
        return Role.USER
    if named == "norole":
        return None
    try:
        return role_of_name(str(named))
    except KeyError:
        raise InvalidInput("the role is none of user, assistant, system, function, tool") from None


def _speaker(given: Mapping[str, Any]) -> str | None:
    return _first(given, ("role", *_NAME) if given.get("role_type") else _NAME)


def _first(given: Mapping[str, Any], names: Iterable[str]) -> str | None:
    return next((value for name in names if isinstance(value := given.get(name), str) and value), None)
