"""Memories as JSON with camelCase names (K-84); `recollect timeline --camel-case` is imported again in its own test."""

import re

import pytest

from recollect.core.event import OPEN_ENDED
from recollect.memories.storage import memory_json
from samples.events import event


@pytest.mark.spec("K-84")
def test_names_are_in_camel_case_and_metadata_is_left_alone() -> None:
    shown = memory_json(event(key="home", is_private=True, metadata={"source_id": "t_1"}))
    assert {"conversationId", "contentType", "recordedAt", "isPrivate", "userId"} <= set(shown)
    assert all(re.fullmatch("[a-z]+([A-Z][a-z]+)*", name) for name in shown)
    assert shown["metadata"] == {"source_id": "t_1"}


def test_what_is_derived_from_the_words_is_not_shown() -> None:
    bounded = event(content="Berlin until Friday", key="city", holds_until=OPEN_ENDED)
    assert memory_json(bounded) == memory_json(event(content="Berlin until Friday", key="city"))
