"""What the benches of contradictions count, and when their goals are missed."""

import importlib
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

BENCH = Path(__file__).resolve().parents[2] / "infra" / "bench"


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> dict[str, ModuleType]:
    monkeypatch.syspath_prepend(str(BENCH))
    return {name: importlib.import_module(name) for name in ("updates_bench", "bench_goals", "contradictions_page")}


@pytest.mark.parametrize(
    ("found", "first"),
    [
        ([("new", ["new"]), ("old", ["old"])], True),
        ([("old", ["old"]), ("new", ["new"])], False),
        ([("other", ["other"]), ("new", ["new"])], True),
        ([("new", ["old", "new"])], True),
        ([("other", ["new"]), ("old", ["old"])], True),
        ([("other", ["other"])], False),
    ],
)
def test_the_newest_gold_turn_must_be_found_before_the_older_ones(
    bench: dict[str, ModuleType], found: list[tuple[str, list[str]]], first: bool
) -> None:
    results = [
        SimpleNamespace(event=SimpleNamespace(id=own), memory=SimpleNamespace(source_event_ids=sources))
        for own, sources in found
    ]
    answer = SimpleNamespace(results=results)
    memory = SimpleNamespace(app=SimpleNamespace(search=lambda *_: answer), turn_id=lambda one: one)
    data = importlib.import_module("bench_data")
    asked = datetime(2026, 5, 1, tzinfo=UTC)
    question = data.Question("c", "when?", "knowledge_update", frozenset({"old", "new"}), asked)
    places = {("c", "old"): 1, ("c", "new"): 2}
    assert bench["updates_bench"]._newest_first(memory, question, places) is first


def test_a_missed_goal_says_so(bench: dict[str, ModuleType]) -> None:
    def rows(false: int, first: int) -> str:
        supersessions: dict[str, Any] = {"false": ["x"] * false, "turns": 1000, "share": false / 1000}
        updates = {"questions": {"a": 4}, "first": {"cues": {"a": first}, "off": {"a": 1}}}
        made = {"false-supersessions": supersessions, "beam-updates": updates}
        return str(bench["bench_goals"].goals_table(made))

    assert "**missed**" not in rows(4, 4)
    assert rows(5, 4).count("**missed**") == rows(4, 3).count("**missed**") == 1
