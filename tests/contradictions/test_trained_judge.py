"""From probabilities to relations: sentences, bounds, parts, retractions (P-24)."""

from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from recollect.adapters.judges.table_pairs import TablePairModel
from recollect.contradictions.judge import Relation, RelationKind, Said
from recollect.contradictions.pairs import EndedPiece, PairScores, StatementPair
from recollect.contradictions.trained import TrainedJudge

TUESDAY = datetime(2026, 6, 16, 9, 20, tzinfo=UTC)
CHANGES = PairScores(changed=0.9)
PART = PairScores(changed=0.9, replaced=0.1, part=0.9)
OLD = "I live in Paris."


def said(text: str, at: datetime = TUESDAY) -> Said:
    return Said(id=text, text=text, at=at)


def judged(newer: str, older: str, rows: dict[tuple[str, str], PairScores]) -> Relation | None:
    (found,) = TrainedJudge(TablePairModel(rows)).judge(said(newer), [said(older)])
    return found


@pytest.mark.spec("P-24")
def test_what_a_model_is_sure_of_replaces_and_names_the_model_and_its_confidence() -> None:
    found = judged("I moved to Lyon.", OLD, {("I moved to Lyon.", OLD): CHANGES})
    wanted = Relation(kind=RelationKind.SUPERSEDES, rule="table", ended=((0, len(OLD)),), confidence=0.9)
    assert found == wanted


@pytest.mark.parametrize("changed", [0.0, 0.09])
def test_what_is_unlikely_does_nothing(changed: float) -> None:
    assert judged("I moved.", OLD, {("I moved.", OLD): PairScores(changed=changed)}) is None


@pytest.mark.parametrize("again", [OLD.upper(), f"{OLD}!! 🙂"])
def test_the_same_words_again_do_nothing(again: str) -> None:
    assert judged(again, OLD, {(again, OLD): CHANGES}) is None


def test_without_a_model_nothing_is_judged() -> None:
    judge = TrainedJudge(None)
    assert judge.judge(said("I moved to Lyon."), [said(OLD)]) == [None]
    assert not judge.profile(said("I moved to Lyon.")).may_end


@pytest.mark.parametrize(
    ("text", "states"),
    [("Thanks!", False), ("Where do I live?", False), ("Wo wohne ich？", False), (OLD, True), ("我住在巴黎。", True)],
)
def test_a_word_alone_or_a_question_states_nothing(text: str, states: bool) -> None:
    profile = TrainedJudge(TablePairModel({(text, OLD): CHANGES})).profile(said(text))
    assert (profile.states, profile.may_end) == (states, states)


def test_what_the_first_look_finds_harmless_is_compared_with_nothing() -> None:
    looked: list[str] = []

    class Harmless(Noted):
        def may_change(self, texts: Sequence[str]) -> list[bool]:
            looked.extend(texts)
            return [False] * len(texts)

        def relate(self, pairs: Sequence[StatementPair]) -> list[PairScores]:
            raise AssertionError("nobody may ask")

    judge, told = TrainedJudge(Harmless()), said("I moved to Lyon.")
    assert judge.judge(told, [said(OLD)]) == [None]
    assert (judge.profile(told).states, judge.profile(told).may_end) == (True, False)
    assert set(looked) == {told.text}


class Keeping(TablePairModel):
    """A table that keeps what it was asked."""

    def __init__(self, rows: dict[tuple[str, str], PairScores]) -> None:
        super().__init__(rows)
        self.pairs: list[StatementPair] = []

    def relate(self, pairs: Sequence[StatementPair]) -> list[PairScores]:
        self.pairs += pairs
        return super().relate(pairs)


def test_of_a_long_message_only_the_parts_that_may_change_something_are_asked_about() -> None:
    class Some(Keeping):
        def may_change(self, texts: Sequence[str]) -> list[bool]:
            return ["moved" in text for text in texts]

    filler = "The weather was fine and we sat outside for hours and hours, all of us together in the sun. "
    model = Some({})
    TrainedJudge(model).judge(said(f"{3 * filler}I moved to Lyon."), [said(OLD)])
    asked = {pair.newer for pair in model.pairs}
    assert asked
    assert all("moved" in newer for newer in asked)


def test_which_clause_ends_is_not_asked_of_what_nobody_hears_of() -> None:
    older = f"My gran bakes on Sundays. {OLD} I like tea."
    rows = {("I moved to Lyon.", older): PairScores(changed=0.2)}
    model = Keeping(rows)
    (found,) = TrainedJudge(model).judge(said("I moved to Lyon."), [said(older)], least=0.3)
    assert found is not None
    assert found.confidence == 0.2
    assert model.pairs == [StatementPair("I moved to Lyon.", older)]


def test_a_pair_is_asked_once() -> None:
    model = Keeping({("I moved to Lyon.", OLD): CHANGES})
    judge, told = TrainedJudge(model), said("I moved to Lyon.")
    assert judge.judge(told, [said(OLD)]) == judge.judge(told, [said(OLD)])
    assert len(model.pairs) == 1


@pytest.mark.spec("P-24")
def test_of_several_sentences_the_one_ends_that_no_longer_holds() -> None:
    older = f"My gran bakes on Sundays. {OLD} I like tea."
    rows = {("I moved to Lyon.", older): CHANGES, ("I moved to Lyon.", OLD): CHANGES}
    found = judged("I moved to Lyon.", older, rows)
    assert found is not None
    assert [older[slice(*span)] for span in found.ended] == [OLD]


@pytest.mark.spec("P-24")
def test_of_several_clauses_the_one_ends_that_no_longer_holds() -> None:
    older, newer = "I live in Porto with Rui, and I work as a nurse, the rent is 1,200.", "Moved to Braga."
    found = judged(newer, older, {(newer, older): CHANGES, (newer, "I live in Porto with Rui"): CHANGES})
    assert found is not None
    assert [older[slice(*span)] for span in found.ended] == ["I live in Porto with Rui"]


@pytest.mark.spec("P-24")
def test_what_is_told_far_behind_in_a_long_older_message_is_read() -> None:
    class Near(Noted):
        def relate(self, pairs: Sequence[StatementPair]) -> list[PairScores]:
            told = ("Paris" in pair.older and len(pair.older) <= 160 for pair in pairs)
            return [PairScores(changed=0.9 if one else 0.0) for one in told]

    older = f"{'It rained again and we talked about the garden for an hour. ' * 4}I live in Paris, near the canal."
    (found,) = TrainedJudge(Near()).judge(said("I moved to Lyon."), [said(older)])
    assert found is not None
    assert [older[slice(*span)] for span in found.ended] == ["I live in Paris"]


@pytest.mark.spec("P-24")
def test_where_no_sentence_by_itself_is_changed_a_conflict_is_left_open() -> None:
    older = f"My gran bakes on Sundays. {OLD}"
    found = judged("I moved to Lyon.", older, {("I moved to Lyon.", older): CHANGES})
    assert found is not None
    assert (found.kind, found.ended) == (RelationKind.UNDECIDED, ())


@pytest.mark.spec("P-24")
@pytest.mark.parametrize(("others", "kind"), [(20, RelationKind.SUPERSEDES), (30, RelationKind.UNDECIDED)])
def test_a_message_of_very_many_clauses_never_ends_as_a_whole(others: int, kind: RelationKind) -> None:
    class Near(Noted):
        def relate(self, pairs: Sequence[StatementPair]) -> list[PairScores]:
            return [PairScores(changed=0.9 if OLD in pair.older else 0.0) for pair in pairs]

    older = f"{OLD} {'My gran bakes on Sundays. ' * others}"
    (found,) = TrainedJudge(Near()).judge(said("I moved to Lyon."), [said(older)])
    assert found is not None
    assert (found.kind, [older[slice(*span)] for span in found.ended]) == (kind, [OLD] if others == 20 else [])


@pytest.mark.spec("P-24")
def test_a_part_is_spliced_where_it_can_be_told_exactly_and_else_left_open() -> None:
    older, newer = "Choir is at 19:30.", "We start at 20:00 now."
    found = judged(newer, older, {(newer, older): PART})
    assert found is not None
    assert (found.kind, found.merged) == (RelationKind.CHANGES_PART, "Choir is at 20:00.")
    found = judged("A bit later now.", older, {("A bit later now.", older): PART})
    assert found is not None
    assert (found.kind, found.merged) == (RelationKind.UNDECIDED, None)


@pytest.mark.spec("P-24")
def test_what_would_change_it_for_good_but_for_its_bound_holds_over_for_a_while() -> None:
    newer = "I live in Lyon until Friday."
    found = judged(newer, OLD, {("I live in Lyon.", OLD): CHANGES})
    assert found is not None
    assert (found.kind, found.until) == (RelationKind.OVERRIDES, datetime(2026, 6, 20, tzinfo=UTC))


@pytest.mark.spec("P-24")
@pytest.mark.parametrize(
    ("newer", "older", "since"),
    [
        ("Rent is 520 from 1 July.", "I pay 480 in rent.", datetime(2026, 7, 1, tzinfo=UTC)),
        ("Rent is 520 from 1 July.", "From June on I pay 480, due Monday.", None),
        ("Rent is 520 from 1 May.", "I pay 480 in rent.", None),
    ],
)
def test_a_change_announced_for_a_day_holds_from_that_day(newer: str, older: str, since: datetime | None) -> None:
    found = judged(newer, older, {(newer, older): CHANGES})
    assert found is not None
    assert (found.kind, found.since) == (RelationKind.SUPERSEDES, since)


@pytest.mark.spec("P-24")
def test_a_day_of_another_clause_dates_no_change() -> None:
    newer = "I moved to Lyon last week, and Rui comes to visit me on 1 July."
    rows = {(newer, OLD): CHANGES, ("I moved to Lyon last week", OLD): CHANGES}
    found = judged(newer, OLD, rows)
    assert found is not None
    assert (found.kind, found.since) == (RelationKind.SUPERSEDES, None)


SATURDAY, FIRST = datetime(2026, 6, 20, tzinfo=UTC), datetime(2026, 7, 1, tzinfo=UTC)


@pytest.mark.spec("P-24")
@pytest.mark.parametrize(
    ("newer", "done", "since"),
    [
        ("We moved to Lyon on Saturday.", True, None),
        ("We're moving to Lyon on Saturday.", False, SATURDAY),
        ("We moved to Lyon on the 1st.", True, None),
        ("We're moving to Lyon on the 1st.", False, FIRST),
        ("周六搬到里昂了。", True, None),
        ("周六搬到里昂。", False, SATURDAY),
        ("Desde el sábado vivo en Lyon.", True, None),
        ("From Saturday I live in Lyon.", True, SATURDAY),
        ("On next Saturday I move to Lyon.", True, SATURDAY),
        ("I live in Lyon on 1 July.", True, FIRST),
        ("Ab Samstag wohne ich in Lyon.", True, SATURDAY),
        ("下周一搬到里昂。", True, datetime(2026, 6, 22, tzinfo=UTC)),
        ("I signed it on Saturday and from 1 July I live in Lyon.", True, FIRST),
        ("I sign it on Saturday and from 1 July I live in Lyon.", False, SATURDAY),
    ],
)
def test_a_day_of_what_is_done_is_past_unless_its_words_say_that_it_is_to_come(
    newer: str, done: bool, since: datetime | None
) -> None:
    model = TablePairModel({(newer, OLD): CHANGES}, done=[newer] if done else [])
    (found,) = TrainedJudge(model).judge(said(newer), [said(OLD)])
    assert found is not None
    assert (found.kind, found.since) == (RelationKind.SUPERSEDES, since)


@pytest.mark.spec("P-24")
@pytest.mark.parametrize(("probability", "since"), [(0.85, SATURDAY), (0.86, None)])
def test_what_is_less_surely_done_is_to_come(probability: float, since: datetime | None) -> None:
    class Telling(TablePairModel):
        def tells_done(self, texts: Sequence[str]) -> list[float]:
            return [probability] * len(texts)

    newer = "To Lyon on Saturday."
    (found,) = TrainedJudge(Telling({(newer, OLD): CHANGES})).judge(said(newer), [said(OLD)])
    assert found is not None
    assert found.since == since


def test_of_a_long_message_the_part_that_names_the_day_says_whether_it_is_done() -> None:
    filler = "The weather was fine and we sat outside for hours and hours, all of us together in the sun. " * 3
    part, asked = "We moved to Lyon on Saturday.", list[str]()

    class Telling(Noted):
        def tells_done(self, texts: Sequence[str]) -> list[float]:
            asked.extend(texts)
            return [float("Saturday" in text) for text in texts]

    (found,) = TrainedJudge(Telling()).judge(said(filler + part), [said(OLD)])
    assert found is not None
    assert found.since is None
    assert len(asked) == 1
    assert part in asked[0]
    assert len(asked[0]) < len(filler + part)


@pytest.mark.spec("P-24")
def test_a_bound_in_another_sentence_bounds_nothing_of_the_change() -> None:
    newer = "I moved to Lyon. The office is closed until Friday."
    found = judged(newer, OLD, {("I moved to Lyon.", OLD): CHANGES})
    assert found is not None
    assert (found.kind, found.until) == (RelationKind.SUPERSEDES, None)


@pytest.mark.spec("P-24")
def test_of_a_clause_with_a_bound_that_clause_alone_is_bounded() -> None:
    text = "The choir sings outside until Friday, and my sister Anna bakes bread every Sunday."
    (bound,) = TrainedJudge(TablePairModel({})).profile(said(text)).bounds
    assert text[slice(*bound.span)] == "The choir sings outside until Friday"
    found = judged(text, OLD, {("and my sister Anna bakes bread every Sunday.", OLD): CHANGES})
    assert found is not None
    assert (found.kind, found.until) == (RelationKind.SUPERSEDES, None)


@pytest.mark.spec("P-24")
def test_a_date_bounds_nothing_where_the_model_is_sure_that_what_is_said_lasts() -> None:
    text = "The judge signed it until Friday: I live in Lyon."
    told, rows = said(text), {(text, OLD): CHANGES}
    lasts, passes = (TrainedJudge(TablePairModel(rows, lasting)) for lasting in ([text], []))
    assert (lasts.holds_until(told), lasts.profile(told).bounds) == (None, ())
    until = passes.holds_until(told)
    assert until is not None
    assert [bound.until for bound in passes.profile(told).bounds] == [until]
    (found,) = lasts.judge(told, [said(OLD)])
    assert found is not None
    assert (found.kind, found.until) == (RelationKind.SUPERSEDES, None)


@pytest.mark.spec("P-24")
@pytest.mark.parametrize(("span", "bounds"), [("this month", False), ("until Friday", True)])
def test_what_was_done_in_a_span_is_not_bounded_by_it(span: str, bounds: bool) -> None:
    told = said(f"Sent two V7s {span}, a full two grades above where I was")
    done, open_ = (TrainedJudge(TablePairModel({}, done=texts)) for texts in ([told.text], []))
    assert (done.holds_until(told) is not None) is bounds
    assert open_.holds_until(told) is not None


@pytest.mark.spec("P-24")
def test_what_says_that_it_never_was_so_retracts() -> None:
    newer = "I misspoke, I never lived in Paris."
    found = judged(newer, OLD, {(newer, OLD): PairScores(changed=0.9, replaced=0.0, ended=1.0, retracted=0.8)})
    assert found is not None
    assert found.kind is RelationKind.RETRACTS


def test_a_long_message_is_read_in_parts_and_the_strongest_counts() -> None:
    filler = "It rained again and we talked about the garden and the neighbours for an hour or so. " * 3
    newer = f"{filler}I moved to Lyon."
    last = TrainedJudge(Noted()).judge(said(newer), [said(OLD)])
    assert last[0] is not None


class Noted:
    """Only a part that is short enough and names the change changes anything."""

    version = "noted"

    def may_change(self, texts: Sequence[str]) -> list[bool]:
        return [True] * len(texts)

    def may_pass(self, texts: Sequence[str]) -> list[bool]:
        return [True] * len(texts)

    def worth_keeping(self, texts: Sequence[str]) -> list[float]:
        return [1.0] * len(texts)

    def tells_done(self, texts: Sequence[str]) -> list[float]:
        return [0.0] * len(texts)

    def beside(self, changed: Sequence[float]) -> list[float]:
        return list(changed)

    def ended_pieces(self, pairs: Sequence[StatementPair]) -> list[tuple[EndedPiece, ...]]:
        return [()] * len(pairs)

    def relate(self, pairs: Sequence[StatementPair]) -> list[PairScores]:
        told = ("Lyon" in pair.newer and len(pair.newer) <= 220 for pair in pairs)
        return [PairScores(changed=0.9 if one else 0.0) for one in told]
