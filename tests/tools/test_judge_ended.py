"""What the model learns from that tells which words end: the lists, the marks of parts, its file, what is counted."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from infra.tools.judge.ended_examples import (
    KINDS,
    LISTS,
    NOT_LEARNT,
    PART,
    WHOLE,
    ListPair,
    Marked,
    list_pairs,
    of_lists,
    of_months,
)
from infra.tools.judge.ended_rows import EndedRows, read, write
from infra.tools.judge.ended_scores import ended_lines
from infra.tools.judge.examples import Month, Part
from infra.tools.judge.held import HELD_LISTS
from infra.tools.judge.layer_files import RANK, write_moves
from recollect.adapters.embedders.building.trained_layers import read_layers_over
from recollect.adapters.judges.table_pairs import TablePairModel
from recollect.contradictions.pairs import PairScores

OLDER, NEWER = "I'm allergic to shellfish and latex.", "turns out the latex thing was just the glove powder"
LATEX = ListPair("w9", "en", "W9-001", NEWER, OLDER, PART, ("and latex",))


def marked(one: Marked) -> list[str]:
    return [one.older[start:end] for start, end in one.ended]


def test_each_older_message_has_its_newer_ones_and_its_ended_words_are_its_own() -> None:
    by_group: dict[tuple[str, str], list[ListPair]] = {}
    for pair in list_pairs(LISTS):
        assert all(words in pair.older for words in pair.ended)
        assert pair.kind in KINDS
        assert bool(pair.ended) is (pair.kind in (PART, WHOLE))
        by_group.setdefault((pair.writer, pair.group), []).append(pair)
    assert len(by_group) >= 600
    for pairs in by_group.values():
        assert len({pair.older for pair in pairs}) == 1
        kinds = Counter(pair.kind for pair in pairs)
        six = kinds[PART] == 2 and kinds[WHOLE] == 1 and len(pairs) == 6
        assert six or kinds == {PART: 3, "near": 1}


def test_a_writer_is_held_out() -> None:
    writers = {pair.writer for pair in list_pairs(LISTS)}
    assert writers > HELD_LISTS
    assert {f"list-{one}" for one in HELD_LISTS} < NOT_LEARNT


def test_words_are_marked_in_the_part_that_holds_them() -> None:
    first = "Every second weekend the children are with their father, who lives in another town, near the old harbour"
    second = "and on Thursday evenings I sing in a choir that meets in a school, with Ana, who drives me home after"
    pair = ListPair("w9", "en", "W9-002", "no choir any more", f"{first}. {second}.", PART, ("I sing in a choir",))
    found = list(of_lists([pair]))
    assert len(found) > 1
    assert [marked(one) for one in found if one.ended] == [["I sing in a choir"]]


def test_a_months_change_marks_the_words_of_the_older_message() -> None:
    newer, older = Part("m2", "the latex thing was just the glove powder"), Part("m1", "and latex")
    month = Month("m", "mz", "en", {"m1": OLDER, "m2": NEWER}, {(newer, older): 2}, {}, frozenset())
    (found,) = of_months([month])
    assert (found.newer, found.group, marked(found)) == (NEWER, "mz", ["and latex"])


def test_rows_are_read_as_they_were_written(tmp_path: Path) -> None:
    rows = EndedRows(
        ids=[np.array([0, 7, 2, 2, 8, 9, 2], np.int32), np.array([0, 7, 2, 2, 2], np.int32)],
        older=np.array([4, 4], np.int16),
        ended=[np.array([False, True]), np.array([], np.bool_)],
        weights=np.array([1.5, 0.5], np.float32),
        kinds=np.array(["list", "month"]),
        groups=np.array(["list-w1", "mz"]),
    )
    write(rows, tmp_path / "one/ended.npz")
    found = read(tmp_path / "one/ended.npz")
    for name in ("ids", "ended"):
        assert [one.tolist() for one in getattr(found, name)] == [one.tolist() for one in getattr(rows, name)]
    for name in ("older", "weights", "kinds", "groups"):
        assert getattr(found, name).tolist() == getattr(rows, name).tolist()


def test_layers_are_read_as_far_as_they_moved(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    begun = {"l6.q.w": rng.normal(size=(40, 30)).astype(np.float32), "l6.q.b": np.zeros(40, np.float32)}
    moved = (rng.normal(size=(40, RANK)) @ rng.normal(size=(RANK, 30)) * 0.01).astype(np.float32)
    found = {"l6.q.w": begun["l6.q.w"] + moved, "l6.q.b": np.ones(40, np.float32), "words.w": moved[:1]}
    write_moves(tmp_path / "ended.npz", {"version": "one"}, found, begun)
    read_back, about = read_layers_over(tmp_path / "ended.npz", begun)
    assert about == {"version": "one"}
    assert read_back["l6.q.b"].tolist() == [1] * 40
    assert np.allclose(read_back["words.w"], found["words.w"], atol=1e-3)
    assert np.abs(read_back["l6.q.w"] - found["l6.q.w"]).max() < 0.05 * np.abs(moved).max()


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        (0.9, "changes of a part: 1, 1 settled, 0 reworded, 0 asked, 0 stand; of the settled 1.000 of the ended "),
        (0.5, "changes of a part: 1, 0 settled, 0 reworded, 1 asked, 0 stand"),
        (0.1, "changes of a part: 1, 0 settled, 0 reworded, 0 asked, 1 stand"),
    ],
)
def test_what_becomes_of_a_change_is_counted(changed: float, told: str) -> None:
    scores = {(NEWER, OLDER): PairScores(changed=changed, ended=changed)}
    lines = list(ended_lines([LATEX], TablePairModel(scores, ended={(NEWER, OLDER): "and latex"})))
    assert lines[0].startswith(told)
    assert lines[1].startswith("whole changes: 0")
