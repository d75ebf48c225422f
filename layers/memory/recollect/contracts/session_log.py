"""A conversation's log over the port `Items`: whole appends in one order, whoever writes. A subclass gives `items`."""

import random
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest

from recollect.contracts.examples import NOW, a_scope
from recollect.core.ids import IdSource
from recollect.core.scope import Scope
from recollect.ports import Items
from recollect.session_log.entries import Draft, Entry
from recollect.session_log.use_cases import Place, SessionLogs

_CONVERSATION = "a#b/é 🙂"


def logs_over(items: Items) -> SessionLogs:
    """The use cases, without the list of users."""
    return SessionLogs(items, IdSource(), lambda *_: None)


def read_all(logs: SessionLogs, scope: Scope, limit: int = 3, *, newest_first: bool = False) -> list[Entry]:
    """All pages of a reading."""
    found: list[Entry] = []
    place: Place | None = None
    while True:
        page = logs.read(scope, _CONVERSATION, limit, place, newest_first=newest_first)
        found += page.entries
        place = page.more
        if place is None:
            return found


class SessionLogContract:
    @pytest.mark.parametrize("seed", range(3))
    def test_a_log_is_as_a_list_would_be(self, items: Items, seed: int) -> None:
        logs, scope, chance = logs_over(items), a_scope(), random.Random(seed)
        expected: list[tuple[int, int]] = []
        following = 1
        for step in range(25):
            change = chance.random()
            if change < 0.6:
                drafts = [Draft(payload=step * 10 + n) for n in range(chance.randint(1, 4))]
                appended = logs.append(scope, _CONVERSATION, drafts, NOW)
                assert [one.sequence for one in appended] == list(range(following, following + len(drafts)))
                expected += [(following + n, draft.payload) for n, draft in enumerate(drafts)]
                following += len(drafts)
            elif change < 0.95:
                popped = logs.pop(scope, _CONVERSATION, NOW)
                assert (popped and (popped.sequence, popped.payload)) == (expected.pop() if expected else None)
            else:
                logs.clear(scope, _CONVERSATION, NOW)
                expected = []
            assert [(one.sequence, one.payload) for one in read_all(logs, scope)] == expected
            backwards = read_all(logs, scope, newest_first=True)
            assert [one.sequence for one in backwards] == [sequence for sequence, _ in reversed(expected)]
            assert sum(one.entries for one in logs.logs(scope, 9, None).logs) == len(expected)

    def test_appends_side_by_side_are_whole_and_one_after_another(self, items: Items) -> None:
        logs, scope = logs_over(items), a_scope()
        append = partial(logs.append, scope, _CONVERSATION)
        with ThreadPoolExecutor(6) as pool:
            list(pool.map(lambda n: append([Draft(payload=n), Draft(payload=n)], NOW), range(18)))
        found = read_all(logs, scope, 50)
        assert [one.sequence for one in found] == list(range(1, 37))
        assert [one.payload for one in found[::2]] == [one.payload for one in found[1::2]]
        assert sorted(one.payload for one in found[::2]) == list(range(18))

    def test_conversations_and_users_do_not_meet(self, items: Items) -> None:
        logs, anna, ben = logs_over(items), a_scope(), a_scope()
        logs.append(anna, "a", [Draft(payload=1, entry_key="k")], NOW)
        logs.append(anna, "b", [Draft(payload=2, entry_key="k")], NOW)
        logs.append(ben, "a", [Draft(payload=3, entry_key="k")], NOW)
        logs.clear(anna, "a", NOW)
        assert [one.payload for one in logs.read(anna, "b", 9).entries] == [2]
        assert [one.payload for one in logs.read(ben, "a", 9).entries] == [3]
        assert [(one.conversation_id, one.entry.payload) for one in logs.lasting(anna, 9, None).entries] == [("b", 2)]
