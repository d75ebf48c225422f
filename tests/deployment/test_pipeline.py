"""The workflow that deploys: what it runs exists, production gets what was approved, and nobody else may."""

import importlib.util
import os
import re
import shlex
import tomllib
from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from botocore import xform_name
from botocore.loaders import Loader

from deployment.resolving import in_sam
from deployment.template import ROOT

PATH = ".github/workflows/deploy.yml"
WORKFLOW: dict[Any, Any] = yaml.safe_load((ROOT / PATH).read_text("utf-8"))
JOBS: dict[str, dict[str, Any]] = WORKFLOW["jobs"]
SAMCONFIG = tomllib.loads((ROOT / "samconfig.toml").read_text("utf-8"))
STACKS = {name: one["global"]["parameters"]["stack_name"] for name, one in SAMCONFIG.items() if name != "version"}

_OPTIONS = """
from samcli.commands.deploy.command import cli
print(*[option for one in cli.params for option in one.opts + one.secondary_opts])
"""


def steps(job: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = JOBS[job]["steps"]
    return found


def script(job: str) -> str:
    return "\n".join(one.get("run", "") for one in steps(job))


def commands(job: str | None = None) -> Iterator[list[str]]:
    """Every simple command of a job, or of all, as words; of `name=$(command)` the command."""
    for name in [job] if job else JOBS:
        for line in script(name).splitlines():
            inner = re.sub(r"^\w+=\$\((.*)\)$", r"\1", line.strip())
            for part in re.split(r"\s(?:\||&&|>>?)\s", inner):
                if part:
                    yield shlex.split(part)


def calling(word: str, job: str | None = None) -> list[list[str]]:
    return [one for one in commands(job) if one[:1] == [word]]


def test_its_jobs_follow_each_other() -> None:
    assert {name: one.get("needs") for name, one in JOBS.items()} == {
        "check": None,
        "staging": "check",
        "changes": "staging",
        "production": "changes",
    }


def test_what_it_runs_of_this_repository_exists_and_may_be_run() -> None:
    own = {one[0] for one in commands() if "/" in one[0]}
    assert own == {".ci/run", "infra/sam.sh", "infra/smoke/smoke.sh"}
    for path in own:
        assert os.access(ROOT / path, os.X_OK), path


def test_its_modules_are_there_and_need_nothing_installed() -> None:
    (module,) = {one[2] for one in calling("python3")}
    found = importlib.util.find_spec(module)
    assert found is not None
    assert found.origin is not None
    imported = re.findall(r"^(?:import|from) (\w+)", (ROOT / found.origin).read_text("utf-8"), re.MULTILINE)
    assert set(imported) <= {"argparse", "json", "sys", "collections", "dataclasses", "pathlib", "typing"}


def test_make_targets_that_it_or_ci_names_exist() -> None:
    text = script("check") + (ROOT / ".ci/run").read_text("utf-8")
    targets = set(re.findall(r"^(?:begin \w+ (?:env \S+ )?|\S+=\S+ )*make -s ([a-z-]+)", text, re.MULTILINE))
    declared = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    assert {"install", "test"} <= targets <= declared


def test_each_environment_of_samconfig_is_deployed_under_its_own_stacks_name() -> None:
    given = [(job, one[one.index("--config-env") + 1]) for job in JOBS for one in calling("infra/sam.sh", job)]
    assert given == [("staging", "staging"), ("changes", "production")]
    named = {job: set(re.findall(r"recollect-[a-z]+", script(job))) for job in JOBS}
    assert named == {
        "check": set(),
        "staging": {STACKS["staging"]},
        "changes": {STACKS["production"]},
        "production": {STACKS["production"]},
    }


def test_sam_knows_every_option() -> None:
    listed = in_sam(_OPTIONS, "")
    given = {word for one in calling("infra/sam.sh") for word in one[2:] if word.startswith("--")}
    assert given <= set(listed.split())
    assert all(one[1] == "deploy" for one in calling("infra/sam.sh"))


def test_cloudformation_knows_every_call() -> None:
    model = Loader().load_service_model("cloudformation", "service-2")
    waiters = Loader().load_service_model("cloudformation", "waiters-2")["waiters"]
    operations = {xform_name(one, "-") for one in model["operations"]}
    called = [one[2:] for one in calling("aws")]
    assert {one[0] for one in called} - {"wait"} <= operations
    assert {one[1] for one in called if one[0] == "wait"} <= {xform_name(one, "-") for one in waiters}
    assert len(called) == 5


def test_production_executes_the_change_set_that_was_shown_and_nothing_else() -> None:
    assert "--no-execute-changeset" in calling("infra/sam.sh", "changes")[0]
    assert calling("infra/sam.sh", "production") == []
    (execution,) = [one for one in calling("aws", "production") if one[2] == "execute-change-set"]
    assert execution[-2:] == ["--change-set-name", "$CHANGE_SET"]
    (step,) = [one for one in steps("production") if "execute-change-set" in one.get("run", "")]
    assert step["env"] == {"CHANGE_SET": "${{ needs.changes.outputs.name }}"}
    assert JOBS["production"]["if"] == "needs.changes.outputs.execution == 'AVAILABLE'"


def test_it_is_shown_and_judged_before_anybody_is_asked() -> None:
    last = steps("changes")[-1]["run"]
    assert last == 'python3 -m infra.tools.change_set change-set.json | tee -a "$GITHUB_STEP_SUMMARY"'
    assert WORKFLOW["defaults"]["run"]["shell"] == "bash", "GitHub's `bash` has pipefail: tee does not hide a refusal"


def test_what_is_tested_is_what_is_deployed() -> None:
    assert ".ci/run" in script("check")
    assert script("check").index(".ci/run") < script("check").index("tar -czf built.tar.gz .aws-sam/build")
    for job in ("staging", "changes"):
        assert "tar -xzf built.tar.gz" in script(job)
        assert "build" not in [word for one in calling("infra/sam.sh", job) for word in one]


def test_each_deploying_job_has_an_environment_of_its_own_which_production_guards() -> None:
    assert {name: one.get("environment") for name, one in JOBS.items()} == {
        "check": None,
        "staging": "staging",
        "changes": "production-changes",
        "production": "production",
    }


def test_credentials_come_by_oidc_and_only_where_aws_is_called() -> None:
    assert WORKFLOW["permissions"] == {"contents": "read"}
    text = (ROOT / PATH).read_text("utf-8")
    assert not re.search(r"AWS_(ACCESS|SECRET)|aws-access-key", text)
    for name, job in JOBS.items():
        given = [one["with"] for one in job["steps"] if "configure-aws-credentials" in one.get("uses", "")]
        calls = bool([*calling("aws", name), *calling("infra/sam.sh", name)])
        assert len(given) == int(calls)
        assert job.get("permissions", {}).get("id-token") == ("write" if calls else None)
        assert all(one["role-to-assume"] == "${{ vars.AWS_ROLE_ARN }}" for one in given)
        assert ("secrets." in str(job)) == (name == "staging")


@pytest.mark.parametrize("job", JOBS)
def test_actions_are_pinned_by_commit_and_jobs_end(job: str) -> None:
    used = [one["uses"] for one in steps(job) if "uses" in one]
    assert used
    assert all(re.fullmatch(r"[a-z-]+/[a-z-]+@[0-9a-f]{40}", one) for one in used)
    assert JOBS[job]["timeout-minutes"] <= 90
    assert all(one["with"]["persist-credentials"] is False for one in steps(job) if "checkout" in one.get("uses", ""))


def test_no_deployment_is_cut_off_by_the_next() -> None:
    assert WORKFLOW["concurrency"] == {"group": "deploy", "cancel-in-progress": False}
    assert list(WORKFLOW[True]["push"]["branches"]) == ["main"]
