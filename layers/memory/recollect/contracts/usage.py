"""The contract of `UsageCounts`. A subclass gives the fixture `usage`."""

import uuid
from concurrent.futures import ThreadPoolExecutor
from datetime import date

import pytest

from recollect.contracts.examples import HARD_IDS
from recollect.ports import UsageCounts

MONDAY, TUESDAY = date(2026, 3, 2), date(2026, 3, 3)


def a_tenant() -> str:
    """A tenant that nothing else uses."""
    return f"tenant-{uuid.uuid4().hex}"


class UsageCountsContract:
    """Hold an adapter to it by a subclass that gives the fixture `usage`."""

    def test_what_is_added_is_summed_by_day_and_kind(self, usage: UsageCounts) -> None:
        tenant = a_tenant()
        assert usage.days(tenant) == {}
        usage.add(tenant, TUESDAY, {"search": 2})
        usage.add(tenant, MONDAY, {"search": 1, "calls openai:llama3.2": 3, "pk": 7})
        usage.add(tenant, MONDAY, {"search": 4})
        assert usage.days(tenant) == {
            MONDAY: {"search": 5, "calls openai:llama3.2": 3, "pk": 7},
            TUESDAY: {"search": 2},
        }
        assert list(usage.days(tenant)) == [MONDAY, TUESDAY]

    def test_nothing_is_added_of_nothing(self, usage: UsageCounts) -> None:
        tenant = a_tenant()
        usage.add(tenant, MONDAY, {})
        assert usage.days(tenant) == {}

    @pytest.mark.parametrize("name", HARD_IDS)
    def test_each_tenant_has_counts_of_its_own(self, usage: UsageCounts, name: str) -> None:
        mark = uuid.uuid4().hex[:8]
        tenant, other = f"{mark}1{name}"[:128], f"{mark}2{name}"[:128]
        usage.add(tenant, MONDAY, {"turn": 1})
        usage.add(other, MONDAY, {"turn": 2})
        assert usage.days(tenant) == {MONDAY: {"turn": 1}}

    def test_all_who_add_at_once_are_counted(self, usage: UsageCounts) -> None:
        tenant = a_tenant()
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda _: usage.add(tenant, MONDAY, {"message": 1}), range(20)))
        assert usage.days(tenant) == {MONDAY: {"message": 20}}
