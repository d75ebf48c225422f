"""What is quoted of a message: the clause that it is about (P-24)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.contradictions.quotes import MOST_CHARACTERS, excerpt_of_ended, words_about

RECIPES = (
    "morning, this is for all the recipes that i am going to ask you about, those of the club and those of my mother, "
    "do it in ounces, i can't be doing with grams and never will, the scales are older than me"
)
LANDLORD = (
    "we pay him 780 a month and have never been late once so you'd think he could run to a fan in the bathroom. "
    "he can ring me any afternoon, 07700 900142, and sign it dawn"
)


@pytest.mark.parametrize(
    ("text", "about", "shown"),
    [
        (RECIPES, "recipes in grams from now on", "…do it in ounces, i can't be doing with grams and never will"),
        (LANDLORD, "i'm on 07700 900388 now", "…he can ring me any afternoon, 07700 900142, and sign it dawn"),
        (RECIPES, "nothing alike", "morning, this is for all the recipes"),
        (f"{'so ' * 50}grams {'and ' * 50}", "grams", "so so grams and and"),
        (f"{'我' * 200}住成都{'他' * 200}", "搬到成都", "我住成都他"),
        (
            f"Bilbao for the long weekend, {'leaving on the Friday in the evening after work ' * 4}",
            "Bilbao",
            "leaving on the",
        ),
        ("  I live\nin Porto  ", "Braga", "I live in Porto"),
        ("", "", ""),
    ],
)
def test_of_a_long_message_the_clause_with_the_same_words_is_shown(text: str, about: str, shown: str) -> None:
    assert shown in words_about(text, about)


def test_the_clause_of_which_a_judge_was_nearly_sure_goes_before_the_words() -> None:
    place = LANDLORD.index("he can ring")
    assert words_about(LANDLORD, "we pay 800 a month", [(place, len(LANDLORD))]).startswith("…he can ring")


@pytest.mark.parametrize(
    ("parts", "shown"),
    [
        (["seaview guest house"], "…seaview guest house…"),
        (["fri 13th", "190 for two"], "…fri 13th … 190 for two"),
        (["booked whitby!!", "fri 13th"], "booked whitby!! fri 13th…"),
        (["booked whitby!! fri 13th, seaview guest house, 190 for two"],) * 2,
    ],
)
def test_what_ended_is_shown_alone(parts: list[str], shown: str | list[str]) -> None:
    text = "booked whitby!! fri 13th, seaview guest house, 190 for two"
    spans = [(text.index(part), text.index(part) + len(part)) for part in parts]
    assert excerpt_of_ended(text, spans) == (shown if isinstance(shown, str) else shown[0])


_TEXTS = st.text(alphabet="ab1 ,.;:!?()–-，。、我住\n", max_size=400)


@given(_TEXTS, _TEXTS, st.lists(st.tuples(st.integers(0, 400), st.integers(0, 400)), max_size=4))
def test_a_quotation_is_of_the_message_and_short_enough(text: str, about: str, places: list[tuple[int, int]]) -> None:
    spans = [(min(one), max(one)) for one in places]
    for shown in (words_about(text, about, spans), excerpt_of_ended(text, spans, about)):
        assert len(shown) <= MOST_CHARACTERS
        assert all(" ".join(part.split()) in " ".join(text.split()) for part in shown.split("…"))
