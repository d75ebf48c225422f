"""Who may see what, and the reason when not."""

from datetime import timedelta
from typing import Any

import pytest

from recollect.core.scope import Scope
from recollect.retrieval.filters import DropReason, SearchFilters, TimeWindow, drop_reason, metadata_facets
from samples.events import ANNA, NOON, event

COACH = Scope("acme", "anna", "coach", "h1")
LATER = NOON + timedelta(microseconds=1)
EARLIER = NOON - timedelta(microseconds=1)


def dropped(scope: Scope = ANNA, filters: dict[str, Any] | None = None, **changes: Any) -> DropReason | None:
    return drop_reason(scope, event(**changes), SearchFilters(now=NOON, **(filters or {})))


@pytest.mark.spec("A-32", "A-49")
def test_a_given_persona_and_household_must_be_equal() -> None:
    assert dropped(COACH, persona_id="coach", household_id="h1") is None
    assert dropped(COACH, persona_id="coach") is DropReason.SCOPE
    assert dropped(COACH, household_id="h1") is DropReason.SCOPE
    assert dropped(ANNA, persona_id="coach", household_id="h1") is None


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"is_private": True}, DropReason.PRIVATE),
        ({"expires_at": NOON}, DropReason.EXPIRED),
        ({"expires_at": LATER}, None),
        ({"superseded_by": "x", "superseded_at": NOON}, DropReason.SUPERSEDED),
    ],
)
def test_what_is_hidden_says_why(changes: dict[str, Any], reason: DropReason | None) -> None:
    assert dropped(**changes) is reason


@pytest.mark.spec("A-29", "A-50")
@pytest.mark.parametrize(
    ("window", "reason"),
    [
        (TimeWindow(NOON, NOON), None),
        (TimeWindow(LATER, None), DropReason.WINDOW),
        (TimeWindow(None, EARLIER), DropReason.WINDOW),
        (TimeWindow(), None),
    ],
)
def test_both_ends_of_a_window_belong_to_it(window: TimeWindow, reason: DropReason | None) -> None:
    assert dropped(filters={"window": window}) is reason


def test_as_of_hides_what_came_after_and_lets_superseded_pass() -> None:
    assert dropped(filters={"as_of": EARLIER}) is DropReason.WINDOW
    assert dropped(filters={"as_of": NOON}, superseded_by="x") is None
    assert dropped(filters={"recorded_as_of": EARLIER}) is DropReason.WINDOW
    assert dropped(filters={"recorded_as_of": NOON}) is None


@pytest.mark.parametrize(
    ("filters", "matches", "misses"),
    [
        ({"conversation_id": "c1"}, {}, {"conversation_id": "c2"}),
        ({"event_type": "task"}, {"event_type": "task"}, {}),
        ({"key": "city"}, {"key": "city"}, {}),
        ({"space_id": "s"}, {"space_id": "s"}, {}),
        ({"source": "user"}, {}, {"source": "skill"}),
        ({"tags": ("a", "b")}, {"tags": ("b", "c", "a")}, {"tags": ("a",)}),
        ({"metadata": {"n": 1}}, {"metadata": {"n": 1, "m": 2}}, {"metadata": {"n": "1"}}),
        ({"metadata": {"n": {"a": [1], "b": 2}}}, {"metadata": {"n": {"b": 2, "a": [1]}}}, {"metadata": {"n": {}}}),
    ],
)
def test_a_filter_keeps_what_is_equal(filters: dict[str, Any], matches: dict[str, Any], misses: dict[str, Any]) -> None:
    assert dropped(filters=filters, **matches) is None
    assert dropped(filters=filters, **misses) is DropReason.FILTER


def test_facets_tell_types_apart() -> None:
    given = ({"a": 1, "b": 1}, {"a": "1"}, {"a": True})
    assert len({facet for metadata in given for facet in metadata_facets(metadata)}) == 4


def test_filters_know_the_instant_that_is_asked_about() -> None:
    later = NOON + timedelta(days=1)
    assert SearchFilters(now=NOON).moment == NOON
    assert SearchFilters(now=NOON, as_of=later, recorded_as_of=NOON - timedelta(days=1)).moment == later
    assert SearchFilters(now=NOON, recorded_as_of=NOON - timedelta(days=1)).moment == NOON - timedelta(days=1)
