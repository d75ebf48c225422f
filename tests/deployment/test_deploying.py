"""The deployments of the guide, run as they stand: script, SAM CLI, template and configuration of this checkout.

The account is an endpoint of the test's own, which answers what SAM asks of CloudFormation and S3, in CloudFormation's
words (its API reference, query protocol). The code of functions and layers is a file
each: tests of built artifacts run it.
"""

import os
import re
import shlex
import shutil
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import IO
from urllib.parse import parse_qs

import pytest

from deployment.resolving import NEEDS_SAM, SAM_PYTHON, Stack
from deployment.template import ROOT, template
from tools.pages import blocks

PAGE = (ROOT / "docs/guide/3-on-aws.md").read_text("utf-8")
COMMANDS = [
    line
    for block in blocks(PAGE, "console")
    for line in re.findall(r"(?m)^\$ (infra/sam\.sh deploy .*?)(?:  |$)", block)
]
_SOURCE = re.compile(r"(?m)^\s+(?:CodeUri|ContentUri): (\S+)$")
_MANAGED = "aws-sam-cli-managed-default"
_ID = "arn:aws:cloudformation:eu-west-3:1:{}/recollect/1"
_BUCKET = (
    "<Tags><member><Key>ManagedStackSource</Key><Value>AwsSamCli</Value></member></Tags><Outputs><member>"
    "<OutputKey>SourceBucket</OutputKey><OutputValue>for-sam</OutputValue></member></Outputs>"
)
_EVENT = (
    "<StackId>1</StackId><PhysicalResourceId>1</PhysicalResourceId><StackName>recollect</StackName>"
    "<LogicalResourceId>recollect</LogicalResourceId><ResourceType>AWS::CloudFormation::Stack</ResourceType>"
)


class Account(BaseHTTPRequestHandler):
    """`changes` are the sets of changes that were asked for; `stack` is the status of what was made of them."""

    changes: list[dict[str, str]]
    stack = ""
    done = 0

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"])).decode()
        given = {name: values[0] for name, values in parse_qs(body).items()}
        name = given["Action"]
        answer = getattr(self, f"_{name}")(given)
        if answer is None:
            missing = f"Stack with id {given['StackName']} does not exist"
            error = f"<Code>ValidationError</Code><Message>{missing}</Message>"
            self._send(400, f"<ErrorResponse><Error><Type>Sender</Type>{error}</Error></ErrorResponse>")
            return
        self._send(200, f"<{name}Response><{name}Result>{answer}</{name}Result></{name}Response>")

    def _DescribeStacks(self, given: dict[str, str]) -> str | None:
        managed = given["StackName"] == _MANAGED
        if not managed and not (given["StackName"] == "recollect" and type(self).stack):
            return None
        status = "CREATE_COMPLETE" if managed else type(self).stack
        about = f"<StackName>{given['StackName']}</StackName><StackStatus>{status}</StackStatus>"
        when = "<CreationTime>2026-01-01T00:00:00Z</CreationTime>"
        return f"<Stacks><member>{about}{when}{_BUCKET if managed else ''}</member></Stacks>"

    def _CreateChangeSet(self, given: dict[str, str]) -> str:
        self.changes.append(given)
        return f"<Id>{_ID.format('changeSet')}</Id><StackId>{_ID.format('stack')}</StackId>"

    def _DescribeChangeSet(self, _given: dict[str, str]) -> str:
        change = "<Action>Add</Action><LogicalResourceId>Table</LogicalResourceId><ResourceType>T</ResourceType>"
        changes = f"<Changes><member><ResourceChange>{change}</ResourceChange></member></Changes>"
        return f"<Status>CREATE_COMPLETE</Status>{changes}"

    def _ExecuteChangeSet(self, _given: dict[str, str]) -> str:
        type(self).stack, type(self).done = f"{self.changes[-1]['ChangeSetType']}_COMPLETE", self.done + 1
        return ""

    def _DescribeStackEvents(self, _given: dict[str, str]) -> str:
        """The newest: the end of what was done last, in a year of its own."""
        number, status = self.done, type(self).stack or "REVIEW_IN_PROGRESS"
        when = f"<EventId>{number}</EventId><Timestamp>{2100 + number}-01-01T00:00:00Z</Timestamp>"
        return f"<StackEvents><member>{_EVENT}{when}<ResourceStatus>{status}</ResourceStatus></member></StackEvents>"

    def _GetCallerIdentity(self, _given: dict[str, str]) -> str:
        return "<Account>1</Account>"

    def _GetTemplateSummary(self, _given: dict[str, str]) -> str:
        keys = (f"<member><ParameterKey>{name}</ParameterKey></member>" for name in template()["Parameters"])
        return f"<Parameters>{''.join(keys)}</Parameters>"

    def do_PUT(self) -> None:
        self.rfile.read(int(self.headers.get("content-length", 0)))
        self._send(200, "")

    def do_HEAD(self) -> None:
        self._send(404, "")

    def do_GET(self) -> None:
        self._send(200, "<LocationConstraint>eu-west-3</LocationConstraint>")

    def _send(self, status: int, body: str) -> None:
        self.send_response(status)
        self.send_header("content-length", str(len(body)))
        self.send_header("etag", '"1"')
        self.end_headers()
        self.wfile.write(body.encode() if self.command != "HEAD" else b"")

    def log_message(self, format: str, *args: object) -> None:
        """Nothing."""


@pytest.fixture
def account() -> Iterator[tuple[str, type[Account]]]:
    """Its address, and what became of it."""
    made = type("Own", (Account,), {"changes": [], "protocol_version": "HTTP/1.1"})
    server = ThreadingHTTPServer(("127.0.0.1", 0), made)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", made
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """The script, the configuration and the template, with a file in the place of each function's and layer's code."""
    if not SAM_PYTHON.exists():
        if os.environ.get("RECOLLECT_REQUIRE_BUILT") == "1":
            pytest.fail("SAM is required here; make build installs it", pytrace=False)
        pytest.skip(NEEDS_SAM)
    for name in ("infra/sam.sh", "samconfig.toml", "template.yaml"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy2(ROOT / name, tmp_path / name)
    for source in _SOURCE.findall((tmp_path / "template.yaml").read_text("utf-8")):
        (tmp_path / source).mkdir(parents=True)
        (tmp_path / source / "app.py").touch()
    (tmp_path / "build").mkdir()
    (tmp_path / "build/sam-venv").symlink_to(SAM_PYTHON.parents[1])
    (tmp_path / ".aws").mkdir()
    (tmp_path / ".aws/config").write_text("[default]\nregion = eu-west-3\n")
    return tmp_path


def deployed(checkout: Path, address: str, command: str) -> str:
    """What it prints to somebody who takes what is proposed, and answers y to the last question."""
    own = {"HOME": str(checkout), "AWS_ENDPOINT_URL": address, "RECOLLECT_PYTHON313": str(SAM_PYTHON)}
    keys = {
        "SAM_CLI_POLL_DELAY": "0.1",
        "AWS_ACCESS_KEY_ID": "a",
        "AWS_SECRET_ACCESS_KEY": "b",
        "PATH": "/usr/bin:/bin",
    }
    process = subprocess.Popen(
        shlex.split(command), cwd=checkout, env=own | keys,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, bufsize=0,
    )  # fmt: skip
    assert process.stdin is not None
    assert process.stdout is not None
    shown = _answered(process.stdin, process.stdout)
    process.stdin.close()
    process.stdout.close()
    assert process.wait(60) == 0, shown
    return shown


def _answered(stdin: IO[bytes], stdout: IO[bytes]) -> str:
    shown = ""
    while part := stdout.read(65_536):
        shown += part.decode()
        if shown.endswith("]: "):
            stdin.write(b"y\n" if "Deploy this changeset?" in shown.splitlines()[-1] else b"\n")
    return shown


def test_the_deployments_of_the_guide_end_well(checkout: Path, account: tuple[str, type[Account]]) -> None:
    address, own = account
    first, later = COMMANDS
    shown = deployed(checkout, address, first)
    assert "Successfully created/updated stack - recollect in eu-west-3" in shown
    deployed(checkout, address, later)
    assert [one["ChangeSetType"] for one in own.changes] == ["CREATE", "UPDATE"]
    given = [parameters_of(one) for one in own.changes]
    assert [one["SearchEngine"] for one in given] == ["table", "domain"]
    for one in given:
        assert one.get("Architecture", "x86_64") == "x86_64", "as it is deployed already, else as it is built"
        assert Stack(template(), parameters=one).refusals() == []


def parameters_of(change: dict[str, str]) -> dict[str, str]:
    """The parameters of a set of changes, without those that stay as they were."""
    named = {name: value for name, value in change.items() if name.endswith("ParameterKey")}
    found = {value: change.get(name.replace("ParameterKey", "ParameterValue")) for name, value in named.items()}
    return {name: value for name, value in found.items() if value is not None}
