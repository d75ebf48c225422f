"""The contract of `PairModel`: any adapter that judges pairs of statements."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from recollect.contradictions.pairs import PairScores, StatementPair
from recollect.ports import PairModel

PAIRS = (
    StatementPair("I moved to Lyon last week.", "I live in Paris."),
    StatementPair("Is it raining?", "I live in Paris."),
    StatementPair("", ""),
    StatementPair("x" * 100_000, "word " * 20_000),
    StatementPair("half a pair \ud83d", "\udc00 the other half"),
    StatementPair("我搬到里昂了。", "我住在巴黎。"),
)


SURE = 0.5
"""From which probability on the first look must not be wrong in this contract."""


class PairModelContract:
    """Subclasses give the fixture `model`."""

    def test_it_names_its_version(self, model: PairModel) -> None:
        assert model.version

    def test_of_no_pairs_it_says_nothing(self, model: PairModel) -> None:
        assert model.relate([]) == []

    def test_each_pair_has_probabilities(self, model: PairModel) -> None:
        found = model.relate(PAIRS)
        assert len(found) == len(PAIRS)
        for one in found:
            assert all(0 <= share <= 1 for share in (one.changed, one.replaced, one.ended, one.part, one.retracted))
            assert one.replaced + one.ended + one.part == pytest.approx(1)

    def test_a_pair_has_the_same_scores_alone_and_among_others_in_any_order(self, model: PairModel) -> None:
        alone = [model.relate([pair])[0] for pair in PAIRS]
        assert model.relate(PAIRS) == alone
        assert model.relate(PAIRS[::-1]) == alone[::-1]

    def test_the_pieces_that_end_are_of_the_older_statement_and_the_same_alone_and_among_others(
        self, model: PairModel
    ) -> None:
        assert model.ended_pieces([]) == []
        found = model.ended_pieces(PAIRS)
        for pair, pieces in zip(PAIRS, found, strict=True):
            places = [0, *(place for one in pieces for place in (one.start, one.end)), len(pair.older)]
            assert places == sorted(places)
            assert all(0 <= one.ended <= 1 for one in pieces)
        assert found == [model.ended_pieces([pair])[0] for pair in PAIRS]

    def test_the_first_look_at_a_message_is_the_same_alone_and_among_others(self, model: PairModel) -> None:
        texts = [pair.newer for pair in PAIRS]
        assert model.may_change([]) == []
        assert model.may_change(texts) == [model.may_change([text])[0] for text in texts]
        assert model.may_pass([]) == []
        assert model.may_pass(texts) == [model.may_pass([text])[0] for text in texts]
        assert model.worth_keeping([]) == []
        assert model.worth_keeping(texts) == [model.worth_keeping([text])[0] for text in texts]
        assert model.tells_done([]) == []
        assert model.tells_done(texts) == [model.tells_done([text])[0] for text in texts]
        assert all(0 <= share <= 1 for share in model.tells_done(texts))

    def test_beside_others_a_probability_stays_one_and_alone_it_stays_as_it_is(self, model: PairModel) -> None:
        assert model.beside([]) == []
        for alone in (0.0, 0.3, 1.0):
            assert model.beside([alone]) == [pytest.approx(alone, abs=1e-3)]
        found = model.beside([0.9, 0.0, 1.0, 0.2])
        assert all(0 <= one <= 1 for one in found)
        assert found[1] == 0.0
        assert found[2] == max(found)

    def test_what_changes_something_passes_the_first_look(self, model: PairModel) -> None:
        scores = model.relate(PAIRS)
        changing = [pair.newer for pair, score in zip(PAIRS, scores, strict=True) if score.changed >= SURE]
        assert all(model.may_change(changing))

    def test_threads_get_the_same_scores(self, model: PairModel) -> None:
        wanted = model.relate(PAIRS)
        with ThreadPoolExecutor(4) as pool:
            found: list[list[PairScores]] = list(pool.map(lambda _: model.relate(PAIRS), range(8)))
        assert found == [wanted] * 8
