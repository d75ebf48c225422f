"""An export file as a stream of entries; its format is detected from its beginning."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import islice
from pathlib import Path
from typing import IO, Any

from recollect.core.errors import InvalidInput
from recollect.importing import chats, tables, zep
from recollect.importing.mem0 import are_memories, turns_of_memories
from recollect.importing.packed import MOST_UNPACKED_BYTES, damage_told, is_zip, size_of, unpacked_files
from recollect.importing.turns import ROLE, BadEntry, Entries, Entry, ExportFormat, Place, Record, Turn, turn_of_record

_LINES_CHECKED = 20
_HEAD_BYTES = 64 * 1024
_FORMATS = "turns, messages, chatgpt, claude, whatsapp, mem0, zep, csv"
LONGEST_LINE_BYTES = 16 * 1024 * 1024
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class Container(StrEnum):
    """The file's syntax."""

    JSON_LINES = "json lines"
    JSON_DOCUMENT = "json document"
    TEXT = "text"
    TABLE = "table"


_ZEP = (ExportFormat.AUTO, ExportFormat.ZEP)
_CONTAINERS = {
    ExportFormat.TURNS: Container.JSON_LINES,
    ExportFormat.WHATSAPP: Container.TEXT,
    ExportFormat.MEM0: Container.JSON_DOCUMENT,
    ExportFormat.CSV: Container.TABLE,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportFile:
    """A file to import. `conversation_id` is for entries that name none; None: the file's name.

    Of a zip, its conversations have at most `unpacked_bytes`.
    """

    path: Path
    format: ExportFormat = ExportFormat.AUTO
    conversation_id: str | None = None
    unpacked_bytes: int = MOST_UNPACKED_BYTES

    @property
    def fallback_conversation(self) -> str:
        """The conversation of entries that name none."""
        return self.conversation_id or self.path.stem or "imported"


def read_entries(file: ExportFile) -> Entries:
    """All entries in the order of the file.

    JSON Lines and text are streamed; one JSON document is read whole. Of a zip its conversations are read. Raises
    InvalidInput where the file does not exist or has none of the formats.
    """
    try:
        with file.path.open("rb") as stream:
            yield from entries_in(file, stream)
    except OSError as error:
        raise InvalidInput(f"{file.path} cannot be read: {error.strerror}") from error


def entries_in(file: ExportFile, stream: IO[bytes]) -> Entries:
    """The same of a file that is open, whatever its path leads to."""
    return _packed(file, stream) if is_zip(stream) else _plain(file, stream, size_of(stream))


def _packed(file: ExportFile, stream: IO[bytes]) -> Entries:
    with damage_told():
        for one in unpacked_files(stream, file.unpacked_bytes):
            yield from one.share.placed(_plain(file, one.stream, one.size_bytes))


def _plain(file: ExportFile, stream: IO[bytes], size_bytes: int) -> Entries:
    container = container_of(stream, file.format)
    stream.seek(0)
    if container is Container.TEXT:
        return _chat(file, stream)
    if container is Container.TABLE:
        return _table(file, stream)
    if container is Container.JSON_LINES:
        return _lines(file, stream)
    return _document(file, _loaded(stream), size_bytes)


def _chat(file: ExportFile, stream: IO[bytes]) -> Entries:
    order = chats.order_of(text for _, text in _text_lines(stream))
    stream.seek(0)
    first = next((text for _, text in _text_lines(stream) if chats.is_message_line(text)), None)
    if first is None:
        raise InvalidInput("no line of the file begins with WhatsApp's date and time")
    stream.seek(0)
    conversation_id = file.conversation_id or chats.conversation_of(first)
    return _as(ExportFormat.WHATSAPP, chats.turns_of_chat(_text_lines(stream), order, conversation_id))


def _table(file: ExportFile, stream: IO[bytes]) -> Entries:
    delimiter = _delimiter(_head(stream))
    if delimiter is None:
        raise InvalidInput("the first line of the file names no column text or content")
    stream.seek(0)
    rows = tables.turns_of_table(numbered_lines(stream), delimiter, file.fallback_conversation)
    return _as(ExportFormat.CSV, rows)


def _delimiter(head: bytes) -> str | None:
    first = next(iter(head.decode("utf-8", "replace").splitlines()), "")
    return tables.delimiter_of(first)


def _head(stream: IO[bytes]) -> bytes:
    """The beginning of the file, without a mark and blank lines before it."""
    return stream.read(_HEAD_BYTES).removeprefix(BYTE_ORDER_MARK).lstrip()


def _text_lines(stream: IO[bytes]) -> Iterator[tuple[Place, str]]:
    for _, place, line in numbered_lines(stream):
        yield place, (line or b"").decode("utf-8", "replace").rstrip("\r\n")


def _lines(file: ExportFile, stream: IO[bytes]) -> Entries:
    for number, place, record in json_objects(stream):
        if isinstance(record, BadEntry):
            yield record
        else:
            yield from _of_record(file, record, place, number, f"{file.fallback_conversation}-{number}")


def _document(file: ExportFile, document: object, size_bytes: int) -> Entries:
    records = document if isinstance(document, list) else [document]
    placed = [(Place(f"entry {n}", size_bytes * n // len(records)), one) for n, one in enumerate(records, start=1)]
    if _is_mem0(file, document):
        return _as(ExportFormat.MEM0, turns_of_memories(placed, file.fallback_conversation))
    if isinstance(document, list) and file.format in _ZEP and zep.are_zeps(document):
        return _as(ExportFormat.ZEP, zep.turns_of_zep(placed, {}, file.fallback_conversation))
    return _records(file, placed)


def _is_mem0(file: ExportFile, listed: object) -> bool:
    if not isinstance(listed, list) or file.format not in (ExportFormat.AUTO, ExportFormat.MEM0):
        return False
    return file.format is ExportFormat.MEM0 or are_memories(listed)


def _records(file: ExportFile, placed: Iterable[tuple[Place, object]]) -> Entries:
    for number, (place, record) in enumerate(placed, start=1):
        if isinstance(record, dict):
            yield from _of_record(file, record, place, number, file.fallback_conversation)
        else:
            yield BadEntry(place, "is no JSON object")


def _loaded(stream: IO[bytes]) -> object:
    try:
        return json.loads(stream.read().decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise InvalidInput("the file is not UTF-8") from None
    except (ValueError, RecursionError):
        raise InvalidInput("the file begins like JSON and is none") from None


def _of_record(file: ExportFile, record: Record, place: Place, number: int, own_conversation: str) -> Entries:
    """A conversation of any export, or a single turn; `own_conversation` is for a list of messages."""
    if chats.is_chatgpt(record) and file.format in (ExportFormat.AUTO, ExportFormat.CHATGPT):
        yield from _as(ExportFormat.CHATGPT, chats.turns_of_chatgpt(record, place, number))
    elif chats.is_claude(record) and file.format in (ExportFormat.AUTO, ExportFormat.CLAUDE):
        yield from _as(ExportFormat.CLAUDE, chats.turns_of_claude(record, place, number))
    elif isinstance(record.get("conversations"), list):
        yield from _conversations(file, record, place, own_conversation)
    elif _is_mem0(file, record.get("results")):
        memories = _within(record, "results", place, "memory")
        yield from _as(ExportFormat.MEM0, turns_of_memories(memories, file.fallback_conversation))
    elif file.format in _ZEP and (zep.are_zeps([record]) or zep.list_in(record)):
        yield from _as(ExportFormat.ZEP, _of_zep(record, place, own_conversation, file.fallback_conversation))
    elif file.format in (ExportFormat.CHATGPT, ExportFormat.CLAUDE, ExportFormat.ZEP):
        yield BadEntry(place, f"is no conversation of an export of {file.format}")
    elif isinstance(record.get("messages"), list):
        yield from _as(ExportFormat.MESSAGES, _messages(record, place, own_conversation))
    else:
        kind = ExportFormat.MESSAGES if ROLE in record else ExportFormat.TURNS
        yield from _as(kind, [turn_of_record(record, place, number, file.fallback_conversation)])


def _as(kind: ExportFormat, entries: Iterable[Entry]) -> Entries:
    """The same entries, their turns with what they were recognised as."""
    return (replace(one, format=kind) if isinstance(one, Turn) else one for one in entries)


def _of_zep(record: Record, place: Place, own_conversation: str, fallback: str) -> Entries:
    """An answer of Zep's, or one message or fact of it."""
    name = zep.list_in(record)
    if name is None:
        return zep.turns_of_zep([(place, record)], {}, fallback)
    one = name.removesuffix("s")
    return zep.turns_of_zep(_within(record, name, place, one), record, own_conversation)


def _conversations(file: ExportFile, record: Record, place: Place, own_conversation: str) -> Entries:
    for number, (where, conversation) in enumerate(_within(record, "conversations", place, "conversation"), start=1):
        if isinstance(conversation, dict):
            yield from _of_record(file, conversation, where, number, f"{own_conversation}-{number}")
        else:
            yield BadEntry(where, "is no JSON object")


def _messages(record: Record, place: Place, own_conversation: str) -> Entries:
    given = record.get("conversation_id") or record.get("id")
    conversation_id = given if isinstance(given, str) else own_conversation
    for number, (where, message) in enumerate(_within(record, "messages", place, "message"), start=1):
        if isinstance(message, dict):
            yield turn_of_record(message, where, number, conversation_id)
        else:
            yield BadEntry(where, "is no JSON object")


def _within(record: Record, name: str, place: Place, what: str) -> list[tuple[Place, object]]:
    """The parts of a list in the record, each with its place."""
    parts: Any = record[name]
    return [(Place(f"{place.label}, {what} {n}", place.offset_bytes), one) for n, one in enumerate(parts, start=1)]


def container_of(stream: IO[bytes], wanted: ExportFormat) -> Container:
    """The syntax of the first lines. Raises InvalidInput where none is recognised."""
    if wanted in _CONTAINERS:
        return _CONTAINERS[wanted]
    head = _head(stream)
    if not head:
        raise InvalidInput("the file is empty")
    if _delimiter(head) is not None:
        return Container.TABLE
    if any(chats.is_message_line(line) for line in head.decode("utf-8", "replace").splitlines()[:_LINES_CHECKED]):
        return Container.TEXT
    if head.startswith(b"["):
        return Container.JSON_DOCUMENT
    stream.seek(0)
    if any(_is_object(line) for _, _, line in islice(numbered_lines(stream), _LINES_CHECKED)):
        return Container.JSON_LINES
    if head.startswith(b"{"):
        return Container.JSON_DOCUMENT
    raise InvalidInput(f"the format was not recognised; name it with --format ({_FORMATS})")


def _is_object(line: bytes | None) -> bool:
    if line is None or not line.startswith(b"{"):
        return False
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def numbered_lines(stream: IO[bytes]) -> Iterator[tuple[int, Place, bytes | None]]:
    """Each line with its number (from 1) and place; None for one over 16 MB, which is not read into memory."""
    number = 0
    while line := stream.readline(LONGEST_LINE_BYTES):
        number += 1
        whole = line.endswith(b"\n") or len(line) < LONGEST_LINE_BYTES
        if not whole:
            _skip_rest(stream)
        yield number, Place(f"line {number}", stream.tell()), _without_mark(line, number) if whole else None


def _skip_rest(stream: IO[bytes]) -> None:
    while (part := stream.readline(LONGEST_LINE_BYTES)) and not part.endswith(b"\n"):
        pass


def _without_mark(line: bytes, number: int) -> bytes:
    return line.removeprefix(BYTE_ORDER_MARK) if number == 1 else line


def json_objects(stream: IO[bytes]) -> Iterator[tuple[int, Place, dict[str, Any] | BadEntry]]:
    """Each line's object, or the reason why it is none; blank lines are skipped."""
    for number, place, line in numbered_lines(stream):
        if line is None:
            yield number, place, BadEntry(place, f"is longer than {LONGEST_LINE_BYTES // 1024 // 1024} MB")
        elif line.strip():
            yield number, place, _object(line, place)


def _object(line: bytes, place: Place) -> dict[str, Any] | BadEntry:
    try:
        value = json.loads(line)
    except UnicodeDecodeError:
        return BadEntry(place, "is not UTF-8")
    except ValueError:
        return BadEntry(place, "is no JSON")
    except RecursionError:
        return BadEntry(place, "is nested too deeply")
    return value if isinstance(value, dict) else BadEntry(place, "is no JSON object")
