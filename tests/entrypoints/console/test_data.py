"""What comes in and goes out through the console: export, import, rejected values, the erasure of a user."""

import re

import pytest

from entrypoints.console.visiting import Visitor, one_memory, visible
from entrypoints.http.calling import ORIGIN, Caller, Laptop

ANNA = "/console/users/anna"


def test_an_export_by_a_click_comes_back_as_another_users(caller: Caller, visitor: Visitor) -> None:
    caller.added(*(f"said {number} ✓" for number in range(60)))
    one_memory(caller, "I live in Lyon")
    exported = visitor.get(f"{ANNA}/export")
    assert exported.headers["content-type"] == "application/x-ndjson"
    assert exported.headers["content-disposition"].startswith("attachment")
    lines = len(exported.text.splitlines())
    assert lines >= 61
    assert f"an export of Recollect: {lines} records" in visible(visitor.drop("bert", exported.text))
    assert f"{lines} are new" in visible(visitor.drop("bert", exported.text, step="store"))
    assert "I live in Lyon" in visible(visitor.get("/console/users/bert"))
    again = visible(visitor.drop("bert", exported.text, step="store"))
    assert f"0 are new, {lines} were there already" in again


def test_a_rejected_value_is_let_in_again(caller: Caller, visitor: Visitor) -> None:
    (event,) = caller.added("I smoke")
    caller.delete(f"/v1/users/anna/events/{event}?reject=true")
    (rejection,) = caller.get("/v1/users/anna/rejections").json["rejections"]
    visitor.get(f"{ANNA}/data")
    assert "let in again" in visible(visitor.follow(visitor.post(f"{ANNA}/rejections/{rejection['id']}")))
    assert caller.get("/v1/users/anna/rejections").json["rejections"] == []


def test_an_erasure_says_what_goes_and_wants_the_id_once_more(caller: Caller, visitor: Visitor) -> None:
    caller.added(*(f"said {number}" for number in range(60)))
    one_memory(caller, "I live in Lyon")
    asked = visible(visitor.get(f"{ANNA}/erase"))
    assert "and memories that were written down 51 or more" in asked
    refused = visitor.post(f"{ANNA}/erase", confirmed="anne")
    assert (refused.status, "Nothing is erased" in visible(refused)) == (422, True)
    assert caller.get("/v1/users/anna/memories").json["memories"]
    done = visitor.follow(visitor.post(f"{ANNA}/erase", confirmed="anna"))
    assert "It is done" in visible(done)
    assert "and memories that were written down 61" in visible(done)
    assert caller.get("/v1/users/anna/memories").json["memories"] == []
    assert "Nothing is remembered here" in visible(visitor.get(ANNA))


@pytest.mark.parametrize("path", ["/console/erasures/nothing", "/console/jobs/nothing", "/console/operations/nothing"])
def test_what_is_not_there_is_absent(visitor: Visitor, path: str) -> None:
    assert visitor.get(path).status == 404


def test_a_get_erases_nobody(caller: Caller, laptop: Laptop) -> None:
    one_memory(caller, "I live in Lyon")
    laptop.send("GET", f"{ANNA}/erase?confirmed=anna", None, {"host": ORIGIN.partition("//")[2]})
    assert caller.get("/v1/users/anna/memories").json["memories"]


def test_the_second_look_of_an_erasure_is_named_and_leads_to_it(caller: Caller, visitor: Visitor) -> None:
    one_memory(caller, "I live in Lyon")
    visitor.do(f"{ANNA}/erase", confirmed="anna")
    shown = visitor.get("/console/operations")
    assert "Erase: the look afterwards waits looks through everything once more, for what came in meanwhile" in visible(
        shown
    )
    links = re.findall(r'href="(/console/erasures/[^"]*)"', shown.text)
    assert (len(links), {visitor.get(link).status for link in links}) == (2, {200})
    assert "It is done" in visible(visitor.get(links[0]))
