"""`sam build` in a fresh clone by the user's own SAM CLI, without what `make build` and `make install` make."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from deployment.built import python
from deployment.resolving import NEEDS_SAM, SAM_PYTHON
from deployment.template import ROOT, resources
from recollect.adapters.embedders.model_folder import GENERATION, JUDGE_FILE, JUDGE_GRAPH_FILE, JUDGE_WEIGHTS_FILE

MADE_HERE = ("RECOLLECT_", "PYTHON", "VIRTUAL_ENV", "RUNTIME_PYTHON", "ARCH", "MODEL_CACHE", "MAKE", "AWS_")
_FOLDERS = [ROOT / one["Properties"]["ContentUri"] for one in resources("AWS::Serverless::LayerVersion").values()]


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a clone would hold of the working tree: what git knows, and what it does not ignore."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\0")
    folder = tmp_path_factory.mktemp("clone of mine")
    for name in filter(None, listed):
        if (ROOT / name).is_file() and not name.startswith("tests/"):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    return folder


@pytest.mark.built
def test_a_layer_with_a_part_of_the_model_is_built_where_nothing_was_made_before(clone: Path) -> None:
    if not SAM_PYTHON.exists():
        assert os.environ.get("RECOLLECT_REQUIRE_BUILT") != "1", NEEDS_SAM
        pytest.skip(NEEDS_SAM)
    outside = {name: value for name, value in os.environ.items() if not name.startswith(MADE_HERE)}
    path = f"{Path(python()).parent}:/usr/local/bin:/usr/bin:/bin"
    environment = {**outside, "PATH": path, "SAM_CLI_TELEMETRY": "0", "AWS_DEFAULT_REGION": "us-east-1"}
    environment["MODEL_CACHE"] = str(clone / "no models yet")
    command = [str(SAM_PYTHON.with_name("sam")), "build", "JudgeLayer"]
    done = subprocess.run(command, cwd=clone, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    made = clone / ".aws-sam/build/JudgeLayer/recollect-models" / GENERATION
    assert {JUDGE_FILE, JUDGE_GRAPH_FILE, JUDGE_WEIGHTS_FILE} <= {path.name for path in made.iterdir()}


@pytest.mark.parametrize("folder", _FOLDERS, ids=lambda one: one.name)
def test_a_folder_may_have_a_blank_in_its_name(folder: Path, tmp_path: Path) -> None:
    """Functions of make that take several paths part such a name."""
    (target,) = re.findall(r"^(build-\w+):", (folder / "Makefile").read_text("utf-8"), re.MULTILINE)
    artifacts, models = tmp_path / "made of mine", tmp_path / "models of mine"
    command = ["make", "-n", "-C", str(folder), target, f"ARTIFACTS_DIR={artifacts}", f"MODEL_CACHE={models}"]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert str(artifacts) in said
    assert "mine" not in said.replace(str(artifacts), "").replace(str(models), "")


@pytest.mark.parametrize(
    "folder", [one for one in _FOLDERS if (one / "requirements.txt").exists()], ids=lambda one: one.name
)
def test_packages_are_installed_by_their_hashes_alone(folder: Path) -> None:
    makefile = (folder / "Makefile").read_text("utf-8").replace("\\\n", " ")
    installs = [line for line in makefile.splitlines() if "pip install" in line]
    assert installs
    assert all("--require-hashes" in line for line in installs)
    text = (folder / "requirements.txt").read_text("utf-8").replace("\\\n", " ")
    pins = [line for line in text.splitlines() if not line.startswith("#")]
    assert pins
    assert all(re.fullmatch(r"[a-z0-9.-]+==\S+(\s+--hash=sha256:[0-9a-f]{64})+", line) for line in pins)
