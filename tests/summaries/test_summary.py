"""Summaries: their form, what they cover, and what a deletion takes out of them."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from recollect.core.errors import StoredDataError
from recollect.core.event import EventRef
from recollect.summaries.goals import CheckIn, CheckInStatus, GoalStatus, TrackedGoal
from recollect.summaries.summary import Reason, Summary, SummarySentence, summary_document, summary_from

NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)
GOAL = TrackedGoal("Run", GoalStatus.ACTIVE, "daily", (CheckIn("2024-05-01", CheckInStatus.MISSED),))


def summary(*sentences: SummarySentence, **changes: Any) -> Summary:
    """A summary of these sentences, up to noon."""
    made = Summary(
        id="s1",
        text=" ".join(one.text for one in sentences),
        sentences=sentences,
        tracked_goals=(GOAL,),
        message_count=40,
        covered_from=NOON - timedelta(hours=1),
        covered_until=NOON,
        covered_until_id="e5",
        created_at=NOON + timedelta(hours=1),
        reason=Reason.MESSAGES,
        model="scripted",
    )
    return replace(made, **changes)


ONE = SummarySentence("Anna lives in Lyon.", ("e1", "e2"))
TWO = SummarySentence("She has a dog.", ("e3",))
GUESS = SummarySentence("All is well.", ("e4",), supported=False)


@pytest.mark.spec("H-02", "H-22", "H-23", "H-24", "H-25")
@pytest.mark.parametrize("changes", [{}, {"persona_id": "p", "conversation_id": "c"}, {"sentences": (), "text": ""}])
def test_a_summary_is_read_as_it_was_written(changes: dict[str, Any]) -> None:
    one = summary(ONE, GUESS, **changes)
    assert summary_from(summary_document(one)) == one


@pytest.mark.spec("H-24")
def test_tracked_goals_are_a_json_array_of_the_documents_form() -> None:
    assert summary_document(summary(ONE))["tracked_goals"] == [
        {
            "goal": "Run",
            "status": "active",
            "check_in_frequency": "daily",
            "history": [{"date": "2024-05-01", "status": "missed"}],
        }
    ]
    assert summary_document(summary(ONE, tracked_goals=()))["tracked_goals"] == []


@pytest.mark.parametrize("document", [{}, {"format": 2}, {"format": 1, "id": "s"}])
def test_a_broken_or_newer_summary_is_said_to_be_one(document: dict[str, Any]) -> None:
    with pytest.raises(StoredDataError):
        summary_from(document)


@pytest.mark.spec("H-08", "P-5")
def test_what_it_covers_ends_with_its_own_place_ties_by_id() -> None:
    one = summary(ONE)
    assert one.covers(EventRef("e5", NOON))
    assert one.covers(EventRef("e4", NOON))
    assert not one.covers(EventRef("e6", NOON))
    assert one.covers(EventRef("e9", NOON - timedelta(microseconds=1)))
    assert not one.covers(EventRef("e1", NOON + timedelta(microseconds=1)))


def test_sources_are_those_of_all_sentences_each_once() -> None:
    assert summary(ONE, TWO, ONE).source_event_ids == ("e1", "e2", "e3")


@pytest.mark.spec("P-22")
@pytest.mark.parametrize(
    ("gone", "places", "left"),
    [
        ({"e9"}, [], "Anna lives in Lyon. She has a dog. All is well."),
        ({"e2"}, [], "She has a dog."),
        ({"e3"}, [], "Anna lives in Lyon."),
        ({"e1", "e3"}, [], ""),
        # What no text supports goes with anything that the summary covers.
        ({"e9"}, [EventRef("e9", NOON - timedelta(days=9))], "Anna lives in Lyon. She has a dog."),
        ({"e9"}, [EventRef("e9", NOON + timedelta(days=9))], "Anna lives in Lyon. She has a dog. All is well."),
    ],
)
def test_a_deletion_takes_out_every_sentence_that_comes_from_it(
    gone: set[str], places: list[EventRef], left: str
) -> None:
    one = summary(ONE, TWO, GUESS)
    assert one.without(frozenset(gone), places).text == left


def test_what_is_left_never_becomes_another_persons_word() -> None:
    one = summary(
        SummarySentence("Anna (8 May 2023): I won.", ("e1",)),
        SummarySentence("Ben (9 May 2023): I lost.", ("e2",)),
        SummarySentence("I cried.", ("e3",)),
    )
    assert one.without(frozenset({"e2"})).text == "Anna (8 May 2023): I won. Ben (9 May 2023): I cried."
