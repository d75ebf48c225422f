"""Sources are exact: a sentence names the events that hold its names, numbers and rare words, and no others (P-22)."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.summaries.goals import GoalSources
from recollect.summaries.sentence_sources import SentenceSources, Witness
from recollect.summaries.summary import SummarySentence

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
