"""Templates by first word: read when they are needed, tried in the order of the rules, none left out that matches."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.contradictions.cues.documents import TemplateIndex, TemplateSource, default_cue_rules
from recollect.core.errors import InvalidInput

TEXTS = [
    "be (still) at home",
    "be|stay {any} away",
    "be <on the road|in a car> .",
    "move to {place}",
    "be {value}",
    "= the cat|dog is back",
    "= {name} is back",
    "be in|at (the) office|work .",
]
WORDS = [
    "be",
    "stay",
    "still",
    "at",
    "home",
    "away",
    "on",
    "the",
    "road",
    "in",
    "a",
    "car",
    "dog",
    "is",
    "back",
    "work",
]


def index(texts: list[str]) -> TemplateIndex:
    return TemplateIndex(TemplateSource(text, "place", "state") for text in texts)


@given(st.sampled_from(["be", "stay", "move", ""]), st.lists(st.sampled_from(WORDS), max_size=6))
def test_what_is_left_out_does_not_match(first: str, rest: list[str]) -> None:
    """As if each template of that first word were tried."""
    predicates = [text for text in TEXTS if not text.startswith("= ")]
    text = " ".join(["", *([first] if first else []), *rest])
    known = {one.text: one for one in index(predicates).matching(first, rest)}
    for source in (TemplateSource(one, "place", "state") for one in predicates):
        starts = first in source.firsts
        if starts and source.read().match(text):
            assert source.text in known


def test_they_come_in_the_order_of_the_rules() -> None:
    found = [one.text for one in index(TEXTS[:5]).matching("be", ["at", "home", "away", "on"])]
    assert found == ["be (still) at home", "be|stay {any} away", "be <on the road|in a car> .", "be {value}"]


def test_one_that_may_begin_with_any_word_is_under_none() -> None:
    both = index(["= {name} is back", "= the cat|dog is back"])
    assert [one.text for one in both.matching("", ["lyon", "is", "back"])] == ["= {name} is back"]
    assert [one.text for one in both.matching("the", ["the", "dog", "is", "back"])] == ["= the cat|dog is back"]
    assert both.firsts == {"the"}


def test_one_that_is_wrong_is_told_when_it_is_read() -> None:
    with pytest.raises(InvalidInput):
        list(index(["be {nowhere}"]).matching("be", ["here"]))
    assert list(index(["be {nowhere}"]).matching("move", ["here"])) == []


def test_a_final_dot_ends_at_a_word() -> None:
    (template,) = index(["stop running ."]).matching("stop", ["running"])
    assert template.match(" stop running")
    assert template.match(" stop running last week")
    assert template.match(" stop running an ad") is None
    assert template.match(" stop running lately") is None


def test_every_default_template_reads() -> None:
    rules = default_cue_rules()
    for kept in (rules.by_verb, rules.topics_by_verb, rules.raw):
        assert kept.firsts
        for first in ("", *kept.firsts):
            list(kept.matching(first, ()))  # reads all of that first word, and raises for one that is wrong
