"""The contract of `RelevanceModel`: any adapter that reads question and text together."""

import math
from concurrent.futures import ThreadPoolExecutor

from recollect.ports import RelevanceModel

QUESTION = "Where do I live now?"
TEXTS = (
    "I moved to Lyon last week.",
    "assistant: The capital of Slovenia is Ljubljana.",
    "",
    "word " * 20_000,
    "half a pair \ud83d",
    "我上周搬到了里昂。",
)


class RelevanceModelContract:
    """Subclasses give the fixture `model`, to which the first text answers the question better than the second."""

    def test_it_names_its_version(self, model: RelevanceModel) -> None:
        assert model.version

    def test_of_no_texts_it_says_nothing(self, model: RelevanceModel) -> None:
        assert model.logits(QUESTION, []) == []

    def test_each_text_has_a_logit_alone_and_among_others_in_any_order(self, model: RelevanceModel) -> None:
        alone = [model.logits(QUESTION, [text])[0] for text in TEXTS]
        assert all(math.isfinite(one) for one in alone)
        assert model.logits(QUESTION, TEXTS) == alone
        assert model.logits(QUESTION, TEXTS[::-1]) == alone[::-1]

    def test_what_answers_is_needed_more_than_what_does_not(self, model: RelevanceModel) -> None:
        answer, other = model.logits(QUESTION, TEXTS[:2])
        assert answer > other

    def test_any_question_is_taken(self, model: RelevanceModel) -> None:
        for question in ("", "?" * 5_000, "\udc00", "word " * 9_000):
            assert len(model.logits(question, TEXTS[:1])) == 1

    def test_threads_get_the_same_logits(self, model: RelevanceModel) -> None:
        wanted = model.logits(QUESTION, TEXTS)
        with ThreadPoolExecutor(4) as pool:
            found: list[list[float]] = list(pool.map(lambda _: model.logits(QUESTION, TEXTS), range(8)))
        assert found == [wanted] * 8
