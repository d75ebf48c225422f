"""What a function opens while it starts: everything that its requests need, and nothing is written."""

import ast
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from deployment.template import ROOT, WITH_DATA, routes
from embedded.setting import away, open_memory
from recollect.adapters.local.database import FILE_NAME
from recollect.bootstrap import open_app
from recollect.entrypoints.priming import OPENED, primed
from recollect.settings import Settings


def test_every_function_that_somebody_waits_for_has_a_list() -> None:
    answering = {name for name in WITH_DATA if routes(name)}
    assert OPENED.keys() == answering | {"project"}


@pytest.mark.parametrize("function", list(OPENED))
def test_a_function_opens_its_own_list(function: str) -> None:
    tree = ast.parse((ROOT / "functions" / function / "app.py").read_text("utf-8"))
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)]
    opening = [c for c in calls if getattr(c.func, "id", "") in ("open_primed_app", "open_warm_app", "primed")]
    named = [arg.value for call in opening for arg in call.args if isinstance(arg, ast.Constant)]
    assert named == [function]


@pytest.mark.parametrize("function", list(OPENED))
def test_priming_opens_all_that_is_named_and_writes_nothing(function: str, tmp_path: Path) -> None:
    memory = open_memory(tmp_path)
    memory.add("the cat sleeps")
    before = _rows(tmp_path)
    app = primed(memory.app, function)
    for name in OPENED[function]:
        subject, _, what = name.partition(".")
        if subject != "parts" and what:
            assert what in getattr(app, subject).__dict__, name
    assert _rows(tmp_path) == before
    app.parts.close()


def _rows(folder: Path) -> dict[str, int]:
    with closing(sqlite3.connect(folder / FILE_NAME)) as connection:
        tables = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return {one: connection.execute(f"SELECT count(*) FROM {one}").fetchone()[0] for one in tables}


@pytest.mark.parametrize("function", ["retrieval", "ingest"])
def test_an_engine_that_is_away_stops_no_start(function: str, tmp_path: Path) -> None:
    memory = open_memory(tmp_path)
    with away(memory, "items", "get") as without:
        assert primed(without.app, function) is without.app
    memory.app.parts.close()


def test_on_aws_the_clients_are_made_though_nothing_answers(cloud_away: dict[str, str]) -> None:
    variables = {**cloud_away, "RECOLLECT_EVENT_BUS": "bus"}
    parts: Any = primed(open_app(Settings.from_environment(variables)), "memories").parts
    assert {"access", "publisher", "items", "idempotency", "timeline"} <= parts.__dict__.keys()
