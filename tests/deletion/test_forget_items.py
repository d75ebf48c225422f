"""Deleted items of applications stay deleted: in a restored file, at an import, after an erasure."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from entrypoints.http.calling import Caller, Cloud
from entrypoints.http.conftest import opened, settings_in
from recollect.app import App
from recollect.bootstrap.local_parts import back_up_store, restore_store
from recollect.core.errors import VersionMismatch
from recollect.core.scope import Scope
from recollect.core.time import utc_now
from recollect.deletion.forget_items import deleted_item_key
from recollect.deletion.storage import QUEUE
from recollect.items.item import ItemPlace
from recollect.items.use_cases import Get, Put, Search

ANNA = Scope("local", "anna")
NOTES = ("users", "anna")


def put(app: App, key: str, owner: str | None = "anna", **value: Any) -> None:
    app.items.put("local", Put(place=ItemPlace(NOTES, key), value=value, owner=owner), utc_now())


def delete(app: App, key: str) -> None:
    app.items.put("local", Put(place=ItemPlace(NOTES, key), value=None), utc_now())


def there(app: App) -> list[str]:
    return sorted(one.item.place.key for one in app.items.search("local", Search(limit=99), utc_now()))


@pytest.mark.spec("P-22")
def test_a_restored_file_has_no_item_that_was_deleted_or_erased_since(tmp_path: Path) -> None:
    home, copy, again = tmp_path / "home", tmp_path / "copy", tmp_path / "again"
    with opened(home) as app:
        for key in ("deleted", "replaced", "kept"):
            put(app, key, text=key)
        put(app, "bens", owner="ben")
        put(app, "nobodys", owner=None)
    back_up_store(settings_in(home), copy)
    with opened(home) as app:
        delete(app, "deleted")
        delete(app, "replaced")
        put(app, "replaced", text="new")
        assert Caller(Cloud(app)).delete("/v1/users/ben").status == 202
    (home / "archive").rename(tmp_path / "archive")
    again.mkdir()
    (tmp_path / "archive").rename(again / "archive")
    counts = restore_store(settings_in(again), copy, utc_now())
    assert (counts["items"], counts["erasure"]) == (2, 1)
    with opened(again) as app:
        assert there(app) == ["kept", "nobodys"]


@pytest.mark.spec("P-22")
def test_a_refused_deletion_leaves_no_note_of_it(tmp_path: Path) -> None:
    now = utc_now()
    with opened(tmp_path) as app:
        for key in ("mine", "again"):
            put(app, key, n=1)
        delete(app, "again")
        put(app, "again", n=2)
        keys = [deleted_item_key("local", ItemPlace(NOTES, key)) for key in ("mine", "again")]
        noted = {key: item.value for key, item in app.parts.items.get(ANNA, keys).items()}
        refused = [Put(place=ItemPlace(NOTES, key), value=None) for key in ("mine", "again")]
        with pytest.raises(VersionMismatch):
            app.items.batch("local", [*refused, Put(place=ItemPlace(NOTES, "new"), value={}, expected=7)], now)
        assert there(app) == ["again", "mine"]
        assert {key: item.value for key, item in app.parts.items.get(ANNA, keys).items()} == noted
        assert not app.parts.items.due(QUEUE, now, 10, None).items


def test_what_is_put_after_a_deletion_survives_its_tombstone(tmp_path: Path) -> None:
    with opened(tmp_path) as app:
        put(app, "k", n=1)
        delete(app, "k")
        put(app, "k", n=2)
        note = app.parts.items.get(ANNA, [deleted_item_key("local", ItemPlace(NOTES, "k"))])
        ((key, item),) = note.items()
        app.deletion.owned_items.again(ANNA, {"hashes": [key.key], "before": item.value["before"]}, utc_now())
        assert there(app) == ["k"]
        assert app.deletion.tombstone_log.applied().last == 1


def test_items_of_nobody_leave_no_tombstone(tmp_path: Path) -> None:
    with opened(tmp_path) as app:
        put(app, "k", owner=None)
        delete(app, "k")
        assert there(app) == []
        assert app.deletion.tombstone_log.applied().last == 0


def exported(caller: Caller, user: str = "anna") -> list[str]:
    """All pages of an export."""
    pages, path = [], f"/v1/users/{user}/export"
    while path:
        answer = caller.get(path)
        assert answer.status == 200, answer.text
        pages.append(answer.text)
        link = answer.headers.get("link", "")
        path = link.partition("<")[2].partition(">")[0]
    return pages


def imported(caller: Caller, page: str, user: str = "anna") -> dict[str, int]:
    answer = caller.post(f"/v1/users/{user}/import", page.encode())
    assert answer.status == 200, answer.text
    return {name: answer.json[name] for name in ("created", "duplicate", "refused", "invalid")}


def test_an_export_has_a_users_items_and_an_import_brings_them_back(tmp_path: Path) -> None:
    with opened(tmp_path / "one") as app:
        caller = Caller(Cloud(app))
        caller.added("I live in Paris")
        for n in range(3):
            place = ItemPlace((*NOTES, f"{n}"), "k")
            wanted = Put(place=place, value={"n": n}, owner="anna", index=["n"], ttl=timedelta(days=n) or None)
            app.items.put("local", wanted, utc_now())
        put(app, "bens", owner="ben")
        text = "".join(exported(caller))
        assert text.count("\n") == 4
        assert imported(caller, text) == {"created": 0, "duplicate": 4, "refused": 0, "invalid": 0}
    with opened(tmp_path / "two") as app:
        caller = Caller(Cloud(app))
        assert imported(caller, text) == {"created": 4, "duplicate": 0, "refused": 0, "invalid": 0}
        assert imported(caller, text) == {"created": 0, "duplicate": 4, "refused": 0, "invalid": 0}
        found = [app.items.get("local", Get(ItemPlace((*NOTES, f"{n}"), "k")), utc_now()) for n in range(3)]
        assert [(one.value, one.owner, one.index, one.ttl) for one in found if one is not None] == [
            ({"n": n}, "anna", ("n",), timedelta(days=n) or None) for n in range(3)
        ]


@pytest.mark.spec("P-22")
def test_an_import_refuses_what_was_deleted_or_erased_since(tmp_path: Path) -> None:
    with opened(tmp_path) as app:
        caller = Caller(Cloud(app))
        for key in ("1", "2"):
            put(app, key)
        text = "".join(exported(caller))
        delete(app, "1")
        assert imported(caller, text) == {"created": 0, "duplicate": 1, "refused": 1, "invalid": 0}
        assert caller.delete("/v1/users/anna").status == 202
        assert imported(caller, text) == {"created": 0, "duplicate": 0, "refused": 2, "invalid": 0}
        assert there(app) == []


@pytest.mark.parametrize(
    "line",
    [
        '{"v":1,"kind":"item","namespace":["a."],"key":"k","value":{},"revision":"x","index":[]}',
        '{"v":1,"kind":"item","namespace":["a"],"key":"k","value":[],"revision":"x","index":[]}',
        '{"v":2,"kind":"item","namespace":["a"],"key":"k","value":{},"revision":"x","index":[]}',
        '{"v":1,"kind":"item","namespace":["a"],"key":"k","value":{},"revision":"x","index":[],"ttl":-1}',
        '{"v":1,"kind":"item","namespace":["langgraph"],"key":"k","value":{},"revision":"x","index":[]}',
        '{"v":1,"kind":"item","namespace":["a"],"key":"k","value":{},"revision":5,"index":[]}',
    ],
)
def test_a_line_that_breaks_a_rule_is_invalid(tmp_path: Path, line: str) -> None:
    with opened(tmp_path) as app:
        assert imported(Caller(Cloud(app)), line) == {"created": 0, "duplicate": 0, "refused": 0, "invalid": 1}
