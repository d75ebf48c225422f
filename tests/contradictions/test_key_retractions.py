"""Which newer values of a key say that the one before was never so (P-24)."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.contradictions.cues.claims import Parsed
from recollect.contradictions.cues.documents import default_cue_rules
from recollect.contradictions.cues.reading import read_claims
from recollect.contradictions.cues.retractions import takes_back

AT = datetime(2026, 6, 16, 9, 20, tzinfo=UTC)


def taken_back(older: str, newer: str) -> bool:
    """Whether the newer value takes the older one back."""
    rules = default_cue_rules()
    return takes_back(older, Parsed("b", newer, AT, "", read_claims(newer, AT, rules)), rules.words)


@pytest.mark.spec("P-24")
@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("I've got a PhD.", "I'm not going to keep lying, I don't have a PhD."),
        ("I have three kids.", "no kids here actually, that was my sister typing on my phone"),
        ("I'm from Chile.", "That was my flatmate on my laptop, I'm not from Chile."),
        ("I'm married to Lea.", "To be honest I'm not married to anyone and never was."),
        ("We're having twins.", "My husband wrote that as a prank, we're not having twins."),
        ("I wear size 44.", "44 was a mistake on my part."),
        ("I'm allergic to shellfish.", "The allergy test came back clear, it never was shellfish."),
        ("I finished the half marathon.", "I never finished it, I dropped out at 10k."),
        ("I have a twin.", "That came out wrong, I haven't got a twin."),
        ("I own a piano.", "I said piano by accident, I don't own one."),
        ("I work for the council.", "I don't work for the council, that's my flatmate's job."),
        ("I'm a nurse.", "Pretend I never said I was a nurse."),
        ("My flight is BA117.", "BA117 isn't my flight, I copied it from someone else's itinerary."),
        ("My birthday is 3 May.", "oops, wrong month: it's 3 March"),
        ("I play chess at club level.", "Strike the chess claim, I barely know the rules."),
    ],
)
def test_what_never_was_is_taken_back_in_many_words(older: str, newer: str) -> None:
    assert taken_back(older, newer)


@pytest.mark.spec("P-24")
@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("I drive a Golf.", "Sorry for the late reply, the kids have been ill. We got a Skoda instead."),
        ("I don't get along with the neighbours.", "we made up with the neighbours, we get along great"),
        ("I go to work by tram.", "Strike again... I'm driving to work."),
        ("Dr Feldmann is my GP.", "I'm with Dr Osei now, the waiting times at Feldmann's were a joke"),
        ("I live in Ghent.", "Sorry for the silence, we moved to Delft."),
        ("I'm vegetarian.", "Full disclosure, I've gone all the way vegan."),
        ("The ceiling is 900 euros.", "So forget the old ceiling: 1,400 euros is fine."),
        ("I eat meat.", "I don't eat meat."),
        ("I work at Acme.", "I don't work at Acme, they fired me."),
        ("I have a car.", "Typed this on the bus: I have no car, I sold it."),
        ("I take vitamin D.", "I don't take vitamin D, my doctor said it's not needed."),
        ("My bank is ING.", "My bank is DKB, ING was wrong to close my account."),
        ("The build is red.", "The build isn't red, Sam fixed the wrong config."),
        ("I have a sister.", "Did I really say I have no sister? Was that a joke?"),
        ("I have a sister.", 'My aunt says "that was a lie, he has no sister"'),
    ],
)
def test_what_changed_and_apologies_take_nothing_back(older: str, newer: str) -> None:
    assert not taken_back(older, newer)


@given(st.text(max_size=200), st.text(max_size=200))
def test_any_two_texts_are_read(older: str, newer: str) -> None:
    assert taken_back(older, newer) in (True, False)
