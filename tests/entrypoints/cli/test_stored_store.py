"""The store that commit a0b975c wrote with its default embedder opens as it is: nothing is migrated or embedded anew.

In it, of user anna: eight turns in three conversations, one of them deleted, one not yet projected; two memories of the
key `sitter`; the decision that Lyon supersedes Paris; a summary of six turns. The file is never written again.
"""

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from entrypoints.cli.conftest import Run
from entrypoints.cli.running import Home
from recollect.adapters.embedders.building.build import build_model
from recollect.adapters.embedders.model_folder import GENERATION
from recollect.adapters.local.database import FILE_NAME

STORED = Path(__file__).with_name("stored") / "a0b975c.db"
ANNA = ("--user", "anna")
IMPORTED = [
    ("c1", "user", "I live in Paris.", "2025-03-01T12:00:00Z"),
    ("c1", "bot", "Paris is lovely in spring.", "2025-03-01T12:00:05Z"),
    ("c1", "user", "My dog Rex is a beagle. 🙂", "2025-03-01T12:01:00Z"),
    ("c1", "user", "I want to learn Spanish this year.", "2025-03-01T12:02:00Z"),
    ("c2", "user", "我对花生过敏。", "2025-03-05T09:00:00Z"),
    ("c2", "user", "I moved to Lyon last week.", "2025-03-09T09:00:00Z"),
    ("c2", "user", "My locker code is 4711.", "2025-03-10T09:00:00Z"),
]
TURNS = ["My sister paints sunrises.", *(content for _, _, content, _ in IMPORTED[-2::-1])]


@pytest.fixture
def stored(home: Home, monkeypatch: pytest.MonkeyPatch) -> Home:
    """A copy of the file, searched by words."""
    monkeypatch.setenv("RECOLLECT_EMBEDDER", "none")
    home.folder.mkdir()
    shutil.copy(STORED, home.folder / FILE_NAME)
    return home


def lines(run: Run, *arguments: str) -> list[dict[str, object]]:
    result = run(*arguments, *ANNA, "--json")
    assert result.exit_code == 0, result.stderr
    return [json.loads(line) for line in result.stdout.splitlines()]


def contents(found: list[dict[str, object]]) -> list[object]:
    return [one["content"] for one in found]


@pytest.mark.usefixtures("stored")
def test_events_memories_decisions_and_the_summary_are_there(run: Run) -> None:
    assert contents(lines(run, "timeline")) == TURNS
    assert [(memory["content"], memory["status"]) for memory in lines(run, "memories", "list")] == [
        ("The house sitter is Ines", "active"),
        ("The house sitter is Tom", "superseded"),
        ("I moved to Lyon last week.", "active"),
        ("I live in Paris.", "superseded"),
    ]
    (decision,) = lines(run, "decisions", "list")
    assert (decision["outcome"], decision["rule"], decision["status"]) == ("superseded", "home.change", "applied")
    assert run("summarize", *ANNA).stderr.startswith("not due: 1 messages")


@pytest.mark.usefixtures("stored")
def test_it_is_searched_and_what_waited_is_projected(run: Run) -> None:
    assert "I moved to Lyon last week." in run("search", "Lyon", *ANNA).stdout.splitlines()[0]
    assert run("jobs", "run", "reconcile").exit_code == 0
    assert "My sister paints sunrises." in run("search", "sister", *ANNA).stdout
    assert "Lyon" in run("context", "Where do I live?", *ANNA).stdout


@pytest.mark.usefixtures("stored")
def test_what_was_deleted_stays_refused(run: Run, tmp_path: Path) -> None:
    file, fields = tmp_path / "again.jsonl", ("conversation_id", "role", "content", "timestamp")
    file.write_text("".join(json.dumps(dict(zip(fields, turn, strict=True))) + "\n" for turn in IMPORTED))
    again = run("import", file, *ANNA)
    assert again.stdout == "0 created, 6 duplicate, 1 refused, 0 invalid\n"


@pytest.mark.usefixtures("stored")
def test_its_export_makes_a_new_store(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = lines(run, "memories", "list")
    assert run("export", *ANNA, "--out", str(tmp_path / "anna.jsonl")).exit_code == 0
    monkeypatch.setenv("RECOLLECT_HOME", str(tmp_path / "new"))
    imported = run("import", str(tmp_path / "anna.jsonl"), *ANNA)
    assert imported.stdout == "9 created, 0 duplicate, 0 refused, 0 invalid\n"
    assert contents(lines(run, "timeline")) == TURNS
    assert contents(lines(run, "memories", "list")) == contents(before)


def test_its_vectors_are_those_of_the_default_embedder(stored: Home) -> None:
    folder = Path.home() / ".cache" / "recollect" / "models" / GENERATION
    build_model(folder)
    embedder = {"RECOLLECT_EMBEDDER": "", "RECOLLECT_MODEL_FOLDER": str(folder)}
    found = stored.run("search", "Where is her flat?", *ANNA, "--min-similarity", "0.3", **embedder)
    assert "I moved to Lyon last week." in found.stdout
    assert found.stderr == ""


@pytest.mark.spec("P-24")
def test_what_rules_of_words_decided_stays_when_all_is_projected_anew_with_the_trained_judge(stored: Home) -> None:
    folder = Path.home() / ".cache" / "recollect" / "models" / GENERATION
    build_model(folder)
    trained = {"RECOLLECT_EMBEDDER": "", "RECOLLECT_MODEL_FOLDER": str(folder), "RECOLLECT_JUDGE": "e5"}

    def told() -> list[dict[str, object]]:
        found = stored.run("decisions", "list", *ANNA, "--json", **trained).stdout
        return [json.loads(line) for line in found.splitlines()]

    before = told()
    for job in ("reconcile", "reindex", "reconcile"):
        assert stored.run("jobs", "run", job, **trained).returncode == 0
    assert [(one["rule"], one["status"]) for one in before] == [("home.change", "applied")]
    assert told()[-1] == before[0]
    listed = stored.run("memories", "list", *ANNA, "--json", **trained).stdout
    states = {one["content"]: one["status"] for one in map(json.loads, listed.splitlines())}
    assert (states["I live in Paris."], states["I moved to Lyon last week."]) == ("superseded", "active")


def test_a_file_of_an_older_format_is_refused_and_says_what_to_do(stored: Home, run: Run) -> None:
    with closing(sqlite3.connect(stored.folder / FILE_NAME)) as connection:
        connection.execute("PRAGMA user_version = 1")
    refused = run("timeline", *ANNA)
    assert refused.exit_code == 1
    assert "format 1" in refused.stderr
    assert "`recollect export`" in refused.stderr
