"""Events as records, as drafts, and their identities."""

import hashlib
import math
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.core.errors import InvalidInput, StoredDataError
from recollect.core.event import ContentType, Event, EventType, Role, Source
from recollect.core.scope import Scope
from recollect.rules.groups import Rules, ScoringRules
from recollect.timeline.record import (
    FORMAT_VERSION,
    EventDraft,
    body_hash,
    draft_event,
    event_identity,
    from_record,
    possible_identities,
    to_record,
    value_fingerprint,
)
from samples.events import ANNA, NOON, event

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


def test_what_is_null_is_absent() -> None:
    empty = {"tags": None, "metadata": None, "expires_at": None, "event_type": None, "views": None}
    assert from_record({**to_record(event()), **empty}) == event()


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
        {**to_record(event()), "role": ["user"]},
        {**to_record(event()), "content": None},
        [to_record(event())],
    ],
)
def test_a_corrupt_record_is_an_error_of_ours(broken: Any) -> None:
    with pytest.raises(StoredDataError):
        from_record(broken)


@pytest.mark.spec("K-72", "K-73")
@pytest.mark.parametrize(
    ("field", "value"),
    [
        *(("content", blank) for blank in ("", " ", "\n\t\r ", "\u3000\u2003")),
        *(("importance", outside) for outside in (-0.001, 1.001, -1, 2, math.nan, math.inf, -math.inf)),
    ],
)
def test_blank_content_and_an_importance_outside_of_zero_to_one_are_refused(field: str, value: Any) -> None:
    with pytest.raises(InvalidInput) as refused:
        EventDraft(**{"content": "tea", field: value})
    assert refused.value.loc == (field,)


@pytest.mark.spec("K-72")
@given(st.floats(0, 1))
def test_any_other_importance_is_used_as_it_is(importance: float) -> None:
    drafted = EventDraft(content="remember tea", importance=importance)
    assert draft_event(ANNA, drafted, "e1", "c1", NOON, Rules()).importance == importance


def test_what_is_absent_follows_the_rules_that_are_given() -> None:
    rules = Rules(scoring=ScoringRules(boost=0.5, keywords=("tea",)), tags={"drink": ("tea",)})
    said = draft_event(ANNA, EventDraft(content="Tea, please"), "e1", "c1", NOON, rules)
    answered = draft_event(ANNA, EventDraft(content="No", role=Role.BOT), "e2", "c1", NOON, rules)
    assert (said.content_type, said.importance, said.tags) == (ContentType.USERINPUT, 0.9, ("drink",))
    assert (answered.content_type, answered.importance, answered.tags) == (ContentType.ASSISTANTRESPONSE, 0.3, ())


def test_everything_that_a_draft_gives_is_stored_as_it_was_given() -> None:
    scope = Scope("acme", "anna", persona_id="p", household_id="h")
    given: dict[str, Any] = {
        "content": "Tea, please",
        "role": Role.BOT,
        "speaker": "Ben",
        "event_type": EventType.TASK,
        "source": Source.SYSTEM,
        "timestamp": NOON - timedelta(days=1),
        "importance": 0.25,
        "tags": ("mine",),
        "key": "drink",
        "space_id": "s1",
        "title": "A title",
        "category": "drinks",
        "notes": "warm",
        "views": 3,
        "is_private": True,
        "expires_at": NOON + timedelta(days=1),
        "embedding": b"1234",
        "metadata": {"a": 1},
    }
    stored = draft_event(scope, EventDraft(**given, content_type="userpreference"), "e1", "c1", NOON, Rules())
    assert {name: getattr(stored, name) for name in given} == given
    assert (stored.id, stored.conversation_id, stored.recorded_at) == ("e1", "c1", NOON)
    assert (stored.user_id, stored.persona_id, stored.household_id) == ("anna", "p", "h")
    assert (stored.content_type, stored.version) == (ContentType.USERPREFERENCE, 1)


@pytest.mark.parametrize(
    ("role", "given_source", "source"),
    [
        (Role.USER, None, Source.USER),
        (Role.BOT, None, Source.CONVERSATION),
        (Role.USER, Source.INFERRED, Source.INFERRED),
        (Role.BOT, Source.SYSTEM, Source.SYSTEM),
    ],
)
def test_the_source_follows_the_role_and_the_time_is_now(
    role: Role, given_source: Source | None, source: Source
) -> None:
    stored = draft_event(ANNA, EventDraft(content="tea", role=role, source=given_source), "e1", "c1", NOON, Rules())
    assert (stored.source, stored.timestamp, stored.role) == (source, NOON, role)
    assert (stored.event_type, stored.is_private, stored.views) == (EventType.CONVERSATION, False, 0)


@pytest.mark.spec("K-93")
def test_an_unknown_type_of_content_is_the_default_one() -> None:
    stored = draft_event(ANNA, EventDraft(content="tea", content_type="gossip"), "e1", "c1", NOON, Rules())
    assert (stored.content_type, stored.importance) == (ContentType.DEFAULT, 0.5)


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
def test_the_id_and_what_is_derived_tell_nothing_apart_and_a_source_id_stands_for_the_content() -> None:
    assert identity(id="018f0000-0000-7000-8000-000000000002", importance=0.1, tags=("x",), key="k") == identity()
    numbered = {"source_id": "D1:3"}
    assert identity(metadata=numbered, content="edited since") == identity(metadata=numbered)


@pytest.mark.spec("P-22")
@pytest.mark.parametrize("given_timestamp", [False, True])
@pytest.mark.parametrize("conversation", [None, "c1"])
def test_a_stored_event_has_one_of_its_possible_identities(conversation: str | None, given_timestamp: bool) -> None:
    stored = event(conversation_id="c1", superseded_by="other", version=3)
    assert identity(conversation, given_timestamp, conversation_id="c1") in possible_identities(ANNA, stored)


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
    assert value_fingerprint(written) == value_fingerprint("I live in Paris") != value_fingerprint("I live in Lyon")


def test_identities_are_stored_and_must_not_change_with_a_release() -> None:
    stored = event(id="e1", conversation_id="c1")
    assert [one[:12] for one in possible_identities(ANNA, stored)] == PINNED_IDENTITIES
    assert identity(metadata={"source_id": "D1:3"})[:12] == PINNED_OF_SOURCE_ID
    assert value_fingerprint("I live in Paris")[:12] == PINNED_FINGERPRINT
    assert body_hash(b"{}") == hashlib.sha256(b"{}").hexdigest()
