"""The engines' tooling: whose process is whose, which JVM is new enough, what a broken state file does."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

ENGINES = Path(__file__).resolve().parents[2] / "infra" / "engines"
MODULES = ("engine_jvm", "engine_process", "engine_state", "engine_cache", "engine_launch")


@pytest.fixture
def tools(monkeypatch: pytest.MonkeyPatch) -> dict[str, ModuleType]:
    monkeypatch.syspath_prepend(str(ENGINES))
    return {name: importlib.import_module(name) for name in MODULES}


@pytest.fixture
def sleeper(tools: dict[str, ModuleType], tmp_path: Path) -> Iterator[int]:
    command = [sys.executable, "-c", "import time; time.sleep(60)"]
    pid = tools["engine_process"].spawn(command, os.environ, tmp_path, tmp_path / "sleeper.log")
    mark = tools["engine_process"].birth_mark(pid)
    yield pid
    tools["engine_process"].terminate({pid: mark}, grace_seconds=2)


def _state(tools: dict[str, ModuleType], folder: Path, pid: int, mark: str) -> object:
    engine = tools["engine_state"].RunningEngine("s3", pid, mark, 1, "log")
    return tools["engine_state"].State(str(folder), "v", (engine,), {"NAME": "a b"}, ready=True)


def _data_folder(tools: dict[str, ModuleType], parent: Path) -> Path:
    folder = parent / f"{tools['engine_state'].DATA_PREFIX}test"
    folder.mkdir()
    return folder


@pytest.mark.parametrize(
    ("version", "release"),
    [("17.0.15", 17), ("25", 25), ("1.8.0_402", 8), ("21-ea", 21), ('"21.0.3"', 21), ("", None), ("unknown", None)],
)
def test_feature_release_is_read_from_old_and_new_version_strings(
    tools: dict[str, ModuleType], version: str, release: int | None
) -> None:
    assert tools["engine_jvm"].feature_release(version) == release


def test_the_first_jvm_that_is_new_enough_is_chosen_whatever_java_home_says(
    tools: dict[str, ModuleType], tmp_path: Path
) -> None:
    for name, version in (("old", "17.0.15"), ("new", "25.0.1")):
        (tmp_path / name / "bin").mkdir(parents=True)
        (tmp_path / name / "bin" / "java").touch()
        (tmp_path / name / "release").write_text(f'IMPLEMENTOR="x"\nJAVA_VERSION="{version}"\n', encoding="utf-8")
    jvms = [tools["engine_jvm"].jvm_at(tmp_path / name) for name in ("old", "new")]
    first_suitable = tools["engine_jvm"].first_suitable
    assert first_suitable(jvms, 17).home.name == "old"
    assert first_suitable(jvms, 21).home.name == "new"
    assert first_suitable(jvms, 26) is None
    assert first_suitable(jvms, 17, with_compiler=True) is None


def test_java_home_comes_before_the_path(tools: dict[str, ModuleType], tmp_path: Path) -> None:
    for name in ("home", "path"):
        (tmp_path / name / "bin").mkdir(parents=True)
        (tmp_path / name / "bin" / "java").touch(mode=0o755)
        (tmp_path / name / "release").write_text('JAVA_VERSION="21"\n', encoding="utf-8")
    environment = {"JAVA_HOME": str(tmp_path / "home"), "PATH": str(tmp_path / "path" / "bin")}
    found = [jvm.home for jvm in tools["engine_jvm"].installed_jvms(environment)]
    assert found[:2] == [tmp_path / "home", tmp_path / "path"]


def test_a_state_survives_the_file_and_names_live_processes(
    tools: dict[str, ModuleType], sleeper: int, tmp_path: Path
) -> None:
    state = _state(tools, tmp_path, sleeper, tools["engine_process"].birth_mark(sleeper))
    tools["engine_state"].save(tmp_path / "run" / "state.json", state)
    loaded = tools["engine_state"].load(tmp_path / "run" / "state.json")
    assert loaded == state
    assert loaded.usable


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", json.dumps({"engines": [{"pid": 1}]}), "null"])
def test_a_state_file_that_is_not_ours_counts_as_none(
    tools: dict[str, ModuleType], tmp_path: Path, content: str
) -> None:
    (tmp_path / "state.json").write_text(content, encoding="utf-8")
    assert tools["engine_state"].load(tmp_path / "state.json") is None


def test_stop_leaves_a_process_alone_that_only_reuses_the_number(
    tools: dict[str, ModuleType], sleeper: int, tmp_path: Path
) -> None:
    folder = _data_folder(tools, tmp_path)
    state = _state(tools, folder, sleeper, "another boot:1")
    assert not state.usable  # type: ignore[attr-defined]
    tools["engine_state"].discard(tmp_path / "state.json", state)
    assert tools["engine_process"].birth_mark(sleeper) is not None
    assert not folder.exists()


def test_stop_ends_a_process_that_ignores_the_polite_signal(tools: dict[str, ModuleType], tmp_path: Path) -> None:
    stubborn = (
        "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('set', flush=True); time.sleep(60)"
    )
    process = tools["engine_process"]
    pid = process.spawn([sys.executable, "-c", stubborn], os.environ, tmp_path, tmp_path / "log")
    mark = process.birth_mark(pid)
    while "set" not in (tmp_path / "log").read_text(encoding="utf-8"):
        assert process.is_same_process(pid, mark)
    process.terminate({pid: mark}, grace_seconds=0.3)
    assert process.birth_mark(pid) is None


def test_only_a_folder_that_start_can_have_made_is_removed(tools: dict[str, ModuleType], tmp_path: Path) -> None:
    tools["engine_state"].remove_data(tmp_path)
    assert tmp_path.is_dir()


def test_settings_are_quoted_for_the_shell(tools: dict[str, ModuleType]) -> None:
    lines = tools["engine_state"].export_lines({"NAME": "a b; exit 1", "OTHER": "x"})
    shell = subprocess.run(["sh", "-c", f'{lines}\necho "$NAME,$OTHER"'], capture_output=True, text=True, check=True)
    assert shell.stdout == "a b; exit 1,x\n"


def test_ports_are_free_and_differ(tools: dict[str, ModuleType]) -> None:
    assert len(set(tools["engine_launch"].free_ports(3))) == 3


def test_a_missing_tool_is_one_line_and_exit_code_3(tmp_path: Path) -> None:
    environment = {"PATH": str(tmp_path), "HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path)}
    command = [sys.executable, str(ENGINES / "engines.py"), "fetch"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 3
    assert done.stderr.strip().splitlines()[-1].partition(" ")[0] in {"OpenSearch", "mvn"}
    assert not list((tmp_path / "recollect" / "engines").glob("*.building-*"))
