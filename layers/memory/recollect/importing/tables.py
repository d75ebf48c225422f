"""CSV files: a header that names the columns as the fields of a record are named, and a turn in each row below."""

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from recollect.importing.turns import FIELDS, TEXT_FIELDS, BadEntry, Entries, Entry, Place, turn_of_record

_DELIMITERS = (",", ";", "\t")
_FIELD_OF = {name.casefold(): name for name in FIELDS}
_MEMORY, _OWNER = "memory", "user_id"
_OF_MEM0 = {_MEMORY: "text", "run_id": "conversation"}
"""How a table of mem0's memories calls what we call otherwise."""
_TEXTS = TEXT_FIELDS | {_MEMORY}
NumberedLine = tuple[int, Place, bytes | None]


def delimiter_of(header: str) -> str | None:
    """What parts the columns of a header that names one of text; None where it is no such header."""
    return next((one for one in _DELIMITERS if _TEXTS & set(_names(header.split(one)))), None)


def turns_of_table(lines: Iterator[NumberedLine], delimiter: str, conversation_id: str) -> Entries:
    """The rows in the order of the file, numbered as a spreadsheet does: the header is row 1.

    What is no CSV ends the reading, since it cannot be told where the next row begins.
    """
    read = _Lines(lines)
    rows = csv.reader(read, delimiter=delimiter, strict=True)
    columns: _Columns | None = None
    for number, cells in enumerate(_until_broken(rows), start=1):
        place = Place(f"row {number}", read.offset_bytes)
        if cells is None:
            yield BadEntry(
                place,
                f"is no CSV, or has a cell of more than {csv.field_size_limit() // 1024} KiB; nothing after it is read",
            )
        elif columns is None:
            columns = _columns(cells)
        elif any(cell.strip() for cell in cells):
            yield _entry(columns, cells, place, number, conversation_id)


@dataclass(slots=True)
class _Lines:
    """The lines as text, and how many bytes of the file they were so far."""

    given: Iterator[NumberedLine]
    offset_bytes: int = 0

    def __iter__(self) -> "_Lines":
        return self

    def __next__(self) -> str:
        _, place, line = next(self.given)
        self.offset_bytes = place.offset_bytes
        if line is None:
            raise csv.Error
        return line.decode("utf-8", "surrogateescape")


def _until_broken(rows: Iterator[list[str]]) -> Iterator[list[str] | None]:
    """The rows; None for one that cannot be read, after which there is no other."""
    try:
        yield from rows
    except csv.Error:
        yield None


def _names(cells: Iterable[str]) -> tuple[str, ...]:
    """The fields that the columns are; a column of another name keeps it."""
    plain = ("_".join(cell.strip(' "').casefold().split()) for cell in cells)
    return tuple(_FIELD_OF.get(name, name) for name in plain)


@dataclass(slots=True)
class _Columns:
    """What the columns of a table are. A table of memories has the `owner` of its first row; None: not told yet."""

    names: Sequence[str]
    of_memories: bool
    owner: str | None = None

    def admit(self, record: Mapping[str, str]) -> bool:
        """Whether a row is of the owner of the rows before it: memories of several would become those of one."""
        named = record.get(_OWNER)
        if not self.of_memories or named is None:
            return True
        self.owner = self.owner or named
        return named == self.owner


def _columns(cells: Iterable[str]) -> _Columns:
    names = _names(cells)
    if not TEXT_FIELDS.isdisjoint(names):
        return _Columns(names, of_memories=False)
    return _Columns(tuple(_OF_MEM0.get(name, name) for name in names), of_memories=True)


def _entry(columns: _Columns, cells: Sequence[str], place: Place, number: int, conversation_id: str) -> Entry:
    if any(cell.strip() for cell in cells[len(columns.names) :]):
        return BadEntry(place, "has more cells than the header")
    record = {name: cell for name, cell in zip(columns.names, cells, strict=False) if cell.strip()}
    if not all(cell.isascii() or _is_text(cell) for cell in record.values()):
        return BadEntry(place, "is not UTF-8")
    if not columns.admit(record):
        return BadEntry(place, "is a memory of another user: import a file for each of them")
    return turn_of_record(record, place, number, conversation_id)


def _is_text(cell: str) -> bool:
    return not any("\udc80" <= character <= "\udcff" for character in cell)
