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
