"""The timeline through the console: by day, filtered, drawn, and bounded in what it reads and weighs."""

import json
import re
from html import unescape
from typing import Any

import pytest

from entrypoints.console.visiting import Visitor, one_memory, visible
from entrypoints.http.calling import Caller, Laptop
from recollect.entrypoints.console.views.users import bars_of

TIMELINE = "/console/users/anna/timeline"
PAGE_BYTES = 150_000


def test_what_was_said_stands_under_its_day(caller: Caller, visitor: Visitor) -> None:
    caller.added("At noon", timestamp="2025-03-01T12:00:00Z")
    caller.added("The last instant", timestamp="2025-03-02T23:59:59.999999Z")
    assert re.findall(r'<time datetime="(\d{4}-\d\d-\d\d)">', visitor.get(TIMELINE).text) == [
        "2025-03-02",
        "2025-03-01",
    ]
    day = visible(visitor.get(TIMELINE, **{"from": "2025-03-02", "to": "2025-03-02"}))
    assert "The last instant" in day
    assert "At noon" not in day


def test_it_is_filtered_by_who_said_it_and_by_a_word(caller: Caller, visitor: Visitor) -> None:
    caller.added("I own two boats", "I like boats", "I hum", timestamp="2025-03-01T12:00:00Z")
    caller.added("Boats are fine", role="assistant", timestamp="2025-03-02T12:00:00Z")
    one_memory(caller, "Boats", key="written.down")

    def shown(**query: str) -> list[str]:
        page = visitor.get(TIMELINE, **query).text.partition("</form>")[2]
        return re.findall(r"<bdi dir=\"auto\">([^<]*)</bdi></a>", page)

    assert shown(role="bot") == ["Boats are fine"]
    assert set(shown(role="user")) == {"I own two boats", "I like boats", "I hum"}
    assert shown(word="boats")[0] == "Boats are fine"
    assert set(shown(word="boats", role="user")) == {"I own two boats", "I like boats"}
    assert shown(word="boats", to="2025-03-01", role="bot") == []
    assert shown(word="zebra") == []


def test_who_hardly_speaks_is_looked_for_in_some_pages_and_further_on(caller: Caller, visitor: Visitor) -> None:
    caller.added("The answer", role="assistant", timestamp="2025-03-01T12:00:00Z")
    for start in (0, 80):
        caller.added(*(f"Word {n}" for n in range(start, start + 80)), timestamp="2025-03-02T12:00:00Z")
    first = visitor.get(TIMELINE, role="bot")
    assert "that is asked for among the newest" in visible(first)
    assert "role=bot" in (further := re.findall(r'rel="next" href="([^"]*)"', first.text)[0])
    assert "The answer" in visible(visitor.get(unescape(further)))


def test_an_event_leads_to_its_day_its_conversation_and_its_memories(caller: Caller, visitor: Visitor) -> None:
    (event,) = caller.added("Remember: Ada is my sister", timestamp="2025-03-01T12:00:00Z")
    page = visitor.get(f"/console/users/anna/events/{event}").text
    assert f"{TIMELINE}?from=2025-03-01&amp;to=2025-03-01" in page
    assert f"{TIMELINE}?conversation_id=" in page


@pytest.mark.parametrize(("asked", "event_status"), [({}, 200), ({"forget": "true"}, 404)])
def test_an_event_without_a_memory_is_set_right_and_forgotten_where_that_is_asked_for(
    caller: Caller, visitor: Visitor, asked: dict[str, str], event_status: int
) -> None:
    (event,) = caller.added("My cat is called Mono", timestamp="2025-03-01T12:00:00Z")
    correct = f"/console/users/anna/events/{event}/correct"
    assert correct in visitor.get(correct.removesuffix("/correct")).text
    visitor.get(correct)
    assert "the words as they are" in visible(visitor.post(correct, content="My cat is called Mono"))
    assert "remembered now" in visible(visitor.do(correct, content="My cat is called Momo", **asked))
    (memory,) = caller.get("/v1/users/anna/memories").json["memories"]
    assert (memory["content"], memory["timestamp"][:10]) == ("My cat is called Momo", "2025-03-01")
    assert caller.get(f"/v1/users/anna/events/{event}").status == event_status
    caller.post("/v1/jobs/reconcile?wait=true", {})
    again = caller.post("/v1/search", {"user_id": "anna", "query": "cat called"}).json["results"]
    assert [one["content"] for one in again] == ["My cat is called Momo"]
    if not asked:
        back = visitor.do(f"/console/users/anna/memories/{memory['id']}/undo/1")
        assert "The earlier version is back" in visible(back)
        assert caller.get(f"/v1/users/anna/memories/{memory['id']}").json["content"] == "My cat is called Mono"
        assert caller.post(f"/v1/users/anna/events/{event}/correct", {"content": "x"}).status == 409


@pytest.mark.parametrize(
    ("given", "shown", "told"),
    [
        ({"is_private": True}, "it is private", "What is private has no memory"),
        ({"derive": False}, "nothing is derived of it", "What nothing is derived of has no memory"),
    ],
)
def test_what_is_private_or_not_to_be_derived_becomes_no_memory(
    caller: Caller, visitor: Visitor, given: dict[str, Any], shown: str, told: str
) -> None:
    (event,) = caller.added("My cat is called Mono", **given)
    page = visitor.get(f"/console/users/anna/events/{event}")
    assert (f"No memory was made of it: {shown}" in visible(page), "Set it right" in visible(page)) == (True, False)
    path = f"/console/users/anna/events/{event}/correct"
    visitor.get(path)
    assert told in visible(visitor.post(path, content="Momo"))
    assert caller.get("/v1/users/anna/memories").json["memories"] == []


def test_bars_are_at_most_92_and_lead_to_their_days() -> None:
    days = [f"{year}-{month:02}-03" for year in range(2000, 2025) for month in range(1, 13)]
    bars = bars_of("anna", days)
    assert len(bars) <= 92
    assert sum(bar.count for bar in bars) == len(days)
    assert all(bar.y >= 0 and bar.y + bar.height == 64 and bar.x + bar.width <= 720 for bar in bars)
    assert bars[0].href.startswith(f"{TIMELINE}?from=2000-01-03&to=")
    (one,) = bars_of("anna", ["2025-03-01"])
    assert one.label == "1 Mar 2025: 1 event"


def test_a_page_reads_few_events_and_weighs_little(laptop: Laptop, caller: Caller, visitor: Visitor) -> None:
    words = "<&\u202e" * 400
    for batch in range(8):
        caller.add(*({"content": f"{batch} {place} {words}"} for place in range(100)), conversation_id="c")
    laptop.log.truncate(laptop.log.seek(0))
    shown = visitor.get(TIMELINE)
    lines = [json.loads(line) for line in laptop.log.getvalue().splitlines()]
    scanned = [line["outcome"]["scanned"] for line in lines if "scanned" in line.get("outcome", {})]
    assert len(scanned) <= 3
    assert sum(scanned) <= 500
    assert "The newest 450 events are drawn" in visible(shown)
    assert len(shown.text.encode()) < PAGE_BYTES
    older = re.findall(r'<a class="button" rel="next" href="([^"]*)"', shown.text)
    assert visitor.get(older[0].replace("&amp;", "&")).status == 200
