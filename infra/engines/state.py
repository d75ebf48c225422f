"""The state file: which processes were started, on which ports, with their data where, and the settings to export."""

from __future__ import annotations

import json
import os
import shlex
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from infra.engines.process import is_same_process, terminate

DATA_PREFIX = "recollect-engines-"


@dataclass(frozen=True, slots=True)
class RunningEngine:
    """One started process: its id, its birth mark, its loopback port, its log."""

    name: str
    pid: int
    mark: str
    port: int
    log: str

    @property
    def alive(self) -> bool:
        """Whether the process still runs and is the one that was started, not a later one with its number."""
        return is_same_process(self.pid, self.mark)


@dataclass(frozen=True, slots=True)
class State:
    """What `start` leaves behind. `ready` is false while the engines have not all answered yet."""

    folder: str
    versions: str
    engines: tuple[RunningEngine, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    ready: bool = False

    @property
    def usable(self) -> bool:
        """Whether every engine once answered and still lives."""
        return self.ready and bool(self.engines) and all(engine.alive for engine in self.engines)


def load(path: Path) -> State | None:
    """The state at `path`; None if there is none or the file is not one of ours."""
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
        engines = tuple(RunningEngine(**engine) for engine in raw.pop("engines"))
        return State(engines=engines, **raw)
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None


def save(path: Path, state: State) -> None:
    """Write `state`, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_name(f"{path.name}.{os.getpid()}")
    aside.write_text(json.dumps(asdict(state), indent=2) + "\n", encoding="utf-8")
    aside.replace(path)


def discard(path: Path, state: State) -> None:
    """End the processes of `state` that still are its own, remove its data and its file."""
    terminate({engine.pid: engine.mark for engine in state.engines})
    remove_data(Path(state.folder))
    path.unlink(missing_ok=True)


def remove_data(folder: Path) -> None:
    """Remove a temporary data folder; a path that `start` cannot have made is left alone."""
    if folder.is_absolute() and folder.name.startswith(DATA_PREFIX):
        shutil.rmtree(folder, ignore_errors=True)


def export_lines(environment: Mapping[str, str]) -> str:
    """`export NAME=value` lines for a shell."""
    return "\n".join(f"export {name}={shlex.quote(value)}" for name, value in environment.items())
