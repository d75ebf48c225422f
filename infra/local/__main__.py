"""Runs built functions on this machine, over local engines.

    python -m infra.local invoke EVENT     a function with events/EVENT.json, such as ingest.http-events
    python -m infra.local api              the whole API on 127.0.0.1:3000, by `sam local start-api` (needs Docker)

With Docker the SAM CLI runs the functions, and compose.yaml the engines. Without it `invoke` runs the function under
Lambda's own runtime client, over the engines of `make engines`, which are started where none run. Nothing leaves the
machine. Exit codes: 0 done, 1 the function failed, 3 something must be there first.
"""

import argparse
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from infra.local.function_process import (
    BUILD,
    ROOT,
    FunctionProcess,
    NoAnswer,
    install_runtime_client,
    lay_out_opt,
    runtime_python,
)
from infra.local.template import (
    INDEX_PREFIX,
    NAME,
    Endpoints,
    NotBuilt,
    built_template,
    environment,
    function_id,
    layers_of,
    write_local_template,
)

IN_COMPOSE = Endpoints("http://opensearch:9200", "http://dynamodb:8701", "http://s3:8702")
COMPOSE_NETWORK = "recollect-engines_default"
ON_COMPOSE_PORTS = {
    "RECOLLECT_OPENSEARCH_URL": "http://127.0.0.1:9200",
    "AWS_ENDPOINT_URL_DYNAMODB": "http://127.0.0.1:8701",
    "AWS_ENDPOINT_URL_S3": "http://127.0.0.1:8702",
    "AWS_ACCESS_KEY_ID": "recollectlocal",
    "AWS_SECRET_ACCESS_KEY": "recollectlocalsecret",
    "AWS_REGION": "us-east-1",
    "AWS_DEFAULT_REGION": "us-east-1",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one sub-command; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m infra.local", description="Built functions on this machine.")
    commands = parser.add_subparsers(dest="command", required=True)
    invoke_parser = commands.add_parser("invoke", help="one function, with one event")
    invoke_parser.add_argument("event", help="a file of events/, without its ending")
    commands.add_parser("api", help="the whole API")
    given = parser.parse_args(arguments)
    try:
        return serve_api() if given.command == "api" else invoke(given.event)
    except NotBuilt as error:
        print(error, file=sys.stderr)
        return 3


def invoke(event: str) -> int:
    """Prints the function's answer, and its log on the standard error."""
    file = ROOT / "events" / f"{event}.json"
    if not file.is_file():
        raise NotBuilt(f"there is no events/{event}.json; there are: {', '.join(_events())}")
    template = built_template()
    logical_id = function_id(template, event.partition(".")[0])
    if has_docker():
        return _sam_local("invoke", logical_id, "--event", str(file))
    engines = running_engines()
    create(engines)
    return _run(template, logical_id, json.loads(file.read_text("utf-8")), engines)


def _events() -> list[str]:
    return sorted(path.stem for path in (ROOT / "events").glob("*.json"))


def serve_api() -> int:
    """Until it is interrupted."""
    if not has_docker():
        raise NotBuilt("sam local start-api needs Docker; without it `recollect serve` is the same API")
    print("a request names its tenant: curl -H 'X-Recollect-Tenant: acme' 127.0.0.1:3000/…", file=sys.stderr)
    return _sam_local("start-api", "--host", "127.0.0.1", "--port", "3000")


def has_docker() -> bool:
    """Whether a daemon answers."""
    if shutil.which("docker") is None:
        return False
    try:
        return subprocess.run(["docker", "info"], capture_output=True, timeout=20, check=False).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def _sam_local(command: str, *arguments: str) -> int:
    subprocess.run(["docker", "compose", "up", "--wait"], cwd=ROOT, check=True, stdout=sys.stderr)
    create(ON_COMPOSE_PORTS)
    template = write_local_template(IN_COMPOSE)
    # The keys of this shell, which may be real ones, stay out of the containers.
    given = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")} | ON_COMPOSE_PORTS
    return subprocess.run(sam_local(template, command, *arguments), cwd=ROOT, env=given, check=False).returncode


def sam_local(template: Path, command: str, *arguments: str) -> list[str]:
    """The command line of the SAM CLI."""
    options = ["--template", str(template), "--docker-network", COMPOSE_NETWORK]
    return [str(ROOT / "infra/sam.sh"), "local", command, *arguments, *options]


def running_engines() -> Mapping[str, str]:
    """The settings of engines that run: those of this shell, else those of `make engines`, which are started."""
    if {"RECOLLECT_OPENSEARCH_URL", "AWS_ENDPOINT_URL_DYNAMODB", "AWS_ENDPOINT_URL_S3"} <= set(os.environ):
        return {name: os.environ[name] for name in ON_COMPOSE_PORTS if name in os.environ}
    command = [sys.executable, "-m", "infra.engines", "start"]
    done = subprocess.run(command, cwd=ROOT, check=False, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        raise NotBuilt("no engines run, and they could not be started")
    words = (shlex.split(line) for line in done.stdout.splitlines())
    return dict(word.split("=", 1) for _, word in words)


def create(engines: Mapping[str, str]) -> None:
    """Makes table, index and bucket, where they are not there."""
    model = next((BUILD / "EmbedderLayer").glob("recollect-models/*"), None)
    if model is None:
        raise NotBuilt("not all layers are built: make build")
    settings = {
        "RECOLLECT_ENGINES": "aws",
        "RECOLLECT_TABLE": NAME,
        "RECOLLECT_SNAPSHOT_BUCKET": NAME,
        "RECOLLECT_INDEX_PREFIX": INDEX_PREFIX,
        "RECOLLECT_MODEL_FOLDER": str(model),
        "RECOLLECT_CALL_TIMEOUT_SECONDS": "30",
    }
    command = [sys.executable, "-c", "from recollect.bootstrap import open_app; open_app().parts.create()"]
    subprocess.run(command, env={"PATH": os.environ["PATH"], **_path(), **settings, **engines}, check=True)


def _path() -> dict[str, str]:
    return {"PYTHONPATH": str(ROOT / "layers/memory")}


def _run(template: Mapping[str, Any], logical_id: str, event: Any, engines: Mapping[str, str]) -> int:
    """Under Lambda's runtime client."""
    properties = template["Resources"][logical_id]["Properties"]
    layers = [*(one["Ref"] for one in template["Globals"]["Function"]["Layers"]), *layers_of(template, logical_id)]
    interpreter = runtime_python()
    with tempfile.TemporaryDirectory(dir=BUILD.parent, prefix="opt-") as folder:
        opt, log = lay_out_opt(layers, Path(folder) / "opt"), Path(folder) / "log"
        process = FunctionProcess(logical_id.removesuffix("Function").lower(), properties["Timeout"], log)
        process.start(
            interpreter, opt, install_runtime_client(interpreter), _variables(template, logical_id, opt, engines)
        )
        try:
            return _told(process, event)
        finally:
            process.stop()


def _variables(template: Mapping[str, Any], logical_id: str, opt: Path, engines: Mapping[str, str]) -> dict[str, str]:
    endpoints = Endpoints(
        engines["RECOLLECT_OPENSEARCH_URL"], engines["AWS_ENDPOINT_URL_DYNAMODB"], engines["AWS_ENDPOINT_URL_S3"]
    )
    # On Lambda the folder is found under /opt, which cannot be written here.
    models = [path for path in opt.glob("recollect-models/*") if path.is_dir()]
    own = {"RECOLLECT_MODEL_FOLDER": str(models[0])} if models else {}
    return {**environment(template, logical_id, endpoints), **engines, **own}


def _told(process: FunctionProcess, event: Any) -> int:
    try:
        outcome = process.outcome(event)
    except NoAnswer as error:
        print(error, file=sys.stderr)
        return 1
    print(process.log, file=sys.stderr)
    print(json.dumps(outcome.answer if outcome.error is None else outcome.error, ensure_ascii=False, indent=2))
    return 0 if outcome.error is None else 1


if __name__ == "__main__":
    sys.exit(main())
