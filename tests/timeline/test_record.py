"""Stored records: the round trip, and what an earlier or later format means."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.core.errors import StoredDataError
from recollect.core.event import ContentType, Event, EventType, Role, Source
from recollect.timeline.record import FORMAT_VERSION, from_record, to_record
from samples.events import NOON, event

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(), lambda inner: st.lists(inner, max_size=3), max_leaves=5
)
TEXTS = st.none() | st.text(min_size=1, max_size=20)
EVENTS = st.builds(
    event,
    content=st.text(min_size=1),
    role=st.sampled_from(Role),
    speaker=TEXTS,
    content_type=st.sampled_from(ContentType),
    event_type=st.sampled_from(EventType),
    source=st.sampled_from(Source),
    importance=st.floats(0, 1),
    tags=st.lists(st.text(), max_size=3).map(tuple),
    key=TEXTS,
    views=st.integers(0, 9),
    is_private=st.booleans(),
    expires_at=st.none() | st.just(NOON + timedelta(microseconds=1)),
    metadata=st.dictionaries(st.text(), JSON, max_size=3),
    embedding=st.none() | st.binary(min_size=2, max_size=8),
    superseded_by=TEXTS,
    version=st.integers(1, 9),
)


@given(EVENTS)
def test_an_event_comes_back_as_it_was(original: Event) -> None:
    assert from_record(to_record(original)) == original


def test_what_is_default_is_not_stored() -> None:
    assert set(to_record(event())) == {
        "format", "id", "user_id", "conversation_id", "role", "content", "content_type", "source", "timestamp",
        "recorded_at", "importance",
    }  # fmt: skip


def test_a_newer_format_is_refused_and_named() -> None:
    with pytest.raises(StoredDataError, match=f"reads format {FORMAT_VERSION}"):
        from_record({**to_record(event()), "format": FORMAT_VERSION + 1})


@pytest.mark.parametrize(
    "broken",
    [
        {},
        {"format": FORMAT_VERSION},
        {**to_record(event()), "role": "ghost"},
        {**to_record(event()), "timestamp": "late"},
        {**to_record(event()), "timestamp": "2024-05-14T12:00:00"},
        {**to_record(event()), "recorded_at": "2024-05-14"},
        {**to_record(event()), "surplus": 1},
    ],
)
def test_a_corrupt_record_is_an_error_of_ours(broken: dict[str, object]) -> None:
    with pytest.raises(StoredDataError):
        from_record(broken)
