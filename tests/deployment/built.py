"""What `sam build` made, laid out as Lambda lays it out, and a function of it in a clean interpreter."""

import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deployment.gateway import Gateway
from deployment.resolving import Stack
from deployment.template import FUNCTIONS, ROOT, environment, function, layers, properties, resources, template
from infra.local import function_process
from infra.local.function_process import FunctionProcess, install_runtime_client
from infra.local.runtime_api import Outcome

BUILD, python = function_process.BUILD, function_process.runtime_python

LAYERS = tuple(resources("AWS::Serverless::LayerVersion"))
LEFT_OUT = ("contracts/", "adapters/embedders/building/")
"""Of the package in the memory layer: tests' suites, and what builds the model."""


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
    missing = [name for name in LAYERS if not (BUILD / name).is_dir()]
    return f"{missing[0]} is not built" if missing else None


def _same(source: Path, built: Path) -> bool:
    return built.is_file() and source.read_bytes() == built.read_bytes()


def build() -> None:
    """Runs `sam build`. Raises CalledProcessError with its output."""
    subprocess.run([ROOT / "infra/sam.sh", "build"], check=True, capture_output=True, text=True)


def lay_out_opt(name: str, folder: Path) -> Path:
    """Lays a function's layers over each other, as Lambda does under /opt; raises where two hold one file."""
    return function_process.lay_out_opt(layers(name), folder)


def unpacked_bytes(*folders: Path) -> int:
    files = (path for folder in folders for path in folder.rglob("*") if path.is_file())
    return sum(path.stat().st_size for path in files)


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
    """A function's environment: the template's with its references filled in, the services' endpoints."""
    resolved = {key: _resolved(value, deployment) for key, value in environment(name).items()}
    # A busy test machine answers late; what a late answer leads to is tested with services taken away.
    resolved |= {"RECOLLECT_OPENSEARCH_URL": gateway.url, "RECOLLECT_CALL_TIMEOUT_SECONDS": "8"}
    models = [path for path in opt.glob("recollect-models/*") if path.is_dir()]
    # On Lambda the folder is found under /opt, which a test cannot write.
    resolved |= {"RECOLLECT_MODEL_FOLDER": str(models[0])} if models else {}
    endpoints = {
        f"AWS_ENDPOINT_URL_{service}": gateway.url
        for service in ("DYNAMODB", "S3", "EVENTBRIDGE", "SSM", "BEDROCK_RUNTIME", "LAMBDA")
    }
    memory = str(function(name)["MemorySize"])
    return {**resolved, **endpoints, **deployment.credentials, "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": memory}


def _resolved(value: Any, deployment: Deployment) -> str:
    if isinstance(value, dict) and "Fn::If" in value:
        condition, then, otherwise = value["Fn::If"]
        holds = Stack(template(), parameters=deployment.names).holds(condition)
        return _resolved(then if holds else otherwise, deployment)
    if isinstance(value, dict) and "Fn::GetAtt" in value:
        return _resolved(properties(value["Fn::GetAtt"][0])["Value"], deployment)
    if not isinstance(value, dict) or "Ref" not in value:
        return str(value)
    parameter = template()["Parameters"].get(value["Ref"], {})
    return deployment.names.get(value["Ref"]) or str(parameter["Default"])


class RunningFunction:
    """A built function in a process of its own, behind a gateway."""

    def __init__(self, name: str, gateway: Gateway, log: Path) -> None:
        self.name, self.gateway = name, gateway
        self._process = FunctionProcess(name, float(function(name)["Timeout"]), log)

    def start(self, interpreter: str, opt: Path, runtime: Path, given: dict[str, str]) -> None:
        """Begins the process; what goes wrong shows at the first invocation."""
        self._process.start(interpreter, opt, runtime, given)

    def stop(self) -> None:
        self._process.stop()

    def invoke(self, event: Any) -> Any:
        """The function's answer. Fails the test where it raises, or does not start, with what it said."""
        outcome = self.outcome(event)
        assert outcome.error is None, f"{outcome.error}\n{self.log}"
        return outcome.answer

    def outcome(self, event: Any) -> Outcome:
        """How the invocation ended, within the function's time."""
        return self._process.outcome(event)

    @property
    def log(self) -> str:
        return self._process.log
