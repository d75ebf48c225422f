"""Relations of clauses by their frames, where no attribute of theirs is known (P-24): a table for each module."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta

import pytest

from recollect.contradictions.cues.changes import slot_changed, swapped, updated_in_passing
from recollect.contradictions.cues.claims import Claim, Parsed, all_words, clause_text, known_words, noted, word_stems
from recollect.contradictions.cues.documents import CueRules, default_cue_rules
from recollect.contradictions.cues.endings import denied, departed, ended, named_as_not, put_in_place, stood_in
from recollect.contradictions.cues.reading import read_claims
from recollect.contradictions.cues.statements import is_of_others

AT = datetime(2026, 3, 3, 9, 0, tzinfo=UTC)
RULES = default_cue_rules()
_Pairs = Callable[[Parsed, Parsed, CueRules], Iterator[tuple[Claim, Claim]]]


def said(text: str, *, days: int = 0) -> Parsed:
    at = AT + timedelta(days=days)
    return Parsed(f"{days:03d}", text, at, "", read_claims(text, at, RULES))


def related(found_by: _Pairs, older: str, newer: str) -> bool:
    return any(found_by(said(older), said(newer, days=7), RULES))


@pytest.mark.spec("P-24")
@pytest.mark.parametrize(
    ("older", "newer", "changed"),
    [
        ("My desk is on the third floor.", "They've moved my desk up to the fifth floor.", True),
        ("My locker code is 4471.", "They reset my locker code, it's 9032 now.", True),
        ("Our choir rehearses in the town hall.", "Our choir rehearses in the old cinema these days.", True),
        ("My bees are in the garden.", "I relocated my bees to the orchard.", True),
        ("The staging port is 8080.", "The production port is 9090 now.", False),
        ("My locker code is 4471.", "My sister's locker code is 9032 now.", False),
        ("My desk is on the third floor.", "My desk is on the third floor now.", False),
        ("I like tea in the morning.", "I like juice in the morning now.", False),
        ("My locker code is 4471.", "Back when I was at school they reset my locker code to 9032.", False),
    ],
)
def test_another_value_in_the_same_frame(older: str, newer: str, changed: bool) -> None:
    assert related(slot_changed, older, newer) is changed


@pytest.mark.spec("P-24")
@pytest.mark.parametrize(
    ("older", "newer", "over"),
    [
        ("The VPN is needed for staging.", "The VPN isn't needed for staging any more.", True),
        ("The lift at work doesn't stop at our floor.", "The lift at work stops at our floor now.", True),
        ("The VPN is needed for staging.", "The VPN isn't needed for payroll any more.", False),
        ("The VPN is needed for staging.", "My brother's VPN isn't needed for staging any more.", False),
        ("The VPN is needed for staging.", "The VPN is needed for staging.", False),
    ],
)
def test_all_of_it_said_as_over(older: str, newer: str, over: bool) -> None:
    assert related(ended, older, newer) is over


@pytest.mark.spec("P-24")
@pytest.mark.parametrize(
    ("older", "newer", "replaced"),
    [
        ("Ella goes to school at Oakfield.", "Ella's at St Anne's school now instead of Oakfield.", True),
        ("Tomas is the captain of our side.", "Ines took over from Tomas as captain.", True),
        ("Ella goes to school at Oakfield.", "We ate at Luigi's instead of Oakfield.", False),
        ("Tomas is the captain of our side.", "Ines took over from Peter as captain.", False),
        ("Tomas is the captain of our side.", "Her cousin Ines took over from Tomas as captain.", False),
    ],
)
def test_the_old_value_named_beside_the_new(older: str, newer: str, replaced: bool) -> None:
    assert related(put_in_place, older, newer) is replaced


@pytest.mark.spec("P-24")
@pytest.mark.parametrize(
    ("older", "newer", "stands_in"),
    [
        ("I drive a Fiesta.", "The Fiesta's at the garage. I've got a Fiat on loan till Thursday.", True),
        ("I drive a Fiesta.", "The Fiesta's at the garage. I've got a Fiat on loan.", False),
        ("I drive a Fiesta.", "The weather's nice. I've got a Fiat on loan till Thursday.", False),
        ("I drive a Fiesta.", "My sister's Fiesta is at the garage. She has a Fiat on loan till Thursday.", False),
    ],
)
def test_what_stands_in_for_what_is_out_of_action(older: str, newer: str, stands_in: bool) -> None:
    assert related(stood_in, older, newer) is stands_in


@pytest.mark.spec("P-24")
@pytest.mark.parametrize(
    ("older", "newer", "updated"),
    [
        (
            "I have a total budget of $500 for the garden project.",
            "How should I split my increased budget of $650 for the garden project?",
            True,
        ),
        (
            "The repository has 120 commits merged into the main branch.",
            "I want a chart of the commits merged into the main branch, which have now reached 165 commits.",
            True,
        ),
        (
            "I have a total budget of $500 for the garden project.",
            "What if my increased budget of $650 for the garden project were real?",
            False,
        ),
        (
            "I have a total budget of $500 for the garden project.",
            "How should I split my increased budget of $650 for the birthday dinner?",
            False,
        ),
    ],
)
def test_a_number_updated_in_passing(older: str, newer: str, updated: bool) -> None:
    assert related(updated_in_passing, older, newer) is updated


@pytest.mark.spec("P-24")
@pytest.mark.parametrize(
    ("older", "newer", "taken"),
    [
        ("My wife is called Clara.", "That was wrong, my wife was never called Clara.", True),
        ("My wife is called Clara.", "My wife is not called Clara.", False),
        ("My wife is called Clara.", "That was wrong, my boss was never called Peter.", False),
    ],
)
def test_what_is_denied_beside_a_retraction(older: str, newer: str, taken: bool) -> None:
    assert related(denied, older, newer) is taken


@pytest.mark.spec("P-24")
@pytest.mark.parametrize(
    ("older", "newer", "swaps"),
    [
        ("We feed the cat Whiskerly.", "We've put the cat on Purrina instead.", True),
        ("Our broadband's with Telnor.", "We went over to Swiftnet for the broadband.", True),
        ("We feed the cat Whiskerly.", "We feed the cat Purrina as well, not just now.", False),
        ("We feed the cat Whiskerly.", "The neighbours have put their cat on Purrina instead.", False),
        ("I love making a positive difference.", "We can bring positive changes to the town as a team.", False),
    ],
)
def test_evidence_of_a_swap_adds_up(older: str, newer: str, swaps: bool) -> None:
    assert related(swapped, older, newer) is swaps


@pytest.mark.spec("P-24")
@pytest.mark.parametrize(
    ("older", "newer", "named"),
    [
        ("Everyone calls me Spud.", "I go by Eddie these days, not Spud.", True),
        ("We're naming the puppy Biscuit.", "We went with Pickle for the puppy in the end, not Biscuit.", True),
        ("Everyone calls me Spud.", "I go by Eddie these days, not Bud.", False),
        ("Everyone calls me Spud.", "I went by Eddie at primary school, not Spud.", False),
        ("Everyone calls me Spud.", "Her brother goes by Eddie these days, not Spud.", False),
    ],
)
def test_the_old_value_denied_behind_the_new(older: str, newer: str, named: bool) -> None:
    assert related(named_as_not, older, newer) is named


@pytest.mark.spec("P-24")
@pytest.mark.parametrize(
    ("older", "newer", "gone"),
    [
        ("My GP is Dr Venn.", "Dr Venn retired so I'm registered with Dr Abara.", True),
        ("I use a Dell laptop.", "Gave the Dell to my son, I've got a ThinkPad now.", True),
        ("My GP is Dr Venn.", "Dr Holm retired so I'm registered with Dr Abara.", False),
        ("My GP is Dr Venn.", "Dr Venn retired.", False),
        ("I use a Dell laptop.", "My sister gave the Dell to her son, she's got a ThinkPad now.", False),
    ],
)
def test_what_has_gone_and_what_came(older: str, newer: str, gone: bool) -> None:
    assert related(departed, older, newer) is gone


@pytest.mark.spec("P-24")
@pytest.mark.parametrize(
    ("older", "newer", "of_others"),
    [
        ("My code is 4471.", "My code is 9032 now.", False),
        ("My code is 4471.", "My sister's code is 9032 now.", True),
        ("My sister's code is 4471.", "My sister's code is 9032 now.", False),
        ("My code is 4471.", "Her code is 9032 now.", True),
        ("My code is 4471.", "My boss changed my code to 9032.", False),
        ("My code is 4471.", "Years ago my code was 9032.", True),
        ("My code is 4471.", "The code stays 9032.", True),
    ],
)
def test_whose_a_clause_is(older: str, newer: str, of_others: bool) -> None:
    later = said(newer, days=7)
    weak = next(claim for claim in later.claims if claim.rule == "weak")
    assert is_of_others(said(older), later, weak, RULES) is of_others


def test_a_text_is_read_once_for_all_others() -> None:
    text = said("My sister's code is 9032 now.")
    claim = text.claims[0]
    assert all_words(text) is all_words(text)
    assert {"sister's", "sister", "9032"} <= known_words(text)
    assert clause_text(text, claim) == " my sister's code is 9032 now . "
    assert word_stems(text, claim.span, RULES)[1:3] == ("sister", "code")
    counted = iter(range(9))
    assert [noted(text, "x", RULES, lambda: next(counted)) for _ in range(3)] == [0, 0, 0]


def test_notes_make_no_difference_between_texts() -> None:
    one, other = said("I live in Paris"), said("I live in Paris")
    all_words(one)
    assert one == other
    assert hash(one) == hash(other)
