"""What `sam build` made, laid out as Lambda lays it out, and a function of it in a clean interpreter."""

import hashlib
import os
import shutil
import subprocess
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from queue import Empty
from typing import Any

from deployment.gateway import Gateway
from deployment.resolving import Stack
from deployment.runtime_api import Outcome, RuntimeApi
from deployment.template import FUNCTIONS, ROOT, environment, function, layers, template

BUILD = ROOT / ".aws-sam/build"
LAYER_SOURCES = {
    "MemoryLayer": "layers/memory",
    "DependenciesLayer": "layers/dependencies",
    "EmbedderLayer": "layers/embedder",
    "McpLayer": "layers/mcp",
}
LEFT_OUT = ("contracts/", "adapters/embedders/building/")
"""Of the package in the memory layer: tests' suites, and what builds the model."""

# -I and -S leave the standard library alone on the path; then what Lambda puts there, in its order.
PRELUDE = """
import sys
task, opt, runtime, handler = sys.argv[1:]
sys.path[:0] = [task, opt + "/python"]
sys.path.append(runtime)
from awslambdaric.__main__ import main
main(["bootstrap", handler])
"""


def staleness() -> str | None:
    """What of the build is missing, or older than the source; None where all is as it would be built now."""
    for name in FUNCTIONS:
        built = BUILD / f"{name.capitalize()}Function" / "app.py"
        if not _same(ROOT / "functions" / name / "app.py", built):
            return f"functions/{name} is not built as it is"
    package = ROOT / "layers/memory/recollect"
    for source in package.rglob("*.py"):
        place = source.relative_to(package)
        if not place.as_posix().startswith(LEFT_OUT) and not _same(
            source, BUILD / "MemoryLayer/python/recollect" / place
        ):
            return f"recollect/{place} is not built as it is"
    missing = [name for name in LAYER_SOURCES if not (BUILD / name / "python").is_dir()]
    return f"{missing[0]} is not built" if missing else None


def _same(source: Path, built: Path) -> bool:
    return built.is_file() and source.read_bytes() == built.read_bytes()


def build() -> None:
    """Runs `sam build`. Raises CalledProcessError with its output."""
    subprocess.run([ROOT / "infra/sam.sh", "build"], check=True, capture_output=True, text=True)


def python() -> str:
    found = subprocess.run([ROOT / "infra/sam.sh", "--python"], check=True, capture_output=True, text=True)
    return found.stdout.strip()


def lay_out_opt(name: str, folder: Path) -> Path:
    """Lays a function's layers over each other, as Lambda does under /opt; raises where two hold one file."""
    for layer in layers(name):
        shutil.copytree(BUILD / layer, folder, dirs_exist_ok=True, copy_function=_link)
    return folder


def _link(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except FileExistsError:
        raise AssertionError(f"two layers hold {Path(target).name}: {source}") from None
    except OSError:
        shutil.copy2(source, target)


def unpacked_bytes(*folders: Path) -> int:
    files = (path for folder in folders for path in folder.rglob("*") if path.is_file())
    return sum(path.stat().st_size for path in files)


def install_runtime_client(interpreter: str) -> Path:
    """Lambda's runtime client for that Python, in a folder of its own; fetched once."""
    wanted = f"awslambdaric=={version('awslambdaric')}"
    folder = ROOT / "build" / f"runtime-client-{hashlib.sha256((wanted + interpreter).encode()).hexdigest()[:12]}"
    if not folder.exists():
        part = folder.with_suffix(f".{os.getpid()}")
        options = ["--quiet", "--disable-pip-version-check", "--root-user-action=ignore", "--only-binary=:all:"]
        subprocess.run([interpreter, "-m", "pip", "install", *options, "--target", str(part), wanted], check=True)
        _put_in_place(part, folder)
    return folder


def _put_in_place(part: Path, folder: Path) -> None:
    """Renames; another process of the same run may have been first, and made the same."""
    try:
        part.rename(folder)
    except OSError:
        if not folder.exists():
            raise
        shutil.rmtree(part)


@dataclass(frozen=True, slots=True)
class Deployment:
    """Names that the template's references stand for in a test, and where the engines are."""

    names: Mapping[str, str]
    upstream: dict[str, str]
    credentials: dict[str, str]


def started(name: str, deployment: Deployment, gateway: Gateway, opt: Path, log: Path) -> "RunningFunction":
    interpreter = python()
    running = RunningFunction(name, gateway, log)
    running.start(interpreter, opt, install_runtime_client(interpreter), variables(name, deployment, gateway, opt))
    return running


def variables(name: str, deployment: Deployment, gateway: Gateway, opt: Path) -> dict[str, str]:
    """A function's environment: the template's with its references filled in, the services' endpoints, Lambda's own."""
    resolved = {key: _resolved(value, deployment) for key, value in environment(name).items()}
    # A busy test machine answers late; what a late answer leads to is tested with services taken away.
    resolved |= {"RECOLLECT_OPENSEARCH_URL": gateway.url, "RECOLLECT_CALL_TIMEOUT_SECONDS": "8"}
    models = [path for path in opt.glob("recollect-models/*") if path.is_dir()]
    # On Lambda the folder is found under /opt, which a test cannot write.
    resolved |= {"RECOLLECT_MODEL_FOLDER": str(models[0])} if models else {}
    endpoints = {
        f"AWS_ENDPOINT_URL_{service}": gateway.url
        for service in ("DYNAMODB", "S3", "EVENTBRIDGE", "SSM", "BEDROCK_RUNTIME")
    }
    return {**resolved, **endpoints, **deployment.credentials, **_of_lambda(name)}


def _resolved(value: Any, deployment: Deployment) -> str:
    if isinstance(value, dict) and "Fn::If" in value:
        condition, then, otherwise = value["Fn::If"]
        holds = Stack(template(), parameters=deployment.names).holds(condition)
        return _resolved(then if holds else otherwise, deployment)
    if not isinstance(value, dict) or "Ref" not in value:
        return str(value)
    parameter = template()["Parameters"].get(value["Ref"], {})
    return deployment.names.get(value["Ref"]) or str(parameter["Default"])


def _of_lambda(name: str) -> dict[str, str]:
    return {
        "AWS_EXECUTION_ENV": "AWS_Lambda_python3.13",
        "AWS_LAMBDA_FUNCTION_NAME": name,
        "AWS_LAMBDA_FUNCTION_VERSION": "$LATEST",
        "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": str(function(name)["MemorySize"]),
        "AWS_LAMBDA_INITIALIZATION_TYPE": "on-demand",
        "LAMBDA_TASK_ROOT": str(BUILD / f"{name.capitalize()}Function"),
        "LANG": "en_US.UTF-8",
        "PATH": "/usr/bin:/bin",
        "TZ": ":UTC",
    }


class RunningFunction:
    """A built function in a process of its own; a context manager."""

    def __init__(self, name: str, gateway: Gateway, log: Path) -> None:
        self.name, self.gateway = name, gateway
        self._log = log
        self._api = RuntimeApi()
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, interpreter: str, opt: Path, runtime: Path, given: dict[str, str]) -> None:
        """Begins the process; what goes wrong shows at the first invocation."""
        self._api.__enter__()
        task = given["LAMBDA_TASK_ROOT"]
        command = [interpreter, "-I", "-S", "-c", PRELUDE, task, str(opt), str(runtime), "app.handler"]
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                command,
                cwd=task,
                env={**given, "AWS_LAMBDA_RUNTIME_API": self._api.address},
                stdout=log,
                stderr=subprocess.STDOUT,
            )

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        self._api.__exit__()

    def invoke(self, event: Any) -> Any:
        """The function's answer. Fails the test where it raises, or does not start, with what it said."""
        outcome = self.outcome(event)
        assert outcome.error is None, f"{outcome.error}\n{self.log}"
        return outcome.answer

    def outcome(self, event: Any) -> Outcome:
        """How the invocation ended, within the function's time."""
        timeout = float(function(self.name)["Timeout"])
        result, deadline = self._api.hand_over(event, timeout), time.monotonic() + timeout
        while time.monotonic() < deadline and self._running:
            with suppress(Empty):
                return result.get(timeout=0.2)
        raise AssertionError(f"{self.name} gave no answer: {self._api.start_error or 'out of time'}\n{self.log}")

    @property
    def _running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    @property
    def log(self) -> str:
        return self._log.read_text("utf-8", errors="replace")
