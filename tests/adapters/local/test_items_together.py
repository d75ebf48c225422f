"""Items written beside projections: one commit with them, or none; what does not fit takes back itself alone."""

from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import pytest

from recollect.adapters.local.database import Database
from recollect.adapters.local.items import SqliteItems
from recollect.core.errors import VersionMismatch
from recollect.core.items import ABSENT, ItemKey, ItemPath, ItemWrite
from recollect.core.scope import Scope

ANNA = Scope("acme", "anna")
NOW = datetime(2024, 5, 1, tzinfo=UTC)
ONE, TWO = (ItemKey(ItemPath("states"), name) for name in ("one", "two"))


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = Database(tmp_path / "recollect.db")
    yield opened
    opened.close()


def test_they_are_kept_with_the_others_and_lost_with_them(database: Database) -> None:
    items = SqliteItems(database)
    with database.together():
        assert database.grouped
        items.write(ANNA, [ItemWrite(ONE, {"n": 1}, ABSENT)], NOW)
        assert items.get(ANNA, [ONE])[ONE].version == 1
    assert not database.grouped
    with suppress(ZeroDivisionError), database.together():
        items.write(ANNA, [ItemWrite(ONE, {"n": 2}, 1), ItemWrite(TWO, {}, ABSENT)], NOW)
        raise ZeroDivisionError
    assert {key: dict(item.value) for key, item in items.get(ANNA, [ONE, TWO]).items()} == {ONE: {"n": 1}}


def test_a_version_that_does_not_fit_takes_back_that_write_alone(database: Database) -> None:
    items = SqliteItems(database)
    with database.together():
        items.write(ANNA, [ItemWrite(ONE, {"n": 1}, ABSENT)], NOW)
        with pytest.raises(VersionMismatch):
            items.write(ANNA, [ItemWrite(TWO, {}, ABSENT), ItemWrite(ONE, {"n": 2}, 7)], NOW)
    assert set(items.get(ANNA, [ONE, TWO])) == {ONE}
