"""A folder made with one embedder, opened with another as by a new default: it says so, and one command mends it."""

import json

import pytest
from typer.testing import Result

from embedded.reindexing import OtherEmbedder
from entrypoints.cli.conftest import Run
from entrypoints.cli.running import Home, write_turns
from recollect.core.errors import NotReady
from recollect.entrypoints.cli import console

REINDEX = "recollect jobs run reindex"


@pytest.fixture
def under_another(run: Run, home: Home, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Twenty turns that the hashing embedder indexed; from then on each command has another one."""
    assert run("import", write_turns(home.folder.parent / "turns.jsonl", 20), "--user", "ana").exit_code == 0
    monkeypatch.setattr("recollect.bootstrap.providers._embedder", lambda _: OtherEmbedder())
    return run


def searched(run: Run, query: str = "remark19") -> Result:
    result = run("search", query, "--user", "ana")
    assert result.exit_code == 0, result.stderr
    return result


@pytest.mark.spec("A-35", "A-37")
def test_searches_go_on_by_words_and_name_what_mends_them(under_another: Run) -> None:
    result = searched(under_another)
    assert "remark19 about topic5" in result.stdout
    assert result.stderr.strip() == console.OTHER_VECTORS
    told = json.loads(under_another("search", "remark19", "--user", "ana", "--json").stdout)["diagnostics"]
    assert (told["fallback"], told["missing"]) == ("lexical", ["vectors"])
    assert console.OTHER_VECTORS in under_another("context", "remark19", "--user", "ana").stderr


@pytest.mark.spec("A-35")
def test_doctor_init_and_import_say_it_too(under_another: Run, home: Home) -> None:
    doctor = under_another("doctor")
    assert doctor.exit_code == 1
    (index,) = [line for line in doctor.stdout.splitlines() if line.startswith("wrong index")]
    assert "1 with another embedder's, so by words alone" in index
    assert "projected" not in index
    assert f"do: run `{REINDEX}`" in doctor.stdout
    assert console.OTHER_VECTORS in under_another("init").stderr
    more = under_another("import", write_turns(home.folder.parent / "more.jsonl", 2, 20), "--user", "ana")
    assert (more.exit_code, console.OTHER_VECTORS in more.stderr) == (0, True)
    assert "remark21" in searched(under_another, "remark21").stdout


@pytest.mark.spec("A-33", "A-35", "A-37")
def test_the_job_makes_it_anew(under_another: Run) -> None:
    ended = under_another("jobs", "run", "reindex")
    assert (ended.exit_code, "20 rebuilt" in ended.stdout) == (0, True), ended.stderr
    assert "summaries stay as they are" in ended.stderr
    assert searched(under_another).stderr == ""
    assert under_another("doctor").exit_code == 0
    assert under_another("init").stderr == "engines: all there\n"


def test_one_that_is_the_same_is_not_spoken_of(run: Run, home: Home) -> None:
    result = run("import", write_turns(home.folder.parent / "turns.jsonl", 3), "--user", "ana")
    assert (result.exit_code, "reindex" in result.stderr) == (0, False)
    assert (searched(run, "remark2").stderr, "reindex" in run("init").stderr) == ("", False)


def test_the_job_does_not_wait_for_a_model_that_cannot_be_built(
    under_another: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(_: object) -> None:
        raise NotReady("no package index in reach")

    monkeypatch.setenv("RECOLLECT_EMBEDDER", "e5")
    monkeypatch.setattr("recollect.entrypoints.cli.jobs.build_model", fails)
    ended = under_another("jobs", "run", "reindex")
    assert (ended.exit_code, ended.stderr) == (1, "error: no package index in reach\n")
    assert under_another("jobs", "list").stdout == ""
    assert console.WORDS_ALONE in searched(under_another).stderr
