"""A file of lines, read one at a time, so that its size does not matter."""

import json
from collections.abc import Iterator
from typing import IO, Any

from recollect.importing.turns import BadEntry, Place

LONGEST_LINE_BYTES = 16 * 1024 * 1024
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def numbered_lines(stream: IO[bytes]) -> Iterator[tuple[int, Place, bytes | None]]:
    """Each line with its number (from 1) and place; None for one over 16 MB, which is not kept in memory."""
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
    """Each line's object, or why it is none; blank lines are passed over."""
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
