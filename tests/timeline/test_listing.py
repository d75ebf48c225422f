"""The users of a tenant and the spaces of a user."""

from typing import Any

import pytest

from embedded.asking import Asking, draft
from embedded.setting import ANNA, NOON, Memory
from embedded.standing import Before
from recollect.core.scope import Scope
from recollect.timeline.listing import SPACES, KnownSpaces, KnownUsers
from recollect.timeline.listing import USERS as KNOWN


def test_who_is_projected_is_known(memory: Memory) -> None:
    memory.add("I like tea")
    memory.add("Ben likes ships", scope=Scope("acme", "ben", "coach"))
    memory.add("elsewhere", scope=Scope("other", "carla"))
    assert memory.app.timeline.known_users.page("acme", 10, None).user_ids == ()
    memory.project()
    assert memory.app.timeline.known_users.page("acme", 10, None).user_ids == ("anna", "ben")
    first = memory.app.timeline.known_users.page("acme", 1, None)
    assert first.user_ids == ("anna",)
    assert memory.app.timeline.known_users.page("acme", 1, first.more).user_ids == ("ben",)


def test_a_user_is_written_once(memory: Memory) -> None:
    items = memory.app.parts.items
    users, others = KnownUsers(items), KnownUsers(items)
    for _ in range(3):
        users.note(ANNA, memory.now)
        others.note(ANNA, memory.now)
    page = items.page(Scope("acme", ""), KNOWN, 10, None)
    assert [item.version for item in page.items] == [1]


def test_who_was_taken_off_is_noted_again(memory: Memory) -> None:
    users = memory.app.timeline.known_users
    users.note(ANNA, memory.now)
    users.forget(ANNA, memory.now)
    users.forget(ANNA, memory.now)
    assert users.page("acme", 10, None).user_ids == ()
    users.note(ANNA, memory.now)
    assert users.page("acme", 10, None).user_ids == ("anna",)


def test_two_who_note_a_user_at_once(memory: Memory) -> None:
    users = KnownUsers(memory.app.parts.items)
    memory.app.timeline.known_users.note(ANNA, memory.now)
    users._items = Blind(memory.app.parts.items)  # type: ignore[assignment]
    users.note(ANNA, memory.now)
    assert users.page("acme", 10, None).user_ids == ("anna",)


class Blind(Before):
    """Items that a reader does not see yet."""

    def get(self, owner: object, keys: object) -> dict[object, object]:
        return {}


class Counting(Before):
    """Items that count what is asked of them."""

    def __init__(self, items: Any) -> None:
        super().__init__(items)
        self.calls: list[str] = []

    def __getattr__(self, name: str) -> Any:
        self.calls.append(name)
        return super().__getattr__(name)


def of_user(memory: Memory, scope: Scope) -> list[str]:
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
