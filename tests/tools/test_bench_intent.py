"""The bench of retrieval by intent: what it counts, and that a missed goal says so."""

import importlib
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

BENCH = Path(__file__).resolve().parents[2] / "infra" / "bench"
END = datetime(2024, 5, 15, 12, tzinfo=UTC)


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(BENCH))
    module = importlib.import_module("intent_bench")
    monkeypatch.setattr(module, "QUERIES", 4)
    return module


@pytest.fixture
def figures(bench: ModuleType) -> dict[str, Any]:
    """Of forty turns a day apart, one of them about a violin, and three questions."""
    data: Any = importlib.import_module("bench_data")
    texts = ["I practised the violin" if n == 3 else f"I walked {n} miles" for n in range(40)]
    turns = tuple(data.Turn("c", str(n), "Ann", text, END - timedelta(days=n)) for n, text in enumerate(texts))
    asked = ("Did I practise the violin?", "Where is the umbrella?", "what is it then")
    questions = tuple(data.Question("c", text, "any", frozenset({"3"}), END) for text in asked)
    made: dict[str, Any] = bench.intent_bench([data.DataSet("small", turns, questions)], 20)
    return made


def test_what_is_shown_is_counted_against_the_date_filter(figures: dict[str, Any]) -> None:
    shown = figures["shown"]["small"]["windows"]
    assert set(shown) == {"14", "90", "all"}
    fortnight = shown["14"]
    assert fortnight["date_based"]["records"] == 15
    assert fortnight["intent"]["records"] == pytest.approx((1 + 0 + 15) / 3)
    assert fortnight["intent"]["gold"] == pytest.approx(2 / 3)
    assert (fortnight["zero_matches"], fortnight["fallbacks"]) == (pytest.approx(1 / 3), pytest.approx(1 / 3))
    assert fortnight["saved"] == pytest.approx(1 - fortnight["intent"]["tokens"] / fortnight["date_based"]["tokens"])
    assert figures["load"]["together"]["count"] == 4


def test_the_page_says_what_was_met_and_what_was_missed(figures: dict[str, Any]) -> None:
    goals = importlib.import_module("bench_goals")
    page = importlib.import_module("intent_page")
    lines = goals.goals_table({"intent": figures}).splitlines()
    assert [line for line in lines if "R-97" in line and "**missed**" in line]
    assert [line for line in lines if "R-95" in line and "met" in line]
    assert "small, 14 days" in page.intent_part({"intent": figures})


@pytest.mark.spec("R-90", "R-91", "R-92", "R-93", "R-94")
@pytest.mark.parametrize(
    ("statement", "place", "limit_ms"),
    [
        ("R-90", ("parts", "extraction", "ms"), 50),
        ("R-91", ("parts", "classification", "ms"), 30),
        ("R-92", ("parts", "scoring", "ms"), 100),
        ("R-93", ("whole", "mean_ms"), 200),
        ("R-94", ("load", "together", "p95_ms"), 200),
    ],
)
def test_each_time_is_measured_beside_a_baseline_and_judged_by_its_goal(
    figures: dict[str, Any], statement: str, place: tuple[str, ...], limit_ms: float
) -> None:
    page = importlib.import_module("intent_page")
    within: Any = figures
    for name in place[:-1]:
        within = within[name]
    assert within[place[-1]] > 0
    for measured_ms, is_met in ((limit_ms - 1, True), (limit_ms, False)):
        within[place[-1]] = measured_ms
        judged = [met for goal, _, met in page.intent_goals({"intent": figures}) if goal.startswith(statement)]
        assert judged == [is_met]
    lines = page.intent_part({"intent": figures}).splitlines()
    (row,) = [line for line in lines if f"{statement}:" in line and "processor" not in line]
    assert float(row.split("|")[4]) > 0
