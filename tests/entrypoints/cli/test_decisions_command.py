"""`recollect decisions` and `recollect conflicts`."""

import json
import re
from datetime import UTC, datetime, timedelta

import pytest

from entrypoints.cli.conftest import Run
from entrypoints.cli.running import ended_in_part, left_open
from recollect.app import App
from recollect.core.scope import Scope
from recollect.timeline.record import EventDraft

ANNA = ("-u", "anna")
SCOPE = Scope("local", "anna")
PARIS, LYON = "I live in Paris.", "I moved to Lyon."
UNLIKE = ("The lamp glows at night", "Rivers bend beyond the hill")


def said(app: App, *contents: str) -> list[str]:
    """Events of the last days, projected one after another; their ids."""
    ids = []
    for day, content in enumerate(contents):
        at = datetime.now(UTC) - timedelta(days=9 - day)
        draft = EventDraft(content=content, timestamp=at, importance=0.9)
        seed = app.ids.seed(int(at.timestamp() * 1000), 2)
        (result,) = app.timeline.events.ingest(SCOPE, "c", [draft], seed, at, app.rules.resolved("local")).results
        ids.append(str(result.event_id))
        for _ in range(6):
            app.projection.reconciliation.run(datetime.now(UTC))
    return ids


@pytest.mark.spec("P-24")
def test_a_decision_is_listed_with_its_words_and_taken_back(app: App, run: Run) -> None:
    old, new = said(app, PARIS, LYON)
    listed = run("decisions", "list", *ANNA)
    assert listed.exit_code == 0, listed.output
    head, winner, loser = listed.stdout.splitlines()
    assert head.startswith(f"1  {new}.{old}  ")
    assert "superseded" in head
    assert " % sure  applied" in head
    assert (winner.strip(), loser.strip()) == (f"now: {LYON}", f"was: {PARIS}")
    as_json = json.loads(run("decisions", "list", *ANNA, "--json", "--step", "judge").stdout)
    assert (as_json["number"], as_json["winner"], as_json["status"]) == (1, new, "applied")
    assert run("decisions", "list", *ANNA, "--status", "reverted").stderr == "0 decisions\n"
    reverted = run("decisions", "revert", as_json["id"][:40], *ANNA)
    assert reverted.exit_code == 0, reverted.output
    assert (json.loads(reverted.stdout)["content"], reverted.stderr) == (PARIS, "reverted\n")
    for again in ("1", as_json["id"]):
        assert run("decisions", "revert", again, *ANNA).exit_code == 1
    assert run("decisions", "revert", "none", *ANNA).exit_code == 2
    assert run("decisions", "list", *ANNA, "--status", "reverted").stderr == "1 decision\n"
    for whose in (ANNA, ()):
        taught = run("decisions", "corrections", *whose)
        assert (json.loads(taught.stdout)["old"], taught.stderr) == (PARIS, "1 pair\n")
    assert run("decisions", "corrections", "--user", "bob").stderr == "0 pairs\n"
    for step, words, told in ((("reapply", "1"), PARIS, "reapplied"), (("revert", "1"), "I lived there", "reverted")):
        content = () if told == "reapplied" else ("--content", words)
        done = run("decisions", *step, *ANNA, *content)
        assert (json.loads(done.stdout)["content"], done.stderr) == (words, f"{told}\n")
    assert run("decisions", "corrections", *ANNA).stderr == "0 pairs\n", "a part of it had ended"


@pytest.mark.spec("P-24")
def test_what_is_left_is_told_as_long_as_something_is(app: App, run: Run) -> None:
    lamp, hill = "The lamp glows at night.", "Rivers bend beyond the hill."
    old, first, second, third = said(app, f"{lamp} {hill}", "A cup", "A saucer", "A spoon")
    left_open(app, old, third, SCOPE)
    ended_in_part(app, old, first, lamp, SCOPE)
    assert f"    left of it by now: {hill}\n" in run("decisions", "list", *ANNA).stdout
    assert run("conflicts", "list", *ANNA, "--status", "open").stderr == "1 conflict\n"
    ended_in_part(app, old, second, f"{lamp} {hill}", SCOPE)
    listed = run("decisions", "list", *ANNA).stdout
    assert "left of it" not in listed
    assert f"    ended: {lamp}" in listed
    assert run("conflicts", "list", *ANNA, "--status", "open").stderr == "0 conflicts\n"


@pytest.mark.spec("P-24")
def test_what_is_left_of_a_line_is_told_once_by_the_last_decision_about_it_that_holds(app: App, run: Run) -> None:
    lamp, hill, kettle = "The lamp glows at night.", "Rivers bend beyond the hill.", "Kettles boil in the attic."
    old, first, second, third = said(app, f"{lamp} {hill} {kettle}", "A cup", "A saucer", "A spoon")
    ended_in_part(app, old, first, lamp, SCOPE)
    ended_in_part(app, old, second, hill, SCOPE)
    assert left_by_decision(run) == {"2": kettle, "1": "see 2"}
    ended_in_part(app, old, third, kettle[:7], SCOPE)
    assert run("decisions", "revert", "3", *ANNA).exit_code == 0
    assert left_by_decision(run) == {"3": "see 2", "2": kettle, "1": "see 2"}
    assert left_by_decision(run, "--status", "reverted") == {"3": kettle}


def left_by_decision(run: Run, *options: str) -> dict[str, str]:
    """What the list says is left, by the decisions' numbers."""
    listed = re.split(r"^(?=\d)", run("decisions", "list", *ANNA, *options).stdout, flags=re.MULTILINE)[1:]
    left = ((one.split()[0], re.search(r"^    left of it by now: (.*)$", one, re.MULTILINE)) for one in listed)
    return {number: told[1] for number, told in left if told is not None}


@pytest.mark.spec("P-24")
def test_a_conflict_is_listed_with_its_words_and_resolved(app: App, run: Run) -> None:
    old, new = said(app, *UNLIKE)
    conflict_id = left_open(app, old, new, SCOPE)
    listed = run("conflicts", "list", *ANNA, "--status", "open")
    assert listed.exit_code == 0, listed.output
    head, first, second = listed.stdout.splitlines()
    assert head.startswith(f"1  {conflict_id}  ")
    assert head.endswith("open  judge:judge  41 % sure")
    older_day, newer_day = (f"{datetime.now(UTC) - timedelta(days=ago):%Y-%m-%d}" for ago in (9, 8))
    assert first == f"    newer, {newer_day}: {UNLIKE[1]}"
    assert second == f"    older, {older_day}: {UNLIKE[0]}"
    assert run("conflicts", "resolve", conflict_id, *ANNA, "--winner", "me").exit_code == 2
    resolved = run("conflicts", "resolve", conflict_id, *ANNA, "--winner", old)
    assert resolved.exit_code == 0, resolved.output
    assert json.loads(resolved.stdout)["winner"] == old
    assert run("conflicts", "list", *ANNA, "--status", "open").stderr == "0 conflicts\n"
    (settled,) = run("conflicts", "list", *ANNA, "--json").stdout.splitlines()
    assert json.loads(settled)["status"] == "settled"
    assert run("conflicts", "list", *ANNA).stdout.splitlines()[3] == "    settled: the older counts, as a person said"


@pytest.mark.spec("P-24")
@pytest.mark.parametrize(
    ("words", "told"), [(None, []), ("all", ["    in doubt: all of the older"]), ("lamp", ["    in doubt: …lamp…"])]
)
def test_a_conflict_is_listed_with_the_words_that_would_end(
    app: App, run: Run, words: str | None, told: list[str]
) -> None:
    old, new = said(app, *UNLIKE)
    places = {None: (), "all": ((0, len(UNLIKE[0])),), "lamp": ((4, 8),)}[words]
    left_open(app, old, new, SCOPE, places)
    assert run("conflicts", "list", *ANNA).stdout.splitlines()[3:] == told


@pytest.mark.spec("P-24")
@pytest.mark.parametrize(
    ("how", "told"),
    [
        ("new", "the newer counts, as a person said"),
        ("both", "both hold, as was said"),
        ("in part", "by itself, the older, or what of it was in doubt, no longer counts"),
        ("older gone", "by itself, the older, or what of it was in doubt, no longer counts"),
        ("newer gone", "by itself, the newer no longer counts"),
        ("both gone", "by itself, neither counts any more"),
    ],
)
def test_it_is_listed_how_a_conflict_was_settled(app: App, run: Run, how: str, told: str) -> None:
    old, new, other = said(app, *UNLIKE, "Kettles boil in the attic")
    left_open(app, old, new, SCOPE, ((4, 8),))
    if how in ("new", "both"):
        assert run("conflicts", "resolve", "1", *ANNA, "--keep", how).exit_code == 0
    elif how == "in part":
        ended_in_part(app, old, other, "lamp", SCOPE)
    for gone in {"older gone": [old], "newer gone": [new], "both gone": [old, new]}.get(how, []):
        app.deletion.events.forget(SCOPE, event_id=gone, now=datetime.now(UTC))
    listed = run("conflicts", "list", *ANNA).stdout.splitlines()
    assert listed[3:] == [f"    settled: {told}"]
    assert [": (gone)" in line for line in listed[1:3]] == [
        how in ("newer gone", "both gone"),
        "older gone" in how or how == "both gone",
    ]


def test_a_conflict_is_named_by_its_number_or_how_its_id_begins(app: App, run: Run) -> None:
    first, second, third = said(app, *UNLIKE, "Kettles boil in the attic")
    left_open(app, first, second, SCOPE)
    newest = left_open(app, first, third, SCOPE)
    listed = run("conflicts", "list", *ANNA).stdout.splitlines()
    assert [line.split()[0] for line in listed if line[0] != " "] == ["2", "1"]
    for wrong in (
        (newest[:2], "--keep", "new"),
        ("7", "--keep", "new"),
        ("1",),
        ("1", "--keep", "old", "--winner", "x"),
    ):
        assert run("conflicts", "resolve", *wrong, *ANNA).exit_code == 2
    assert run("conflicts", "resolve", "1", "-u", "bob", "--keep", "old").exit_code == 2
    settled = run("conflicts", "resolve", newest[:50], *ANNA, "--keep", "old")
    assert (settled.exit_code, json.loads(settled.stdout)["winner"]) == (0, first)
    assert f"decisions revert {first}.{third} --user anna`" in settled.stderr
    assert "” holds, “" in settled.stderr
    both = run("conflicts", "resolve", "1", *ANNA, "--keep", "both")
    assert (both.exit_code, both.stderr, json.loads(both.stdout)["status"]) == (0, "resolved: both hold\n", "settled")
    opened = run("conflicts", "reopen", "1", *ANNA)
    assert (opened.stderr, json.loads(opened.stdout)["status"]) == ("open again\n", "open")
    assert run("conflicts", "resolve", "1", *ANNA, "--keep", "old", "--older", "It glows").exit_code == 2
    amended = run("conflicts", "resolve", "1", *ANNA, "--older", "It glows")
    assert (amended.exit_code, json.loads(amended.stdout)["status"]) == (0, "settled")
    assert run("conflicts", "list", *ANNA, "--status", "open").stderr == "0 conflicts\n"
