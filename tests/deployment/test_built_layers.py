"""What was built fits Lambda: size, architecture, and nothing from outside it."""

import json
import re
import subprocess
from pathlib import Path

import pytest

from deployment.built import BUILD, LAYERS, python, unpacked_bytes
from deployment.conftest import Opt
from deployment.template import FUNCTIONS, ROOT, layers
from recollect.adapters.embedders.model_folder import GENERATION, verify_folder

pytestmark = [pytest.mark.built]

LIMIT_BYTES = 250_000_000
MACHINES = {"x86_64": 0x3E, "arm64": 0xB7}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_and_its_layers_fit(built: Path, name: str) -> None:
    assert unpacked_bytes(*(built / part for part in [f"{name.capitalize()}Function", *layers(name)])) < LIMIT_BYTES


@pytest.mark.parametrize("name", ["mcp", "project", "context"])
def test_the_sizes_that_the_documents_name_are_those_of_the_build(built: Path, name: str) -> None:
    found = re.search(rf"`{name}` (\d+)", (ROOT / "docs/dependencies.md").read_text("utf-8"))
    assert found is not None
    size = unpacked_bytes(*(built / part for part in [f"{name.capitalize()}Function", *layers(name)]))
    assert int(found[1]) == pytest.approx(size / 1e6, abs=3)


def test_the_services_that_functions_call_are_described_and_no_others(built: Path) -> None:
    calls = [
        name
        for path in (ROOT / "layers/memory/recollect").rglob("*.py")
        if "entrypoints/cli" not in path.as_posix()
        for name in re.findall(r"\bboto3(?:\.Session\(\))?\.client\(\s*\"([a-z0-9-]+)\"", path.read_text("utf-8"))
    ]
    described = (built / "DependenciesLayer/python/botocore/data").iterdir()
    assert {path.name for path in described if path.is_dir()} == set(calls), "SERVICES in layers/dependencies/Makefile"


def test_no_two_layers_of_a_function_hold_one_file(opt: Opt) -> None:
    """Lambda would lay the later over the earlier, and a package of two versions might stand there."""
    assert set(opt) == set(FUNCTIONS)


def test_a_layer_holds_its_model_alone_and_others_may_read_it(built: Path) -> None:
    folder = built / "EmbedderLayer/recollect-models"
    assert [path.name for path in folder.iterdir()] == [GENERATION]
    assert verify_folder(folder / GENERATION).generation == GENERATION
    assert all(path.stat().st_mode & 0o004 for path in (folder / GENERATION).iterdir())


def test_what_builds_the_model_is_in_no_layer(built: Path) -> None:
    assert not (built / "MemoryLayer/python/recollect/adapters/embedders/building").exists()


def test_layers_hold_no_sources_of_builds_and_no_tests(built: Path) -> None:
    unwanted = ("*.h", "*.a", "*.c", "*.pyx", "tests/*.py")
    assert not [path for layer in LAYERS for name in unwanted for path in (built / layer).rglob(name)]


def test_native_code_is_of_one_architecture(built: Path) -> None:
    machines = {_machine(path) for layer in LAYERS for path in (built / layer).rglob("*.so*")}
    assert len(machines) == 1
    assert machines < set(MACHINES.values())


def _machine(library: Path) -> int:
    return int.from_bytes(library.read_bytes()[18:20], "little")


@pytest.mark.parametrize("layer", sorted(LAYERS))
def test_modules_are_compiled_ahead(built: Path, layer: str) -> None:
    """Under /opt nothing can be written: what is not compiled here is compiled at every cold start."""
    sources = [path for path in (built / layer / "python").rglob("*.py") if path.stat().st_size]
    compiled = {path.name.partition(".")[0] for path in (built / layer).rglob("__pycache__/*.cpython-313.pyc")}
    assert {path.stem.partition(".")[0] for path in sources} - compiled == set()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_all_that_a_function_imports_is_in_the_build_or_the_standard_library(opt: Opt, name: str) -> None:
    task, site = BUILD / f"{name.capitalize()}Function", opt[name] / "python"
    mcp = "import mangum, recollect.entrypoints.mcp.server\n" if name == "mcp" else ""
    script = (
        "import sys; sys.path[:0] = sys.argv[1:]\n"
        "import json, recollect.bootstrap.aws_parts, recollect.entrypoints.lambda_handlers\n"
        f"import recollect.entrypoints.http.aws, recollect.entrypoints.projection_runs\n{mcp}"
        "print(json.dumps([m.__file__ for m in list(sys.modules.values()) if getattr(m, '__file__', None)]))"
    )
    command = [python(), "-I", "-S", "-c", script, str(task), str(site)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd="/")
    files = [Path(file) for file in json.loads(done.stdout)]
    assert any(file.is_relative_to(site / "recollect") for file in files)
    assert not [f for f in files if "site-packages" in f.parts or f.is_relative_to(ROOT / "layers")]


def test_the_package_is_whole(built: Path) -> None:
    package = ROOT / "layers/memory/recollect"
    data = [path for pattern in ("*.json", "*.jsonl") for path in package.rglob(pattern)]
    places = [path.relative_to(package) for path in data]
    missing = [place for place in places if not (built / "MemoryLayer/python/recollect" / place).is_file()]
    assert missing == []
