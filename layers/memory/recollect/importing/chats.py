"""The exports of ChatGPT, Claude (both a `conversations.json`, each in its own form) and WhatsApp.

A ChatGPT conversation is a tree; the person sees the path to `current_node`. A Claude conversation has its
`chat_messages` in order.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from itertools import pairwise
from typing import Any

from recollect.core.errors import InvalidInput
from recollect.core.event import Role
from recollect.importing.turns import (
    LONGEST_CONTENT_BYTES,
    BadEntry,
    Entries,
    Entry,
    LeftOut,
    Place,
    Record,
    Turn,
    role_of_name,
    stable_id,
    text_of,
    time_of,
)

_SPOKEN = ("text", "multimodal_text")
_EVERYBODY = (None, "all")
_CUT = "\n[attachment cut]"

_Node = Mapping[str, Any]


def is_chatgpt(record: Record) -> bool:
    """Whether the record is one conversation of such an export."""
    return isinstance(record.get("mapping"), dict)


def turns_of_chatgpt(record: Record, place: Place, position: int) -> Entries:
    """The turns from the root to `current_node`, without abandoned branches."""
    conversation_id = _chatgpt_identity(record, position)
    said_at = record.get("create_time")
    for number, node in enumerate(_path(record), start=1):
        where = Place(f"{place.label}, message {number}", place.offset_bytes)
        try:
            said_at = node["message"].get("create_time") or said_at
            yield _chatgpt_turn(node, said_at, where, conversation_id)
        except (InvalidInput, KeyError, TypeError, AttributeError):
            yield BadEntry(where, "is no message of ChatGPT's export")


def _chatgpt_identity(record: Record, position: int) -> str:
    given = record.get("conversation_id") or record.get("id")
    return given if isinstance(given, str) else f"chatgpt-{stable_id(position, str(record.get('create_time')))}"


def _path(record: Record) -> list[_Node]:
    """The nodes with a message, from the root to the current one; each once, even in a circle of parents."""
    mapping: Any = record["mapping"]
    path: dict[str, _Node] = {}
    current = record.get("current_node") or _last_leaf(mapping)
    while isinstance(current, str) and isinstance(mapping.get(current), dict) and current not in path:
        path[current] = mapping[current]
        current = mapping[current].get("parent")
    return [node for node in reversed(path.values()) if node.get("message")]


def _last_leaf(mapping: Mapping[str, _Node]) -> str | None:
    leaves: Iterator[str] = (name for name in reversed(list(mapping)) if not mapping[name].get("children"))
    return next(leaves, None)


def _chatgpt_turn(node: _Node, said_at: object, place: Place, conversation_id: str) -> Entry:
    message: _Node = node["message"]
    role = role_of_name(message["author"]["role"])
    text = _chatgpt_words(message)
    if role is None or not text or not text.strip():
        return LeftOut(place)
    return Turn(
        place=place,
        conversation_id=conversation_id,
        role=role,
        content=text,
        timestamp=time_of(said_at),
        source_id=str(message.get("id") or node["id"]),
    )


def _chatgpt_words(message: _Node) -> str | None:
    """The text that the person saw: no tool calls, hidden context or reasoning."""
    content = message["content"]
    hidden = (message.get("metadata") or {}).get("is_visually_hidden_from_conversation")
    if hidden or message.get("recipient") not in _EVERYBODY or content.get("content_type") not in _SPOKEN:
        return None
    return text_of(content.get("parts"))


def is_claude(record: Record) -> bool:
    """Whether the record is one conversation of such an export."""
    return isinstance(record.get("chat_messages"), list)


def turns_of_claude(record: Record, place: Place, position: int) -> Entries:
    """The turns in the order of the file."""
    conversation_id = _claude_identity(record, position)
    messages: Any = record["chat_messages"]
    for number, message in enumerate(messages, start=1):
        where = Place(f"{place.label}, message {number}", place.offset_bytes)
        try:
            yield _claude_turn(message, record, where, number, conversation_id)
        except (InvalidInput, KeyError, TypeError, AttributeError):
            yield BadEntry(where, "is no message of Claude's export")


def _claude_identity(record: Record, position: int) -> str:
    given = record.get("uuid")
    return given if isinstance(given, str) else f"claude-{stable_id(position, str(record.get('created_at')))}"


def _claude_turn(message: Record, record: Record, place: Place, number: int, conversation_id: str) -> Entry:
    role = role_of_name(str(message["sender"]))
    words = _claude_words(message)
    text = _with_attachments(words, message)
    if role is None or not text.strip():
        return LeftOut(place)
    return Turn(
        place=place,
        conversation_id=conversation_id,
        role=role,
        content=text,
        timestamp=time_of(message.get("created_at") or record.get("created_at")),
        source_id=str(message.get("uuid") or stable_id(conversation_id, number, role, words)),
    )


def _with_attachments(words: str, message: Record) -> str:
    """The words, then the text of each attachment under its name; cut where a message holds no more."""
    attached = list(_attachments(message))
    if not attached or len(_bytes(words)) > LONGEST_CONTENT_BYTES:
        return words
    text = "\n\n".join([words, *attached] if words.strip() else attached)
    if len(_bytes(text)) <= LONGEST_CONTENT_BYTES:
        return text
    return _bytes(text)[: LONGEST_CONTENT_BYTES - len(_CUT)].decode("utf-8", "ignore") + _CUT


def _attachments(message: Record) -> Iterator[str]:
    given = message.get("attachments")
    for one in given if isinstance(given, list) else ():
        text = one.get("extracted_content") if isinstance(one, dict) else None
        if isinstance(text, str) and text.strip():
            name = " ".join(str(one.get("file_name") or "").split())
            yield f"[{f'attachment {name}'.strip()}]\n{text}"


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _claude_words(message: Record) -> str:
    """The text parts; `text` only without them, since it repeats them with notes on tools."""
    content = message.get("content")
    parts = [p for p in content if isinstance(p, dict) and p.get("type") == "text"] if isinstance(content, list) else []
    return text_of(parts) or text_of(message.get("text")) or ""


HEADER = re.compile(
    r"""^[\u200e\u200f\ufeff]*(?P<bracket>\[)?
    (?P<first>\d{1,4})(?P<separator>[./-])\s?(?P<second>\d{1,2})[./-]\s?(?P<third>\d{2,4})\.?,?\s+
    (?P<hour>\d{1,2})[:.](?P<minute>\d{2})(?:[:.](?P<second_of_minute>\d{2}))?
    (?:\s?(?P<half>[aApP])\.?\s?[mM]\.?)?
    (?(bracket)\]\s?|\s[-\u2013]\s)""",
    re.VERBOSE,
)
"""The beginning of a message: `[date, time] ` on an iPhone, `date, time - ` on Android."""

_CENTURY = 2000
_ASSISTANT = "Meta AI"
_LONGEST_NAME = 64
_SYSTEM_MARK = "\u200e"
_MARKS = "\u200e\u200f\ufeff\u202a\u202c"
_SYSTEM_NAME = re.compile(
    r'["\u201c]| (?:changed|created|added|removed|left|joined|turned|pinned|deleted|updated|started)(?: |$)'
)
_NO_WORDS = re.compile(
    r"<[^<>]*(?:omitted|weggelassen|ausgeschlossen|omitido|omis|omessi|omesso|weggelaten)[^<>]*>"
    r"|(?:this message was deleted|you deleted this message)\.?",
    re.IGNORECASE,
)
Line = tuple[Place, str]


class DateOrder(StrEnum):
    """The order of year, month and day."""

    DAY_FIRST = "dmy"
    MONTH_FIRST = "mdy"
    YEAR_FIRST = "ymd"


@dataclass(frozen=True, slots=True)
class Stamp:
    """A date and time as written: three numbers of unknown order, and the time of day."""

    numbers: tuple[int, int, int]
    long_first: bool
    separator: str
    half: str | None
    time: tuple[int, int, int]

    @classmethod
    def of(cls, match: re.Match[str]) -> "Stamp":
        """The stamp of a header."""
        hour, half = int(match["hour"]), match["half"]
        if half:
            hour = hour % 12 + (12 if half.lower() == "p" else 0)
        time = (hour, int(match["minute"]), int(match["second_of_minute"] or 0))
        numbers = (int(match["first"]), int(match["second"]), int(match["third"]))
        return cls(numbers, len(match["first"]) > 2, match["separator"], half, time)

    def instant(self, order: DateOrder) -> datetime:
        """The instant, taken as UTC. Raises ValueError where there is no such day or time."""
        a, b, c = self.numbers
        year, month, day = {
            DateOrder.DAY_FIRST: (c, b, a),
            DateOrder.MONTH_FIRST: (c, a, b),
            DateOrder.YEAR_FIRST: (a, b, c),
        }[order]
        return datetime(year + (_CENTURY if year < 100 else 0), month, day, *self.time, tzinfo=UTC)


def date_order(stamps: Iterable[Stamp]) -> DateOrder:
    """The order in which every date exists; of several, the one in which time goes back least often.

    Where that leaves a choice (all days up to the 12th), a 12-hour clock with slashes is American; everything else has
    the day first.
    """
    known = list(stamps)
    if any(stamp.long_first for stamp in known):
        return DateOrder.YEAR_FIRST
    american = bool(known) and known[0].separator == "/" and any(stamp.half for stamp in known)
    preferred = [DateOrder.DAY_FIRST, DateOrder.MONTH_FIRST]
    if american:
        preferred.reverse()
    return min([*preferred, DateOrder.YEAR_FIRST], key=lambda order: _oddities(known, order))


def _oddities(stamps: Sequence[Stamp], order: DateOrder) -> tuple[int, int]:
    """The number of dates that do not exist in that order, and of messages earlier than the one before."""
    instants = [_instant_or_none(stamp, order) for stamp in stamps]
    real = [instant for instant in instants if instant is not None]
    backwards = sum(1 for before, after in pairwise(real) if after < before)
    return len(instants) - len(real), backwards


def _instant_or_none(stamp: Stamp, order: DateOrder) -> datetime | None:
    try:
        return stamp.instant(order)
    except ValueError:
        return None


@dataclass(slots=True)
class _Message:
    place: Place
    header: re.Match[str]
    lines: list[str]


@dataclass(slots=True)
class _Repetitions:
    """Counts equal messages of one speaker in the same minute: WhatsApp's times are no finer."""

    at: datetime | None = None
    said: Counter[tuple[str, str]] = field(default_factory=Counter)

    def number(self, at: datetime, speaker: str, text: str) -> int:
        if at != self.at:
            self.at, self.said = at, Counter()
        self.said[speaker, text] += 1
        return self.said[speaker, text]


def is_message_line(line: str) -> bool:
    """Whether a message begins with this line."""
    return HEADER.match(line) is not None


def order_of(lines: Iterable[str]) -> DateOrder:
    """The date order, by all dates of the file."""
    headers = (HEADER.match(line) for line in lines)
    return date_order(dict.fromkeys(Stamp.of(header) for header in headers if header))


def conversation_of(first_line: str) -> str:
    """A chat's id from its first line: the export has none, and its file is often `_chat.txt`."""
    return f"whatsapp-{stable_id(first_line.strip().strip(_MARKS))[:12]}"


def turns_of_chat(lines: Iterable[Line], order: DateOrder, conversation_id: str) -> Entries:
    """The messages in the order of the file."""
    repetitions = _Repetitions()
    for message in _messages(lines):
        yield message if isinstance(message, BadEntry) else _entry(message, order, conversation_id, repetitions)


def _messages(lines: Iterable[Line]) -> Iterator[_Message | BadEntry]:
    current: _Message | None = None
    for place, line in lines:
        header = HEADER.match(line)
        if header:
            if current:
                yield current
            current = _Message(place, header, [line[header.end() :]])
        elif current:
            current.lines.append(line)
        elif line.strip():
            yield BadEntry(place, "stands before the first message")
    if current:
        yield current


def _entry(message: _Message, order: DateOrder, conversation_id: str, repetitions: _Repetitions) -> Entry:
    speaker, text = _speaker_and_text("\n".join(message.lines))
    if speaker is None or not text or _NO_WORDS.fullmatch(text):
        return LeftOut(message.place)
    try:
        said_at = Stamp.of(message.header).instant(order)
    except ValueError:
        return BadEntry(message.place, "there is no such day or time")
    number = repetitions.number(said_at, speaker, text)
    return Turn(
        place=message.place,
        conversation_id=conversation_id,
        role=Role.BOT if speaker == _ASSISTANT else Role.USER,
        speaker=speaker,
        content=text,
        timestamp=said_at,
        source_id=stable_id(conversation_id, said_at.isoformat(), speaker, text, number),
    )


def _speaker_and_text(body: str) -> tuple[str | None, str]:
    """Nobody where the line has no name, or is one of WhatsApp's own sentences."""
    name, colon, text = body.partition(": ")
    name = name.strip(f"{_MARKS} ~\u202f\xa0")
    is_name = colon and name and "\n" not in name and len(name) <= _LONGEST_NAME and not _SYSTEM_NAME.search(name)
    if not is_name or text.startswith(_SYSTEM_MARK):
        return None, ""
    return name, text.strip(f"{_MARKS} \t\n")
