"""The fetched engines: one folder per set of versions, built aside and renamed into place, so it is whole or absent."""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from infra.engines.errors import EngineError, MissingTool
from infra.engines.jvm import require_jvm

HERE = Path(__file__).resolve().parent
VERSITYGW_PACKAGE = "github.com/versity/versitygw/cmd/versitygw"
VERSITYGW_VERSION = "v1.8.0"
GO_MINIMUM = (1, 24)
OPENSEARCH_JAVA = 21
DYNAMODB_JAVA = 17
FETCH_TIMEOUT_SECONDS = 1800
LOG_TAIL_LINES = 25


@dataclass(frozen=True, slots=True)
class JavaEngine:
    """An engine from Maven: its folder (here, with a pom.xml, and in the cache), its main class, its Java."""

    folder: str
    main: str
    java: int


JAVA_ENGINES = (
    JavaEngine("opensearch", "opensearch/LoopbackNode.java", OPENSEARCH_JAVA),
    JavaEngine("opensearch-2.19", "opensearch/LoopbackNode.java", OPENSEARCH_JAVA),
    JavaEngine("dynamodb", "dynamodb/LoopbackServer.java", DYNAMODB_JAVA),
)
# What decides the content of the cache: a change in any of these gives another folder.
_RECIPE = tuple(dict.fromkeys(name for one in JAVA_ENGINES for name in (f"{one.folder}/pom.xml", one.main)))


def cache_root() -> Path:
    """Where fetched engines and the state of running ones lie."""
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser() / "recollect" / "engines"


def versions_hash() -> str:
    """12 hexadecimal digits of everything that decides what is fetched."""
    digest = hashlib.sha256(f"{VERSITYGW_PACKAGE}@{VERSITYGW_VERSION}".encode())
    for name in _RECIPE:
        digest.update((HERE / name).read_bytes())
    return digest.hexdigest()[:12]


def engines_folder() -> Path:
    """The folder of this checkout's versions, whether fetched yet or not."""
    return cache_root() / versions_hash()


def fetch() -> Path:
    """Fetch all engines unless the cache holds them; return their folder.

    Two fetches at once: the second waits for the first and finds its work done. Raises `MissingTool`, `EngineError`.
    """
    target = engines_folder()
    if target.is_dir():
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    with locked(target.with_name(f"{target.name}.lock")):
        if not target.is_dir():
            _build_aside(target)
    return target


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock file at `path`, waiting for whoever has it; the system lets go of it if this process dies."""
    with path.open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def log_tail(log: Path) -> str:
    """The last lines of a log, for a message about a failure."""
    if not log.is_file():
        return "(no log)"
    return "\n".join(log.read_text(encoding="utf-8", errors="replace").splitlines()[-LOG_TAIL_LINES:])


def _build_aside(target: Path) -> None:
    environment = _tool_environment()
    aside = Path(tempfile.mkdtemp(prefix=f"{target.name}.building-", dir=target.parent))
    try:
        with ThreadPoolExecutor(max_workers=2) as pool:
            gateway = pool.submit(_fetch_versitygw, aside, environment)
            pool.submit(_fetch_java_engines, aside, environment).result()
            gateway.result()
        aside.rename(target)
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def _tool_environment() -> dict[str, str]:
    """The environment for Maven and Go, once every tool is known to be there."""
    compiler = require_jvm(OPENSEARCH_JAVA, "OpenSearch", with_compiler=True)
    if not shutil.which("mvn"):
        raise MissingTool(
            "mvn is not on the PATH: install Apache Maven 3.8 or newer (for OpenSearch and DynamoDB Local)"
        )
    _require_go()
    return {"JAVA_HOME": str(compiler.home), **os.environ}


def _require_go() -> None:
    if not shutil.which("go"):
        raise MissingTool("go is not on the PATH: install Go 1.24 or newer (for versitygw)")
    reported = subprocess.run(["go", "version"], capture_output=True, text=True, timeout=60, check=False).stdout
    found = re.search(r"go(\d+)\.(\d+)", reported)
    if not found or (int(found[1]), int(found[2])) < GO_MINIMUM:
        raise MissingTool(f"versitygw needs Go 1.24 or newer (found: {reported.strip() or 'unknown'}): install it")


def _fetch_java_engines(aside: Path, environment: Mapping[str, str]) -> None:
    for engine in JAVA_ENGINES:
        folder = aside / engine.folder
        _copy_dependencies(HERE / engine.folder / "pom.xml", folder / "lib", environment)
        _unpack_plugins(folder / "lib", folder / "plugins")
        _compile(HERE / engine.main, folder, engine.java)


def _copy_dependencies(pom: Path, folder: Path, environment: Mapping[str, str]) -> None:
    goal = ["dependency:copy-dependencies", "-DincludeScope=runtime", f"-DoutputDirectory={folder}"]
    _run(["mvn", "-q", "-B", "-f", str(pom), *goal], environment)
    if not any(folder.glob("*.jar")):
        raise EngineError(f"Maven fetched nothing for {pom.parent.name}")


def _unpack_plugins(lib: Path, plugins: Path) -> None:
    for archive in lib.glob("*.zip"):
        with zipfile.ZipFile(archive) as opened:
            opened.extractall(plugins / archive.stem)
        archive.unlink()


def _compile(source: Path, engine: Path, release: int) -> None:
    javac = require_jvm(OPENSEARCH_JAVA, "OpenSearch", with_compiler=True).javac
    options = ["--release", str(release), "-cp", f"{engine}/lib/*", "-d", f"{engine}/classes"]
    _run([str(javac), *options, str(source)], os.environ)


def _fetch_versitygw(aside: Path, environment: Mapping[str, str]) -> None:
    _run(["go", "install", f"{VERSITYGW_PACKAGE}@{VERSITYGW_VERSION}"], {**environment, "GOBIN": str(aside / "bin")})


def _run(command: Sequence[str], environment: Mapping[str, str]) -> None:
    """Run one step of a fetch, silent unless it fails. Raises `EngineError` with the end of its output."""
    try:
        done = subprocess.run(
            command,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=FETCH_TIMEOUT_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise EngineError(f"{command[0]} did not end within {FETCH_TIMEOUT_SECONDS} s") from error
    if done.returncode:
        tail = "\n".join(done.stdout.splitlines()[-LOG_TAIL_LINES:])
        raise EngineError(f"{command[0]} failed with code {done.returncode}:\n{tail}")
