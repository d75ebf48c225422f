"""Start of the engines on free loopback ports, and the wait until each answers."""

from __future__ import annotations

import os
import socket
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from infra.engines.cache import DYNAMODB_JAVA, OPENSEARCH_JAVA, cache_root, log_tail, versions_hash
from infra.engines.errors import EngineError
from infra.engines.jvm import require_jvm
from infra.engines.probe import ACCESS_KEY_ID, REGION, SECRET_ACCESS_KEY, answers
from infra.engines.process import birth_mark, spawn
from infra.engines.state import DATA_PREFIX, RunningEngine, State, discard, save

READY_SECONDS = 180.0
_POLL_SECONDS = 0.25


@dataclass(frozen=True, slots=True)
class Launch:
    """What to run for one engine."""

    name: str
    port: int
    command: Sequence[str]
    environment: Mapping[str, str]


def start_all(engines: Path, state_file: Path, report: Callable[[str], None]) -> State:
    """Start the engines found in `engines` and return their state once each has answered.

    On any failure or interruption those already started are ended and their data removed. Raises `EngineError`,
    with the end of the log of the engine that failed, and `MissingTool`.
    """
    ports = free_ports(4)
    folder = data_folder()
    state = State(str(folder), versions_hash(), (), settings(*ports))
    try:
        for launch in launches(engines, folder, *ports):
            state = replace(state, engines=(*state.engines, _start(launch, folder)))
            # Written before the engines are ready, so that a start cut short leaves nothing unaccounted for.
            save(state_file, state)
        _wait_for_all(state, report)
        state = replace(state, ready=True)
        save(state_file, state)
    except BaseException:
        discard(state_file, state)
        raise
    return state


def launches(engines: Path, folder: Path, opensearch: int, opensearch_2: int, dynamodb: int, s3: int) -> list[Launch]:
    """The engines, the slowest to start first."""
    return [
        _opensearch(engines / "opensearch", folder, opensearch),
        _opensearch(engines / "opensearch-2.19", folder, opensearch_2),
        _dynamodb(engines / "dynamodb", folder, dynamodb),
        _s3(engines / "bin" / "versitygw", folder, s3),
    ]


def settings(opensearch: int, opensearch_2: int, dynamodb: int, s3: int) -> dict[str, str]:
    """The settings that point the package, the AWS SDK and the tests at the engines."""
    return {
        "RECOLLECT_OPENSEARCH_URL": f"http://127.0.0.1:{opensearch}",
        "RECOLLECT_TEST_OPENSEARCH_2_URL": f"http://127.0.0.1:{opensearch_2}",
        "AWS_ENDPOINT_URL_DYNAMODB": f"http://127.0.0.1:{dynamodb}",
        "AWS_ENDPOINT_URL_S3": f"http://127.0.0.1:{s3}",
        "AWS_ACCESS_KEY_ID": ACCESS_KEY_ID,
        "AWS_SECRET_ACCESS_KEY": SECRET_ACCESS_KEY,
        "AWS_REGION": REGION,
        "AWS_DEFAULT_REGION": REGION,
        "RECOLLECT_TEST_ENGINES": "1",
    }


def free_ports(count: int) -> tuple[int, ...]:
    """`count` different ports that nothing on loopback listens on at this moment."""
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return tuple(each.getsockname()[1] for each in sockets)


def data_folder() -> Path:
    """A new temporary folder on a file system with extended attributes, where the S3 gateway keeps its metadata."""
    folder = Path(tempfile.mkdtemp(prefix=DATA_PREFIX))
    if _keeps_attributes(folder):
        return folder
    folder.rmdir()
    cache_root().mkdir(parents=True, exist_ok=True)
    return Path(tempfile.mkdtemp(prefix=DATA_PREFIX, dir=cache_root()))


def _keeps_attributes(folder: Path) -> bool:
    if not hasattr(os, "setxattr"):
        return True
    try:
        os.setxattr(folder, "user.recollect", b"1")
    except OSError:
        return False
    return True


def _opensearch(engine: Path, folder: Path, port: int) -> Launch:
    java = str(require_jvm(OPENSEARCH_JAVA, "OpenSearch").java)
    options = ["-Xms512m", "-Xmx1g", "--enable-native-access=ALL-UNNAMED", "--add-modules", "jdk.incubator.vector"]
    jars = (f"{each}/*" for each in (engine / "lib", *sorted((engine / "plugins").iterdir())))
    node = ["-cp", ":".join([f"{engine}/classes", *jars]), "LoopbackNode"]
    arguments = [str(folder / engine.name), str(port), f"{folder.name}-{engine.name}"]
    return Launch(engine.name, port, [java, *options, *node, *arguments], os.environ)


def _dynamodb(engine: Path, folder: Path, port: int) -> Launch:
    java = str(require_jvm(DYNAMODB_JAVA, "DynamoDB Local").java)
    options = ["-Xmx2g", f"-Djava.library.path={engine}/lib", f"-Djava.io.tmpdir={folder}"]
    server = ["-cp", f"{engine}/classes:{engine}/lib/*", "LoopbackServer"]
    arguments = ["-inMemory", "-port", str(port), "-disableTelemetry"]
    environment = {**os.environ, "DDB_LOCAL_TELEMETRY": "0"}
    return Launch("dynamodb", port, [java, *options, *server, *arguments], environment)


def _s3(gateway: Path, folder: Path, port: int) -> Launch:
    objects, versions = folder / "s3-objects", folder / "s3-versions"
    objects.mkdir()
    versions.mkdir()
    listen = [str(gateway), "--port", f"127.0.0.1:{port}", "--region", REGION]
    storage = ["posix", "--versioning-dir", str(versions), str(objects)]
    keys = {"ROOT_ACCESS_KEY": ACCESS_KEY_ID, "ROOT_SECRET_KEY": SECRET_ACCESS_KEY}
    return Launch("s3", port, [*listen, *storage], {**os.environ, **keys})


def _start(launch: Launch, folder: Path) -> RunningEngine:
    log = folder / f"{launch.name}.log"
    try:
        pid = spawn(launch.command, launch.environment, folder, log)
    except OSError as error:
        raise EngineError(f"{launch.name} did not start: {error}") from error
    mark = birth_mark(pid)
    if mark is None:
        raise EngineError(f"{launch.name} ended at once; the end of its log:\n{log_tail(log)}")
    return RunningEngine(launch.name, pid, mark, launch.port, str(log))


def _wait_for_all(state: State, report: Callable[[str], None]) -> None:
    began = time.monotonic()
    for engine in sorted(state.engines, key=lambda each: each.name.startswith("opensearch")):
        _wait_for(engine, began + READY_SECONDS)
        report(f"{engine.name} answers on 127.0.0.1:{engine.port} after {time.monotonic() - began:.1f} s")


def _wait_for(engine: RunningEngine, deadline: float) -> None:
    while not answers(engine.name, engine.port):
        if not engine.alive:
            raise EngineError(f"{engine.name} ended; the end of its log:\n{log_tail(Path(engine.log))}")
        if time.monotonic() > deadline:
            problem = f"{engine.name} did not answer within {READY_SECONDS:.0f} s"
            raise EngineError(f"{problem}; the end of its log:\n{log_tail(Path(engine.log))}")
        time.sleep(_POLL_SECONDS)
