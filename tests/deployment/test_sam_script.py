"""`infra/sam.sh` hands the SAM CLI what a build needs, and leaves the region of a deployment to the user."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from deployment.template import ROOT


@pytest.fixture
def script(tmp_path: Path) -> Path:
    """The script in a checkout of its own, whose SAM CLI prints its environment and whose Python is none."""
    made = Path(shutil.copy2(ROOT / "infra/sam.sh", _folder(tmp_path / "infra")))
    shutil.copy2(ROOT / "samconfig.toml", tmp_path)
    _program(_folder(tmp_path / "build/sam-venv/bin") / "sam", "env")
    _program(tmp_path / "python3.13", 'case "$2" in *print*) echo "$0" ;; esac')
    found = re.search(r"^VERSION=(\S+)$", made.read_text("utf-8"), re.MULTILINE)
    assert found is not None
    (tmp_path / "build/sam-venv/version").write_text(found[1])
    return made


def _folder(path: Path) -> Path:
    path.mkdir(parents=True)
    return path


def _program(path: Path, line: str) -> None:
    path.write_text(f"#!/bin/sh\n{line}\n")
    path.chmod(0o755)


def told(script: Path, *arguments: str, **given: str) -> dict[str, str]:
    """The environment in which SAM runs."""
    python = {"RECOLLECT_PYTHON313": str(script.parents[1] / "python3.13"), "PATH": "/usr/bin:/bin", "HOME": "/"}
    done = subprocess.run([script, *arguments], env=python | given, check=True, capture_output=True, text=True)
    return dict(line.split("=", 1) for line in done.stdout.splitlines())


@pytest.mark.parametrize("command", ["build", "deploy"])
def test_a_deployment_goes_to_the_region_that_the_user_has_configured(script: Path, command: str) -> None:
    """botocore takes the variable before what stands in ~/.aws/config."""
    assert "AWS_DEFAULT_REGION" not in told(script, command, "--guided")
    assert told(script, command, AWS_DEFAULT_REGION="eu-west-1")["AWS_DEFAULT_REGION"] == "eu-west-1"


def test_the_linter_is_told_some_region(script: Path) -> None:
    assert told(script, "validate", "--lint")["AWS_DEFAULT_REGION"]


@pytest.mark.parametrize(
    ("arguments", "architecture"),
    [([], "x86_64"), (["--parameter-overrides", "Architecture=arm64 LogLevel=INFO"], "arm64")],
)
def test_layers_are_built_for_the_architecture_that_is_deployed(
    script: Path, arguments: list[str], architecture: str
) -> None:
    assert told(script, "build", *arguments)["ARCH"] == architecture
