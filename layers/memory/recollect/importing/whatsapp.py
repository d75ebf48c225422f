"""WhatsApp's text export: a line begins a message, or goes on with the one before; system lines are nobody's."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime

from recollect.core.event import Role
from recollect.importing.source_ids import stable_id
from recollect.importing.turns import BadEntry, Entries, Entry, LeftOut, Place, Turn
from recollect.importing.whatsapp_dates import HEADER, DateOrder, Stamp, date_order

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


@dataclass(slots=True)
class _Message:
    """A message while its lines are read."""

    place: Place
    header: re.Match[str]
    lines: list[str]


@dataclass(slots=True)
class _Repetitions:
    """How often the same person said the same in the same minute: WhatsApp's times are no finer."""

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
    """Which number of a date is the day, by all dates of the file."""
    headers = (HEADER.match(line) for line in lines)
    return date_order(dict.fromkeys(Stamp.of(header) for header in headers if header))


def conversation_of(first_line: str) -> str:
    """An id for the chat, by the line it begins with: the export has none, and its file is often `_chat.txt`."""
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
    """Who says what; nobody where there is no name, or what stands there is a sentence of WhatsApp's own."""
    name, colon, text = body.partition(": ")
    name = name.strip(f"{_MARKS} ~\u202f\xa0")
    is_name = colon and name and "\n" not in name and len(name) <= _LONGEST_NAME and not _SYSTEM_NAME.search(name)
    if not is_name or text.startswith(_SYSTEM_MARK):
        return None, ""
    return name, text.strip(f"{_MARKS} \t\n")
