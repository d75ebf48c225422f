"""Lists: windows, counts, cursors that are bound to what they belong to; one event; conversations; the bus."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from entrypoints.http.calling import Caller, Cloud
from recollect.app import App

NOW = "2024-06-01T12:00:00Z"


def add_days(caller: Caller, *days_ago: float, **more: Any) -> None:
    """One event for each, that many days before NOW."""
    now = datetime(2024, 6, 1, 12, tzinfo=UTC)
    events = [{"content": f"{n}", "timestamp": (now - timedelta(days=n)).isoformat(), **more} for n in days_ago]
    assert caller.add(*events).status == 201


def contents(answer: Any) -> list[str]:
    """The contents of a page."""
    return [one["content"] for one in answer.json["events"]]


@pytest.mark.spec("A-45", "A-46", "A-48", "A-50", "A-51")
def test_the_default_window_is_thirty_days_both_ends_inclusive(caller: Caller) -> None:
    add_days(caller, 0, 1, 30, 30.001, 400)
    page = caller.get("/v1/users/anna/events", x_recollect_now=NOW)
    assert contents(page) == ["0", "1", "30"]
    diagnostics = page.json["diagnostics"]
    assert (diagnostics["returned"], diagnostics["filtered_by_window"], diagnostics["exact"]) == (3, 2, True)
    assert diagnostics["scanned"] == 3 + diagnostics["filtered_by_context"] + diagnostics["filtered_by_window"]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({"last_days": "1"}, ["0", "1"]),
        ({"last_days": "0.5"}, ["0"]),
        ({"from": "0"}, ["0", "1", "400"]),
        ({"to": "2024-05-31T12:00:00Z"}, ["1", "400"]),
        ({"from": "2024-05-31T12:00:00Z", "to": "2024-05-31T12:00:00Z"}, ["1"]),
        ({"from": "1717156800"}, ["0", "1"]),
        ({"from": "1717156800000"}, ["0", "1"]),
        ({"from": "0", "event_type": "task"}, []),
        ({"from": "0", "conversation_id": "c"}, []),
        ({"from": "0", "persona_id": "p"}, []),
        ({"from": "0", "top_k": "2"}, ["0", "1"]),
        ({"from": "0", "limit": "1"}, ["0"]),
    ],
)
def test_windows_and_narrowing(caller: Caller, query: dict[str, str], expected: list[str]) -> None:
    add_days(caller, 0, 1, 400)
    assert contents(caller.get("/v1/users/anna/events", query, x_recollect_now=NOW)) == expected


def test_a_walk_sees_every_event_once(caller: Caller) -> None:
    add_days(caller, *range(23))
    seen, query = [], {"top_k": "5"}
    while True:
        page = caller.get("/v1/users/anna/events", query, x_recollect_now=NOW)
        seen += contents(page)
        add_days(caller, -len(seen))
        if "next_cursor" not in page.json:
            break
        query = {"top_k": "4", "cursor": page.json["next_cursor"]}
    assert seen == [str(n) for n in range(23)]


def test_the_window_of_a_walk_does_not_slide(caller: Caller) -> None:
    add_days(caller, 29.5, 29.9)
    first = caller.get("/v1/users/anna/events", {"top_k": "1"}, x_recollect_now=NOW)
    later = caller.get("/v1/users/anna/events", {"cursor": first.json["next_cursor"]}, x_recollect_now="2024-06-09")
    assert contents(first) + contents(later) == ["29.5", "29.9"]


def test_a_foreign_or_edited_cursor_is_refused(app: App, caller: Caller) -> None:
    add_days(caller, 0, 1, 2)
    caller.added("x", user="bert")
    cursor = caller.get("/v1/users/anna/events", {"top_k": "1"}, x_recollect_now=NOW).json["next_cursor"]
    foreign: list[tuple[str, dict[str, str]]] = [
        ("/v1/users/bert/events", {"cursor": cursor}),
        ("/v1/users/anna/events", {"cursor": cursor, "persona_id": "p"}),
        ("/v1/users/anna/events", {"cursor": cursor, "from": "0"}),
        ("/v1/users/anna/conversations", {"cursor": cursor}),
        ("/v1/users/anna/events", {"cursor": ""}),
        ("/v1/users/anna/events", {"cursor": cursor + "A"}),
        ("/v1/users/anna/events", {"cursor": cursor + "="}),
    ]
    foreign += [("/v1/users/anna/events", {"cursor": flipped(cursor, n)}) for n in range(0, len(cursor), 7)]
    foreign.append(("/v1/users/anna/events", {"cursor": flipped(cursor, len(cursor) - 1)}))
    for path, query in foreign:
        answer = caller.get(path, query)
        assert (answer.status, answer.locs) == (422, {("query", "cursor")}), query
    other_tenant = Caller(Cloud(app, {"tenant": "globex"}))
    assert other_tenant.get("/v1/users/anna/events", {"cursor": cursor}).status == 422
    assert caller.get("/v1/users/anna/events", {"cursor": cursor}).status == 200


def flipped(cursor: str, position: int) -> str:
    """The cursor with another character there."""
    other = "B" if cursor[position] == "A" else "A"
    return cursor[:position] + other + cursor[position + 1 :]


def test_a_page_of_large_events_stays_small_enough_for_lambda(caller: Caller) -> None:
    for _ in range(5):
        assert caller.add(*[{"content": "\x01" * 40_000} for _ in range(16)]).status == 201
    seen, query = 0, {"top_k": "200"}
    while True:
        page = caller.timeline(**query)
        assert (page.status, len(page.text.encode()) < 5_500_000) == (200, True)
        assert page.json["diagnostics"]["returned"] == len(page.json["events"])
        seen += len(page.json["events"])
        if "next_cursor" not in page.json:
            break
        query = {"top_k": "200", "cursor": page.json["next_cursor"]}
    assert seen == 80


def test_one_event(app: App, caller: Caller) -> None:
    (event_id,) = caller.added("mine")
    answer = caller.get(f"/v1/users/anna/events/{event_id}")
    assert (answer.status, answer.json["content"], answer.headers["etag"]) == (200, "mine", '"1"')
    for path in (f"/v1/users/bert/events/{event_id}", "/v1/users/anna/events/none"):
        missing = caller.get(path)
        assert (missing.status, missing.json["type"]) == (404, "urn:recollect:problem:not-found")
    assert caller.get(f"/v1/users/anna/events/{event_id}", {"persona_id": "p"}).status == 404
    assert Caller(Cloud(app, {"tenant": "globex"})).get(f"/v1/users/anna/events/{event_id}").status == 404


def test_expired_events_are_gone_from_their_instant_on(caller: Caller) -> None:
    caller.add({"content": "x", "timestamp": "2024-05-31", "expires_at": NOW})
    assert contents(caller.get("/v1/users/anna/events", x_recollect_now="2024-06-01T11:59:59.999999Z")) == ["x"]
    gone = caller.get("/v1/users/anna/events", x_recollect_now=NOW)
    assert (contents(gone), gone.json["diagnostics"]["dropped"]) == ([], {"expired": 1})


def test_conversations_are_listed_in_pages(app: App, caller: Caller) -> None:
    for n in range(5):
        caller.post("/v1/events", {"user_id": "anna", "conversation_id": f"c{n}", "events": [{"content": "x"}]})
    app.projection.reconciliation.run(datetime.now(UTC))
    walked = caller.walk("/v1/users/anna/conversations", "conversations", limit=2)
    assert [one["id"] for one in walked] == ["c4", "c3", "c2", "c1", "c0"]


@pytest.mark.spec("A-44", "A-59")
def test_the_bus_tells_what_was_published(app: App, caller: Caller) -> None:
    first, second = caller.added("one", "two")
    app.projection.reconciliation.run(datetime.now(UTC))
    events = caller.get("/v1/bus").json["events"]
    assert [one["detail"]["eventId"] for one in events] == [first, second]
    assert {one["type"] for one in events} == {"memory:episodic:saved"}
    after = caller.get("/v1/bus", {"type": "memory:episodic:saved", "after": first}).json["events"]
    assert [one["id"] for one in after] == [second]
    assert caller.get("/v1/bus", {"type": "other"}).json["events"] == []
