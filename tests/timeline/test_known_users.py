"""The users of a tenant: noted once, listed in order, taken off."""

from embedded.setting import ANNA, Memory
from recollect.core.scope import Scope
from recollect.timeline.listing import USERS as KNOWN
from recollect.timeline.listing import KnownUsers


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


class Blind:
    """Items that a reader does not see yet."""

    def __init__(self, items: object) -> None:
        self._items = items

    def get(self, owner: object, keys: object) -> dict[object, object]:
        return {}

    def __getattr__(self, name: str) -> object:
        return getattr(self._items, name)
