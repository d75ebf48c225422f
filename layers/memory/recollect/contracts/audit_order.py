"""What every `Items` promises of the audit: its order is that of `at`, whoever wrote late; part of `items`."""

from collections.abc import Sequence
from datetime import datetime, timedelta

import pytest

from recollect.contracts.examples import NOW, a_scope
from recollect.domain.audit import AUDIT, Action, Actor, ActorKind, AuditEntry, audit_entry, audit_json, audit_write
from recollect.domain.errors import VersionMismatch
from recollect.domain.ids import IdSource
from recollect.domain.items import ABSENT, ItemKey, ItemWrite
from recollect.domain.scope import Scope
from recollect.ports import Items

_IDS = IdSource()
_SECOND = timedelta(seconds=1)
# The order in which the writers come, by the instants of their entries.
_LATE = (5, 3, 9, 0, 7, 7, 1, 8, 2, 4, 6)


def an_entry(at: datetime) -> AuditEntry:
    """An entry of that instant, written now."""
    actor = Actor(ActorKind.USER, "anna")
    return AuditEntry(id=_IDS.fresh(), at=at, actor=actor, action=Action.PATCH, target_ids=("m",), via="memories")


def append(items: Items, owner: Scope, entries: Sequence[AuditEntry]) -> None:
    """Writes them, one after the other."""
    for entry in entries:
        items.write(owner, [audit_write(entry)], NOW)


class AuditOrderContract:
    """Entries, newest first."""

    @pytest.mark.parametrize("limit", [1, 3, 100])
    def test_entries_are_in_the_order_of_their_instants_whoever_wrote_late(self, items: Items, limit: int) -> None:
        owner = a_scope()
        written = [an_entry(NOW + _SECOND * place) for place in _LATE]
        append(items, owner, written)
        expected = sorted(written, key=lambda entry: (entry.at, entry.id), reverse=True)
        assert audit_pages(items, owner, limit) == expected

    def test_a_walk_sees_each_once_while_others_write_late(self, items: Items) -> None:
        owner = a_scope()
        written = [an_entry(NOW + _SECOND * 2 * place) for place in range(6)]
        append(items, owner, written)
        first = items.page(owner, AUDIT, 3, None, descending=True)
        behind, ahead = an_entry(NOW + _SECOND * 9), an_entry(NOW + _SECOND * 3)
        append(items, owner, [behind, ahead])
        rest = items.page(owner, AUDIT, 10, first.more, descending=True)
        seen = [audit_entry(item.key.key, item.value) for item in (*first.items, *rest.items)]
        assert seen == [*written[:2:-1], written[2], ahead, *written[1::-1]]
        assert behind not in seen
        assert audit_pages(items, owner, 4).count(behind) == 1

    def test_entries_that_were_stored_under_their_id_alone_are_listed_last(self, items: Items) -> None:
        owner = a_scope()
        before = [an_entry(NOW), an_entry(NOW + _SECOND)]
        for entry in before:
            items.write(owner, [ItemWrite(ItemKey(AUDIT, entry.id), audit_json(entry), ABSENT)], NOW)
        new = an_entry(NOW + _SECOND * 2)
        append(items, owner, [new])
        assert audit_pages(items, owner, 1) == [new, *reversed(before)]

    def test_an_entry_is_appended_once(self, items: Items) -> None:
        owner, entry = a_scope(), an_entry(NOW)
        append(items, owner, [entry])
        with pytest.raises(VersionMismatch):
            append(items, owner, [entry])


def audit_pages(items: Items, owner: Scope, limit: int) -> list[AuditEntry]:
    """All entries, page by page, the newest first."""
    found: list[AuditEntry] = []
    after: str | None = None
    for _ in range(100):
        page = items.page(owner, AUDIT, limit, after, descending=True)
        found += [audit_entry(item.key.key, item.value) for item in page.items]
        after = page.more
        if after is None:
            return found
    pytest.fail("the walk does not end")
