"""Of what its words alone make important, only what states something lasting becomes a memory (P-10)."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from recollect.adapters.judges.table_pairs import TablePairModel
from recollect.core.event import Event, EventType, Role
from recollect.memories.promotion import route
from recollect.memories.worth_keeping import WorthKeeping
from recollect.rules.groups import Rules
from recollect.rules.importance import score
from samples.events import event

RULES = Rules()
FILLER, FACT = "I'm always happy to help, remember that!", "Remember: my daughter Ida is always allergic to nuts."


class Keeping(TablePairModel):
    """Keeps what names Ida."""

    def __init__(self) -> None:
        super().__init__({})
        self.asked: list[str] = []

    def worth_keeping(self, texts: Sequence[str]) -> list[float]:
        self.asked += texts
        return [0.9 if "Ida" in text else 0.02 for text in texts]


def said(content: str, **changes: Any) -> Event:
    """A message whose importance its words gave."""
    own = event(content=content)
    return event(content=content, **{"importance": score(content, own.content_type, RULES), **changes})


def test_what_states_nothing_lasting_becomes_no_memory() -> None:
    filler, fact = said(FILLER, id="filler"), said(FACT, id="fact")
    passing = WorthKeeping(Keeping()).passing_only([filler, fact], RULES)
    assert passing == {"filler"}
    assert route([filler, fact], RULES.bridge, suspended=False, passing=passing).promote == [fact]


@pytest.mark.parametrize(
    "one",
    [
        pytest.param(said(FILLER, importance=0.95), id="the caller called it important"),
        pytest.param(said(FILLER, event_type=EventType.TASK), id="a task"),
        pytest.param(said(FILLER, event_type=EventType.REMINDER), id="a reminder"),
        pytest.param(said(FILLER, key="motto"), id="the value of a key"),
        pytest.param(said("We met."), id="not important anyway"),
    ],
)
def test_others_are_not_asked_about(one: Event) -> None:
    model = Keeping()
    assert WorthKeeping(model).passing_only([one], RULES) == frozenset()
    assert model.asked == []


def test_an_assistants_words_are_no_fact_of_the_user() -> None:
    rules = replace(RULES, bridge=replace(RULES.bridge, min_importance=0.0))
    told, model = said(FACT, role=Role.BOT), Keeping()
    assert WorthKeeping(model).passing_only([told], rules) == {told.id}
    assert model.asked == []


def test_without_a_model_everything_is_worth_keeping() -> None:
    assert WorthKeeping(None).passing_only([said(FILLER)], RULES) == frozenset()
