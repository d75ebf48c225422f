"""`recollect init`, `doctor`, `serve`, `demo`, and errors of settings."""

import json
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path

import httpx
import pytest

from entrypoints.cli.conftest import Run
from entrypoints.cli.running import Home, serving, soon
from recollect.core.errors import NotReady
from recollect.entrypoints.cli import console
from recollect.entrypoints.cli.demo import NOW, conversation
from recollect.settings import Settings


def test_init_twice(run: Run, home: Home) -> None:
    first = run("init")
    assert (first.exit_code, first.stderr) == (0, "created: database\n")
    assert (home.folder / "recollect.db").exists()
    assert run("init").stderr == "engines: all there\n"


def test_doctor_finds_all_well(run: Run) -> None:
    result = run("doctor")
    assert result.exit_code == 0, result.stdout
    for name in ("python", "settings", "home", "timeline", "index", "embedder", "read", "write"):
        assert f"ok    {name}:" in result.stdout
    report = json.loads(run("doctor", "--json").stdout)
    assert report["ok"] is True
    assert {check["name"] for check in report["checks"]} >= {"settings", "home", "embedder"}


@pytest.mark.parametrize(
    ("variables", "told"),
    [
        ({"RECOLLECT_EMBEDDER": "e5", "RECOLLECT_MODEL_FOLDER": "/nowhere"}, ("wrong embedder", "recollect init")),
        ({"RECOLLECT_ENGINES": "floppy"}, ("RECOLLECT_ENGINES",)),
    ],
)
def test_doctor_says_what_is_wrong(
    run: Run, monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], told: tuple[str, ...]
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    result = run("doctor")
    assert result.exit_code == 1
    assert all(one in result.stdout for one in told)


def test_doctor_tells_a_home_that_cannot_be(run: Run, home: Home) -> None:
    home.folder.write_text("a file")
    result = run("doctor")
    assert result.exit_code == 1
    assert "RECOLLECT_HOME" in result.stdout
    ended = run("timeline", "--user", "ana")
    assert ended.exit_code == 1
    assert ended.stderr == f"error: {home.folder}: File exists\n"


def test_doctor_shows_no_key(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECOLLECT_API_KEYS", '{"sesame": {"tenant": "acme"}}')
    result = run("doctor")
    assert "sesame" not in result.stdout + result.stderr
    assert "1 API keys" in result.stdout


@pytest.mark.parametrize("command", [("timeline", "--user", "ana"), ("init",), ("serve",)])
def test_a_wrong_setting_is_one_line_and_exit_code_2(
    run: Run, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    monkeypatch.setenv("RECOLLECT_EMBEDDER", "magic")
    result = run(*command)
    assert result.exit_code == 2
    assert result.stderr == "error: RECOLLECT_EMBEDDER: must be one of e5, openai, bedrock, hashing, none\n"


def test_openapi_is_printed(run: Run) -> None:
    assert json.loads(run("openapi").stdout)["openapi"].startswith("3.")


def pending(address: str) -> int:
    """How many events wait, as readiness says."""
    return int(httpx.get(f"http://{address}/v1/ready").json()["parts"]["timeline"]["pending"])


@pytest.mark.parametrize("ended_by", [signal.SIGINT, signal.SIGTERM])
def test_serve_answers_projects_and_ends_cleanly(tmp_path: Path, ended_by: signal.Signals) -> None:
    with serving(Home(tmp_path / "home").environment(), subprocess.PIPE) as (address, server):
        event = {"content": "I live in Porto", "timestamp": "2024-05-01T09:00:00Z"}
        answer = httpx.post(f"http://{address}/v1/events", json={"user_id": "ana", "events": [event]})
        assert answer.status_code == 201
        assert soon(lambda: pending(address) == 0, 10)
        started = time.monotonic()
        server.send_signal(ended_by)
        _, err = server.communicate(timeout=10)
    assert server.returncode == 0, err
    assert time.monotonic() - started < 6
    assert all(json.loads(line) for line in err.splitlines())


def test_serve_leaves_the_markers_without_the_projector(tmp_path: Path) -> None:
    with serving(Home(tmp_path / "home").environment(RECOLLECT_PROJECTOR="off")) as (address, _):
        httpx.post(f"http://{address}/v1/events", json={"user_id": "ana", "events": [{"content": "hi"}]})
        time.sleep(1.5)
        assert pending(address) == 1


def test_a_port_that_is_taken_is_exit_code_1(tmp_path: Path) -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        held.listen()
        ended = Home(tmp_path / "home").run("serve", "--port", str(held.getsockname()[1]))
    assert ended.returncode == 1
    assert "Traceback" not in ended.stderr


def test_demo_shows_contexts_and_receipts_and_leaves_nothing(
    run: Run, home: Home, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    result = run("demo")
    assert result.exit_code == 0, result.stderr
    assert result.stdout.count("the next model call gets") == 3
    assert result.stdout.count("Why these lines") == 3
    assert "76 turns" in result.stderr
    assert not (home.folder / "recollect.db").exists()
    assert list(tmp_path.glob("recollect-demo-*")) == []
    assert run("demo").stdout == result.stdout


def test_demo_without_a_model_says_so_and_goes_on(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def fails(*_: object) -> None:
        raise NotReady("no package index in reach")

    monkeypatch.delenv("RECOLLECT_EMBEDDER")
    monkeypatch.setenv("RECOLLECT_MODEL_FOLDER", str(tmp_path / "none"))
    monkeypatch.setattr("recollect.adapters.embedders.building.build.build_model", fails)
    result = run("demo")
    assert result.exit_code == 0
    assert "by words alone: no package index in reach" in result.stderr
    assert result.stdout.count("Why these lines") == 3
    assert console.WORDS_ALONE in result.stderr


def test_who_starts_without_a_terminal_is_told_of_the_download(
    home: Home, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("recollect.adapters.embedders.building.build.build_model", lambda *_: None)
    given = {"RECOLLECT_EMBEDDER": "e5", "RECOLLECT_MODEL_FOLDER": str(tmp_path / "none")}
    told: list[str] = []
    assert console.ensure_model(Settings.from_environment(home.environment(**given)), told.append)
    assert told == ["Fetching and building the embedding model (91 MB, once) …"]


def test_the_bundled_conversation_spans_weeks_and_ends_before_the_questions() -> None:
    turns = [placed.draft for placed in conversation()]
    times = [turn.timestamp for turn in turns if turn.timestamp]
    assert 60 <= len(turns) <= 80
    assert times == sorted(times)
    assert 30 <= (times[-1] - times[0]).days <= 40
    assert 0 < (NOW - times[-1]).total_seconds() < 24 * 3600
    assert [turn.content[:20] for turn in turns if turn.key == "home_city"] == [
        "Maybe 5 km twice a w",
        "I live in Bristol no",
    ]
