"""Sources of sentences, found by our own matching (P-22): the events that hold what marks a sentence, and no others."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.summaries.goals import GoalSources
from recollect.summaries.sentence_sources import MOST_SOURCES, SentenceSources, Witness, witness_of
from recollect.summaries.summary import SummarySentence
from samples.steps import assert_linear

PLANS = (
    "I plan to run the Lyon marathon in May.",
    "I plan to learn Spanish by June.",
    "I plan to visit Oslo in July.",
)
MARATHONS = (
    "I plan to run a marathon in Lyon this spring.",
    "I plan to run a marathon in Oslo this spring.",
    "I plan to run a marathon in Rome this spring.",
)
PARAPHRASES = (
    ("The user wants to take part in the marathon in Lyon in May.", 0),
    ("Lyon is where they run a marathon in May.", 0),
    ("By June the user hopes to speak Spanish.", 1),
    ("They are planning a trip to Oslo for a week in July.", 2),
    ("Oslo is planned for July.", 2),
)


def attributed(texts: Sequence[str], sentence: str) -> SummarySentence:
    """The sentence; the event of the n-th text is `e{n}`."""
    (found,) = matched(texts).attribute([sentence])
    return found


def matched(texts: Sequence[str]) -> SentenceSources:
    return SentenceSources([Witness(text, (f"e{n}",)) for n, text in enumerate(texts)])


def chatter(count: int) -> list[str]:
    """So many messages of something else."""
    return [f"The weather on day {n} of our sailing was fine, said uncle number {n}." for n in range(100, 100 + count)]


@pytest.mark.spec("P-22")
@pytest.mark.parametrize("around", [0, 60])
@pytest.mark.parametrize(("sentence", "plan"), PARAPHRASES)
def test_a_plan_in_other_words_has_its_own_event_alone(sentence: str, plan: int, around: int) -> None:
    found = attributed([*PLANS, *chatter(around)], sentence)
    assert (found.source_event_ids, found.supported) == ((f"e{plan}",), True)


@pytest.mark.spec("P-22")
@pytest.mark.parametrize("around", [0, 5, 60, 300])
@pytest.mark.parametrize("plan", range(3))
def test_plans_that_differ_in_one_name_have_sources_of_their_own(plan: int, around: int) -> None:
    """However few of all messages hold the words that they share."""
    city = ("Lyon", "Oslo", "Rome")[plan]
    texts = [*MARATHONS, *chatter(around)]
    found = attributed(texts, f"The user plans to run a marathon in {city} this spring.")
    assert (found.source_event_ids, found.supported) == ((f"e{plan}",), True)
    assert matched(texts).of_goal(f"Run a marathon in {city}") == GoalSources((f"e{plan}",))


@pytest.mark.spec("P-22")
@pytest.mark.parametrize("around", [0, 60])
def test_numbers_tell_apart_too(around: int) -> None:
    texts = ["I want to save 500 euros for a new bike.", "I want to save 900 euros for a new bike.", *chatter(around)]
    assert matched(texts).of_goal("Save 900 euros for a new bike") == GoalSources(("e1",))
    assert attributed(texts, "They save 500 euros for a new bike.").source_event_ids == ("e0",)


@pytest.mark.parametrize(
    "sentence",
    ["The user mentioned that they plan to visit Oslo in July.", "Today they would like to go to Oslo in July."],
)
def test_words_that_frame_what_is_said_name_no_event(sentence: str) -> None:
    texts = [*PLANS, "I mentioned it to my boss today.", "I would like to visit you."]
    assert attributed(texts, sentence).source_event_ids == ("e2",)


def test_frame_words_alone_are_no_support_for_a_free_paraphrase() -> None:
    found = attributed(["I plan a party.", "I do push-ups and eat less."], "The user plans fitness.")
    assert not found.supported
    assert matched(["I plan a party.", "I do push-ups."]).of_goal("Plan fitness") == GoalSources(supported=False)


def test_a_name_that_begins_a_sentence_keeps_its_event() -> None:
    texts = ["My sister is called Clara.", *(f"We sail to harbour {n} and paint the boat there." for n in range(30))]
    sentence = "Clara, who sails to every harbour, paints the boat there, and sails home, painting all the way there."
    assert "e0" in attributed(texts, sentence).source_event_ids


@pytest.mark.parametrize("around", [0, 60])
def test_a_goal_put_together_of_two_events_needs_both(around: int) -> None:
    texts = ["I will run a marathon.", "My race is in Lyon.", *chatter(around)]
    assert matched(texts).of_goal("Run a marathon in Lyon") == GoalSources(("e0", "e1"), together=True)


def test_what_speaks_of_a_goal_without_what_marks_it_is_no_source() -> None:
    texts = ["I plan to run the Lyon marathon with Clara.", "My marathon training goes well.", *chatter(60)]
    assert matched(texts).of_goal("Run the Lyon marathon with Clara") == GoalSources(("e0",))


@pytest.mark.parametrize(
    ("goal", "events"),
    [
        ("Run the Lyon marathon with Clara", ("e0", "e2")),
        ("Plan to run the Lyon marathon", ("e0", "e1", "e2")),
        ("Run the Lyon marathon with my sister", ()),
        ("Plan a trip", ("e3",)),
        ("", ()),
    ],
)
def test_a_stored_goal_gains_events_that_hold_all_of_it(goal: str, events: tuple[str, ...]) -> None:
    clara = "Clara and I run the Lyon marathon."
    texts = ["I run the Lyon marathon with Clara.", "I run the Lyon marathon.", clara, "I plan a trip."]
    assert matched(texts).of_stored_goal(goal) == GoalSources(events, supported=bool(events))


def words(letter: str) -> st.SearchStrategy[list[str]]:
    """Words that only the event of that letter has; the stemmer changes none of them."""
    return st.lists(
        st.sampled_from([f"{letter}{vowel}{end}" for vowel in "aou" for end in ("bk", "dk", "gk", "mk")]),
        min_size=2,
        max_size=6,
        unique=True,
    )


COMMON = ("garden", "window", "music", "bread")


@st.composite
def conversations(draw: st.DrawFn) -> tuple[list[str], list[list[str]]]:
    """Events, and the names, numbers and rare words of each."""
    own = [draw(words(letter)) for letter in draw(st.permutations("bcdfghk"))[: draw(st.integers(2, 6))]]
    own = [[draw(st.sampled_from([word, word.title(), f"{n}{at}7"])) for at, word in enumerate(part)]
           for n, part in enumerate(own, start=1)]  # fmt: skip
    shared = [draw(st.lists(st.sampled_from(COMMON), max_size=2, unique=True)) for _ in own]
    return [" ".join(["My", *common, *part]) for common, part in zip(shared, own, strict=True)], own


@pytest.mark.spec("P-22")
@given(conversations(), st.data())
def test_deleting_takes_the_sentences_of_that_event_and_no_other(
    conversation: tuple[list[str], list[list[str]]], data: st.DataObject
) -> None:
    texts, own = conversation
    said = [data.draw(st.lists(st.sampled_from(part), min_size=2, unique=True)) for part in own]
    sentences = matched(texts).attribute([f"The user wants {' '.join(part)}." for part in said])
    goals = [matched(texts).of_goal(" ".join(part)) for part in said]
    for gone in range(len(texts)):
        ids = frozenset([f"e{gone}"])
        left = [n for n, one in enumerate(sentences) if ids.isdisjoint(one.source_event_ids)]
        assert left == [n for n in range(len(texts)) if n != gone]
        assert [n for n, one in enumerate(goals) if one.without(ids) is not None] == left
    assert all(one.supported for one in sentences)
    assert all(one.supported for one in goals)


@pytest.mark.parametrize(
    ("sentence", "texts", "guessed"),
    [
        ("Zz zz", ("Anna sails.", "Ben cooks."), ("e1",)),
        ("Unvergesslich!", ("vergessen", "Ben cooks.", "esslöffel"), ("e0", "e2")),
        ("Unvergesslich!", ("ess", "gess", "gesslich", "ergess"), ("e1", "e2", "e3")),
        ("Unvergesslich!", ("rge", "rge.", "rge!", "rge?"), ("e1", "e2", "e3")),
        ("un, ver", ("xunverx",), ("e0",)),
        ("UNVERS", ("nichts", "univers", "anders"), ("e1", "e2")),
        ("ab", ("abx", "cdy"), ("e1",)),
    ],
)
def test_a_guess_goes_by_runs_of_three_letters_and_is_not_supported(
    sentence: str, texts: tuple[str, ...], guessed: tuple[str, ...]
) -> None:
    assert matched(texts).attribute([sentence]) == (SummarySentence(sentence, guessed, supported=False),)


@pytest.mark.parametrize(
    ("text", "events"),
    [
        ("Rex loves the harbour.", ("e0",)),
        ("harbour", ("e0", "e1")),
        ("tungsten", ()),
        ("of the and", ()),
        ("harbour tungsten iridium osmium rhenium niobium hafnium", ()),
    ],
)
def test_the_events_that_hold_a_text_by_themselves(text: str, events: tuple[str, ...]) -> None:
    known = ("Rex loves the harbour.", "The harbour is old.", "Ben cooks.", "Ana sings.")
    assert matched(known).of_goal(text) == GoalSources(events, supported=bool(events))


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
    (attributed_one,) = SentenceSources(witnesses).attribute([sentence])
    return attributed_one


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
    said = matched(list(SAID.values()))
    assert said.of_goal("Sail every Sunday") == GoalSources(("e5",))
    assert said.of_goal("Climb the Matterhorn") == said.of_goal("") == GoalSources(supported=False)


def test_sources_are_bounded_and_one_that_was_cut_is_not_supported() -> None:
    found = attributed(["I sail"] * 100, "I sail")
    assert (len(found.source_event_ids), found.supported) == (MOST_SOURCES, False)
    many = matched(["I sail"] * 100).attribute(["I sail"] * 500)
    assert sum(len(one.source_event_ids) for one in many) <= 3_000
    barking = matched([*["Rex barks."] * (MOST_SOURCES + 5), "Ben cooks."])
    assert len(barking.of_goal("Rex barks").event_ids) == MOST_SOURCES


TEXTS = st.text(alphabet="ab cd.7É跑 ", max_size=30)


@given(st.lists(TEXTS, min_size=1, max_size=6), st.lists(TEXTS, max_size=4))
def test_every_sentence_has_a_source_among_what_was_said(said: list[str], sentences: list[str]) -> None:
    for one in matched(said).attribute(sentences):
        assert one.source_event_ids
        assert set(one.source_event_ids) <= {f"e{n}" for n in range(len(said))}


@given(st.lists(TEXTS, min_size=1, max_size=6), st.data())
def test_what_was_said_word_by_word_names_its_event(said: list[str], data: st.DataObject) -> None:
    position = data.draw(st.integers(0, len(said) - 1))
    found = attributed(said, said[position])
    assert f"e{position}" in found.source_event_ids or not found.supported


def test_work_is_linear_in_what_was_said() -> None:
    def attribute(size: int) -> None:
        texts = [f"word{n} and word{n + 1} are common words" for n in range(size)]
        matched(texts).attribute([f"word{n} is a common word" for n in range(20)])

    assert_linear(attribute, 400)
