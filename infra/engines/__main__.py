"""Real engines for the tests and for a laptop, without Docker: OpenSearch with k-NN, DynamoDB Local, an S3 gateway.

    python3 -m infra.engines fetch | start | stop | status | env   [--state FILE]

`start` fetches what is missing, prints `export NAME=value` lines on the standard output and everything else on the
standard error, so that `eval "$(python3 -m infra.engines start)"` sets up a shell. Exit codes: 0 done,
1 failed or not running, 3 a program must be installed first. Python 3.11 or newer on Linux or macOS, no packages.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from infra.engines.cache import cache_root, engines_folder, fetch, locked, versions_hash
from infra.engines.errors import EngineError
from infra.engines.launch import start_all
from infra.engines.probe import answers
from infra.engines.state import RunningEngine, State, discard, export_lines, load


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one sub-command; return the exit code."""
    options = _parser().parse_args(arguments)
    commands = {"fetch": _fetch, "start": _start, "stop": _stop, "status": _status, "env": _env}
    try:
        return commands[options.command](options.state)
    except EngineError as error:
        _report(str(error))
        return error.exit_code
    except KeyboardInterrupt:
        _report("interrupted")
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python3 -m infra.engines", description="OpenSearch, DynamoDB Local and S3 on loopback."
    )
    parser.add_argument("command", choices=["fetch", "start", "stop", "status", "env"])
    default = cache_root() / "run" / "state.json"
    parser.add_argument("--state", type=Path, default=default, help="state file of the running engines (%(default)s)")
    return parser


def _fetch(_: Path) -> int:
    if engines_folder().is_dir():
        _report(f"engines already in {engines_folder()}")
        return 0
    _report(f"fetching the engines into {engines_folder()} (a few minutes the first time)")
    began = time.monotonic()
    fetch()
    _report(f"fetched in {time.monotonic() - began:.0f} s")
    return 0


def _start(path: Path) -> int:
    path.parent.mkdir(parents=True, exist_ok=True)
    with locked(_lock(path)):
        state = _running(path)
        if state is None:
            _fetch(path)
            state = start_all(engines_folder(), path, _report)
    print(export_lines(state.environment))
    return 0


def _running(path: Path) -> State | None:
    """The engines that run already; what is left of a start that is not whole any more is cleared away."""
    state = load(path)
    if state is None:
        return None
    if state.usable:
        if state.versions != versions_hash():
            _report("the engines that run are of other versions than this checkout's; stop them to change")
        return state
    _report("clearing away engines that do not all run any more")
    discard(path, state)
    return None


def _stop(path: Path) -> int:
    path.parent.mkdir(parents=True, exist_ok=True)
    with locked(_lock(path)):
        state = load(path)
        if state is None:
            _report("no engines are running")
            return 0
        discard(path, state)
    _report("stopped " + ", ".join(engine.name for engine in state.engines))
    return 0


def _status(path: Path) -> int:
    state = load(path)
    if state is None:
        print("no engines are running")
        return 1
    healthy = [_print_status(engine) for engine in state.engines]
    print(f"data in {state.folder}")
    return 0 if state.usable and all(healthy) else 1


def _print_status(engine: RunningEngine) -> bool:
    healthy = engine.alive and answers(engine.name, engine.port)
    condition = "answers" if healthy else "runs, does not answer" if engine.alive else "has ended"
    print(f"{engine.name:<15} 127.0.0.1:{engine.port:<6} pid {engine.pid:<8} {condition}")
    return healthy


def _env(path: Path) -> int:
    state = load(path)
    if state is None or not state.usable:
        _report("no engines are running: start them first")
        return 1
    print(export_lines(state.environment))
    return 0


def _lock(path: Path) -> Path:
    return path.with_name(f"{path.name}.lock")


def _report(message: str) -> None:
    print(message, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
