"""The benches of recall: the weights chosen without a conversation, both engines beside each other, and the goals."""

import importlib
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from recollect.retrieval.ranking import RankingPolicy

BENCH = Path(__file__).resolve().parents[2] / "infra" / "bench"
MODULES = ("bench_data", "weights_bench", "engines_recall", "recall_page", "bench_goals")


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> dict[str, ModuleType]:
    monkeypatch.syspath_prepend(str(BENCH))
    return {name: importlib.import_module(name) for name in MODULES}


def test_the_grid_changes_at_most_two_weights_and_begins_with_the_default(bench: dict[str, ModuleType]) -> None:
    default, *others = bench["weights_bench"].grid(RankingPolicy())
    assert default == RankingPolicy()
    assert len({default, *others}) == len(others) + 1
    told = [bench["weights_bench"]._told(one).split(", ") for one in others]
    assert {len(one) for one in told} == {1, 2}


def test_what_is_left_out_has_no_say_in_the_choice(bench: dict[str, ModuleType]) -> None:
    folds = [("chat", "one"), ("chat", "one"), ("chat", "two"), ("notes", "three")]
    recalls = importlib.import_module("numpy").array([[0.5, 0.5, 0.5, 0.5], [1.0, 1.0, 0.0, 0.5], [0.0, 0.0, 1.0, 0.5]])
    made = bench["weights_bench"].left_out(folds, recalls, ["default", "suits one", "suits two"])
    by_name = {row["conversation"]: row for row in made["conversations"]}
    assert (by_name["one"]["mix"], by_name["one"]["left_out"], by_name["one"]["default"]) == ("suits two", 0.0, 0.5)
    assert (by_name["two"]["mix"], by_name["two"]["left_out"]) == ("suits one", 0.0)
    assert made["left_out"] == {"chat": 0.0, "notes": 0.5}
    assert made["default"] == {"chat": 0.5, "notes": 0.5}
    assert made["chosen_on_all"]["mix"] == "suits one"
    page = bench["recall_page"].left_out_part({"weights": {"mixes": 3, **made}})
    assert "| chat | two | 1 | .500 | .000 | suits one |" in page
    assert "\n2 mixes" in page


def compared(bench: dict[str, ModuleType], here: list[list[str]], there: list[list[str]]) -> Any:
    asked = datetime(2026, 1, 1, tzinfo=UTC)
    golds = [frozenset({"a", "b"}), frozenset({"c"})]
    questions = tuple(bench["bench_data"].Question("c", "?", "any", gold, asked) for gold in golds)
    return bench["engines_recall"].compared(bench["bench_data"].DataSet("set", (), questions), here, there)


def test_what_one_engine_finds_and_the_other_does_not_is_counted_both_ways(bench: dict[str, ModuleType]) -> None:
    made = compared(bench, [["a", "x"], ["c"]], [["b", "x"], ["c"]])
    assert made == {"questions": 2, "laptop": 0.75, "engines": 0.75, "lost": 0.25, "gained": 0.25, "same_ten": 0.5}
    assert "| set | 2 | .750 | .750 | +0.000 | .250 | .250 | 50.0 % |" in bench["recall_page"].engines_part(
        {"aws-recall": {"set": made}}
    )


@pytest.mark.parametrize(("there", "word"), [([["a", "b"], ["c"]], "met"), ([["a"], ["c"]], "**missed**")])
def test_the_engines_may_differ_by_two_points(bench: dict[str, ModuleType], there: list[list[str]], word: str) -> None:
    made = compared(bench, [["a", "b"], ["c"]], there)
    (row,) = bench["bench_goals"].goals_table({"aws-recall": {"locomo-dev": made}}).splitlines()[2:]
    assert row.endswith(f"| {word} |")


@pytest.mark.parametrize(("seen", "word"), [(0.871, "met"), (0.87, "met"), (0.869, "**missed**")])
def test_a_recall_is_held_to_the_goal_of_its_data_set(bench: dict[str, ModuleType], seen: float, word: str) -> None:
    variants = {"hybrid": {"all": {"5": 0.0, "10": seen, "25": 1.0, "50": 1.0}}}
    (row,) = bench["bench_goals"].goals_table({"ablation": {"locomo-dev": variants}}).splitlines()[2:]
    assert row.endswith(f"| {word} |")
    assert "≥ 0.87" in row
    assert "| locomo-dev | **all** |" in bench["recall_page"].categories_table({"locomo-dev": variants})


@pytest.mark.parametrize(("whole", "words"), [(11.9, ("met", "met")), (20.0, ("**missed**", "met"))])
def test_a_search_is_held_to_one_encoding_of_the_same_run(
    bench: dict[str, ModuleType], whole: float, words: tuple[str, str]
) -> None:
    times = {"whole": {"p50_ms": whole}, "encoding": {"p50_ms": 6.0}}
    quality = {"turns": 1200, "users": 2, "systems": {"Recollect": {"search": times}}}
    made = {"quality": {"locomo-dev": quality}, "local-scale": {"search": {"by_events": {"100000": times}}}}
    rows = [
        f"| {goal} | {'met' if met else '**missed**'} |" for goal, _, met in bench["recall_page"].recall_goals(made)
    ]
    assert [row.split("| ")[-1].removesuffix(" |") for row in rows] == list(words)
    assert "600 turns" in rows[0]
    assert "10^5" in rows[1]
