"""What the functions import when they start: each only what it needs."""

import subprocess
import sys

import pytest

NEVER = {"opensearchpy", "onnxruntime", "tokenizers", "httpx", "uvicorn", "typer", "jsonschema"}
GROUPS = {
    "ingest": {
        "numpy",
        "sqlite3",
        "recollect.retrieval.ranking",
        "recollect.retrieval.pipeline",
        "recollect.entrypoints.http.representations",
    },
    "knowledge": {"numpy", "sqlite3", "mcp", "recollect.retrieval.ranking"},
    "rules": {"numpy", "sqlite3", "recollect.retrieval.ranking"},
    "summaries": {"numpy", "sqlite3", "recollect.retrieval.ranking"},
    "tools": {"numpy", "sqlite3", "mcp", "recollect.retrieval.ranking"},
    **{
        group: {"numpy", "sqlite3", "recollect.retrieval.pipeline"}
        for group in ("memories", "contradictions", "forgetting", "bridge", "snapshots", "jobs")
    },
    "retrieval": {"sqlite3", "recollect.entrypoints.http.openapi"},
    "context": {"sqlite3", "recollect.entrypoints.http.openapi"},
    "turns": {"sqlite3", "recollect.entrypoints.http.openapi"},
}
BUILT = """
import sys
from recollect.entrypoints.http import routes
from recollect.entrypoints.http.models import AnswerModel, RequestModel
routes.routes_of(routes.GROUPS)
for model in (*RequestModel.__subclasses__(), *AnswerModel.__subclasses__()):
    if model.__pydantic_complete__: print(model.__name__)
"""
SHOW = """
import sys
from recollect.entrypoints.http import aws, routes
routes.routes_of([sys.argv[1]])
print("\\n".join(sys.modules))
"""


@pytest.mark.parametrize("group", sorted(GROUPS))
def test_a_function_starts_without(group: str) -> None:
    shown = subprocess.run([sys.executable, "-c", SHOW, group], capture_output=True, text=True, check=True).stdout
    imported = set(shown.split())
    assert f"recollect.entrypoints.http.routes.{group}" in imported
    assert imported & (NEVER | GROUPS[group]) == set()


def test_no_model_is_built_before_it_is_used() -> None:
    shown = subprocess.run([sys.executable, "-c", BUILT], capture_output=True, text=True, check=True).stdout
    assert shown == ""
