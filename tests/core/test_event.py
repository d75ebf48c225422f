"""Events, and the sessions they are in."""

from dataclasses import replace
from datetime import timedelta

import pytest

from recollect.core.errors import Conflict
from recollect.core.event import Session
from samples.events import NOON, event


def test_search_reads_title_content_category_and_notes() -> None:
    noted = event(title="Visit", content="All fine", category="health", notes="again in May")
    assert noted.searchable_text == "Visit\nAll fine\nhealth\nagain in May"
    assert event().searchable_text == "I live in Paris"


def test_a_known_speaker_and_the_day_stand_before_what_is_embedded() -> None:
    assert event(speaker="Anna").passage == "Anna on 1 May 2024: I live in Paris"
    assert event().passage == "I live in Paris"


def test_an_event_is_gone_from_the_instant_it_expires() -> None:
    passing = event(expires_at=NOON)
    assert passing.expired(NOON)
    assert not passing.expired(NOON - timedelta(microseconds=1))
    assert not event().expired(NOON)


@pytest.mark.spec("K-60", "K-70")
def test_all_events_of_a_session_have_its_conversation_and_others_are_refused() -> None:
    first, second = event(content="hello"), event(content="hi", id="018f0000-0000-7000-8000-000000000002")
    session = Session(first.conversation_id).joined_by(first).joined_by(second)
    assert session.events == (first, second)
    assert {one.conversation_id for one in session.events} == {session.conversation_id}
    with pytest.raises(Conflict):
        session.joined_by(replace(first, conversation_id="another"))


@pytest.mark.spec("K-62")
def test_sessions_are_told_apart_by_their_id_alone() -> None:
    assert Session("one") != Session("two")
