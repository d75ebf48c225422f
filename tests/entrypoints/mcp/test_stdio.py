"""`recollect mcp`, as an assistant starts it: a process of its own, talked to by the package's client."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters
from mcp.client import stdio

from entrypoints.cli.running import COMMAND, Home
from entrypoints.mcp.conftest import opened
from entrypoints.mcp.talking import MODES, memories_of, over, remember_and_find, text_of
from recollect.core.scope import Scope


@pytest.fixture(autouse=True)
def patient_client(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that a loaded machine ends in more than the client's two seconds is killed and left behind unwaited."""
    monkeypatch.setattr(stdio, "PROCESS_TERMINATION_TIMEOUT", 60.0)


def server(home: Home, *arguments: str, **changes: str) -> StdioServerParameters:
    environment = home.environment(**changes)
    return StdioServerParameters(command=sys.executable, args=[*COMMAND[1:], "mcp", *arguments], env=environment)


@pytest.mark.parametrize("mode", MODES)
def test_what_is_saved_is_found_and_recalled(tmp_path: Path, mode: str) -> None:
    assert over(server(Home(tmp_path), "--user", "anna"), remember_and_find, mode) == ["Anna lives in Lyon"]
    with opened(tmp_path) as app:
        (memory,) = memories_of(app, Scope("local", "anna"))
    assert (memory.source, memory.metadata["actor"]) == ("inferred", "model")


def test_the_user_may_stand_in_the_environment_and_in_no_argument_of_a_tool(tmp_path: Path) -> None:
    async def talk(client: Client) -> str:
        return text_of(await client.call_tool("save_memory", {"content": "x", "user_id": "bob"}))

    told: str = over(server(Home(tmp_path), RECOLLECT_MCP_USER="anna"), talk)
    assert "user_id: unknown field" in told


@pytest.mark.parametrize("arguments", [(), ("--user", "..")])
def test_without_a_user_it_does_not_start(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    done = Home(tmp_path).run("mcp", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert "--user" in done.stderr


def test_nothing_but_the_protocol_is_written_to_standard_output(tmp_path: Path) -> None:
    """Each line in and out as it is on the wire; logs, a refused line's too, go to standard error."""
    initialize = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    lines: list[dict[str, object]] = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": initialize},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "save_memory", "arguments": {}}},
    ]
    home = Home(tmp_path)
    with subprocess.Popen(
        [*COMMAND, "mcp", "--user", "anna"],
        env=home.environment(RECOLLECT_LOG_LEVEL="DEBUG"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        answers = []
        for line in lines:
            process.stdin.write(json.dumps(line) + "\n")
            process.stdin.flush()
            if "id" in line:
                answers.append(json.loads(process.stdout.readline()))
        rest, log = process.communicate(timeout=30)
    assert [answer["id"] for answer in answers] == [1, 2]
    assert answers[1]["result"]["isError"] is True
    assert (rest, process.returncode) == ("", 0)
    told = [json.loads(line) for line in log.splitlines() if line.startswith("{")]
    assert [(line["tool"], line["status"]) for line in told if line["message"] == "tool"] == [
        ("save_memory", "invalid_parameters")
    ]
