"""An event's texts: what search reads, and what is embedded."""

from datetime import timedelta

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
