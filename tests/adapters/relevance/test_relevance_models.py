"""Both adapters of `RelevanceModel` keep its contract; the trained one tells what answers from what is near."""

from pathlib import Path

import pytest

from recollect.adapters.embedders.model_folder import RELEVANCE_FILE
from recollect.adapters.relevance.onnx_relevance import TEXT_PIECES, OnnxRelevance, window_of
from recollect.adapters.relevance.table_relevance import TableRelevance
from recollect.contracts.relevance_model import QUESTION, TEXTS, RelevanceModelContract
from recollect.core.errors import NotReady
from recollect.ports import RelevanceModel


class TestTable(RelevanceModelContract):
    @pytest.fixture
    def model(self) -> RelevanceModel:
        return TableRelevance({(QUESTION, TEXTS[0]): 2.0})


class TestOnnx(RelevanceModelContract):
    @pytest.fixture
    def model(self, e5_folder: Path) -> RelevanceModel:
        return OnnxRelevance(e5_folder)

    @pytest.mark.parametrize(
        ("question", "needed", "near"),
        [
            (
                "what does kasia pay now?",
                "Kasia's lovely and pays me 480 on the 1st",
                "how do I tell Kasia not to fry?",
            ),
            (
                "Wann ist mein Zahnarzttermin?",
                "Der Zahnarzt ist am 27. um 15:30.",
                "Der Zahnarzt meiner Schwester ist nett.",
            ),
            ("我的狗几岁了？", "Pixel今年五岁了。", "今天下雨，狗不想出门。"),
        ],
    )
    def test_what_answers_is_told_from_what_is_near(
        self, model: RelevanceModel, question: str, needed: str, near: str
    ) -> None:
        answer, other = model.logits(question, [needed, near])
        assert answer > other


@pytest.mark.parametrize(
    ("before", "behind"), [(0, 0), (200, 0), (200, 300), (0, 300)], ids=["short", "last", "middle", "first"]
)
def test_of_a_long_text_the_part_with_the_questions_pieces_is_read(before: int, behind: int) -> None:
    asked = (7, 8, 9)
    window = window_of((1,) * before + asked + (2,) * behind, asked)
    assert set(asked) <= set(window)
    assert len(window) <= TEXT_PIECES


def test_a_folder_without_a_second_stage_says_how_to_build_one(tmp_path: Path) -> None:
    with pytest.raises(NotReady, match="build it with"):
        OnnxRelevance(tmp_path)


@pytest.mark.parametrize("content", ["", "[]", '{"version": "x"}'])
def test_a_damaged_one_is_not_ready(tmp_path: Path, content: str) -> None:
    (tmp_path / RELEVANCE_FILE).write_text(content)
    with pytest.raises(NotReady):
        OnnxRelevance(tmp_path)


def test_one_whose_graph_is_missing_is_not_ready_when_it_is_asked(tmp_path: Path) -> None:
    (tmp_path / RELEVANCE_FILE).write_text('{"version": "x", "files": []}')
    with pytest.raises(NotReady, match="cannot be loaded"):
        OnnxRelevance(tmp_path).logits(QUESTION, TEXTS)
