"""Both adapters of `PairModel` keep its contract; the trained one means what it says, in several languages."""

import json
from pathlib import Path

import pytest

from recollect.adapters.embedders.model_folder import ENDED_FILE, JUDGE_FILE
from recollect.adapters.judges.onnx_pairs import WORTH_FILE, OnnxPairModel
from recollect.adapters.judges.table_pairs import TablePairModel
from recollect.contracts.pair_model import PAIRS, PairModelContract
from recollect.contradictions.pairs import PairScores, StatementPair
from recollect.core.errors import NotReady
from recollect.memories.worth_keeping import LEAST_LASTING
from recollect.ports import PairModel
from recollect.rules.groups import ConflictRules


class TestTable(PairModelContract):
    @pytest.fixture
    def model(self) -> PairModel:
        return TablePairModel({(PAIRS[0].newer, PAIRS[0].older): PairScores(changed=0.9, replaced=0.5, ended=0.5)})


class TestOnnx(PairModelContract):
    @pytest.fixture
    def model(self, e5_folder: Path) -> PairModel:
        return OnnxPairModel(e5_folder)

    @pytest.mark.spec("P-24")
    @pytest.mark.parametrize(
        ("older", "change", "stands"),
        [
            ("I live in Paris.", "I moved to Lyon last week.", "My sister moved to Lyon last week."),
            (
                "I live in Marchmont.",
                "Handed the Marchmont keys back, first night in Leith.",
                "My colleague moved to Leith.",
            ),
            ("Ich wohne in Köln.", "Bin letzte Woche nach Bonn gezogen.", "Meine Kollegin ist nach Bonn gezogen."),
            ("我每天早上喝咖啡。", "我已经戒了咖啡，现在只喝茶。", "我同事戒了咖啡。"),
        ],
    )
    def test_a_change_is_told_from_what_sounds_like_it(
        self, model: PairModel, older: str, change: str, stands: str
    ) -> None:
        changed, other = model.relate([StatementPair(change, older), StatementPair(stands, older)])
        asked = ConflictRules().ask
        assert changed.changed >= asked > other.changed

    @pytest.mark.spec("P-10")
    @pytest.mark.parametrize(
        ("fact", "filler"),
        [
            ("Remember I'm allergic to penicillin.", "Always happy to help!"),
            ("Please remember that my son is called Tom.", "remember when we laughed so hard lol"),
            ("I moved to Leeds in May, I always cycle to work.", "I am so tired lol, always the same on Mondays"),
            ("Merk dir: ich vertrage keine Laktose.", "Danke dir, du bist immer so lieb!"),
            ("记住，我对花生过敏。", "哈哈太好笑了，我永远支持你！"),
            ("Recuerda que mi hermana vive en Sevilla y es enfermera.", "¡Qué bien, siempre me haces reír!"),
        ],
    )
    def test_what_is_worth_keeping_is_told_from_filler(self, model: PairModel, fact: str, filler: str) -> None:
        kept, passed_over = model.worth_keeping([fact, filler])
        assert kept >= LEAST_LASTING > passed_over

    @pytest.mark.spec("P-24")
    def test_what_a_long_message_chats_about_is_compared_with_nothing_and_a_plain_statement_is(
        self, model: PairModel
    ) -> None:
        chat = (
            "Haha yes, it was such a beautiful day by the lake, we laughed so much and took hundreds of pictures "
            "of the ducks. I really love moments like these with the people who matter to me, they give me strength."
        )
        moved = (
            "It has been a long month with all these boxes around us, but since Friday we live in Leeds, in a flat by "
            "the big park, and the cat likes it there."
        )
        assert model.may_change([chat, moved, "Mon forfait a augmenté, 24 euros"]) == [False, True, True]

    def test_a_long_message_that_only_tells_a_wish_again_settles_nothing(self, model: PairModel) -> None:
        wish = "I'm keen on counseling or working in mental health - I'd love to support those with similar issues."
        again = (
            "I struggled with mental health, and support I got was really helpful. It made me realize how important it "
            "is for others to have a support system. So I started looking into counseling, to help other people."
        )
        moved = "I work in a bank in Leeds."
        new = (
            "It took months of interviews and a lot of waiting, but since Monday I am a counselor in a clinic for "
            "young people in York, and I left the bank for good, with a cake and a card that everybody had signed."
        )
        first, second = model.relate([StatementPair(again, wish), StatementPair(new, moved)])
        assert first.changed < ConflictRules().settle <= second.changed

    def test_what_is_worth_keeping_was_fitted_to_this_judge(self, model: PairModel) -> None:
        assert json.loads(WORTH_FILE.read_text("ascii"))["judge"] == model.version

    @pytest.mark.spec("P-24")
    @pytest.mark.parametrize(
        ("lasts", "passes"),
        [
            ("I work at Bosch in Ulm now.", "I'm sleeping on the sofa this week, they're painting."),
            ("Der Vertrag ist heute unterschrieben, ich arbeite jetzt bei Bosch.", "Bis Freitag schlafe ich im Hotel."),
            ("我搬到里昂了。", "这周我住在酒店，房子在装修。"),
        ],
    )
    def test_what_holds_for_a_while_is_told_from_what_lasts(self, model: PairModel, lasts: str, passes: str) -> None:
        assert model.may_pass([lasts, passes]) == [False, True]


def test_a_folder_without_a_judge_says_how_to_build_one(tmp_path: Path) -> None:
    with pytest.raises(NotReady, match="build it with"):
        OnnxPairModel(tmp_path)


@pytest.mark.parametrize("content", ["", "[]", '{"version": "x"}', '{"version": "x", "scale": "a", "shift": 0}'])
def test_a_damaged_judge_is_not_ready(tmp_path: Path, content: str) -> None:
    (tmp_path / JUDGE_FILE).write_text(content)
    with pytest.raises(NotReady):
        OnnxPairModel(tmp_path)


ABOUT = '{"version": "x", "scale": 1, "shift": 0, "message_from": 0, "pair_from": 0, "passing_from": 0, "files": []}'


def test_a_judge_whose_graph_is_missing_is_not_ready_when_it_is_asked(tmp_path: Path) -> None:
    for about in (JUDGE_FILE, ENDED_FILE):
        (tmp_path / about).write_text(ABOUT)
    with pytest.raises(NotReady, match="cannot be loaded"):
        OnnxPairModel(tmp_path).relate(PAIRS)
