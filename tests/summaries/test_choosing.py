"""Which messages a model would remember: what it is shown, and what of its list is of use."""

import json
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.context.rendering import Fence
from recollect.core.event import Event, EventType, Role, Source
from recollect.memories.promotion import may_be_chosen
from recollect.rules.groups import BridgeRules
from recollect.summaries.choosing import CHOICE_FIELD, CHOICE_TOLD, MOST_CHOSEN, Choice, numbered, read_choice
from recollect.summaries.goals import TrackedGoal
from recollect.summaries.model_answer import (
    Fault,
    SummaryAnswer,
    SummaryMaterial,
    read_summary_answer,
    summary_messages,
)
from samples.events import NOON, event

FENCE = Fence("5f" * 16)
RULES = BridgeRules()


def said(number: int, **changes: object) -> Event:
    return event(
        **{"id": f"e{number}", "content": f"turn {number}", "timestamp": NOON + timedelta(minutes=number)} | changes
    )


SHOWN = {number: said(number) for number in range(1, 31)}

NO_LIST = {"memories_no_list": 1}
ANSWERS: list[tuple[object, list[int], dict[str, int]]] = [
    ([], [], {}),
    ([3], [3], {}),
    ([7, 2, 7], [7, 2], {}),
    ([0, 1, 31, -1], [1], {"memories_not_shown": 3}),
    (["1", 1.0, True, None, {"message": 2}, [3], 4], [4], {"memories_no_number": 6}),
    (list(range(1, 31)), list(range(1, 21)), {"memories_too_many": 10}),
    ([*range(1, 21), *range(1, 21)], list(range(1, 21)), {}),
    ([10**400, 5], [5], {"memories_not_shown": 1}),
    (None, [], NO_LIST),
    ("1, 2", [], NO_LIST),
    ({"1": True}, [], NO_LIST),
    (3, [], NO_LIST),
]


@pytest.mark.parametrize(("memories", "numbers", "unusable"), ANSWERS)
def test_of_a_list_what_names_a_message_shown_counts_and_the_rest_is_counted(
    memories: object, numbers: list[int], unusable: dict[str, int]
) -> None:
    choice = read_choice(memories, SHOWN)
    assert choice.messages == tuple(SHOWN[number] for number in numbers)
    assert choice.unusable == unusable


def test_where_nothing_could_be_chosen_no_list_is_missed() -> None:
    for memories in (None, [1], "x"):
        assert read_choice(memories, {}) == Choice()


@given(st.lists(st.one_of(st.integers(-3, 40), st.text(max_size=3), st.booleans(), st.none())))
def test_whatever_a_list_holds_at_most_twenty_messages_are_chosen_each_once(memories: list[object]) -> None:
    choice = read_choice(memories, SHOWN)
    ids = [one.id for one in choice.messages]
    assert len(set(ids)) == len(ids) <= MOST_CHOSEN
    assert set(ids) <= {one.id for one in SHOWN.values()}


BAD_LISTS: list[object] = [None, "none", [99], ["first"], {}]


@pytest.mark.parametrize("memories", BAD_LISTS)
def test_a_bad_list_loses_no_good_summary(memories: object) -> None:
    text = json.dumps({"summary": "Fine.", "tracked_goals": [{"goal": "Run"}], "memories": memories})
    answer = read_summary_answer(text, 200, SHOWN)
    assert isinstance(answer, SummaryAnswer)
    assert (answer.summary, answer.tracked_goals) == ("Fine.", (TrackedGoal("Run"),))
    assert (answer.choice.messages, sum(answer.choice.unusable.values())) == ((), 1)


def test_an_answer_without_a_summary_chooses_nothing() -> None:
    assert read_summary_answer(json.dumps({"summary": "", "memories": [1]}), 200, SHOWN) is Fault.NO_SUMMARY


def test_who_is_not_asked_chooses_nothing() -> None:
    text = json.dumps({"summary": "Fine.", "memories": [1]})
    assert read_summary_answer(text, 200) == SummaryAnswer("Fine.", ())


def of(*messages: Event, asked: bool = True) -> SummaryMaterial:
    shown = numbered(messages, (lambda one: may_be_chosen(one, RULES)) if asked else None)
    return SummaryMaterial(earlier=(), goals=(), messages=messages, numbered=shown)


MIXED = (
    said(1, content="I live in Leith."),
    said(2, content="Noted, Leith.", role=Role.BOT),
    said(3, content="Which bus goes there?"),
    said(4, content="My sister is called Ida."),
)


@pytest.mark.spec("P-23")
def test_what_may_be_chosen_has_a_number_and_nothing_else_has_one() -> None:
    system, user = summary_messages(of(*MIXED), FENCE, 200)
    lines = user.content.split(f"{FENCE.open}\n")[-1].splitlines()[:4]
    assert [line.partition("[")[0] for line in lines] == ["1. ", "", "", "2. "]
    assert CHOICE_TOLD in system.content
    assert '"completed|missed"}]}], "memories": [1, 4]}. check_in' in system.content


def test_where_it_is_not_asked_for_the_prompt_is_what_it_is_without_byte_for_byte() -> None:
    chosen, plain = (summary_messages(of(*MIXED, asked=asked), FENCE, 200) for asked in (True, False))
    bare = SummaryMaterial(earlier=(), goals=(), messages=MIXED)
    assert plain == summary_messages(bare, FENCE, 200)
    assert chosen[0].content.replace(f"{CHOICE_TOLD} ", "").replace(CHOICE_FIELD, "") == plain[0].content
    assert chosen[1].content.replace("1. [", "[").replace("2. [", "[") == plain[1].content
    assert "memories" not in plain[0].content
    assert "number" not in plain[0].content


def test_where_nothing_may_be_chosen_nobody_is_asked_to() -> None:
    assert summary_messages(of(*MIXED[1:3]), FENCE, 200) == summary_messages(of(*MIXED[1:3], asked=False), FENCE, 200)


@pytest.mark.parametrize(
    ("changes", "may"),
    [
        ({}, True),
        ({"importance": 0.0}, True),
        ({"role": Role.BOT}, False),
        ({"is_private": True}, False),
        ({"derive": False}, False),
        ({"source": Source.INFERRED}, False),
        ({"key": "home"}, False),
        ({"content": "Where do I live?"}, False),
        ({"event_type": EventType.EMOTION}, False),
        ({"event_type": EventType.TASK}, True),
    ],
)
@pytest.mark.spec("P-10")
def test_a_persons_own_statements_may_be_chosen_whatever_their_importance(changes: dict[str, Any], may: bool) -> None:
    one = said(1, **{"content": "I live in Leith.", **changes})
    assert may_be_chosen(one, RULES) is may
    assert not may_be_chosen(one, BridgeRules(enabled=False))
