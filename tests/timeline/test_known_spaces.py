"""The spaces of a user, noted when their events are projected (R-22)."""

from typing import Any

import pytest

from embedded.asking import Asking, draft
from embedded.setting import NOON, Memory
from recollect.core.scope import Scope
from recollect.timeline.listing import SPACES, KnownSpaces


class Counting:
    """Items that count what is asked of them."""

    def __init__(self, items: Any) -> None:
        self._items = items
        self.calls: list[str] = []

    def __getattr__(self, name: str) -> Any:
        self.calls.append(name)
        return getattr(self._items, name)


def of_user(memory: Memory, scope: Scope) -> list[str]:
    """The ids of the spaces that are stored."""
    page = memory.app.parts.items.page(scope.user, SPACES, 100, None)
    return [item.key.key for item in page.items]


@pytest.mark.spec("R-22")
def test_spaces_are_noted_once_and_those_of_private_events_not_at_all(memory: Memory) -> None:
    asking = Asking.of(
        memory,
        draft("one", 1, space_id="Health"),
        draft("two", 2, space_id="Health"),
        draft("three", 3, space_id="Здоровье"),
        draft("four", 4, space_id="Secrets", is_private=True),
        draft("five", 5),
    )
    assert of_user(memory, asking.scope) == []
    memory.project()
    assert of_user(memory, asking.scope) == ["Health", "Здоровье"]
    assert KnownSpaces(memory.app.parts.items).of(asking.scope) == {"Health", "Здоровье"}
    assert KnownSpaces(memory.app.parts.items).of(Scope("acme", "nobody")) == frozenset()


def test_events_without_a_space_and_spaces_that_are_noted_cost_nothing(memory: Memory) -> None:
    asking = Asking.of(memory, draft("one", 1, space_id="Health"), draft("two", 2))
    events = memory.app.parts.timeline.newest(asking.scope, 10)
    counting = Counting(memory.app.parts.items)
    spaces: Any = KnownSpaces(counting)
    spaces.note(asking.scope, [one for one in events if one.space_id is None], NOON)
    assert counting.calls == []
    spaces.note(asking.scope, events, NOON)
    spaces.note(asking.scope, events, NOON)
    assert counting.calls == ["get", "write"]
    spaces = KnownSpaces(counting)
    spaces.note(asking.scope, events, NOON)
    assert counting.calls == ["get", "write", "get"]


def test_many_spaces_are_noted_at_once(memory: Memory) -> None:
    asking = Asking.of(memory, *(draft(f"n{n}", n / 10, space_id=f"s{n:02d}") for n in range(60)))
    memory.project()
    assert len(of_user(memory, asking.scope)) == 60
