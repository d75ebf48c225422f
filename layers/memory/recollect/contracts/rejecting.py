"""What rejecting a value promises (P-22). A subclass gives `timeline` and `items`, over one store."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

from recollect.contracts.examples import HARD_IDS, NOW, a_scope, a_write, an_event
from recollect.domain.errors import InvalidInput, VersionMismatch
from recollect.domain.items import ABSENT, MOST_BYTES, ItemKey, ItemPath, ItemWrite
from recollect.domain.scope import Scope
from recollect.domain.timeline import AppendStatus
from recollect.ports import Items, Timeline

_SECOND = timedelta(seconds=1)
TOLD = ItemKey(ItemPath("rejections"), "018f0000-0000-7000-8000-000000000001")


def told(value: str | None = "yes", expected: int | None = None) -> ItemWrite:
    """The write of an item that tells of it."""
    return ItemWrite(TOLD, None if value is None else {"told": value}, expected)


class RejectingContract:
    """`Timeline.reject` and `Timeline.lift`."""

    @pytest.mark.spec("P-22")
    def test_a_rejected_value_is_refused_until_it_is_lifted(self, timeline: Timeline, items: Items) -> None:
        scope, other = a_scope(), a_scope()
        write, fine = a_write(scope, an_event(scope)), a_write(scope, an_event(scope, content="another"))
        for _ in range(2):
            timeline.reject(scope, write.fingerprint, [told()], NOW)
        [refused, created] = timeline.append(scope, [write, fine])
        assert (refused.status, refused.reason, created.status) == ("refused", "rejected", "created")
        assert timeline.append(other, [write])[0].status is AppendStatus.CREATED
        assert items.get(scope, [TOLD])[TOLD].version == 2
        for _ in range(2):
            timeline.lift(scope, write.fingerprint, [told(None)], NOW)
        assert items.get(scope, [TOLD]) == {}
        assert timeline.append(scope, [write])[0].status is AppendStatus.CREATED

    def test_what_is_stored_already_stays(self, timeline: Timeline) -> None:
        scope = a_scope()
        event = an_event(scope)
        timeline.append(scope, [a_write(scope, event)])
        timeline.reject(scope, a_write(scope, event).fingerprint, [], NOW)
        assert timeline.find(scope, event.id) == event
        assert timeline.append(scope, [a_write(scope, event)])[0].status is AppendStatus.CREATED
        timeline.lift(scope, a_write(scope, event).fingerprint, [], NOW)

    @pytest.mark.parametrize("lifting", [False, True])
    def test_an_item_that_was_changed_meanwhile_stops_it(self, timeline: Timeline, items: Items, lifting: bool) -> None:
        scope = a_scope()
        write = a_write(scope, an_event(scope))
        items.write(scope, [told("before")], NOW)
        if lifting:
            timeline.reject(scope, write.fingerprint, [], NOW)
        change = timeline.lift if lifting else timeline.reject
        with pytest.raises(VersionMismatch):
            change(scope, write.fingerprint, [told("after", ABSENT)], NOW)
        with pytest.raises(InvalidInput):
            change(scope, write.fingerprint, [told("x" * MOST_BYTES)], NOW)
        expected = AppendStatus.REFUSED if lifting else AppendStatus.CREATED
        assert timeline.append(scope, [write])[0].status is expected
        assert items.get(scope, [TOLD])[TOLD].value == {"told": "before"}

    def test_an_append_at_the_same_time_is_before_it_or_refused(self, timeline: Timeline) -> None:
        scope = a_scope()
        for number in range(4):
            first, second = (an_event(scope, content=f"value {number}", timestamp=at) for at in (NOW, NOW - _SECOND))
            write = a_write(scope, first)
            with ThreadPoolExecutor(2) as pool:
                appended = pool.submit(timeline.append, scope, [write])
                pool.submit(timeline.reject, scope, write.fingerprint, [], NOW).result()
                assert appended.result()[0].status in (AppendStatus.CREATED, AppendStatus.REFUSED)
            assert timeline.append(scope, [a_write(scope, second)])[0].status is AppendStatus.REFUSED

    def test_ids_of_any_script(self, timeline: Timeline, items: Items) -> None:
        for hard in HARD_IDS:
            scope: Scope = a_scope(user_id=hard)
            write = a_write(scope, an_event(scope))
            timeline.reject(scope, write.fingerprint, [told(hard)], NOW)
            assert timeline.append(scope, [write])[0].status is AppendStatus.REFUSED
            assert items.get(scope, [TOLD])[TOLD].value == {"told": hard}
