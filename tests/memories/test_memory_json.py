"""Memories as JSON with camelCase names, there and back (K-84)."""

import json
import re

import pytest
from hypothesis import given

from recollect.core.errors import StoredDataError
from recollect.core.event import Event
from recollect.memories.storage import from_memory_json, memory_json
from samples.events import event
from timeline.test_record import EVENTS


@pytest.mark.spec("K-84")
@given(EVENTS)
def test_every_event_comes_back_through_json_text(original: Event) -> None:
    assert from_memory_json(json.loads(json.dumps(memory_json(original)))) == original


@pytest.mark.spec("K-84")
def test_names_are_in_camel_case_and_metadata_is_left_alone() -> None:
    shown = memory_json(event(key="home", is_private=True, metadata={"source_id": "t_1"}))
    assert {"conversationId", "contentType", "recordedAt", "isPrivate", "userId"} <= set(shown)
    assert all(re.fullmatch("[a-z]+([A-Z][a-z]+)*", name) for name in shown)
    assert shown["metadata"] == {"source_id": "t_1"}


def test_what_is_no_memory_is_refused() -> None:
    with pytest.raises(StoredDataError):
        from_memory_json({"format": 1, "content": "x"})
