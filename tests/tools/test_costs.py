"""What it costs: the page says what the counted calls, the dated prices and the template give."""

import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deployment.resolving import Stack
from deployment.template import template
from infra.tools.costs import stack
from infra.tools.costs.__main__ import with_seconds_of
from infra.tools.costs.page import (
    ENGINES,
    FORMER_MESSAGE,
    GOAL,
    PAGE,
    UNJUDGED,
    UNJUDGED_SHARED,
    counted,
    operations_page,
)
from infra.tools.costs.pricing import (
    Run,
    Work,
    dollars,
    idle_month,
    per_million,
    price,
    price_file,
    total,
    turn_in_one_function,
    work_of,
)

ALARM = "AWS::CloudWatch::Alarm"


def test_the_page_has_what_was_counted_at_these_prices() -> None:
    assert PAGE.read_text("utf-8") == operations_page(), "make docs"


def test_every_price_has_its_source_and_the_day_on_which_it_was_read() -> None:
    prices = price_file()
    for one in [*prices["aws"].values(), prices["given_away"], *prices["rivals"].values()]:
        assert one["source"]
        assert re.fullmatch(r"20\d\d-\d\d-\d\d", one["read_on"])
    named = [one["source"] for one in prices["aws"].values()]
    assert all("https://" in source or source.startswith("the same") for source in named)


@pytest.mark.parametrize("engine", ENGINES)
def test_alarms_are_counted_as_the_template_makes_them(engine: str) -> None:
    made = Stack(template(), parameters={"SearchEngine": engine}).whole()
    resources = [one for one in made.values() if isinstance(one, dict)]
    alarms: list[dict[str, Any]] = [one["Properties"] for one in resources if one.get("Type") == ALARM]
    metrics = [sum("MetricStat" in one for one in alarm.get("Metrics", [])) or 1 for alarm in alarms]
    assert stack.alarm_metrics(domain=engine == "domain") == sum(metrics) >= 20


def test_the_schedules_are_those_of_the_template() -> None:
    runs = {one.task: (one.function, round(one.runs_a_month)) for one in stack.schedules(730)}
    assert runs["jobs"] == ("jobs", 730 * 60)
    assert runs["reconcile"] == ("project", 730 * 12)
    assert runs.keys() == {"jobs", "reconcile", "summarize", "retain"}


def test_an_idle_stack_without_a_domain_is_less_than_five_dollars_in_any_account() -> None:
    assert stack.default_of("Dashboards") == "false"
    alone, beside_others = (idle_month(counted()["table"], domain=False, alone=one)["in all"] for one in (True, False))
    assert alone < beside_others < 5


@pytest.mark.parametrize("engine", ENGINES)
def test_turns_are_cheaper_where_a_small_function_waits(engine: str) -> None:
    assert per_million(counted()[engine])["turn"]["in all"] < 0.7 * turn_in_one_function(counted()[engine])


def test_a_message_costs_half_of_what_it_did_for_the_work_of_then_and_as_people_write_them() -> None:
    """Alone in its batch to a tenth of a dollar, as the page says it: a count on a busy machine has more seconds."""
    used = {name: one["in all"] - one["logs"] for name, one in per_million(counted()["domain"]).items()}
    assert all(round(used[name], 1) <= GOAL * FORMER_MESSAGE for name in ("message", UNJUDGED))
    assert all(used[name] <= 0.85 * GOAL * FORMER_MESSAGE for name in ("message, ten a batch", UNJUDGED_SHARED))


def test_what_the_parts_are_is_what_it_is_in_all() -> None:
    for engine in ENGINES:
        for parts in per_million(counted()[engine]).values():
            assert sum(parts.values()) == pytest.approx(2 * parts["in all"])


WORK = Work(
    write_units=8, read_units=2, object_reads=0, object_writes=0, store_waves=3, engine_waves=1, processor_seconds=0.1,
    bus_events=0,
)  # fmt: skip


@given(st.integers(128, 10_240), st.integers(0, 4_096))
def test_more_memory_is_never_slower_and_beyond_a_processor_no_faster(memory_mb: int, more_mb: int) -> None:
    assert WORK.seconds(memory_mb + more_mb) <= WORK.seconds(memory_mb)
    assert WORK.seconds(max(memory_mb, 1769)) == pytest.approx(0.1 + 0.015 + 0.02)


def test_a_million_runs_cost_what_their_units_do() -> None:
    found = dollars(Run(work=WORK, function="ingest", over_http=True), 1769)
    assert found["DynamoDB writes"] == pytest.approx(8 * 0.625e-6)
    assert found["Lambda duration"] == pytest.approx(0.135 * 1769 / 1024 * price("lambda_gb_second_x86_64"))
    assert found["HTTP API"] == pytest.approx(1e-6)


def test_what_many_share_is_divided_among_them() -> None:
    alone = Run(work=WORK, function="project")
    assert total(replace(alone, shared_by=10))["in all"] == pytest.approx(total(alone)["in all"] / 10)


def test_only_a_table_packs() -> None:
    assert work_of(counted()["table"])["packing"].object_writes > 0
    assert work_of(counted()["domain"])["packing"].object_writes == 0


def test_a_message_and_a_context_take_no_more_units_than_is_meant() -> None:
    work = work_of(counted()["domain"])
    assert work["ingest"].write_units == 6
    assert 6 <= work["project"].write_units < 6.25
    assert 9 < work["project"].read_units < 14.5
    assert work["project, of 10"].write_units < 44
    assert 30 < work["context"].read_units <= 45


def test_units_counted_alone_keep_the_seconds_of_before() -> None:
    before = {"ingest": {"write_units": 6.0, "processor_seconds": 0.01}}
    made = {"ingest": {"write_units": 5.0, "processor_seconds": 0.9}}
    assert with_seconds_of(before, made) == {"ingest": {"write_units": 5.0, "processor_seconds": 0.01}}
