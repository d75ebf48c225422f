"""Segments as bytes: whole ones, broken ones, how small they are."""

import gzip
import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.archive.segments import MEMBER_LINES, pack_segment, unpack_segment


def some_lines(count: int) -> list[str]:
    """Lines as records have them, every one another."""
    words = ("the", "a", "tea", "ship", "garden", "letter", "morning", "never", "Paris", "walked", "seven", "of", "to")
    pick = random.Random(7)
    return [
        json.dumps({"n": n, "id": f"0192-{n:012x}", "content": " ".join(pick.choices(words, k=30)), "é": "住🙂"})
        for n in range(count)
    ]


@given(st.lists(st.dictionaries(st.text(), st.text() | st.integers(), min_size=1).map(json.dumps), max_size=20))
def test_what_is_packed_is_unpacked(lines: list[str]) -> None:
    content = unpack_segment(pack_segment(lines))
    assert (list(content.lines), content.faults) == (lines, 0)


def test_a_full_segment_is_packed_and_read_by_gzip_too() -> None:
    lines = some_lines(500)
    data = pack_segment(lines)
    assert list(unpack_segment(data).lines) == lines
    plain = [json.loads(line) for line in gzip.decompress(data).splitlines()]
    assert [{k: v for k, v in one.items() if k != "crc"} for one in plain] == [json.loads(line) for line in lines]
    assert pack_segment(lines) == data


@pytest.mark.spec("A-55")
def test_a_wrong_byte_loses_a_part_of_one_member_at_most() -> None:
    lines = some_lines(500)
    data = pack_segment(lines)
    pick = random.Random(3)
    for _ in range(60):
        place = pick.randrange(len(data))
        broken = data[:place] + bytes([data[place] ^ 1 << pick.randrange(8)]) + data[place + 1 :]
        content = unpack_segment(broken)
        assert set(content.lines) <= set(lines)
        assert len(content.lines) >= len(lines) - MEMBER_LINES
        assert content.faults or list(content.lines) == lines


@pytest.mark.spec("A-55")
def test_a_segment_that_ends_early_gives_what_it_has() -> None:
    lines = some_lines(300)
    data = pack_segment(lines)
    content = unpack_segment(data[: len(data) // 2])
    assert list(content.lines) == lines[: len(content.lines)]
    assert len(content.lines) >= MEMBER_LINES
    assert content.faults == 1


def test_a_line_whose_words_were_changed_is_no_line() -> None:
    sealed = gzip.decompress(pack_segment(some_lines(3))).replace(b'"n": 1', b'"n": 9')
    content = unpack_segment(gzip.compress(sealed))
    assert [json.loads(line)["n"] for line in content.lines] == [0, 2]
    assert content.faults == 1


@pytest.mark.parametrize("data", [b"nothing", b"\x1f\x8b\x08", b"\x00" * 50])
def test_what_is_no_segment_has_no_lines(data: bytes) -> None:
    content = unpack_segment(data)
    assert content.lines == ()
    assert content.faults >= 1
