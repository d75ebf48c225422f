"""How a newer text stands to an older one (P-24): tables of pairs, and what holds of every pair."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.contradictions.cues.claims import Parsed
from recollect.contradictions.cues.documents import default_cue_rules
from recollect.contradictions.cues.reading import read_claims
from recollect.contradictions.cues.relations import relate
from recollect.contradictions.relation import Relation

AT = datetime(2026, 3, 3, 9, 0, tzinfo=UTC)


def said(text: str, *, days: int = 0, speaker: str = "") -> Parsed:
    at = AT + timedelta(days=days)
    return Parsed(f"{days:03d}", text, at, speaker, read_claims(text, at, default_cue_rules()))


def relation(older: str, newer: str) -> Relation | None:
    return relate(said(older), said(newer, days=7), default_cue_rules())


@pytest.mark.spec("P-24")
@pytest.mark.parametrize(
    ("older", "newer", "kind"),
    [
        ("I live in Paris", "I moved to Lyon", "supersedes"),
        ("I live in Paris", "I live in Lyon", "supersedes"),
        ("I eat meat every day", "I no longer eat meat", "supersedes"),
        ("I don't eat fish", "I started eating fish again", "supersedes"),
        ("I love sushi", "I can't stand sushi anymore", "supersedes"),
        ("We have Netflix", "We cancelled Netflix", "supersedes"),
        ("We use Slack for chat", "We switched from Slack to Teams", "supersedes"),
        ("My roommate is Dmitri", "Kwame is my roommate now", "supersedes"),
        ("My main hobby is pottery", "I've swapped pottery for woodworking", "supersedes"),
        ("I fly with Lufthansa", "I fly with KLM now", "supersedes"),
        ("I have a sister", "I misspoke, I have no sister", "retracts"),
        ("I speak Finnish", "I made that up, I don't speak Finnish", "retracts"),
        ("I'm taking piano lessons", "scratch what I said about the piano lessons", "retracts"),
        ("I have a work visa", "I told you I have a work visa. That was a mistake.", "retracts"),
        ("I live in Bristol", "I'm staying at my mum's in Cardiff until Friday", "overrides"),
        ("I take one tablet a day", "I'm taking two tablets a day for the next five days", "overrides"),
        ("I sleep in the main bedroom", "I'm sleeping in the guest room until tomorrow", "overrides"),
        ("Budget meeting is Tuesday at 2", "The meeting's still Tuesday but at 4 now", "changes_part"),
        ("I work at Acme as a developer", "still at Acme, but as team lead now", "undecided"),
    ],
)
def test_what_a_newer_text_does(older: str, newer: str, kind: str) -> None:
    found = relation(older, newer)
    assert found is not None
    assert found.kind.value == kind


@pytest.mark.spec("P-24")
@pytest.mark.parametrize(
    ("older", "newer", "merged"),
    [
        (
            "I swim 40 lengths at Leith baths on Wednesdays.",
            "I've increased my Wednesday swim at Leith baths to 60 lengths.",
            "I swim 60 lengths at Leith baths on Wednesdays.",
        ),
        (
            "Our mortgage runs twenty years at three percent with Havenbank.",
            "Havenbank lowered our mortgage rate to two percent, the term is unchanged.",
            "Our mortgage runs twenty years at two percent with Havenbank.",
        ),
        (
            "I run 5 km three times a week.",
            "upped it to four runs a week, distance stays 5 km",
            "I run 5 km four times a week.",
        ),
    ],
)
def test_one_number_said_otherwise_leaves_the_rest_as_it_was(older: str, newer: str, merged: str) -> None:
    found = relation(older, newer)
    assert found is not None
    assert (found.kind.value, found.merged) == ("changes_part", merged)


@pytest.mark.spec("P-24")
@pytest.mark.parametrize(
    "newer",
    [
        "Mortgage news: her rate went to two percent, the term is unchanged.",
        "Yusuf's mortgage rate is at two percent, the term is unchanged.",
        "If Havenbank lowered our mortgage rate to two percent, the term would stay unchanged.",
    ],
)
def test_what_stays_of_somebody_elses_changes_nothing(newer: str) -> None:
    assert relation("Our mortgage runs twenty years at three percent with Havenbank.", newer) is None


@pytest.mark.spec("P-24")
@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("I live in Paris", "I live in Paris, France"),
        ("I live in Paris", "My sister moved to Lyon"),
        ("My sister lives in Oslo", "I moved to Lyon"),
        ("I live in Paris", "I moved my savings to Monzo"),
        ("I live in Paris", "I moved to the back row"),
        ("I live in Paris", "scratch that"),
        ("I have a coffee machine", "I no longer drink coffee"),
        ("My meeting is at 3", "My other meeting is at 5"),
        ("I have a meeting on Monday", "I have a meeting on Tuesday"),
        ("My favourite song is Creep", "My favourite band is Wet Leg now"),
        ("I like tea", "I like coffee now"),
        ("pay bill 1", "pay bill 2"),
        ("I have two brothers", "Lena never had two brothers"),
        ("My car is a Volvo", "My car is at the garage"),
    ],
)
def test_what_is_none_of_its_business(older: str, newer: str) -> None:
    assert relation(older, newer) is None


@pytest.mark.spec("P-24")
def test_only_the_clauses_that_fall_are_ended() -> None:
    older = "I live in Paris. My sister has three cats and a garden."
    found = relation(older, "I moved to Lyon")
    assert found is not None
    assert [older[slice(*span)] for span in found.ended] == ["I live in Paris."]


@pytest.mark.spec("P-24")
def test_a_part_is_replaced_in_the_older_text() -> None:
    found = relation("I go to yoga on Mondays at 6pm", "Yoga is still on Mondays, just at 7pm now")
    assert found is not None
    assert found.merged == "I go to yoga on Mondays at 7pm"


def test_the_same_value_said_again_after_a_bound_is_no_bound() -> None:
    found = relation("I live in Bristol", "I'm staying in Cardiff until Friday")
    assert found is not None
    assert found.until == datetime(2026, 3, 14, tzinfo=UTC)


TEXTS = st.one_of(
    st.text(max_size=120),
    st.sampled_from(
        [
            "I live in Paris",
            "I moved to Lyon",
            "I no longer eat meat",
            "I eat meat",
            "I have a dog",
            "I don't have a dog",
            "I misspoke, I have no dog",
            "same job, new title: boss",
            "I work at Acme",
            "until Friday I'm in Rome",
            "My rent is 900",
            "My rent went up to 950",
            "scratch that",
            "The sync is on Monday",
            "The sync moved to Friday",
        ]
    ),
)


@settings(max_examples=200, deadline=None)
@given(TEXTS, TEXTS)
def test_of_any_two_texts(older: str, newer: str) -> None:
    rules = default_cue_rules()
    one, two = said(older), said(newer, days=7)
    found = relate(one, two, rules)
    if found is not None:
        assert all(0 <= start < end <= len(older) for start, end in found.ended)
    assert relate(two, one, rules) is None
    assert relate(one, said(newer, days=7, speaker="Anna"), rules) is None


@settings(max_examples=100, deadline=None)
@given(TEXTS)
def test_a_text_is_not_related_to_itself_nor_to_its_equal(text: str) -> None:
    rules = default_cue_rules()
    assert relate(said(text), said(text), rules) is None
    assert relate(said(text), said(text, days=7), rules) is None
