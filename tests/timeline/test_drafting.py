"""What an event draft refuses, and what it takes from the rules (K-72, K-73)."""

import math
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.core.errors import InvalidInput
from recollect.core.event import ContentType, EventType, Role, Source
from recollect.core.scope import Scope
from recollect.rules.groups import Rules, ScoringRules
from recollect.timeline.record import EventDraft, draft_event
from samples.events import ANNA, NOON


@pytest.mark.spec("K-73")
@pytest.mark.parametrize("content", ["", " ", "\n\t\r ", "\u3000\u2003"])
def test_blank_content_is_refused(content: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        EventDraft(content=content)
    assert refused.value.loc == ("content",)


@pytest.mark.spec("K-72")
@pytest.mark.parametrize("importance", [-0.001, 1.001, -1, 2, math.nan, math.inf, -math.inf])
def test_an_importance_outside_of_zero_to_one_is_refused_and_not_clamped(importance: float) -> None:
    with pytest.raises(InvalidInput) as refused:
        EventDraft(content="tea", importance=importance)
    assert refused.value.loc == ("importance",)


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
