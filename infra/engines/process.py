"""Processes that outlive the shell: started in a session of their own, known by more than their number."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

TERMINATE_SECONDS = 15.0
KILL_SECONDS = 5.0
_POLL_SECONDS = 0.1

# Children of this very run: the system keeps the number of one that has ended until it is asked about.
_children: dict[int, subprocess.Popen[bytes]] = {}


def spawn(command: Sequence[str], environment: Mapping[str, str], folder: Path, log: Path) -> int:
    """Start `command` detached, its output in `log`; return its process id. Raises `OSError` if it cannot start."""
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            env=dict(environment),
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    _children[process.pid] = process
    return process.pid


def birth_mark(pid: int) -> str | None:
    """What sets this process apart from a later one with the same number: its start time; None if it does not run.

    On Linux the boot's id and the kernel's start tick, elsewhere the start time that `ps` prints.
    """
    if pid in _children:
        _children[pid].poll()
    if Path("/proc/self/stat").exists():
        return _linux_birth_mark(pid)
    answer = subprocess.run(["ps", "-o", "stat=,lstart=", "-p", str(pid)], capture_output=True, text=True, check=False)
    state, _, started = answer.stdout.strip().partition(" ")
    return started.strip() if started and not state.startswith("Z") else None


def is_same_process(pid: int, mark: str) -> bool:
    """Whether `pid` still is the process that bore `mark`."""
    return pid > 0 and birth_mark(pid) == mark


def terminate(processes: Mapping[int, str], *, grace_seconds: float = TERMINATE_SECONDS) -> None:
    """End these processes (id to birth mark) and no others: SIGTERM, then SIGKILL to what is left after the grace."""
    for signal_number, seconds in ((signal.SIGTERM, grace_seconds), (signal.SIGKILL, KILL_SECONDS)):
        left = [pid for pid, mark in processes.items() if is_same_process(pid, mark)]
        for pid in left:
            _signal_session(pid, signal_number)
        _wait_until_gone({pid: processes[pid] for pid in left}, seconds)


def _linux_birth_mark(pid: int) -> str | None:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return None
    # The second field is the program's name in brackets and may itself hold spaces and brackets.
    fields = stat.rpartition(")")[2].split()
    state, start_tick = fields[0], fields[19]
    return None if state in "ZX" else f"{boot}:{start_tick}"


def _signal_session(pid: int, signal_number: int) -> None:
    try:
        os.killpg(pid, signal_number)
    except ProcessLookupError:
        return


def _wait_until_gone(processes: Mapping[int, str], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and any(is_same_process(pid, mark) for pid, mark in processes.items()):
        time.sleep(_POLL_SECONDS)
