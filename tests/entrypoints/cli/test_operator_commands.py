"""What an operator has commands for: erasing, rejecting, keys, the bridge's signals, tombstones of a restored file."""

import json
from datetime import UTC, datetime

import pytest

from entrypoints.cli.conftest import Run
from entrypoints.cli.running import left, say
from recollect.app import App

WRONG_INPUT, ABORTED = 2, 1


@pytest.mark.spec("P-22")
def test_an_erasure_is_done_and_its_report_printed(run: Run, app: App) -> None:
    say(app, "the zebra sings")
    told = run("erase", "--user", "ana", "--yes", "--json")
    assert told.exit_code == 0, told.output
    report = json.loads(told.stdout)
    assert (report["status"], report["verified"], report["reached"]["events"]) == ("done", True, 1)
    assert left(app) == []
    again = run("erasure", report["erasure_id"])
    assert "done, verified" in again.stdout
    assert "lapses   idempotency_records" in again.stdout


@pytest.mark.parametrize("command", [["erase"], ["reject", "ID"]])
def test_what_cannot_be_taken_back_is_asked_for(run: Run, app: App, command: list[str]) -> None:
    (event_id,) = say(app, "the zebra sings")
    refused = run(*(event_id if part == "ID" else part for part in command), "--user", "ana")
    assert refused.exit_code == ABORTED
    assert left(app) == ["the zebra sings"]


@pytest.mark.spec("P-22")
def test_an_event_s_value_is_rejected_listed_and_lifted(run: Run, app: App) -> None:
    (event_id,) = say(app, "the zebra sings")
    rejected = run("reject", event_id, "--user", "ana", "--yes")
    assert json.loads(rejected.stdout) == {"deleted": [event_id]}
    assert left(app) == []
    (listed,) = json.loads(run("rejections", "list", "--user", "ana", "--json").stdout)["rejections"]
    assert run("rejections", "lift", listed["id"], "--user", "ana").exit_code == 0
    assert run("rejections", "lift", listed["id"], "--user", "ana").exit_code == WRONG_INPUT
    assert "0 rejections" in run("rejections", "list", "--user", "ana").stderr


@pytest.mark.spec("P-22")
def test_a_memory_s_value_is_rejected(run: Run, app: App) -> None:
    saved = json.loads(run("memories", "save", "the zebra sings", "--user", "ana").stdout)
    assert run("reject", saved["id"], "--user", "ana", "--yes").exit_code == 0
    again = run("memories", "save", "The ZEBRA sings.", "--user", "ana")
    assert again.exit_code == 1
    assert "rejected" in again.stderr


@pytest.mark.spec("P-22")
def test_a_rotated_key_is_the_first_and_the_old_one_stays(run: Run) -> None:
    first = json.loads(run("keys", "rotate", "--yes", "--json").stdout)["keys"]
    second = json.loads(run("keys", "rotate", "--yes", "--json").stdout)["keys"]
    assert second[1:] == first
    lines = run("keys", "list").stdout.splitlines()
    assert lines == [f"{second[0]}  in use", f"{second[1]}  old"]


@pytest.mark.spec("A-67")
def test_a_warning_suspends_until_a_healthy_signal(run: Run) -> None:
    assert run("bridge", "state").stdout == "open\n"
    assert run("bridge", "signal", "warning", "--reason", "slow").stdout == "suspended\n"
    state = json.loads(run("bridge", "state", "--json").stdout)
    assert (state["suspended"], state["source"], state["reason"]) == (True, "operator", "slow")
    assert run("bridge", "signal", "healthy").stdout == "open\n"
    assert json.loads(run("bridge", "state", "--json").stdout)["suspended"] is False


@pytest.mark.spec("P-22")
def test_deletions_that_the_file_does_not_know_are_applied(run: Run, app: App) -> None:
    assert run("tombstones").stdout == "nothing to apply\n"
    (event_id,) = say(app, "the zebra sings", at=datetime(2024, 5, 6, tzinfo=UTC))
    app.parts.snapshots.put_if_absent("", "tombstones/000000000001", _tombstone(event_id))
    assert "wrong tombstones" in run("doctor").stdout
    assert run("tombstones").stdout == "applied: 1 event\n"
    assert left(app) == []


def _tombstone(event_id: str) -> bytes:
    events = [[event_id, "2024-05-06T00:00:00Z"]]
    return json.dumps({"kind": "events", "tenant": "local", "user_id": "ana", "events": events}).encode()
