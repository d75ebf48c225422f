"""What makes two events the same, and two values."""

import hashlib
from datetime import timedelta
from typing import Any

import pytest

from recollect.core.event import EventType, Role
from recollect.core.scope import Scope
from recollect.timeline.record import body_hash, event_identity, possible_identities, value_fingerprint
from samples.events import ANNA, NOON, event

PINNED_IDENTITIES = ["b62d7fae047a", "d3133dcec96b", "d2a448685114"]
PINNED_OF_SOURCE_ID = "a5611ed75cf0"
PINNED_FINGERPRINT = "53fe6bd413ab"


def identity(conversation: str | None = "c1", given_timestamp: bool = True, **changes: Any) -> str:
    return event_identity(ANNA, event(**changes), conversation, given_timestamp)


@pytest.mark.spec("A-43")
@pytest.mark.parametrize(
    "changes",
    [
        {"content": "I live in Lyon"},
        {"role": Role.BOT},
        {"speaker": "Ben"},
        {"event_type": EventType.TASK},
        {"timestamp": NOON + timedelta(microseconds=1)},
        {"persona_id": "coach"},
        {"household_id": "h1"},
        {"metadata": {"source_id": "D1:3"}},
        {"conversation": "c2"},
        {"conversation": None},
    ],
)
def test_each_part_tells_events_apart(changes: dict[str, Any]) -> None:
    assert identity(**changes) != identity()


@pytest.mark.spec("A-43")
def test_the_id_and_what_is_derived_tell_nothing_apart() -> None:
    assert identity(id="018f0000-0000-7000-8000-000000000002", importance=0.1, tags=("x",), key="k") == identity()


@pytest.mark.spec("P-22")
@pytest.mark.parametrize("given_timestamp", [False, True])
@pytest.mark.parametrize("conversation", [None, "c1"])
def test_a_stored_event_has_one_of_its_possible_identities(conversation: str | None, given_timestamp: bool) -> None:
    stored = event(conversation_id="c1", superseded_by="other", version=3)
    assert identity(conversation, given_timestamp, conversation_id="c1") in possible_identities(ANNA, stored)


@pytest.mark.spec("A-43")
def test_a_source_id_stands_for_the_content() -> None:
    numbered = {"source_id": "D1:3"}
    assert identity(metadata=numbered, content="edited since") == identity(metadata=numbered)


@pytest.mark.spec("A-43")
def test_without_a_timestamp_every_event_is_its_own() -> None:
    other = "018f0000-0000-7000-8000-000000000002"
    assert identity(given_timestamp=False) != identity(given_timestamp=False, id=other)
    assert identity(given_timestamp=False) == identity(given_timestamp=False)


def test_users_are_told_apart() -> None:
    assert event_identity(Scope("acme", "ben"), event(user_id="ben"), "c1", True) != identity()


@pytest.mark.parametrize(
    "written", ["i LIVE in paris", "  I live\u00a0in\tParis ", "I li\u200bve in Paris", "\uff29 live in Paris"]
)
def test_a_value_is_the_same_however_it_is_written(written: str) -> None:
    assert value_fingerprint(written) == value_fingerprint("I live in Paris")


def test_identities_are_stored_and_must_not_change_with_a_release() -> None:
    stored = event(id="e1", conversation_id="c1")
    assert [one[:12] for one in possible_identities(ANNA, stored)] == PINNED_IDENTITIES
    assert identity(metadata={"source_id": "D1:3"})[:12] == PINNED_OF_SOURCE_ID
    assert value_fingerprint("I live in Paris")[:12] == PINNED_FINGERPRINT
    assert body_hash(b"{}") == hashlib.sha256(b"{}").hexdigest()


def test_another_value_is_another() -> None:
    assert value_fingerprint("I live in Lyon") != value_fingerprint("I live in Paris")
