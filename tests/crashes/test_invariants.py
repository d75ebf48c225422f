"""The invariants can fail: each kind of damage is seen."""

import sqlite3
from pathlib import Path

import pytest

from crashes.invariants import check
from crashes.remembering import remembered
from crashes.store import stored_in
from crashes.world import World, local_plan

DAMAGE = {
    "an event without its dedupe record": "DELETE FROM identities WHERE event_id = (SELECT max(id) FROM events)",
    "a lost document": "DELETE FROM documents WHERE row = (SELECT min(row) FROM documents)",
    "a lost event": "DELETE FROM events WHERE row = (SELECT min(row) FROM events)",
    "a lost vector": "DELETE FROM projections WHERE rowid = (SELECT min(rowid) FROM projections)",
    "a slot that forgot": "DELETE FROM slot_entries",
    "a lost bus event": "DELETE FROM bus WHERE place = (SELECT min(place) FROM bus)",
    "a content that names no memory": "DELETE FROM items WHERE collection = 'memory_contents'",
    "a memory without its source": "UPDATE items SET key = 'x' WHERE collection = 'memories'"
    " AND row = (SELECT min(row) FROM items WHERE collection = 'memories')",
    "a change that is told twice": "INSERT INTO items (scope, collection, labels, key, version, updated_at, value)"
    " SELECT scope, collection, labels, 'again', version, updated_at, value FROM items"
    " WHERE collection = 'audit' LIMIT 1",
}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("whole")
    world = World(local_plan(folder))
    remembered(world)
    world.close()
    return folder


def test_a_whole_store_passes(home: Path) -> None:
    check(stored_in(home))


@pytest.mark.parametrize("damage", DAMAGE)
def test_damage_is_seen(home: Path, tmp_path: Path, damage: str) -> None:
    (tmp_path / "recollect.db").write_bytes((home / "recollect.db").read_bytes())
    connection = sqlite3.connect(tmp_path / "recollect.db")
    assert connection.execute(DAMAGE[damage]).rowcount > 0
    connection.commit()
    connection.close()
    with pytest.raises(AssertionError):
        check(stored_in(tmp_path))
