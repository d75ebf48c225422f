"""`recollect export`, its way back through `recollect import`, and `recollect snapshots`."""

import json
from pathlib import Path

from entrypoints.cli.conftest import Run
from entrypoints.cli.running import Home, events_of, write_turns
from recollect.app import App
from recollect.core.scope import Scope

ANNA, BEN = Scope("local", "anna"), Scope("local", "ben")


def test_what_is_exported_is_imported_as_it_was(run: Run, app: App, tmp_path: Path) -> None:
    run("import", write_turns(tmp_path / "turns.jsonl", 30), "--user", "anna")
    file = tmp_path / "anna.ndjson"
    out = run("export", "--user", "anna", "--out", file)
    assert (out.exit_code, out.stderr) == (0, "30 records\n")
    assert len(file.read_text().splitlines()) == 30
    back = run("import", file, "--user", "anna")
    assert back.stdout == "0 created, 30 duplicate, 0 refused, 0 invalid\n"
    copied = run("import", file, "--user", "ben")
    assert (copied.exit_code, copied.stdout) == (0, "30 created, 0 duplicate, 0 refused, 0 invalid\n")
    assert [event.id for event in events_of(app, BEN)] == [event.id for event in events_of(app, ANNA)]


def test_an_export_goes_to_standard_output(run: Run, tmp_path: Path) -> None:
    run("import", write_turns(tmp_path / "turns.jsonl", 2), "--user", "anna")
    out = run("export", "--user", "anna")
    assert [json.loads(line)["kind"] for line in out.stdout.splitlines()] == ["event", "event"]
    assert run("export", "--user", "nobody").stdout == ""


def test_a_broken_line_is_named(run: Run, tmp_path: Path) -> None:
    run("import", write_turns(tmp_path / "turns.jsonl", 3), "--user", "anna")
    lines = run("export", "--user", "anna").stdout.splitlines()
    file = tmp_path / "broken.ndjson"
    file.write_bytes("\n".join([lines[0], lines[1][:40], lines[2]]).encode() + b"\n\xff\n")
    out = run("import", file, "--user", "ben")
    assert (out.exit_code, out.stdout) == (1, "2 created, 0 duplicate, 0 refused, 2 invalid\n")
    assert "line 2: is no line of an export" in out.stderr


def test_snapshots_are_listed_and_compared(run: Run, home: Home, tmp_path: Path) -> None:
    run("import", write_turns(tmp_path / "turns.jsonl", 3), "--user", "anna")
    assert run("jobs", "run", "snapshot").exit_code == 0
    run("import", write_turns(tmp_path / "more.jsonl", 2, start=3), "--user", "anna")
    assert run("jobs", "run", "snapshot").exit_code == 0
    listed = json.loads(run("snapshots", "list", "--json").stdout)["snapshots"]
    assert [one["counts"]["events"] for one in listed] == [5, 3]
    assert "everybody" in run("snapshots", "list").stdout
    found = run("snapshots", "diff", listed[1]["id"], listed[0]["id"])
    assert found.stdout.count("added") == 2
    assert found.stderr == "2 added\n"
    assert json.loads(run("snapshots", "diff", *(one["id"] for one in listed), "--json").stdout)["counts"] == {
        "removed": 2
    }
    assert run("snapshots", "diff", "none", listed[0]["id"]).exit_code == 2
    restored = run("jobs", "run", "restore", "--snapshot", listed[0]["id"])
    assert restored.exit_code == 0
    assert home.folder.exists()
