"""Sources of sentences: found by our own matching, rather one too many than one too few."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.summaries.goals import GoalSources
from recollect.summaries.sentence_sources import MOST_SOURCES, SentenceSources, Witness, witness_of
from recollect.summaries.summary import SummarySentence
from samples.steps import assert_linear

SAID = {
    "e1": "I moved to Lyon in March with my dog Rex.",
    "e2": "My sister Clara paints sunrises over the harbour.",
    "e3": "The bakery on Rue Mercière opens at 7.",
    "e4": "I paid 4711 euros for the boat.",
    "e5": "Nice! What colour is it?",
    "e6": "Clara and I sail every Sunday.",
    "e7": "我喜欢在河边跑步。",
}


def sources(sentence: str, *more: Witness) -> SummarySentence:
    """The sentence as it is attributed to what was said."""
    witnesses = [*more, *(Witness(text, (event_id,)) for event_id, text in SAID.items())]
    (attributed,) = SentenceSources(witnesses).attribute([sentence])
    return attributed


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        (SAID["e1"], {"e1"}),
        ("Anna (8 May 2023): I moved to Lyon in March with my dog Rex.", {"e1"}),
        ("Anna moved to Lyon.", {"e1"}),
        ("Anna moved to Lyon, and her sister Clara paints sunrises.", {"e1", "e2"}),
        ("The boat cost 4711.", {"e4"}),
        ("Clara sails on Sundays.", {"e6"}),
        ("The bakery opens at 7.", {"e3"}),
        ("喜欢跑步。", {"e7"}),
    ],
)
def test_a_sentence_comes_from_the_events_that_hold_its_words(sentence: str, expected: set[str]) -> None:
    found = sources(sentence)
    assert set(found.source_event_ids) == expected
    assert found.supported


def test_a_number_or_a_name_is_never_left_without_its_event() -> None:
    found = sources("After long talks about harbour bakery dogs and sunrises, the sum was 4711 for Clara.")
    assert "e4" in found.source_event_ids


@pytest.mark.parametrize("sentence", ["Quantum chromodynamics!", "🎉🎉", "?", "Das ist vollkommen anders."])
def test_a_sentence_without_any_word_of_it_has_a_source_all_the_same_and_says_so(sentence: str) -> None:
    found = sources(sentence)
    assert found.source_event_ids
    assert not found.supported


def test_who_says_it_twice_is_named_twice() -> None:
    again = Witness("So you moved to Lyon in March with your dog Rex!", ("e9",))
    assert set(sources("Anna moved to Lyon in March with her dog Rex.", again).source_event_ids) == {"e1", "e9"}


@pytest.mark.parametrize("supported", [True, False])
def test_a_sentence_carried_on_keeps_the_sources_that_it_had(supported: bool) -> None:
    earlier = SummarySentence("Anna works as a plumber in Turin.", ("old1", "old2"), supported)
    kept = sources("Anna works as a plumber in Turin.", witness_of(earlier))
    assert kept.source_event_ids == ("old1", "old2")
    assert kept.supported is supported
    both = sources("Anna, a plumber from Turin, moved to Lyon.", witness_of(earlier))
    assert set(both.source_event_ids) == {"old1", "old2", "e1"}


def test_goals_are_matched_by_what_holds_them_alone() -> None:
    witnesses = SentenceSources([Witness(text, (event_id,)) for event_id, text in SAID.items()])
    assert witnesses.of_goal("Sail every Sunday") == GoalSources(("e6",))
    assert witnesses.of_goal("Climb the Matterhorn") == GoalSources(supported=False)
    assert witnesses.of_goal("") == GoalSources(supported=False)


def test_sources_are_bounded_and_one_that_was_cut_is_not_supported() -> None:
    witnesses = SentenceSources([Witness("I sail", (f"e{n}",)) for n in range(100)])
    (found,) = witnesses.attribute(["I sail"])
    assert (len(found.source_event_ids), found.supported) == (MOST_SOURCES, False)
    many = witnesses.attribute(["I sail"] * 500)
    assert sum(len(one.source_event_ids) for one in many) <= 3_000


TEXTS = st.text(alphabet="ab cd.7É跑 ", max_size=30)


@given(st.lists(TEXTS, min_size=1, max_size=6), st.lists(TEXTS, max_size=4))
def test_every_sentence_has_a_source_among_what_was_said(said: list[str], sentences: list[str]) -> None:
    witnesses = [Witness(text, (f"e{n}",)) for n, text in enumerate(said)]
    for one in SentenceSources(witnesses).attribute(sentences):
        assert one.source_event_ids
        assert set(one.source_event_ids) <= {f"e{n}" for n in range(len(said))}


@given(st.lists(TEXTS, min_size=1, max_size=6), st.data())
def test_what_was_said_word_by_word_names_its_event(said: list[str], data: st.DataObject) -> None:
    position = data.draw(st.integers(0, len(said) - 1))
    witnesses = [Witness(text, (f"e{n}",)) for n, text in enumerate(said)]
    (found,) = SentenceSources(witnesses).attribute([said[position]])
    assert f"e{position}" in found.source_event_ids or not found.supported


def test_work_is_linear_in_what_was_said() -> None:
    def attribute(size: int) -> None:
        witnesses = [Witness(f"word{n} and word{n + 1} are common words", (f"e{n}",)) for n in range(size)]
        SentenceSources(witnesses).attribute([f"word{n} is a common word" for n in range(20)])

    assert_linear(attribute, 400)
