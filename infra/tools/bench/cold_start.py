"""What a cold function pays: the imports of each built function, and the model's load.

An import is a process of Python 3.13 of its own, whose path holds the built function (`make build`), its layers as
Lambda lays them out, and the standard library; the bare one is `import aws_lambda_powertools, boto3` from the same
layer. All take turns; the best of the rounds counts, since on a busy machine the others say more of the machine.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[3]
BUILD = ROOT / ".aws-sam/build"
BARE = "bare"
_IMPORT = """
import sys, time
sys.path[:0] = sys.argv[2:]
clock = time.perf_counter()
exec(sys.argv[1])
print(time.perf_counter() - clock)
"""
_LOAD = """
import sys, time
from pathlib import Path
from recollect.adapters.embedders.onnx_embedder import OnnxEmbedder
from recollect.core.vectors import TextKind
embedder = OnnxEmbedder(Path(sys.argv[1]), threads=1)
import numpy, onnxruntime
began = time.perf_counter()
embedder.load()
print(time.perf_counter() - began)
embedder.encode(["warm"], TextKind.QUERY)
print(int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / 1e6)
"""
_ENVIRONMENT = {
    "AWS_ACCESS_KEY_ID": "none",
    "AWS_SECRET_ACCESS_KEY": "none",
    "AWS_REGION": "us-east-1",
    "AWS_DEFAULT_REGION": "us-east-1",
    "PATH": "/usr/bin:/bin",
    "RECOLLECT_ENGINES": "aws",
    "RECOLLECT_OPENSEARCH_URL": "https://search.example.com",
}


def cold_start(model: Path, rounds: int) -> dict[str, Any]:
    """Seconds of imports by function, and of loading the model, with the megabytes that the process holds after."""
    if not BUILD.is_dir():
        raise FileNotFoundError("nothing is built: make build")
    loads = [_printed([sys.executable, "-c", _LOAD, str(model)]) for _ in range(max(3, rounds // 3))]
    seconds, megabytes = (min(column) for column in zip(*loads, strict=True))
    return {"imports": _imports(rounds), "model": {"load_seconds": seconds, "resident_mb": megabytes}}


def _imports(rounds: int) -> dict[str, float]:
    python = subprocess.run([ROOT / "infra/sam.sh", "--python"], check=True, capture_output=True, text=True)
    functions = dict(_functions())
    taken: dict[str, list[float]] = {name: [] for name in (BARE, *functions)}
    with tempfile.TemporaryDirectory() as folder:
        opts = {layers: _lay_out(layers, Path(folder) / "-".join(layers)) for layers in set(functions.values())}
        small = min(opts.values(), key=lambda opt: len(opt.name))
        for _ in range(rounds):
            taken[BARE].append(_import_seconds(python.stdout.strip(), "aws_lambda_powertools, boto3", small))
            for name, layers in functions.items():
                taken[name].append(_import_seconds(python.stdout.strip(), "app", opts[layers], BUILD / name))
    return {name.removesuffix("Function").lower(): min(seconds) for name, seconds in taken.items()}


def _functions() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Each function with its layers, as the built template names them."""
    template = yaml.load((BUILD / "template.yaml").read_text("utf-8"), _Loader)
    shared = template.get("Globals", {}).get("Function", {}).get("Layers", [])
    for name, one in template["Resources"].items():
        if one["Type"] == "AWS::Serverless::Function":
            yield name, tuple(_reference(layer) for layer in [*shared, *one["Properties"].get("Layers", [])])


def _reference(layer: dict[str, Any]) -> str:
    """Of `{"Ref": X}`, or of a condition's first branch."""
    return str(layer["Ref"]) if "Ref" in layer else _reference(layer["Fn::If"][1])


class _Loader(yaml.SafeLoader):
    """Reads `!Ref X` as `{"Ref": X}`."""


def _tagged(loader: yaml.SafeLoader, suffix: str, node: yaml.Node) -> Any:
    name = suffix if suffix == "Ref" else f"Fn::{suffix}"
    if isinstance(node, yaml.ScalarNode):
        return {name: loader.construct_scalar(node)}
    return {name: loader.construct_sequence(node, deep=True)} if isinstance(node, yaml.SequenceNode) else None


_Loader.add_multi_constructor("!", _tagged)


def _lay_out(layers: tuple[str, ...], folder: Path) -> Path:
    for layer in layers:
        shutil.copytree(BUILD / layer, folder, dirs_exist_ok=True)
    return folder


def _import_seconds(python: str, modules: str, opt: Path, *folders: Path) -> float:
    model = next(opt.glob("recollect-models/*"), None)
    environment = _ENVIRONMENT | ({"RECOLLECT_MODEL_FOLDER": str(model)} if model else {})
    paths = [*folders, opt / "python"]
    return _printed([python, "-I", "-S", "-c", _IMPORT, f"import {modules}", *map(str, paths)], environment)[0]


def _printed(command: list[str], environment: dict[str, str] | None = None) -> list[float]:
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=environment)
    return [float(line) for line in done.stdout.splitlines() if line.strip()]
