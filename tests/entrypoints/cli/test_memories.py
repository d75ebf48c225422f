"""`recollect memories`: list, save, show, edit, delete."""

import json
from typing import Any

import pytest

from embedded.setting import Memory, with_parts
from entrypoints.cli.conftest import Run
from entrypoints.cli.running import say
from recollect.adapters.judges.table_pairs import TablePairModel
from recollect.app import App
from recollect.contradictions.pairs import PairScores
from recollect.core.scope import Scope
from recollect.core.time import utc_now
from samples.judged import REMAINS

ANNA = ("-u", "anna")


def saved(run: Run, content: str, *more: str) -> dict[str, Any]:
    ran = run("memories", "save", content, *ANNA, *more)
    assert ran.exit_code == 0, ran.output
    return dict(json.loads(ran.stdout))


def test_a_memory_is_saved_once_and_listed(run: Run) -> None:
    first = saved(run, "Anna lives in Lyon", "--keyword", "city", "--keyword", "home", "--importance", "0.9")
    assert (first["keywords"], first["importance"], first["source"]) == (["city", "home"], 0.9, "user")
    again = run("memories", "save", " Anna lives in Lyon", *ANNA)
    assert (json.loads(again.stdout)["id"], again.stderr) == (first["id"], "known already\n")
    second = saved(run, "Oslo", "--key", "city", "--persona", "coach")
    listed = run("memories", "list", *ANNA)
    assert [line.split()[0] for line in listed.stdout.splitlines()] == [second["id"], first["id"]]
    assert listed.stderr == "2 memories\n"
    as_json = run("memories", "list", *ANNA, "--json", "--key", "city")
    assert [json.loads(line)["content"] for line in as_json.stdout.splitlines()] == ["Oslo"]
    assert run("memories", "list", *ANNA, "--status", "superseded").stdout == ""
    assert run("memories", "list", *ANNA, "--persona", "cook").stdout == ""
    assert run("memories", "list", *ANNA, "--tenant", "globex").stdout == ""


def test_a_memory_is_edited_and_shown_with_its_history(run: Run) -> None:
    first = saved(run, "Anna lives in Lyon", "--expires", "2100-01-01")
    edit = ("memories", "edit", first["id"], *ANNA)
    edited = json.loads(run(*edit, "--content", "Anna moved to Oslo", "--expires", "never").stdout)
    assert (edited["content"], edited["version"], "expires_at" in edited) == ("Anna moved to Oslo", 2, False)
    assert json.loads(run(*edit, "--metadata", '{"a": [1]}').stdout)["metadata"] == {"a": [1]}
    assert json.loads(run("memories", "show", first["id"], *ANNA).stdout)["version"] == 3
    shown = json.loads(run("memories", "show", first["id"], *ANNA, "--history").stdout)["history"]
    assert [(one["version"], one["action"]) for one in shown] == [(1, "create"), (2, "patch"), (3, "patch")]
    assert "Anna moved to Oslo" in run("search", "Oslo", *ANNA).stdout
    assert "memory:" in run("search", "Oslo", *ANNA).stdout
    (found,) = json.loads(run("search", "Oslo", *ANNA, "--json").stdout)["results"]
    assert (found["id"], found["kind"], found["version"]) == (first["id"], "memory", 3)


def test_the_history_tells_what_a_memory_was_and_what_it_became(run: Run) -> None:
    first = saved(run, "Anna lives in Lyon", "--expires", "2100-01-01")
    run("memories", "edit", first["id"], *ANNA, "--content", "Anna moved to\x1b[31m Oslo", "--importance", "0.9")
    run("memories", "edit", first["id"], *ANNA, "--expires", "never", "--metadata", '{"a": [1]}', "--keyword", "city")
    told = run("memories", "history", first["id"], *ANNA).stdout.splitlines()
    heads = [line for line in told if line.startswith("version ")]
    assert [head[len("version 1  2026-11-27 02:10  ") :] for head in heads] == [
        "create by user anna",
        "patch by user anna",
        "patch by user anna",
    ]
    assert [line.strip() for line in told if line not in heads] == [
        "said: Anna lives in Lyon",
        "was: Anna lives in Lyon",
        "now: Anna moved to\ufffd[31m Oslo",
        "importance: 0.50 -> 0.90",
        "the words stayed",
        "keywords: none -> city",
        "expires at: 2100-01-01 00:00 -> none",
        'metadata: none -> {"a": [1]}',
    ]
    lines = run("memories", "history", first["id"], *ANNA, "--json").stdout.splitlines()
    assert [json.loads(line)["version"] for line in lines] == [1, 2, 3]
    for whose in (("--user", "bob"), (*ANNA, "--tenant", "globex")):
        ran = run("memories", "history", first["id"], *whose)
        assert (ran.exit_code, ran.stdout, ran.stderr) == (2, "", "error: no such memory\n")


def test_a_deleted_memory_is_gone(run: Run) -> None:
    first = saved(run, "Anna lives in Lyon")
    assert json.loads(run("memories", "delete", first["id"], *ANNA).stdout) == {"deleted": [first["id"]]}
    for command in ("show", "delete"):
        ran = run("memories", command, first["id"], *ANNA)
        assert (ran.exit_code, ran.stderr) == (2, "error: no such memory\n")


def test_what_commands_a_terminal_is_not_printed(run: Run) -> None:
    saved(run, "a \x1b[31mred\x1b[0m line\nand another", "--key", "k")
    (line,) = run("memories", "list", *ANNA).stdout.splitlines()
    assert "\x1b" not in line
    assert "and another" in line


def test_what_matches_is_counted_and_deleted(run: Run) -> None:
    first = saved(run, "Anna lives in Lyon", "--keyword", "city")
    saved(run, "Anna likes tea")
    wanted = ("memories", "delete-matching", *ANNA, "--filter", '{"keywords": {"contains": "city"}}')
    counted = run(*wanted, "--dry-run")
    assert json.loads(counted.stdout) == {"matched": 1, "deleted": 0, "memory_ids": [first["id"]]}
    assert run(*wanted).exit_code == 1
    assert json.loads(run(*wanted, "--yes").stdout) == {"matched": 1, "deleted": 1, "memory_ids": [first["id"]]}
    assert run("memories", "list", *ANNA).stderr == "1 memory\n"
    assert run("memories", "list", *ANNA, "--filter", '{"importance": {"gt": 0.9}}').stdout == ""
    assert run("memories", "list", *ANNA, "--below", "org").stdout == ""
    for wrong in ((), ("--filter", "{"), ("--filter", '{"colour": 1}'), ("--namespace", "a//b")):
        assert run("memories", "delete-matching", *ANNA, *wrong, "--yes").exit_code == 2


@pytest.mark.spec("P-24")
def test_a_memory_that_lost_a_part_is_listed_with_the_words_that_ended(app: App, run: Run) -> None:
    anna = Scope("local", "anna")
    for text in (f"I live in Paris. {REMAINS}", "I moved to Lyon."):
        say(app, text, scope=anna)
        for _ in range(3):
            app.projection.reconciliation.run(utc_now())
    _, older = run("memories", "list", *ANNA).stdout.splitlines()
    assert older.endswith(f"{REMAINS}  (ended: I live in Paris.…)")
    superseded = run("memories", "list", *ANNA, "--status", "superseded").stderr
    assert superseded.splitlines() == [
        "0 memories",
        "and a part of 1 that are current: `recollect memories list --user anna` shows which words",
    ]
    told = run("memories", "history", older.split()[0], *ANNA).stdout
    assert [line.strip() for line in told.splitlines()][-3:] == [
        f"was: I live in Paris. {REMAINS}",
        f"now: {REMAINS}",
        "ended: I live in Paris.…",
    ]
    assert run("decisions", "revert", "1", *ANNA).exit_code == 0
    history = run("memories", "history", older.split()[0], *ANNA).stdout.splitlines()
    assert history[-1].strip() == "holds again: I live in Paris.…"
    assert "ended" not in run("memories", "list", *ANNA).stdout


@pytest.mark.spec("P-24")
def test_what_is_announced_for_a_day_is_listed_with_that_day(app: App, run: Run) -> None:
    old, new = "The rent of my flat is 480", f"From 1 June {utc_now().year + 1} the rent is 520"
    app = with_parts(Memory(app), pair_model=TablePairModel({(new, old): PairScores(changed=0.9)})).app
    for text in (old, new):
        say(app, text, scope=Scope("local", "anna"))
        for _ in range(3):
            app.projection.reconciliation.run(utc_now())
    day = f"no longer from {utc_now().year + 1}-06-01: {old}"
    _, older = run("memories", "list", *ANNA).stdout.splitlines()
    assert older.endswith(f"{old}  ({day})")
    assert run("memories", "history", older.split()[0], *ANNA).stdout.splitlines()[-1].strip() == day
    assert run("decisions", "list", *ANNA).stdout.splitlines()[-1].strip() == day
