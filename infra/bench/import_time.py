"""Import time of each built function over a bare one: `import aws_lambda_powertools, boto3` from the same layer.

    python infra/bench/import_time.py [--rounds 15] [--json]

Needs the build (make build). Each import is a process of Python 3.13 of its own, whose path holds the built function,
its layers as Lambda lays them out, and the standard library. All take turns; the best of the rounds counts, since on a
busy machine the others say more of the machine. Processor time stands beside the clock's for the same reason.
"""

import argparse
import json
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / ".aws-sam/build"
LAYERS = ("MemoryLayer", "DependenciesLayer", "EmbedderLayer")
FUNCTIONS = {
    "ingest": LAYERS[:2],
    "summarize": LAYERS[:2],
    "knowledge": LAYERS,
    "retrieval": LAYERS,
    "memories": LAYERS[:2],
    "context": LAYERS,
    "converse": LAYERS,
    "project": LAYERS,
    "jobs": LAYERS,
    "retain": LAYERS[:2],
    "mcp": (*LAYERS, "McpLayer"),
}
BARE = "bare"
GOAL = 1.4

TIMED = """
import sys, time
sys.path[:0] = sys.argv[2:]
clock, processor = time.perf_counter(), time.process_time()
exec(sys.argv[1])
print(time.perf_counter() - clock, time.process_time() - processor)
"""
ENVIRONMENT = {
    "AWS_ACCESS_KEY_ID": "none",
    "AWS_SECRET_ACCESS_KEY": "none",
    "AWS_REGION": "us-east-1",
    "AWS_DEFAULT_REGION": "us-east-1",
    "PATH": "/usr/bin:/bin",
    "RECOLLECT_ENGINES": "aws",
    "RECOLLECT_OPENSEARCH_URL": "https://search.example.com",
}


def interpreter() -> str:
    """The Python of the functions."""
    found = subprocess.run([ROOT / "infra/sam.sh", "--python"], check=True, capture_output=True, text=True)
    return found.stdout.strip()


@dataclass(frozen=True, slots=True)
class Taken:
    """Seconds by the clock and by the processor."""

    clock: float
    processor: float


def taken_by(python: str, statement: str, opt: Path, *folders: Path) -> Taken:
    """How long the statement takes in a fresh process."""
    command = [python, "-I", "-S", "-c", TIMED, statement, *map(str, folders)]
    model = next(opt.glob("recollect-models/*"), None)
    environment = ENVIRONMENT | ({"RECOLLECT_MODEL_FOLDER": str(model)} if model else {})
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    clock, processor = map(float, done.stdout.splitlines()[-1].split())
    return Taken(clock, processor)


def measure(rounds: int) -> dict[str, Taken]:
    """The best by function, and of the bare one."""
    python = interpreter()
    taken: dict[str, list[Taken]] = {name: [] for name in (BARE, *FUNCTIONS)}
    with tempfile.TemporaryDirectory() as folder:
        opts = {layers: _lay_out(layers, Path(folder) / str(len(layers))) for layers in set(FUNCTIONS.values())}
        small = opts[LAYERS[:2]]
        for _ in range(rounds):
            taken[BARE].append(taken_by(python, "import aws_lambda_powertools, boto3", small, small / "python"))
            for name, layers in FUNCTIONS.items():
                task = BUILD / f"{name.capitalize()}Function"
                taken[name].append(taken_by(python, "import app", opts[layers], task, opts[layers] / "python"))
    return {name: Taken(min(t.clock for t in each), min(t.processor for t in each)) for name, each in taken.items()}


def _lay_out(layers: tuple[str, ...], folder: Path) -> Path:
    for layer in layers:
        shutil.copytree(BUILD / layer, folder, dirs_exist_ok=True)
    return folder


def main() -> None:
    """Prints the medians and their ratios."""
    parser = argparse.ArgumentParser(description="Import time of the built functions.")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--json", action="store_true", help="for the bench: name, milliseconds, ratio")
    given = parser.parse_args()
    if not BUILD.is_dir():
        raise SystemExit("nothing is built: make build")
    best = measure(given.rounds)
    ratios = {name: taken.clock / best[BARE].clock for name, taken in best.items()}
    if given.json:
        print(json.dumps({name: {"milliseconds": best[name].clock * 1000, "ratio": ratios[name]} for name in best}))
        return
    for name, taken in best.items():
        goal = f"goal: {GOAL}x" if LAYERS[2] not in FUNCTIONS.get(name, LAYERS) else ""
        processor = taken.processor / best[BARE].processor
        print(f"{name:10} {taken.clock * 1000:6.0f} ms {ratios[name]:5.2f}x   processor {processor:5.2f}x   {goal}")


if __name__ == "__main__":
    main()
