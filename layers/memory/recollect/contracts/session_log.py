"""A conversation's log over the port `Items`: whole appends in one order, whoever writes. A subclass gives `items`."""

import math
import random
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest

from recollect.contracts.examples import NOW, a_scope
from recollect.core.errors import Conflict, InvalidInput, NotFound, VersionMismatch
from recollect.core.ids import IdSource
from recollect.core.scope import Scope
from recollect.ports import Items
from recollect.session_log.branches import MAIN, MAIN_ALONE, View
from recollect.session_log.editing import Edit, EditLog, EntryName
from recollect.session_log.entries import VERSIONS, Draft, Entry
from recollect.session_log.lasting import LastingLogs
from recollect.session_log.reading import Place
from recollect.session_log.store import LogStore
from recollect.session_log.use_cases import Appended, Appending, SessionLogs

_CONVERSATION = "a#b/é 🙂"


def logs_over(items: Items) -> SessionLogs:
    """The use cases, without the list of users."""
    return SessionLogs(_store(items), lambda *_: None)


def edits_over(items: Items) -> EditLog:
    """Those of single entries."""
    return EditLog(_store(items))


def _store(items: Items) -> LogStore:
    return LogStore(items, IdSource())


class _Branches:
    """What a log with branches must have: entries by their sequences, and where each branch begins."""

    def __init__(self) -> None:
        self.entries: dict[int, tuple[str, Any]] = {}
        self.roots: dict[str, tuple[int, str]] = {MAIN: (0, "")}

    def add(self, name: str, drafts: Sequence[Draft], sequences: Sequence[int]) -> None:
        self.entries |= {n: (name, draft.payload) for n, draft in zip(sequences, drafts, strict=True)}

    def pop(self, name: str) -> int | None:
        last = max((n for n, (branch, _) in self.entries.items() if branch == name), default=None)
        self.entries.pop(last or 0, None)
        return last

    def seen(self, view: View) -> list[tuple[int, str, Any]]:
        lines: dict[str | None, float] = {view.branch: math.inf}
        name = view.branch
        while view.parents and name is not None and name != MAIN:
            root, name = self.roots[name]
            lines[name] = root
        return [
            (n, branch, payload)
            for n, (branch, payload) in sorted(self.entries.items())
            if view.branch is None or n <= lines.get(branch, 0)
        ]


def read_all(
    logs: SessionLogs, scope: Scope, limit: int = 3, *, newest_first: bool = False, view: View = MAIN_ALONE
) -> list[tuple[int, str, Any]]:
    """Sequence, branch and payload of what all pages of a reading have."""
    entries = read_entries(logs, scope, limit, newest_first=newest_first, view=view)
    return [(one.sequence, one.branch, one.payload) for one in entries]


def read_entries(
    logs: SessionLogs, scope: Scope, limit: int = 3, *, newest_first: bool = False, view: View = MAIN_ALONE
) -> list[Entry]:
    """All pages of a reading."""
    found: list[Entry] = []
    place: Place | None = None
    while True:
        page = logs.read(scope, _CONVERSATION, limit, place, newest_first=newest_first, view=view)
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
            if step % 5 < 4:
                continue
            assert [(one.sequence, one.payload) for one in read_entries(logs, scope)] == expected
            backwards = read_entries(logs, scope, newest_first=True)
            assert [one.sequence for one in backwards] == [sequence for sequence, _ in reversed(expected)]
            assert sum(one.entries for one in logs.logs(scope, 9, None).logs) == len(expected)

    def test_appends_side_by_side_are_whole_and_one_after_another(self, items: Items) -> None:
        logs, scope = logs_over(items), a_scope()
        append = partial(logs.append, scope, _CONVERSATION)
        with ThreadPoolExecutor(6) as pool:
            list(pool.map(lambda n: append([Draft(payload=n), Draft(payload=n)], NOW), range(18)))
        found = read_entries(logs, scope, 50)
        assert [one.sequence for one in found] == list(range(1, 37))
        assert [one.payload for one in found[::2]] == [one.payload for one in found[1::2]]
        assert sorted(one.payload for one in found[::2]) == list(range(18))

    @pytest.mark.parametrize("seed", range(2))
    def test_branches_are_as_lists_would_be(self, items: Items, seed: int) -> None:
        logs, edits, scope, chance = logs_over(items), edits_over(items), a_scope(), random.Random(seed)
        known = _Branches()
        for step in range(30):
            change = chance.random()
            if change < 0.45 or not known.entries:
                name = chance.choice(list(known.roots))
                drafts = [Draft(payload=[step, n]) for n in range(chance.randint(1, 3))]
                appended = logs.append(scope, _CONVERSATION, drafts, NOW, Appending(branch=name))
                known.add(name, drafts, [one.sequence for one in appended])
            elif change < 0.65 and len(known.roots) < 4:
                name, root = f"{step}#é", chance.choice(list(known.entries))
                [made] = logs.append(scope, _CONVERSATION, [Draft(payload=step)], NOW, Appending(name, root))
                known.roots[name] = (root, known.entries[root][0])
                known.add(name, [Draft(payload=step)], [made.sequence])
            elif change < 0.8:
                name = chance.choice(list(known.roots))
                popped = logs.pop(scope, _CONVERSATION, NOW, name)
                assert (popped and popped.sequence) == known.pop(name)
            else:
                sequence = chance.choice(list(known.entries))
                place = EntryName(_CONVERSATION, sequence)
                if chance.random() < 0.5:
                    edits.remove(scope, place, lambda _: True, NOW)
                    del known.entries[sequence]
                else:
                    edits.edit(scope, place, Edit({"payload": f"edited {step}"}, lambda _: True), NOW)
                    known.entries[sequence] = (known.entries[sequence][0], f"edited {step}")
            if step % 6 < 5:
                continue
            for view in (View(None), *(View(name, parents) for name in known.roots for parents in (False, True))):
                expected = known.seen(view)
                assert read_all(logs, scope, 4, view=view) == expected
                assert read_all(logs, scope, 4, view=view, newest_first=True) == expected[::-1]
            assert sum(one.entries for one in logs.logs(scope, 9, None).logs) == len(known.entries)

    def test_an_edited_entry_has_its_history_until_it_is_removed(self, items: Items) -> None:
        logs, edits, scope = logs_over(items), edits_over(items), a_scope()
        large = "x" * 200_000
        logs.append(scope, _CONVERSATION, [Draft(payload=n) for n in range(3)], NOW)
        place = EntryName(_CONVERSATION, 2)
        for payload in (large, {"n": 2}, large[1:], None):
            edits.edit(scope, place, Edit({"payload": payload}, lambda _: True), NOW)
        edits.edit(scope, EntryName(_CONVERSATION, 1), Edit({"payload": large}, lambda _: True), NOW)
        assert [one.payload for one in read_entries(logs, scope)] == [large, None, 2]
        first = edits.versions(scope, place, 3, None)
        rest = edits.versions(scope, place, 3, first.more)
        assert [(one.version, one.payload) for one in (*first.versions, *rest.versions)] == [
            (1, 1), (2, large), (3, {"n": 2}), (4, large[1:]),
        ]  # fmt: skip
        with pytest.raises(VersionMismatch):
            edits.edit(scope, place, Edit({"payload": 3}, lambda version: version == 4), NOW)
        assert edits.edit(scope, place, Edit({"payload": None}, lambda _: True), NOW).version == 5
        edits.remove(scope, place, lambda version: version == 5, NOW)
        with pytest.raises(NotFound):
            edits.one(scope, place)
        assert [one.entry.sequence for one in LastingLogs(_store(items)).versions(scope, 9, None).entries] == [1]
        logs.clear(scope, _CONVERSATION, NOW)
        assert items.page(scope.user, VERSIONS, 9, None).items == ()

    def test_edits_side_by_side_lose_none(self, items: Items) -> None:
        logs, edits, scope = logs_over(items), edits_over(items), a_scope()
        logs.append(scope, _CONVERSATION, [Draft(payload=-1), Draft(payload=-1)], NOW)
        edit = partial(edits.edit, scope, EntryName(_CONVERSATION, 2))
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda n: edit(Edit({"payload": n}, lambda _: True), NOW), range(8)))
        earlier = edits.versions(scope, EntryName(_CONVERSATION, 2), 20, None).versions
        now = edits.one(scope, EntryName(_CONVERSATION, 2))
        assert sorted(one.payload for one in (*earlier, now)) == [-1, *range(8)]
        assert [one.version for one in (*earlier, now)] == list(range(1, 10))

    def test_a_repeated_request_finds_what_its_first_try_appended(self, items: Items) -> None:
        logs, scope, ids = logs_over(items), a_scope(), IdSource()
        seed = ids.seed(int(time.time() * 1000))
        drafts = [Draft(payload="a"), Draft(payload="b", entry_key="k")]
        first = logs.append(scope, _CONVERSATION, drafts, NOW, Appending(request=seed))
        logs.append(scope, _CONVERSATION, [Draft(payload="c")], NOW)
        again = partial(logs.append, scope, _CONVERSATION, drafts, NOW)
        assert again(Appending(request=seed, again=True)) == first
        assert again(Appending(request=ids.seed(int(time.time() * 1000)), again=True)) == [
            Appended(4),
            Appended(2, duplicate=True),
        ]
        assert [one.payload for one in read_entries(logs, scope)] == ["a", "b", "c", "a"]

    def test_what_a_branch_cannot_be_is_refused(self, items: Items) -> None:
        logs, scope = logs_over(items), a_scope()
        logs.append(scope, _CONVERSATION, [Draft(payload=n) for n in range(4)], NOW)
        append = partial(logs.append, scope, _CONVERSATION, [Draft(payload=9)], NOW)
        append(Appending("b", 2))
        assert append(Appending("b", 2)) == [Appended(6)]
        for wrong, error in (
            (Appending("c"), NotFound),
            (Appending("c", 7), InvalidInput),
            (Appending("b", 1), Conflict),
            (Appending("main", 1), Conflict),
        ):
            with pytest.raises(error):
                append(wrong)
        for name in ("c", "main#"):
            with pytest.raises(NotFound):
                logs.read(scope, _CONVERSATION, 9, view=View(name))
        assert [(one.name, one.root, one.parent) for one in logs.branches(scope, _CONVERSATION)] == [("b", 2, "main")]
        logs.clear(scope, _CONVERSATION, NOW)
        with pytest.raises(NotFound):
            logs.pop(scope, _CONVERSATION, NOW, "b")
        with pytest.raises(InvalidInput):
            append(Appending("b", 2))

    def test_conversations_and_users_do_not_meet(self, items: Items) -> None:
        logs, anna, ben = logs_over(items), a_scope(), a_scope()
        logs.append(anna, "a", [Draft(payload=1, entry_key="k")], NOW)
        logs.append(anna, "b", [Draft(payload=2, entry_key="k")], NOW)
        logs.append(ben, "a", [Draft(payload=3, entry_key="k")], NOW)
        logs.clear(anna, "a", NOW)
        assert [one.payload for one in logs.read(anna, "b", 9).entries] == [2]
        assert [one.payload for one in logs.read(ben, "a", 9).entries] == [3]
        lasting = LastingLogs(_store(items)).entries(anna, 9, None).entries
        assert [(one.conversation_id, one.entry.payload) for one in lasting] == [("b", 2)]
