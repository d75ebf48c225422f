"""What a training run takes along: texts once, the rows of the word table that they use, and every pair as it was."""

from pathlib import Path
from typing import Final

import numpy as np
import pytest

from infra.tools.judge.bundle import WORDS, Bundle, pack, read, write
from infra.tools.judge.examples import Example
from recollect.adapters.embedders.building.weights import BLOCK, FourBitTable

PIECES: Final = ("<s>", "<pad>", "</s>", "<unk>", "▁never", "▁I", "▁live", "▁in", "▁moved", "▁to", "▁Leith", "▁Porto")
TABLE: Final = FourBitTable(
    np.arange(len(PIECES) * BLOCK // 2, dtype=np.uint8).reshape(len(PIECES), -1),
    np.ones((len(PIECES), 1), np.float16),
)
PAIRS: Final = [
    Example("w1", "en", "I moved to Porto", "I live in Leith", 1, "direct"),
    Example("w2", "en", "I moved to Porto", "", 1, "alone", weight=0.5),
    Example("w2", "en", "I live in Leith", "I live in Leith", 0, "same"),
]


@pytest.fixture
def bundle() -> Bundle:
    sets = {"train": PAIRS, "held": PAIRS[:1]}
    return pack(
        sets,
        lambda text: [PIECES.index(f"▁{word}") for word in text.split()],
        {WORDS: TABLE, "emb.ln.w": np.ones(2, np.float32)},
    )


def test_what_is_read_is_what_was_written(bundle: Bundle, tmp_path: Path) -> None:
    write(bundle, tmp_path / "one/bundle.npz")
    found = read(tmp_path / "one/bundle.npz")
    assert [one.tolist() for one in found.pieces] == [one.tolist() for one in bundle.pieces]
    assert set(found.sets) == {"train", "held"}
    for part in ("texts", "labels", "weights", "kinds", "groups"):
        assert getattr(found.sets["train"], part).tolist() == getattr(bundle.sets["train"], part).tolist()
    table = found.tensors[WORDS]
    assert isinstance(table, FourBitTable)
    assert table.floats().tolist() == bundle.tensors[WORDS].floats().tolist()  # type: ignore[union-attr]
    assert np.asarray(found.tensors["emb.ln.w"]).tolist() == [1, 1]


def test_a_piece_keeps_its_row_and_what_no_text_uses_is_left_out(bundle: Bundle) -> None:
    table = bundle.tensors[WORDS]
    assert isinstance(table, FourBitTable)
    moved = bundle.pieces[0]
    expected = [PIECES.index(one) for one in ("▁I", "▁moved", "▁to", "▁Porto")]
    assert table.pairs[moved].tolist() == TABLE.pairs[expected].tolist()
    assert len(table.pairs) == len(PIECES) - len({"<unk>", "▁never"})


def test_a_text_lies_there_once_and_a_message_alone_has_none_older(bundle: Bundle) -> None:
    told = bundle.sets["train"]
    assert told.texts.tolist() == [[0, 1], [0, -1], [1, 1]]
    assert bundle.older(-1).tolist() == []
    assert told.labels.tolist() == [1, 1, 0]


def test_some_pairs_are_taken_by_themselves(bundle: Bundle) -> None:
    taken = bundle.sets["train"].only(np.array([False, True, True]))
    assert (taken.texts.tolist(), taken.kinds.tolist(), len(taken)) == ([[0, -1], [1, 1]], ["alone", "same"], 2)
