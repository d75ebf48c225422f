"""An erasure that meets a write: what is written after the erasure has read stays, whole."""

from typing import Any

import pytest

from recollect.adapters.aws.namespaced_items import DynamoDBNamespacedItems
from recollect.adapters.aws.removal import DynamoDBEraser
from recollect.adapters.aws.table import ItemAccess
from recollect.contracts.examples import NOW
from recollect.contracts.namespaced_items import PLACE, a_put, a_tenant
from recollect.core.ids import IdSource
from recollect.core.scope import Scope
from recollect.deletion.storage import Exempt


def test_an_item_that_is_written_while_its_owner_is_erased_stays(
    access: ItemAccess, namespaced_items: DynamoDBNamespacedItems, monkeypatch: pytest.MonkeyPatch
) -> None:
    tenant = a_tenant()
    anna = Scope(tenant.tenant, "anna")
    namespaced_items.write(tenant, [a_put(owner="anna")], NOW)
    exempt = Exempt(before=IdSource().fresh())
    erase_named = DynamoDBEraser._erase_named

    def written_meanwhile(*given: Any) -> None:
        namespaced_items.write(tenant, [a_put(owner="anna")], NOW)
        erase_named(*given)

    with monkeypatch.context() as race:
        race.setattr(DynamoDBEraser, "_erase_named", written_meanwhile)
        DynamoDBEraser(access).erase(anna, exempt, 100, None)
    assert PLACE in namespaced_items.read(tenant, [PLACE], NOW)
    assert [one.place for one in namespaced_items.owned(anna, 9, None).items] == [PLACE]
    assert DynamoDBEraser(access).left(anna, exempt) == 0
