"""Situations of everyday life: values that exclude each other, each said in many ways which share no word (P-24)."""

from datetime import UTC, datetime, timedelta

import pytest

from recollect.contradictions.cues.claims import Parsed
from recollect.contradictions.cues.documents import CueRules, default_cue_rules
from recollect.contradictions.cues.reading import read_claims
from recollect.contradictions.cues.relations import relate
from recollect.contradictions.relation import Relation, RelationKind

AT = datetime(2026, 5, 4, 9, 30, tzinfo=UTC)
SITUATIONS = {
    "tides": {
        "out": {"state": ["be out with the tide"], "change": ["set sail"]},
        "in": {"state": ["be moored"], "change": ["= the anchor is down"]},
    },
    "watch": {
        "first": {"state": ["stand the first watch"]},
        "middle": {"state": ["stand the middle watch"]},
        "dog": {"state": ["stand the dog watch"]},
    },
}
OWN = CueRules({**default_cue_rules().document, "situations": SITUATIONS})


def said(name: str, text: str, days: int, rules: CueRules) -> Parsed:
    at = AT + timedelta(days=days)
    return Parsed(name, text, at, "", read_claims(text, at, rules))


def related(older: str, newer: str, rules: CueRules | None = None) -> Relation | None:
    rules = rules or default_cue_rules()
    return relate(said("a", older, -60, rules), said("b", newer, 0, rules), rules)


def values(text: str, name: str, rules: CueRules | None = None) -> list[str]:
    """The values of one situation that the text claims."""
    claims = read_claims(text, AT, rules or default_cue_rules())
    return [claim.value for claim in claims if claim.attribute == name]


@pytest.mark.spec("P-24")
@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("We have no children.", "Our baby girl was born on Sunday."),
        ("I'm out of work at the moment.", "Good news, I've found a job!"),
        ("I'm afraid of flying.", "Flying doesn't scare me any longer."),
        ("I don't have a driving licence.", "I passed my driving test yesterday."),
        ("I don't have any pets.", "I just adopted a puppy from the shelter."),
        ("I smoke, about half a pack a day", "I quit smoking, 23 days clean today"),
    ],
)
def test_words_that_share_nothing_end_each_other(older: str, newer: str) -> None:
    found = related(older, newer)
    assert found is not None
    assert found.kind is RelationKind.SUPERSEDES


@pytest.mark.spec("P-24")
@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("I live alone", "My nephew's staying with me till Saturday"),
        ("I drink coffee every morning.", "I'm off caffeine until Friday."),
    ],
)
def test_with_a_bound_the_older_one_is_held_over(older: str, newer: str) -> None:
    found = related(older, newer)
    assert found is not None
    assert found.kind is RelationKind.OVERRIDES
    assert found.until is not None


@pytest.mark.spec("P-24")
@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("I'm out of work at the moment.", "My sister has found a job."),
        ("I'm out of work at the moment.", "If I found a job I'd move."),
        ("I'm out of work at the moment.", "Have I found a job?"),
        ("We have no children.", "Her baby girl was born on Sunday."),
        ("I'm scared of flying.", "Flying didn't bother me when I was nine, I had no fear."),
        ("I don't have a driving licence.", "I might have passed my driving test if I had learnt."),
    ],
)
def test_another_person_a_condition_a_question_and_the_past_end_nothing(older: str, newer: str) -> None:
    assert related(older, newer) is None


def test_of_two_values_a_denial_is_the_other_one() -> None:
    assert values("I'm moored.", "tides", OWN) == ["in"]
    assert values("I'm not moored any more.", "tides", OWN) == ["out"]
    assert values("The anchor is down.", "tides", OWN) == ["in"]


def test_of_three_values_a_denial_only_ends_it() -> None:
    (ended,) = [claim for claim in read_claims("I don't stand the dog watch.", AT, OWN) if claim.attribute == "watch"]
    assert (ended.kind.value, ended.value) == ("end", "dog")
    assert related("I stand the dog watch.", "I stand the middle watch now.", OWN) is not None


def test_a_denial_with_words_of_error_takes_back() -> None:
    found = related("I have private health insurance.", "I checked, and I was wrong: I don't have health insurance.")
    assert found is not None
    assert found.kind is RelationKind.RETRACTS


def test_what_is_quit_today_is_over_and_not_for_a_day() -> None:
    claims = read_claims("I quit smoking today.", AT, default_cue_rules())
    assert {claim.until for claim in claims} == {None}
    bounded = read_claims("I'm off coffee today.", AT, default_cue_rules())
    assert any(claim.until is not None for claim in bounded)
