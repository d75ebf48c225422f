"""The smoke test, against the laptop's server and against what only says that all is well."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from deployment.template import ROOT
from entrypoints.cli.running import Home, serving

KEY = "smoke-key"
SMOKE = [sys.executable, str(ROOT / "infra/smoke/smoke.py")]
_AWS = """#!/bin/sh
wanted="cloudformation describe-stacks --stack-name recollect-staging --query Stacks[0].Outputs --output json"
[ "$*" = "$wanted" ] || exit 254
cat "$AWS_OUTPUTS"
"""


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    home = Home(tmp_path_factory.mktemp("home"))
    keys = json.dumps({KEY: {"tenant": "local"}})
    with serving(home.environment(RECOLLECT_API_KEYS=keys)) as (address, _):
        yield f"http://{address}"


@pytest.fixture
def aws(tmp_path: Path, address: str) -> dict[str, str]:
    """An environment whose `aws` knows one stack, that of the server."""
    (tmp_path / "aws").write_text(_AWS, encoding="utf-8")
    (tmp_path / "aws").chmod(0o755)
    outputs = {"ApiUrl": address, "TokenCommand": 'test "$POOL_USER:$POOL_PASSWORD" = me:Aa1! && echo ' + KEY}
    _outputs(tmp_path, outputs)
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    return {"PATH": path, "AWS_OUTPUTS": str(tmp_path / "outputs.json"), "POOL_USER": "me", "POOL_PASSWORD": "Aa1!"}


def _outputs(folder: Path, given: dict[str, str]) -> None:
    listed = [{"OutputKey": key, "OutputValue": value} for key, value in given.items()]
    (folder / "outputs.json").write_text(json.dumps(listed), encoding="utf-8")


def smoke(*arguments: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    own = {"PATH": os.environ["PATH"], **environment}
    return subprocess.run([*SMOKE, *arguments], env=own, capture_output=True, text=True, timeout=120, check=False)


def test_a_user_is_written_read_recalled_and_forgotten(aws: dict[str, str]) -> None:
    done = smoke("--stack", "recollect-staging", **aws)
    assert (done.returncode, done.stderr) == (0, "")
    told = re.findall(r"^ok +(.*?)(?: \(\d+\.\d s\))?(?:, verified)?$", done.stdout, re.MULTILINE)
    assert told[-3:] == [
        "DELETE the user begins an erasure",
        "the user is erased, verified",
        "GET events of the user finds nobody",
    ]
    for step in (
        "POST /v1/events",
        "POST /v1/search finds the turn just said",
        "POST /v1/context has it in the prompt",
    ):
        assert step in told
    assert done.stdout.endswith("all well\n")


def test_it_takes_a_token_that_is_given_too(aws: dict[str, str], tmp_path: Path, address: str) -> None:
    _outputs(tmp_path, {"ApiUrl": address})
    assert smoke("--stack", "recollect-staging", RECOLLECT_TOKEN=KEY, **aws).returncode == 0
    without = smoke("--stack", "recollect-staging", **aws)
    assert (without.returncode, without.stderr) == (1, "FAIL the stack has an issuer of yours: set RECOLLECT_TOKEN\n")


def test_of_a_user_that_is_named_only_what_it_wrote_is_deleted(address: str) -> None:
    headers = {"Authorization": f"Bearer {KEY}"}
    body = {"user_id": "anna", "events": [{"content": "I moved to Lyon"}]}
    assert httpx.post(f"{address}/v1/events", json=body, headers=headers).status_code == 201
    done = smoke(address, KEY, "--user", "anna")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "erase" not in done.stdout
    left = httpx.get(f"{address}/v1/users/anna/events", headers=headers).json()["events"]
    assert "I moved to Lyon" in [one["content"] for one in left]


def test_without_a_token_it_asks_what_is_public(aws: dict[str, str]) -> None:
    done = smoke("--stack", "recollect-staging", "--public", **{**aws, "POOL_PASSWORD": "wrong"})
    assert done.returncode == 0
    assert re.findall(r"ok +(.*)", done.stdout) == [
        f"GET {path}" for path in ("/v1/health", "/v1/ready", "/v1/openapi.json", "/docs")
    ]


def test_what_is_wrong_ends_it_with_1_and_says_what(aws: dict[str, str], tmp_path: Path, address: str) -> None:
    refused = smoke(address, "another-key")
    assert refused.returncode == 1
    assert "FAIL POST /v1/events" in refused.stdout
    nobody = smoke("http://127.0.0.1:9")
    assert (nobody.returncode, nobody.stderr.startswith("FAIL no answer")) == (1, True)
    unknown = smoke("--stack", "another", **aws)
    assert (unknown.returncode, unknown.stderr) == (1, "FAIL aws failed: CalledProcessError\n")
    wrong = smoke("--stack", "recollect-staging", **{**aws, "POOL_PASSWORD": "wrong"})
    assert (wrong.returncode, wrong.stderr) == (1, "FAIL sh failed: CalledProcessError\n")
    _outputs(tmp_path, {"TokenCommand": "true"})
    assert smoke("--stack", "recollect-staging", **aws).stderr == "FAIL recollect-staging has no output ApiUrl\n"


@pytest.mark.parametrize("arguments", [[], ["http://127.0.0.1:9", "--stack", "recollect"]], ids=["nothing", "both"])
def test_it_wants_an_address_or_a_stack(arguments: list[str]) -> None:
    assert smoke(*arguments).returncode == 2
