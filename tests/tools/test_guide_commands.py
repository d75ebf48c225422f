"""The `console` blocks of docs/guide: each command is run, here or by a test that names it.

tests/deployment/test_sam_local.py runs those of built functions.

What needs an account is run before an `aws` of the test's own: it knows one stack, with the outputs that the template
gives, and takes no operation or option but those of AWS's own models (botocore's), or, of `logs tail`, of its manual.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from deployment import test_deploying
from deployment.resolving import Stack, in_sam
from deployment.template import template
from entrypoints.cli.running import Home, serving
from infra.engines.process import birth_mark, spawn
from infra.engines.state import RunningEngine, State, save
from recollect.adapters.embedders.building.build import build_model
from recollect.adapters.embedders.model_folder import GENERATION
from tools import test_installation
from tools.pages import BIN, ROOT, blocks

PAGES = {page.stem: blocks(page.read_text("utf-8"), "console") for page in sorted((ROOT / "docs/guide").glob("*.md"))}
AWS = PAGES["3-on-aws"]
CI = (ROOT / ".ci/run").read_text("utf-8")
"""Builds before the tests, some of which run what is built."""
STOP, BUILD, TAIL = "make engines-stop", "make build", "aws logs tail /recollect/recollect/ingest --since 1h"
_STAND_IN = """#!{python}
import argparse, json, os, sys
import jmespath
from botocore import xform_name
from botocore.loaders import Loader
from botocore.model import ServiceModel
service, operation, *rest = sys.argv[1:]
if (service, operation) == ("logs", "tail"):
    tail = argparse.ArgumentParser()
    tail.add_argument("group")
    for option in ("since", "format", "filter-pattern"):
        tail.add_argument(f"--{{option}}")
    tail.add_argument("--follow", action="store_true")
    sys.exit(0 if tail.parse_args(rest).group in os.environ["AWS_LOG_GROUPS"].split() else "there is no such group")
model = ServiceModel(Loader().load_service_model(service, "service-2"), service)
shape = model.operation_model({{xform_name(one, "-"): one for one in model.operation_names}}[operation]).input_shape
options, name = {{}}, ""
for one in rest:
    if one.startswith("--"):
        name = one[2:]
        options[name] = []
    else:
        options[name].append(one)
known = {{xform_name(one, "-"): one for one in shape.members}}
wrong = set(options) - set(known) - {{"region", "query", "output"}}
missing = set(shape.required_members) - {{known.get(one) for one in options}}
if wrong or missing:
    sys.exit(f"aws {{service}} {{operation}}: unknown {{wrong}}, missing {{missing}}")
with open(os.environ["AWS_CALLS"], "a") as calls:
    calls.write(json.dumps([operation, options]) + "\\n")
outputs = [dict(OutputKey=key, OutputValue=value) for key, value in json.load(open(os.environ["AWS_OUTPUTS"])).items()]
answers = {{"describe-stacks": {{"Stacks": [{{"Outputs": outputs}}]}}}}
answers["admin-initiate-auth"] = {{"AuthenticationResult": {{"IdToken": "a-token"}}}}
found = answers.get(operation, {{}})
if "query" in options:
    found = jmespath.search(options["query"][0], found)
print("\\t".join(found) if isinstance(found, list) else found)
"""


def commands(block: str) -> list[str]:
    """The lines behind `$`, without what is said of them."""
    return [line.split("  # ")[0].split("   ")[0].strip() for line in re.findall(r"(?m)^\$ (.*)$", block)]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    return Home(tmp_path_factory.mktemp("home"))


@pytest.fixture(scope="module")
def server(home: Home) -> Iterator[str]:
    with serving(home.environment()) as (address, _):
        yield address


@pytest.fixture
def account(server: str, tmp_path: Path) -> dict[str, str]:
    """An environment whose `aws` knows one stack: that of the template, but with the address of this server."""
    (tmp_path / "aws").write_text(_STAND_IN.format(python=sys.executable), "utf-8")
    (tmp_path / "aws").chmod(0o755)
    outputs = {**Stack(template()).outputs(), "ApiUrl": f"http://{server}"}
    (tmp_path / "outputs.json").write_text(json.dumps(outputs), "utf-8")
    path = f"{tmp_path}{os.pathsep}{BIN}{os.pathsep}{os.environ['PATH']}"
    return {"PATH": path, "AWS_CALLS": f"{tmp_path}/calls", "AWS_OUTPUTS": f"{tmp_path}/outputs.json"}


def shell(code: str, environment: Mapping[str, str], *, goes_well: bool = True) -> str:
    """What it prints, from the root of the checkout."""
    command = ["bash", "-euo", "pipefail", "-c", code]
    done = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode == 0) == goes_well, f"{code}\n{done.stdout}{done.stderr}"
    return done.stdout


def calls_of(account: Mapping[str, str]) -> list[tuple[str, dict[str, list[str]]]]:
    return [tuple(json.loads(line)) for line in Path(account["AWS_CALLS"]).read_text("utf-8").splitlines()]


def test_every_command_is_run_or_stands_in_the_list() -> None:
    written = [one for page in PAGES.values() for block in page for one in commands(block)]
    run = {
        "recollect init",
        "recollect serve",
        *_of_the_account(),
        *(f"make local-invoke EVENT={one}" for one in EVENTS),
        *(f"pip install {one}" for one in test_installation.ON_A_LAPTOP),
        *test_deploying.COMMANDS,
        STOP,
        BUILD,
        TAIL,
    }
    assert set(written) == run


def _of_the_account() -> list[str]:
    """The commands of the two blocks that ask a stack for its outputs."""
    return [one for block in AWS for one in commands(block) if "output" in block]


EVENTS = [found for block in AWS for found in re.findall(r"EVENT=(\S+)", block)]


def test_the_model_is_fetched_and_the_server_answers_where_the_page_says(home: Home, tmp_path: Path) -> None:
    """`recollect init` finds the model that is there; `recollect serve` runs for the tests here, with a port named."""
    model = Path.home() / ".cache/recollect/models" / GENERATION
    build_model(model)
    own = home.environment(RECOLLECT_EMBEDDER="e5", RECOLLECT_MODEL_FOLDER=str(model), RECOLLECT_HOME=str(tmp_path))
    environment = {**own, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"}
    shell("recollect init", environment)
    assert (tmp_path / "recollect.db").is_file()
    assert "8700" in shell("recollect serve --help", environment)


def test_a_newcomer_to_aws_gets_a_token_and_the_smoke_test_is_well(account: dict[str, str]) -> None:
    (block,) = [one for one in AWS if "output()" in one]
    shown = shell("\n".join(commands(block)), account)
    assert shown.endswith("all well\n")
    operations = [operation for operation, _ in calls_of(account)]
    assert [one for one in operations if one != "describe-stacks"] == [
        "admin-create-user", "admin-set-user-password", "admin-add-user-to-group", "admin-initiate-auth",
    ]  # fmt: skip
    given = [options for operation, options in calls_of(account) if operation == "admin-create-user"]
    assert given[0]["user-attributes"] == ["Name=custom:tenant,Value=acme"]


def test_table_and_bucket_are_noted_before_the_stack_is_deleted(account: dict[str, str]) -> None:
    (output,) = [one for block in AWS for one in commands(block) if one.startswith("output()")]
    (block,) = [one for one in AWS if "delete-stack" in one]
    shown = shell("\n".join([output, *commands(block), 'echo "$TABLE $BUCKET"']), account)
    outputs = Stack(template()).outputs()
    assert f"{outputs['TableName']} {outputs['SnapshotBucketName']}" in shown
    assert calls_of(account)[-1] == ("delete-stack", {"stack-name": ["recollect"]})


def test_the_stand_in_takes_nothing_that_aws_does_not(account: dict[str, str]) -> None:
    shell("aws cloudformation describe-stacks --stack recollect", account, goes_well=False)
    shell("aws cloudformation delete-stack", account, goes_well=False)


def test_the_log_that_is_followed_is_a_functions(account: dict[str, str]) -> None:
    groups = [name for kind, name in Stack(template()).names() if kind == "AWS::Logs::LogGroup"]
    environment = {**account, "AWS_LOG_GROUPS": " ".join(groups)}
    shell(TAIL, environment)
    shell(TAIL.replace("ingest", "digest"), environment, goes_well=False)
    shell(f"{TAIL} --from 1h", environment, goes_well=False)


@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
def test_the_engines_that_run_are_ended(tmp_path: Path) -> None:
    """Those of a cache of the test's own; the engines of the other tests go on."""
    pid = spawn([sys.executable, "-c", "import time; time.sleep(60)"], os.environ, tmp_path, tmp_path / "log")
    engine = RunningEngine("s3", pid, str(birth_mark(pid)), 1, "log")
    save(tmp_path / "recollect/engines/run/state.json", State(str(tmp_path), "v", (engine,), ready=True))
    shell(STOP, {**os.environ, "XDG_CACHE_HOME": str(tmp_path)})
    assert not engine.alive


def test_sam_has_the_options_and_the_template_the_parameters_of_a_deployment() -> None:
    lines = [one for block in AWS for one in commands(block) if " deploy " in one]
    asked = {option for line in lines for option in re.findall(r"--[\w-]+", line)}
    given = re.findall(r"(\w+)=(\w+)", " ".join(lines))
    assert given
    for name, value in given:
        assert value in template()["Parameters"][name]["AllowedValues"]
    known = in_sam(
        "from samcli.commands.deploy.command import cli\nprint(*[one for made in cli.params for one in made.opts])", ""
    )
    assert asked <= set(known.split())


@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
def test_make_would_run_what_the_page_says() -> None:
    lines = [one for block in AWS for one in commands(block) if one.startswith("make ")]
    shown = {line: shell(line.replace("make", "make -n", 1), os.environ) for line in lines}
    assert re.search(r"(?m)^begin build .*" + re.escape(shown[BUILD].splitlines()[-1]) + "$", CI), "CI has built it"
    assert all(f"-m infra.local invoke {one}\n" in shown[f"make local-invoke EVENT={one}"] for one in EVENTS)
