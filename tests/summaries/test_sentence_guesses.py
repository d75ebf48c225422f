"""Where no event holds a word of a sentence, and which events hold a text by themselves (rules 1 and 3)."""

import pytest

from recollect.summaries.goals import GoalSources
from recollect.summaries.sentence_sources import MOST_SOURCES, SentenceSources, Witness
from recollect.summaries.summary import SummarySentence


def witnesses(*texts: str) -> SentenceSources:
    return SentenceSources([Witness(text, (f"e{at}",)) for at, text in enumerate(texts)])


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
    assert witnesses(*texts).attribute([sentence]) == (SummarySentence(sentence, guessed, supported=False),)


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
    known = witnesses("Rex loves the harbour.", "The harbour is old.", "Ben cooks.", "Ana sings.")
    assert known.of_goal(text) == GoalSources(events, supported=bool(events))


def test_a_sentence_has_a_bounded_number_of_sources() -> None:
    many = witnesses(*["Rex barks."] * (MOST_SOURCES + 5), "Ben cooks.")
    assert len(many.of_goal("Rex barks").event_ids) == MOST_SOURCES
