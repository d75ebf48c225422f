"""What differs between copies that go on from one start; a start that nobody copies does nothing for it."""

import json
import os
import random
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from embedded.setting import open_memory
from recollect.entrypoints.priming import primed
from recollect.entrypoints.snap_start import INITIALIZATION, renew, renew_in_copies

Hooks = dict[str, list[Any]]


@pytest.fixture
def hooks(monkeypatch: pytest.MonkeyPatch) -> Hooks:
    """What is registered with Lambda's runtime, in whose place this stands."""
    runtime, registered = ModuleType("snapshot_restore_py"), dict[str, list[Any]](before=[], after=[])
    runtime.register_before_snapshot = registered["before"].append  # type: ignore[attr-defined]
    runtime.register_after_restore = registered["after"].append  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "snapshot_restore_py", runtime)
    return registered


@pytest.mark.parametrize("kind", [None, "on-demand", "provisioned-concurrency"])
def test_a_start_that_nobody_copies_registers_nothing(
    kind: str | None, hooks: Hooks, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv(INITIALIZATION, raising=False)
    if kind is not None:
        monkeypatch.setenv(INITIALIZATION, kind)
    memory = open_memory(tmp_path)
    assert renew_in_copies(memory.app) is False
    assert hooks == {"before": [], "after": []}
    memory.app.parts.close()


def test_a_primed_function_disconnects_before_and_renews_after(
    hooks: Hooks, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(INITIALIZATION, "snap-start")
    memory = open_memory(tmp_path)
    primed(memory.app, "ingest")
    assert hooks == {"before": [memory.app.parts.disconnect], "after": [renew]}
    memory.app.parts.close()


_TWO_COPIES = """
import json, os, random
from recollect.core.ids import IdSource
from recollect.entrypoints.snap_start import renew
from recollect.intent.retrieve import _redaction_key
ids = IdSource()
ids.seed(1)
random.seed(7)
def copy():
    reads, writes = os.pipe()
    if os.fork() == 0:
        renew()
        told = {"random": random.random(), "id": ids.seed(2).nth(0), "key": _redaction_key().hex()}
        os.write(writes, json.dumps(told).encode())
        os._exit(0)
    os.wait()
    return json.loads(os.read(reads, 4096))
print(json.dumps([copy(), copy()]))
"""


def test_two_copies_of_one_memory_have_no_chance_in_common() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _TWO_COPIES], capture_output=True, text=True, check=True, env=os.environ
    )
    first, second = json.loads(done.stdout)
    assert {name for name in first if first[name] == second[name]} == set()


def test_without_renewal_they_would_have() -> None:
    """So that the test above can fail."""
    state = random.getstate()
    first = random.random()
    random.setstate(state)
    assert random.random() == first
    random.setstate(state)
    renew()
    assert random.random() != first
