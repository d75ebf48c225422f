"""What a cold function pays: its start and first answer (`first_answer`), a bare start, and the model's load.

The bare one is `import aws_lambda_powertools, boto3` from the same layer, in a process of Python 3.13 of its own.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[3]
BUILD = ROOT / ".aws-sam/build"
_IMPORT = """
import sys, time
sys.path[:0] = sys.argv[2:]
clock = time.process_time()
exec(sys.argv[1])
print(time.process_time() - clock)
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
embedder.encode(["warm"], TextKind.QUESTION)
print(int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / 1e6)
"""


def cold_start(model: Path, rounds: int) -> dict[str, Any]:
    """Processor seconds of a bare start, and of loading the model, with the megabytes that the process holds after."""
    if not BUILD.is_dir():
        raise FileNotFoundError("nothing is built: make build")
    loads = [_printed([sys.executable, "-c", _LOAD, str(model)]) for _ in range(max(3, rounds))]
    seconds, megabytes = (min(column) for column in zip(*loads, strict=True))
    return {"bare_seconds": _bare(rounds), "model": {"load_seconds": seconds, "resident_mb": megabytes}}


def interpreter() -> str:
    """The Python that functions run on."""
    found = subprocess.run([ROOT / "infra/sam.sh", "--python"], check=True, capture_output=True, text=True)
    return found.stdout.strip()


def _bare(rounds: int) -> float:
    command = [interpreter(), "-I", "-S", "-c", _IMPORT, "import aws_lambda_powertools, boto3"]
    return min(_printed([*command, str(BUILD / "DependenciesLayer/python")])[0] for _ in range(rounds))


def built_functions() -> Iterator[tuple[str, tuple[str, ...]]]:
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


def lay_out(layers: tuple[str, ...], folder: Path) -> Path:
    """The layers over each other in that folder, as Lambda lays them under /opt."""
    for layer in layers:
        shutil.copytree(BUILD / layer, folder, dirs_exist_ok=True)
    return folder


def _printed(command: list[str]) -> list[float]:
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return [float(line) for line in done.stdout.splitlines() if line.strip()]
