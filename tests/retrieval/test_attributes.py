"""Tokens of a record answer a condition as its fields do."""

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given, settings

from recollect.contracts.examples import NOW, an_event
from recollect.core.errors import InvalidInput
from recollect.core.filter import Condition, Filter, filter_of, fulfils, holds, value_at
from recollect.retrieval.attributes import (
    DECIDED,
    EVENT_FIELDS,
    MOST_TOKENS,
    asked_of,
    asked_of_labels,
    event_fields,
    of_fields,
    opposite,
    tokens_of,
)
from samples.filters import CONDITIONS, DOCUMENTS


@settings(max_examples=500)
@given(wanted=CONDITIONS, document=DOCUMENTS)
def test_tokens_tell_what_the_values_tell(wanted: Filter, document: dict[str, Any]) -> None:
    assert isinstance(wanted, Condition)
    below = Condition(("metadata", *wanted.path), wanted.operator, wanted.value)
    event = an_event(metadata=document)
    asked, tokens = asked_of(below), tokens_of(event)
    assert asked is not None
    assert DECIDED in tokens
    value = value_at(event_fields(event), below.path)
    assert (any(map(asked.met_by, tokens)) is not opposite(below)) is fulfils(value, wanted.operator, wanted.value)


@pytest.mark.parametrize(
    "metadata",
    [{"long": "x" * 9_000}, {"many": {str(n): n for n in range(MOST_TOKENS)}}],
    ids=["too long", "too many"],
)
def test_what_is_too_much_for_an_index_is_not_decided_there(metadata: dict[str, Any]) -> None:
    event = an_event(metadata=metadata, agent_id="helper")
    assert tokens_of(event) == tokens_of(an_event(agent_id="helper"))[:-1]


@pytest.mark.parametrize(
    ("own", "exact", "prefix", "met"),
    [
        (("org", "team"), ("org", "team"), None, True),
        (("org", "team"), ("org",), None, False),
        (("org", "team"), None, ("org",), True),
        (("org",), None, ("org",), True),
        (("organisation",), None, ("org",), False),
        (("org", "teams"), None, ("org", "team"), False),
        (('a"', "b"), None, ('a"',), True),
        ((), None, ("org",), False),
    ],
)
def test_a_namespace_is_met_exactly_or_as_a_subtree(
    own: tuple[str, ...], exact: tuple[str, ...] | None, prefix: tuple[str, ...] | None, met: bool
) -> None:
    tokens = tokens_of(an_event(namespace=own))
    assert all(any(map(one.met_by, tokens)) for one in asked_of_labels(None, None, exact, prefix)) is met


def test_times_are_compared_as_times() -> None:
    early = of_fields(filter_of({"timestamp": {"lt": "2025-03-01T14:00:00+01:00"}}), EVENT_FIELDS)
    assert holds(early, event_fields(an_event(timestamp=NOW - timedelta(microseconds=1))))
    assert not holds(early, event_fields(an_event(timestamp=NOW + timedelta(hours=1))))


@pytest.mark.parametrize(
    "wanted",
    [{"colour": "red"}, {"content": "x"}, {"role.name": "x"}, {"timestamp": {"contains": "2"}}, {"timestamp": "soon"}],
)
def test_what_is_no_field_or_no_time_is_refused(wanted: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        of_fields(filter_of(wanted), EVENT_FIELDS)
