"""The engines' tooling: whose process is whose, which JVM is new enough, what a broken state file does."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from infra.engines import jvm, launch, process
from infra.engines import state as engine_state

ROOT = Path(__file__).resolve().parents[2]


def mark_of(pid: int) -> str:
    mark = process.birth_mark(pid)
    assert mark is not None
    return mark


@pytest.fixture
def sleeper(tmp_path: Path) -> Iterator[int]:
    command = [sys.executable, "-c", "import time; time.sleep(60)"]
    pid = process.spawn(command, os.environ, tmp_path, tmp_path / "sleeper.log")
    mark = mark_of(pid)
    yield pid
    process.terminate({pid: mark}, grace_seconds=2)


def _state(folder: Path, pid: int, mark: str) -> engine_state.State:
    engine = engine_state.RunningEngine("s3", pid, mark, 1, "log")
    return engine_state.State(str(folder), "v", (engine,), {"NAME": "a b"}, ready=True)


def _data_folder(parent: Path) -> Path:
    folder = parent / f"{engine_state.DATA_PREFIX}test"
    folder.mkdir()
    return folder


@pytest.mark.parametrize(
    ("version", "release"),
    [("17.0.15", 17), ("25", 25), ("1.8.0_402", 8), ("21-ea", 21), ('"21.0.3"', 21), ("", None), ("unknown", None)],
)
def test_feature_release_is_read_from_old_and_new_version_strings(version: str, release: int | None) -> None:
    assert jvm.feature_release(version) == release


def test_the_first_jvm_that_is_new_enough_is_chosen_whatever_java_home_says(tmp_path: Path) -> None:
    for name, version in (("old", "17.0.15"), ("new", "25.0.1")):
        (tmp_path / name / "bin").mkdir(parents=True)
        (tmp_path / name / "bin" / "java").touch()
        (tmp_path / name / "release").write_text(f'IMPLEMENTOR="x"\nJAVA_VERSION="{version}"\n', encoding="utf-8")
    jvms = [found for name in ("old", "new") if (found := jvm.jvm_at(tmp_path / name))]
    suitable = [jvm.first_suitable(jvms, release) for release in (17, 21, 26)]
    assert [found and found.home.name for found in suitable] == ["old", "new", None]
    assert jvm.first_suitable(jvms, 17, with_compiler=True) is None


def test_java_home_comes_before_the_path(tmp_path: Path) -> None:
    for name in ("home", "path"):
        (tmp_path / name / "bin").mkdir(parents=True)
        (tmp_path / name / "bin" / "java").touch(mode=0o755)
        (tmp_path / name / "release").write_text('JAVA_VERSION="21"\n', encoding="utf-8")
    environment = {"JAVA_HOME": str(tmp_path / "home"), "PATH": str(tmp_path / "path" / "bin")}
    found = [jvm.home for jvm in jvm.installed_jvms(environment)]
    assert found[:2] == [tmp_path / "home", tmp_path / "path"]


def test_a_state_survives_the_file_and_names_live_processes(sleeper: int, tmp_path: Path) -> None:
    state = _state(tmp_path, sleeper, mark_of(sleeper))
    engine_state.save(tmp_path / "run" / "state.json", state)
    loaded = engine_state.load(tmp_path / "run" / "state.json")
    assert loaded is not None
    assert loaded == state
    assert loaded.usable


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", json.dumps({"engines": [{"pid": 1}]}), "null"])
def test_a_state_file_that_is_not_ours_counts_as_none(tmp_path: Path, content: str) -> None:
    (tmp_path / "state.json").write_text(content, encoding="utf-8")
    assert engine_state.load(tmp_path / "state.json") is None


def test_stop_leaves_a_process_alone_that_only_reuses_the_number(sleeper: int, tmp_path: Path) -> None:
    folder = _data_folder(tmp_path)
    state = _state(folder, sleeper, "another boot:1")
    assert not state.usable
    engine_state.discard(tmp_path / "state.json", state)
    assert process.birth_mark(sleeper) is not None
    assert not folder.exists()


def test_stop_ends_a_process_that_ignores_the_polite_signal(tmp_path: Path) -> None:
    stubborn = (
        "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('set', flush=True); time.sleep(60)"
    )
    pid = process.spawn([sys.executable, "-c", stubborn], os.environ, tmp_path, tmp_path / "log")
    mark = mark_of(pid)
    while "set" not in (tmp_path / "log").read_text(encoding="utf-8"):
        assert process.is_same_process(pid, mark)
    process.terminate({pid: mark}, grace_seconds=0.3)
    assert process.birth_mark(pid) is None


def test_only_a_folder_that_start_can_have_made_is_removed(tmp_path: Path) -> None:
    engine_state.remove_data(tmp_path)
    assert tmp_path.is_dir()


def test_settings_are_quoted_for_the_shell() -> None:
    lines = engine_state.export_lines({"NAME": "a b; exit 1", "OTHER": "x"})
    shell = subprocess.run(["sh", "-c", f'{lines}\necho "$NAME,$OTHER"'], capture_output=True, text=True, check=True)
    assert shell.stdout == "a b; exit 1,x\n"


def test_ports_are_free_and_differ() -> None:
    assert len(set(launch.free_ports(3))) == 3


def test_a_missing_tool_is_one_line_and_exit_code_3(tmp_path: Path) -> None:
    environment = {"PATH": str(tmp_path), "HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path)}
    command = [sys.executable, "-m", "infra.engines", "fetch"]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 3
    assert done.stderr.strip().splitlines()[-1].partition(" ")[0] in {"OpenSearch", "mvn"}
    assert not list((tmp_path / "recollect" / "engines").glob("*.building-*"))
