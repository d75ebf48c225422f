"""Splitting into the likeliest pieces: against all ways to split, and spans that stay inside the text."""

from array import array
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.adapters.embedders.unigram import (
    Unigram,
    UnigramVocabulary,
    Vocabulary,
    made_table,
    read_unigram,
    unigram_bytes,
)

MARKS = ["<s>", "<pad>", "</s>", "<unk>"]
LIKELY = {
    "\u2581": -2.0, "a": -4.0, "b": -4.5, "\u2581a": -3.0, "ab": -5.0, "aba": -9.5, "\u2581ab": -6.5, "ba": -5.5,
    "bab": -7.0, "1": -6.0, "⁄": -7.0, "2": -6.5, "北": -8.0, "北京": -8.5, "\u2581babab": -12.0,
}  # fmt: skip
UNKNOWN = min(LIKELY.values()) - 10
REPLACEMENTS = {"\t": " ", "\n": " ", "½": "1⁄2", "\u200b": "", "ａ": "a"}
PIECES = [*MARKS, *LIKELY]


def made(most: int = 1000) -> Unigram:
    scores = array("f", [0.0] * len(MARKS) + list(LIKELY.values()))
    table = made_table(["" if piece in MARKS else piece for piece in PIECES])
    return Unigram(UnigramVocabulary(table, scores, 0, 2, 3, UNKNOWN, REPLACEMENTS), most)


def shown(text: str, prefix: str = "", most: int = 1000) -> list[tuple[str, str]]:
    """Each piece of the text's own with the characters that its span covers."""
    split = made(most).pieces(text, prefix)
    return [(PIECES[split.ids[place]], text[slice(*span)]) for place, span in split.spans.items()]


def ways(word: str) -> Iterator[float]:
    """What each way to split a word scores."""
    if not word:
        yield 0.0
    for length in range(1, len(word) + 1):
        score = LIKELY.get(word[:length], UNKNOWN if length == 1 else None)
        if score is not None:
            yield from (score + rest for rest in ways(word[length:]))


@given(st.text(alphabet="abx北京1", min_size=1, max_size=9))
def test_it_finds_the_likeliest_of_all_ways(word: str) -> None:
    ids = made().pieces(word).ids[1:-1]
    found = sum(LIKELY.get(PIECES[piece], UNKNOWN) for piece in ids)
    assert found == pytest.approx(max(ways("\u2581" + word)))


@given(st.text(max_size=60), st.sampled_from(["", "query: ", "passage: "]))
def test_spans_are_ascending_inside_the_text_and_of_their_pieces(text: str, prefix: str) -> None:
    split = made().pieces(text, prefix)
    spans = [split.spans[place] for place in sorted(split.spans)]
    assert all(0 <= start < end <= len(text) for start, end in spans)
    assert all(one[0] <= next_[0] and one[1] <= next_[1] for one, next_ in pairwise(spans))
    assert all(0 < place < len(split.ids) - 1 for place in split.spans)


@given(st.text(alphabet="ab½\u200b \t北", max_size=30))
def test_a_prefix_moves_no_span(text: str) -> None:
    """But of the blanks at the beginning: the prefix ends with one, and runs of blanks are one piece."""
    bare = text.lstrip(" \t\u200b")
    alone, behind = made().pieces(bare), made().pieces(bare, "b: ")
    assert list(behind.spans.values()) == list(alone.spans.values())


def test_blanks_of_all_kinds_and_runs_of_them_are_one() -> None:
    assert shown("ab  \t\nab") == [("\u2581ab", "ab"), ("\u2581ab", "ab")]
    assert shown(" a ") == [("\u2581a", "a"), ("\u2581", " ")]


def test_characters_that_become_several_or_none_keep_their_place() -> None:
    assert shown("a½\u200bb", "b ") == [("\u2581a", "a"), ("1", "½"), ("⁄", "½"), ("2", "½"), ("b", "b")]
    assert shown("ａ") == [("\u2581a", "ａ")]


def test_a_text_without_blanks_after_a_prefix_does_not_own_the_blank() -> None:
    assert shown("北京", "b: ") == [("北京", "北京")]


def test_what_is_unknown_stands_alone() -> None:
    assert shown("a😀😀b") == [("\u2581a", "a"), ("<unk>", "😀"), ("<unk>", "😀"), ("b", "b")]


def test_a_marks_name_in_a_text_is_only_text() -> None:
    """Whoever writes `</s>` must not end the text."""
    assert 2 not in made().pieces("a</s>b").ids[1:-1]


def test_only_so_many_pieces_count() -> None:
    assert made(5).pieces("ab ab ab ab").ids == (0, *[PIECES.index("\u2581ab")] * 3, 2)
    assert shown("ab ab ab", "ab ", most=5) == [("\u2581ab", "ab"), ("\u2581ab", "ab")]


@pytest.mark.parametrize("text", ["", " ", "\u200b", "\ud83d", "a\udc00b", "\x00"])
def test_odd_texts(text: str) -> None:
    ids = made().pieces(text, "b: ").ids
    assert (ids[0], ids[-1]) == (0, 2)


def vocabulary(pieces: list[str]) -> Vocabulary:
    scores = np.array([0.0] * 4 + [-1.0 - place for place in range(len(pieces) - 4)], np.float32)
    return Vocabulary(tuple(pieces), scores, 0, 2, 3, REPLACEMENTS)


def test_what_is_written_is_read(tmp_path: Path) -> None:
    path = tmp_path / "unigram.bin"
    path.write_bytes(unigram_bytes(vocabulary(PIECES)))
    assert read_unigram(path, 9).pieces("ab½").ids == (0, *map(PIECES.index, ("\u2581", "ab", "1", "⁄", "2")), 2)
    assert read_unigram(path, 3).pieces("</s>").ids == (0, PIECES.index("\u2581"), 2)


def test_a_vocabulary_holds_each_piece_once() -> None:
    with pytest.raises(ValueError, match="once"):
        unigram_bytes(vocabulary([*PIECES, "ab"]))


def test_a_file_that_is_cut_short_is_refused(tmp_path: Path) -> None:
    content = unigram_bytes(vocabulary(PIECES))
    (tmp_path / "unigram.bin").write_bytes(content[:-1])
    with pytest.raises(ValueError, match="short"):
        read_unigram(tmp_path / "unigram.bin", 9)


@given(
    st.sets(st.text(alphabet="ab▁北", min_size=1, max_size=4), min_size=1, max_size=60),
    st.text(alphabet="ab▁北", max_size=12),
)
def test_a_table_finds_every_piece_that_begins_at_a_place_and_no_other(pieces: set[str], text: str) -> None:
    ordered = sorted(pieces)
    table = made_table(ordered)
    characters = [character.encode("utf-8", "surrogatepass") for character in text]
    for place in range(len(text)):
        expected = [end for end in range(place + 1, len(text) + 1) if text[place:end] in ordered]
        found = list(table.starting_at(characters, place))
        assert [end for end, _ in found] == expected
        assert [ordered[piece] for _, piece in found] == [text[place:end] for end in expected]


@pytest.mark.parametrize("content", [b"", b"{}\n", b'{"format": "unigram.2"}\n', b"\xff\xfe", b"[]\n"])
def test_another_file_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "unigram.bin").write_bytes(content)
    with pytest.raises((ValueError, KeyError, TypeError, AttributeError)):
        read_unigram(tmp_path / "unigram.bin", 9)
