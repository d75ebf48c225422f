"""Both adapters of `PairModel` keep its contract; the trained one means what it says, in several languages."""

import json
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from recollect.adapters.embedders.model_folder import ENDED_FILE, JUDGE_FILE
from recollect.adapters.judges.onnx_pairs import (
    BESIDE_FILE,
    DONE_FILE,
    WORTH_FILE,
    OnnxPairModel,
    _FirstLook,
    _Loaded,
)
from recollect.adapters.judges.table_pairs import TablePairModel
from recollect.contracts.pair_model import PAIRS, PairModelContract
from recollect.contradictions.judge import RelationKind, Said
from recollect.contradictions.pairs import PairScores, StatementPair
from recollect.contradictions.trained import LEAST_DONE, TrainedJudge
from recollect.core.errors import NotReady
from recollect.memories.worth_keeping import LEAST_LASTING
from recollect.ports import PairModel
from recollect.rules.groups import ConflictRules

SATURDAY = datetime(2026, 6, 20, tzinfo=UTC)


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

    @pytest.mark.parametrize("file", [WORTH_FILE, DONE_FILE, BESIDE_FILE])
    def test_what_was_fitted_to_a_judge_was_fitted_to_this_one(self, model: PairModel, file: Path) -> None:
        assert json.loads(file.read_text("ascii"))["judge"] == model.version

    @pytest.mark.spec("P-24")
    @pytest.mark.parametrize(
        ("done", "ahead"),
        [
            ("We moved to Leith on Saturday", "We're moving to Leith on Saturday"),
            ("Wir sind am Samstag nach Leith gezogen", "Wir ziehen am Samstag nach Leith"),
            ("Desde el sábado vivimos en Leith", "El sábado nos vamos a mudar a Leith"),
        ],
    )
    def test_what_is_done_is_told_from_what_is_to_come(self, model: PairModel, done: str, ahead: str) -> None:
        told, coming = model.tells_done([done, ahead])
        assert told >= LEAST_DONE > coming

    @pytest.mark.spec("P-24")
    @pytest.mark.parametrize(
        ("older", "newer", "since"),
        [
            ("We live in Marchmont", "We moved to Leith on Saturday", None),
            ("We live in Marchmont", "We're moving to Leith on Saturday", SATURDAY),
            ("Wir wohnen in Marchmont", "Wir sind am Samstag nach Leith gezogen", None),
            ("Wir wohnen in Marchmont", "Ab Samstag wohnen wir in Leith", SATURDAY),
            ("Vivimos en Marchmont", "Desde el sábado vivimos en Leith", None),
            ("Vivimos en Marchmont", "A partir del sábado viviremos en Leith", SATURDAY),
        ],
    )
    def test_a_move_that_is_done_holds_at_once_and_one_to_come_from_its_day(
        self, model: PairModel, older: str, newer: str, since: datetime | None
    ) -> None:
        told = Said(id="newer", text=newer, at=SATURDAY - timedelta(days=4))
        (found,) = TrainedJudge(model).judge(told, [Said(id="older", text=older, at=told.at - timedelta(days=9))])
        assert found is not None
        assert (found.kind, found.since) == (RelationKind.SUPERSEDES, since)

    @pytest.mark.spec("P-24")
    def test_whether_it_is_done_is_read_of_the_first_look(
        self, e5_folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        model, text = OnnxPairModel(e5_folder), "We moved to Leith on Saturday"
        looked, first_look = list[StatementPair](), _Loaded.first_look

        def noted(self: _Loaded, pair: StatementPair) -> _FirstLook:
            looked.append(pair)
            return first_look(self, pair)

        monkeypatch.setattr(_Loaded, "first_look", noted)
        model.may_change([text])
        model.tells_done([text])
        assert looked == [StatementPair(text, "")]

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


def test_of_another_judge_nothing_is_told_to_be_done(e5_folder: Path, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    shutil.copytree(e5_folder, folder)
    about = json.loads((folder / JUDGE_FILE).read_text("ascii"))
    (folder / JUDGE_FILE).write_text(json.dumps(about | {"version": "another"}), "ascii")
    assert OnnxPairModel(folder).tells_done(["We moved to Leith on Saturday"]) == [0.0]


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
