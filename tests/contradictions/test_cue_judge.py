"""The cue rules as a judge, where the collections do not look: batches, keys, merged texts, odd texts (P-24)."""

import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.contradictions.cues import CueJudge
from recollect.contradictions.cues.documents import default_cue_rules
from recollect.contradictions.judge import Profile, Relation, RelationKind, Said

AT = datetime(2026, 3, 3, 9, 0, tzinfo=UTC)  # a Tuesday
JUDGE = CueJudge()


def said(text: str, days: int = 0, **changes: Any) -> Said:
    return replace(Said(id=f"{days}-{text}", text=text, at=AT + timedelta(days=days)), **changes)


def relation(older: str, newer: str) -> Relation | None:
    (found,) = JUDGE.judge(said(newer, 7), [said(older)])
    return found


@pytest.mark.spec("P-24")
def test_each_of_a_batch_is_judged_by_itself_in_its_order() -> None:
    older = [said("I have a cat."), said("I live in Paris."), said("I live in Rome.", speaker="Ben")]
    found = JUDGE.judge(said("I moved to Lyon.", 2), older)
    assert [one and one.kind for one in found] == [None, RelationKind.SUPERSEDES, None]
    assert JUDGE.judge(said("I moved to Lyon.", 2), []) == []


@pytest.mark.spec("P-24")
@pytest.mark.parametrize(
    ("older", "newer", "taken_back"),
    [
        ("Blood group A", "That was my sister on my phone", True),
        ("I have a twin.", "That came out wrong, I haven't got a twin.", True),
        ("I work for the council.", "I don't work for the council, that's my flatmate's job.", True),
        ("I finished the half marathon.", "I never finished it, I dropped out at 10k.", True),
        ("I wear size 44.", "44 was a mistake on my part.", True),
        ("My birthday is 3 May.", "oops, wrong month: it's 3 March", True),
        ("I drive a Golf.", "Sorry for the late reply, the kids have been ill. We got a Skoda instead.", False),
        ("I'm vegetarian.", "Full disclosure, I've gone all the way vegan.", False),
        ("I work at Acme.", "I don't work at Acme, they fired me.", False),
        ("My bank is ING.", "My bank is DKB, ING was wrong to close my account.", False),
        ("I have a sister.", "Did I really say I have no sister? Was that a joke?", False),
    ],
)
def test_a_denial_takes_back_the_value_of_a_key_that_it_follows(older: str, newer: str, taken_back: bool) -> None:
    value, cat = said(older), said("I have a cat.")
    found, other = JUDGE.judge(said(newer, 2, follows=value.id), [value, cat])
    assert (found is not None and found.kind is RelationKind.RETRACTS) is taken_back
    assert other is None
    if taken_back and found is not None:
        assert found.ended == ((0, len(older)),)


@pytest.mark.spec("P-24")
@pytest.mark.parametrize(
    ("older", "newer", "merged"),
    [
        (
            "I go to yoga on Mondays at 6pm",
            "Yoga is still on Mondays, just at 7pm now",
            "I go to yoga on Mondays at 7pm",
        ),
        (
            "I swim 40 lengths at Leith baths on Wednesdays.",
            "I've increased my Wednesday swim at Leith baths to 60 lengths.",
            "I swim 60 lengths at Leith baths on Wednesdays.",
        ),
        (
            "I run 5 km three times a week.",
            "upped it to four runs a week, distance stays 5 km",
            "I run 5 km four times a week.",
        ),
        (
            "The repository has 120 commits merged into the main branch.",
            "I want a chart of the commits merged into the main branch, which have now reached 165 commits.",
            "The repository has 165 commits merged into the main branch.",
        ),
    ],
)
def test_a_part_is_replaced_in_the_older_text(older: str, newer: str, merged: str) -> None:
    found = relation(older, newer)
    assert found is not None
    assert (found.kind, found.merged) == (RelationKind.CHANGES_PART, merged)


@pytest.mark.spec("P-24")
@pytest.mark.parametrize(
    ("older", "newer", "kind"),
    [
        ("Tomas is the captain of our side.", "Ines took over from Tomas as captain.", "supersedes"),
        ("Tomas is the captain of our side.", "Ines took over from Peter as captain.", None),
        ("We feed the cat Whiskerly.", "We've put the cat on Purrina instead.", "supersedes"),
        ("We feed the cat Whiskerly.", "The neighbours have put their cat on Purrina instead.", None),
        ("We're naming the puppy Biscuit.", "We went with Pickle for the puppy in the end, not Biscuit.", "supersedes"),
        ("I drive a Fiesta.", "The Fiesta's at the garage. I've got a Fiat on loan till Thursday.", "overrides"),
        ("My passport is Maltese.", "forget Maltese, autocorrect did that", "retracts"),
    ],
)
def test_what_few_of_the_collections_say(older: str, newer: str, kind: str | None) -> None:
    """Each of one rule by itself, so that the counts of the collections hardly show when it breaks."""
    found = relation(older, newer)
    assert (found and found.kind.value) == kind


@pytest.mark.spec("P-24")
def test_only_the_clauses_that_fall_are_ended() -> None:
    older = "I live in Paris. My sister has three cats and a garden."
    found = relation(older, "I moved to Lyon")
    assert found is not None
    assert [older[slice(*span)] for span in found.ended] == ["I live in Paris."]


@pytest.mark.spec("P-24")
def test_a_statement_by_itself() -> None:
    assert JUDGE.profile(said("Hm!")) == Profile()
    assert JUDGE.profile(said("I live in Paris.")).recognised
    assert JUDGE.profile(said("I misspoke, I have no sister.")).retracts
    until = JUDGE.profile(said("I have a cat. I'm staying in Cardiff until Friday."))
    assert until.may_end
    (bound,) = {(one.span, one.until) for one in until.bounds}
    assert bound[0][0] > 0
    assert timedelta(days=3) < bound[1] - AT < timedelta(days=5)


@pytest.mark.spec("P-24")
def test_the_same_words_at_another_time_have_another_bound() -> None:
    text = "this week I live in Cardiff"
    ends = [JUDGE.profile(said(text, days, id="one")).bounds[0].until for days in (0, 7)]
    assert ends == [datetime(2026, 3, 9, tzinfo=UTC), datetime(2026, 3, 16, tzinfo=UTC)]


def test_two_profiles_of_one_record_are_one() -> None:
    states, ends = Profile(states=True, recognised=True), Profile(may_end=True, retracts=True)
    assert states | ends == Profile(states=True, recognised=True, may_end=True, retracts=True)


def test_every_template_of_the_rules_reads() -> None:
    rules = default_cue_rules()
    for templates in (rules.by_verb, rules.topics_by_verb, rules.raw):
        assert templates.firsts
        for first in ("", *templates.firsts):
            list(templates.matching(first, ()))  # reads all of that first word, and raises for one that is wrong


PIECES = (
    "I we my our the she until Friday no longer not don't never now still same but and , . ? ! ' \" moved live in "
    "Paris to quit meat from instead of scratch that was wrong $5 10:30 may May is are at a@b.c \n ``` ( ) 1.2.3 é 中"
)
TEXTS = st.one_of(
    st.text(max_size=400),
    st.lists(st.sampled_from(PIECES.split(" ")), max_size=60).map(" ".join),
    st.sampled_from(
        ["I live in Paris", "I moved to Lyon", "I eat meat", "I no longer eat meat", "I misspoke, I have no dog"]
    ),
)


@settings(max_examples=300, deadline=None)
@given(TEXTS, TEXTS)
def test_of_any_two_texts(older: str, newer: str) -> None:
    one, two = said(older), said(newer, 7)
    for place in (one, two):
        for bound in JUDGE.profile(place).bounds:
            assert 0 <= bound.span[0] < bound.span[1] <= len(place.text)
            assert bound.until > place.at
    (found,) = JUDGE.judge(two, [one])
    assert JUDGE.judge(two, [one]) == [found]
    if found is not None:
        assert all(0 <= start < end <= len(older) for start, end in found.ended)
    JUDGE.judge(replace(two, follows=one.id), [one])  # raises nothing
    assert JUDGE.judge(one, [two]) == JUDGE.judge(replace(two, speaker="Anna"), [one]) == [None]
    assert JUDGE.judge(said(older, 7), [one]) == [None]


@pytest.mark.parametrize(
    "piece", ["a ", ",", "'a ", '"a b c ', "a. ", "I live in Paris. ", "until ", "(", "I no very "]
)
def test_time_grows_with_the_length_at_most(piece: str) -> None:
    """Doubling a text of junk doubles the work: no rule backtracks. Times are this thread's own, in one run."""
    text = piece * (65_536 // len(piece))
    JUDGE.profile(said(text[:2_000]))
    whole, half = (min(_seconds(part) for _ in range(2)) for part in (text, text[: len(text) // 2]))
    assert whole < 5 * half + 0.1


def _seconds(text: str) -> float:
    start = time.thread_time()
    JUDGE.profile(said(text))
    return time.thread_time() - start
