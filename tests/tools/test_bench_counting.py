"""What the benches count: recall, waves of calls, units by AWS's rules, dollars, and that a missed goal says so."""

from __future__ import annotations

import importlib
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from deployment.template import template

BENCH = Path(__file__).resolve().parents[2] / "infra" / "bench"
PAGE = BENCH.parents[1] / "docs" / "benchmarks.md"
MODULES = ("bench_scores", "bench_data", "aws_calls", "bench_prices", "bench_goals")


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> dict[str, ModuleType]:
    monkeypatch.syspath_prepend(str(BENCH))
    return {name: importlib.import_module(name) for name in MODULES}


def test_recall_is_the_share_of_the_gold_turns_among_the_first_k(bench: dict[str, ModuleType]) -> None:
    recall = bench["bench_scores"].recall
    assert recall(["a", "b", "c"], frozenset({"c", "x"}), 2) == 0.0
    assert recall(["a", "b", "c"], frozenset({"c", "x"}), 3) == 0.5


def test_recall_is_averaged_over_questions_and_by_category(bench: dict[str, ModuleType]) -> None:
    asked = datetime(2026, 1, 1, tzinfo=UTC)
    questions = [
        bench["bench_data"].Question("c", "?", category, frozenset({"gold"}), asked)
        for category in ("one", "two", "two")
    ]
    table = bench["bench_scores"].recall_table(questions, {1: [["gold"], ["gold"], ["other"]]})
    assert table == {"all": {"1": pytest.approx(2 / 3)}, "one": {"1": 1.0}, "two": {"1": 0.5}}


def call(bench: dict[str, ModuleType], name: str, began: float, ended: float, **more: Any) -> Any:
    return bench["aws_calls"].Call(f"DynamoDB {name}", began, ended, **more)


def test_calls_that_overlap_are_one_wave_and_calls_in_sequence_are_not(bench: dict[str, ModuleType]) -> None:
    calls = [call(bench, "Query", 0.0, 1.0), call(bench, "GetItem", 0.5, 1.4), call(bench, "BatchGetItem", 1.5, 2.0)]
    assert bench["aws_calls"].waves(calls) == [["DynamoDB GetItem", "DynamoDB Query"], ["DynamoDB BatchGetItem"]]


def test_a_long_call_beside_two_short_ones_hides_no_wave(bench: dict[str, ModuleType]) -> None:
    calls = [call(bench, "Query", 0.0, 3.0), call(bench, "GetItem", 0.0, 1.0), call(bench, "GetItem", 1.1, 2.0)]
    assert len(bench["aws_calls"].waves(calls)) == 2


def test_the_rule_counts_where_the_engine_reports_less(bench: dict[str, ModuleType]) -> None:
    item = {"pk": {"S": "U#t#u"}, "sk": {"S": "E#1#id"}, "z": {"B": b"x" * 1100}}
    key = {"pk": {"S": "U#t#u"}, "sk": {"S": "R#hash"}}
    request = {"TransactItems": [{"Put": {"Item": item}}, {"ConditionCheck": {"Key": key}}]}
    written = tuple(bench["aws_calls"]._written(request))
    assert [(one.kind, one.units) for one in written] == [("event", 4), ("rejected value (absence checked)", 2)]
    assert call(bench, "TransactWriteItems", 0, 1, written=written, reported={"table": 4.0}).units == 6
    assert call(bench, "PutItem", 0, 1, reported={"table": 9.0, "index c": 1.0}).units == 10


def test_reads_that_find_nothing_are_paid_for(bench: dict[str, ModuleType]) -> None:
    asked: dict[str, Any] = {"RequestItems": {"table": {"Keys": [{}, {}, {}]}}}
    unfound = bench["aws_calls"]._unfound
    assert unfound(call(bench, "BatchGetItem", 0, 1), asked, {"Responses": {"table": [{}]}}) == 2.0
    assert unfound(call(bench, "Query", 0, 1), {"ConsistentRead": True}, {"Items": []}) == 1.0
    assert unfound(call(bench, "Query", 0, 1), {}, {"Items": []}) == 0.5
    assert unfound(call(bench, "Query", 0, 1), {}, {"Items": [{}]}) == 0.0


def test_dollars_are_units_times_prices(bench: dict[str, ModuleType]) -> None:
    prices = bench["bench_prices"].ListPrices(write_units_million=2.0, http_api_requests_million=1.0)
    dollars = bench["bench_prices"].Shape(write_units=10, http_api_requests=1).dollars_per_thousand(prices)
    assert dollars["DynamoDB writes"] == pytest.approx(0.02)
    assert dollars["in all"] == pytest.approx(0.021)


def test_lambda_is_priced_for_the_architecture_that_is_deployed(bench: dict[str, ModuleType]) -> None:
    prices = bench["bench_prices"]
    deployed = template()["Parameters"]["Architecture"]
    assert prices.deployed_architecture() == deployed["Default"]
    assert set(prices.LAMBDA_GB_SECOND) == set(deployed["AllowedValues"])
    assert prices.ListPrices().lambda_gb_second == prices.LAMBDA_GB_SECOND[deployed["Default"]]


def cells(title: str) -> list[str]:
    """A row of the page's tables of cost, without its title."""
    _, _, cost = PAGE.read_text("utf-8").partition("### Cost")
    (row,) = [line for line in cost.splitlines() if line.startswith(f"| {title} |")]
    return [cell.strip() for cell in row.strip("|").split("|")[1:]]


def test_the_page_prices_what_is_deployed(bench: dict[str, ModuleType]) -> None:
    """Its durations times that price, and sums of its parts, as far as its digits go."""
    *taken, price = cells("lambda gb seconds")
    deployed = bench["bench_prices"].ListPrices().lambda_gb_second
    assert float(price.split()[0]) == pytest.approx(deployed, rel=1e-5)
    told = [float(cell) for cell in cells("Lambda duration")]
    assert told == pytest.approx([1000 * deployed * float(seconds) for seconds in taken], abs=0.00006)
    parts = ("DynamoDB writes", "DynamoDB reads", "Lambda requests", "Lambda duration", "HTTP API", "EventBridge")
    columns = zip(*([float(cell) for cell in cells(part)] for part in parts), strict=True)
    assert [float(cell) for cell in cells("in all")] == pytest.approx([sum(one) for one in columns], abs=0.00031)
    architecture = bench["bench_prices"].deployed_architecture()
    assert f"Lambda's those of {architecture}" in PAGE.read_text("utf-8")


@pytest.mark.parametrize(("ours", "word"), [(0.7, "met"), (0.6, "**missed**"), (0.5, "**missed**")])
def test_a_goal_is_met_only_above_the_best_rival(bench: dict[str, ModuleType], ours: float, word: str) -> None:
    recalls = {"Recollect": ours, "LangGraph InMemoryStore": 0.4, "mem0": 0.5, "mem0 without BM25": 0.6}
    systems = {name: {"recall": {"all": {"10": value}}} for name, value in recalls.items()}
    table = bench["bench_goals"].goals_table({"quality": {"set": {"systems": systems, "over": {}}}})
    assert table.splitlines()[-1].endswith(f"| {word} |")
