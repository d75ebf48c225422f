"""Exports, imports and snapshots over HTTP, from the cloud's functions and the laptop's server."""

import json
import re
from typing import Any

import pytest

from entrypoints.http.calling import Answered, Caller


def pages(caller: Caller, user: str = "anna") -> list[Answered]:
    """All pages of an export."""
    found, target = [], f"/v1/users/{user}/export"
    while True:
        answer = caller.get(target)
        assert answer.status == 200, answer.text
        found.append(answer)
        link = re.fullmatch(r'<(.*)>; rel="next"', answer.headers.get("link", ""))
        if link is None:
            return found
        target = link[1]


def lines(caller: Caller, user: str = "anna") -> list[dict[str, Any]]:
    """All lines of an export."""
    return [json.loads(line) for page in pages(caller, user) for line in page.text.splitlines()]


def test_an_export_comes_in_pages(caller: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recollect.archive.transfer.PAGE_BYTES", 3_000)
    ids = caller.added(*(f"remark {n}" for n in range(20)))
    found = pages(caller)
    assert len(found) > 2
    assert {page.headers["content-type"] for page in found} == {"application/x-ndjson"}
    assert [json.loads(line)["event"]["id"] for page in found for line in page.text.splitlines()] == ids
    assert lines(caller)[0]["origin"] == {"user_id": "anna", "event_id": ids[0]}


def test_a_cursor_is_the_exports_own(caller: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recollect.archive.transfer.PAGE_BYTES", 500)
    caller.added("one", "two", "three")
    link = pages(caller)[0].headers["link"]
    cursor = re.search(r"cursor=([^>&]+)", link)
    assert cursor is not None
    assert caller.get("/v1/users/ben/export", {"cursor": cursor[1]}).status == 422
    assert caller.get("/v1/users/anna/export", {"cursor": cursor[1], "persona_id": "p"}).status == 422
    assert caller.get("/v1/users/anna/export", {"cursor": "x"}).status == 422


def test_what_is_exported_is_imported(caller: Caller) -> None:
    caller.added("I like tea")
    caller.added("my secret", is_private=True)
    page = pages(caller)[0].text.encode()
    assert caller.post("/v1/users/anna/import", page).json == counts(duplicate=2)
    assert caller.twice("/v1/users/ben/import", page).json == counts(created=2)
    assert caller.post("/v1/users/ben/import", page).json == counts(duplicate=2)
    assert [line["origin"]["user_id"] for line in lines(caller, "ben")] == ["anna", "anna"]
    assert {one["content"] for one in caller.timeline("ben").json["events"]} == {"I like tea", "my secret"}


def counts(**changes: int) -> dict[str, Any]:
    """What an import answers."""
    return {"created": 0, "duplicate": 0, "refused": 0, "invalid": 0, "errors": []} | changes


def test_a_bad_line_does_not_stop_the_others(caller: Caller) -> None:
    caller.added("I like tea")
    line = lines(caller)[0]
    wrong = line | {"event": line["event"] | {"importance": 7}}
    body = "\n".join(["", json.dumps(line), "no json", json.dumps(wrong), "[]", ""]).encode()
    answer = caller.post("/v1/users/ben/import", body)
    assert answer.status == 200
    assert answer.json | {"errors": []} == counts(created=1, invalid=3)
    assert answer.json["errors"] == [
        {"line": 3, "message": "is no line of an export"},
        {"line": 4, "message": "event.importance is invalid"},
        {"line": 5, "message": "is no line of an export"},
    ]


@pytest.mark.parametrize(
    ("body", "status"), [(b"", 200), (b"\n\n", 200), (b"\xff", 400), (b"x" * 5_000_001, 413), (b"{", 200)]
)
def test_other_bodies(caller: Caller, body: bytes, status: int) -> None:
    assert caller.post("/v1/users/anna/import", body).status == status


def test_a_page_out_of_time_says_how_far_it_came(caller: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    caller.added(*(f"remark {n}" for n in range(100)))
    caller.added(*(f"more {n}" for n in range(50)))
    page = pages(caller)[0].text.encode()
    monkeypatch.setattr("recollect.entrypoints.http.routes.snapshots._RESERVE_SECONDS", 1e9)
    answer = caller.post("/v1/users/ben/import", page, Idempotency_Key="k")
    assert answer.status == 504
    assert "100 of 150" in answer.json["detail"]
    monkeypatch.undo()
    assert caller.post("/v1/users/ben/import", page, Idempotency_Key="k").json == counts(created=50, duplicate=100)


def test_snapshots_are_made_listed_and_restored(caller: Caller) -> None:
    caller.added("I like tea", "I live in Paris")
    made = caller.post("/v1/jobs/snapshot?wait=true", {})
    if made.status == 202:  # the cloud answers at once
        return
    [one] = caller.get("/v1/snapshots").json["snapshots"]
    assert (one["id"], one["counts"]["events"]) == (made.json["job_id"], 2)
    restored = caller.post("/v1/jobs/restore?wait=true", {"snapshot_id": one["id"]})
    assert (restored.json["status"], restored.json["counts"]["duplicate"]) == ("done", 2)
    of_ben = caller.post("/v1/jobs/snapshot?wait=true", {"user_id": "ben"}).json["job_id"]
    assert [one["id"] for one in caller.get("/v1/snapshots", {"limit": 1}).json["snapshots"]] == [of_ben]
    following = caller.get("/v1/snapshots", {"limit": 1}).json["next_cursor"]
    assert caller.get("/v1/snapshots", {"cursor": following}).json["snapshots"] == [one]
    assert caller.get("/v1/snapshots", {"cursor": "x"}).status == 422
