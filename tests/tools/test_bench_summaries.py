"""What the bench of summaries counts."""

import importlib
from pathlib import Path
from types import ModuleType

import pytest

BENCH = Path(__file__).resolve().parents[2] / "infra" / "bench"


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(BENCH))
    return importlib.import_module("summaries_bench")


def test_a_share_is_of_distinct_content_words(bench: ModuleType) -> None:
    assert bench.content_words("The dogs, the DOGS and I don't run 7 miles") == {"dogs", "run", "7", "miles"}
    assert bench.share("My dogs run.", "The dogs run to the sea") == pytest.approx(2 / 3)


def test_a_missed_goal_says_so(bench: ModuleType) -> None:
    goals = importlib.import_module("bench_goals")

    def row(ours: float) -> str:
        shares = {"summary": ours, "first sentences": 0.2, "random sentences": 0.3}
        return str(goals.goals_table({"summaries": {"set": {"shares": shares}}}))

    assert "**missed**" in row(0.3)
    assert "**missed**" not in row(0.301)
