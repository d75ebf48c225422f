"""Decisions and open conflicts through the console: both sides beside each other, settled and taken back."""

from entrypoints.console.visiting import Visitor, one_memory, visible
from entrypoints.http.calling import Caller
from entrypoints.http.test_contradictions import left_open
from recollect.app import App

DECISIONS = "/console/users/anna/decisions"


def test_a_conflict_is_settled_by_a_person_and_taken_back(app: App, caller: Caller, visitor: Visitor) -> None:
    older, newer = one_memory(caller, "Ada is my sister"), one_memory(caller, "Ada is my aunt")
    conflict = left_open(app, older, newer)
    shown = visible(visitor.get(DECISIONS))
    assert "Ada is my sister" in shown
    assert "Ada is my aunt" in shown
    asked = visitor.get(f"/console/users/anna/conflicts/{conflict}/settle", winner=older)
    assert "This is a decision, which can be taken back" in visible(asked)
    assert "(counts)" not in visible(asked)
    settled = visitor.follow(visitor.post(f"/console/users/anna/conflicts/{conflict}/settle", winner=older))
    assert "None is open" in visible(settled)
    assert caller.get(f"/v1/users/anna/memories/{newer}").json["status"] == "superseded"
    (decision,) = caller.get("/v1/users/anna/arbitrations").json["arbitrations"]
    for one, told in (
        (older, f'It replaced <a href="/console/users/anna/records/{newer}">'),
        (newer, "It was replaced by"),
    ):
        assert told in visitor.get(f"/console/users/anna/memories/{one}").text
    visitor.do(f"/console/users/anna/decisions/{decision['id']}/revert")
    assert caller.get(f"/v1/users/anna/memories/{newer}").json["status"] == "active"
    both = visitor.do(f"/console/users/anna/conflicts/{conflict}/settle", winner="both")
    assert "None is open" in visible(both)
    assert caller.get(f"/v1/users/anna/memories/{older}").json["status"] == "active"


def test_a_conflict_that_is_not_there_is_absent(visitor: Visitor) -> None:
    for path in ("conflicts/nothing/settle", "decisions/nothing/revert"):
        assert visitor.get(f"/console/users/anna/{path}").status == 404
