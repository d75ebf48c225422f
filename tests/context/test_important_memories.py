"""Few of the important ones are read at first: as many as may get a place, and more where that was too few (K-20)."""

import random
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest

from embedded.setting import ANNA, NOON, Memory
from recollect.adapters.local.timeline import SqliteTimeline
from recollect.context import sources
from recollect.core.event import EventRef
from recollect.core.scope import Scope
from recollect.timeline.record import EventDraft

LIMITS: tuple[dict[str, int], ...] = (
    {},
    {"recent": 0, "recent_fill": 0},
    {"semantic": 0},
    {"total": 12, "recent": 2, "recent_fill": 2, "semantic": 2, "important": 8},
    {"total": 3, "important": 3},
    {"important": 0},
)


def a_life(memory: Memory, seed: int) -> None:
    """Ninety messages: every other one is important, and of these every third is over, or superseded."""
    chance = random.Random(seed)
    drafts: list[EventDraft] = []
    for number in range(90):
        weight = round(chance.choice((chance.uniform(0.6, 1.0), chance.uniform(0.1, 0.59))), 2)
        hidden = chance.choice(({}, {}, {"key": "mood"}, {"expires_at": NOON + timedelta(hours=200)}))
        said = f"{chance.choice(('dog', 'boat', 'aunt'))} note {number}"
        at = NOON + timedelta(hours=number)
        drafts.append(EventDraft(content=said, importance=weight, timestamp=at, **hidden))
    memory.add(*drafts)
    memory.now = NOON + timedelta(hours=300)
    memory.project()


def chosen(memory: Memory, question: str, limits: dict[str, int]) -> list[tuple[str, str]]:
    answer = memory.context(question, limits=limits)
    return [(one.item.content, one.section.value) for one in answer.prompt.memories]


@pytest.mark.spec("K-20", "K-68")
@pytest.mark.parametrize("seed", range(4))
def test_the_choice_is_that_of_one_who_reads_all_of_them(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    a_life(memory, seed)
    asked = [(question, limits) for question in ("the dog", "which boat", "hello") for limits in LIMITS]
    few = [chosen(memory, *one) for one in asked]
    monkeypatch.setattr(sources, "_places_taken", lambda *_: None)
    assert few == [chosen(memory, *one) for one in asked]


def reads(memory: Memory, monkeypatch: pytest.MonkeyPatch, **asked: Any) -> int:
    """How many events a context reads back."""
    counted: list[int] = []
    plain = SqliteTimeline.read

    def read(self: SqliteTimeline, scope: Scope, refs: Sequence[EventRef]) -> Any:
        counted.append(len(refs))
        return plain(self, scope, refs)

    monkeypatch.setattr(SqliteTimeline, "read", read)
    memory.context("hello", scope=ANNA, **asked)
    return sum(counted)


def test_those_that_cannot_get_a_place_are_not_read(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    at = [NOON + timedelta(minutes=number) for number in range(300)]
    memory.add(*(EventDraft(content=f"w{n}", importance=0.9, timestamp=at[n]) for n in range(100)))
    memory.add(*(EventDraft(content=f"w{n}", importance=0.3, timestamp=at[n]) for n in range(100, 200)))
    memory.add(*(EventDraft(content=f"w{n}", importance=0.3, timestamp=at[n]) for n in range(200, 300)))
    memory.project()
    few = reads(memory, monkeypatch)
    monkeypatch.setattr(sources, "_places_taken", lambda *_: None)
    assert few <= reads(memory, monkeypatch) - 30
