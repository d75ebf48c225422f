"""The section *What it costs* of docs/operations.md, from the counted calls, the dated prices and the template."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from infra.tools.bench.page import table
from infra.tools.costs import stack
from infra.tools.costs.pricing import (
    COUNTED,
    Run,
    dollars,
    idle_month,
    per_million,
    price,
    price_file,
    turn_in_one_function,
    turn_runs,
    work_of,
)
from recollect.adapters.aws.index_documents import PACKED_AFTER
from recollect.adapters.aws.index_packing import FULL_RECORDS

PAGE = Path(__file__).resolve().parents[3] / "docs" / "operations.md"
HEADING = "## What it costs\n"
ENGINES = ("table", "domain")
LONG, LONG_SHARED, UNJUDGED, UNJUDGED_SHARED = OF_1_KB = tuple(
    f"message of 1 KB{how}" for how in ("", ", ten a batch", ", no judge", ", no judge, ten a batch")
)
ASKED = ("message", "message, ten a batch", *OF_1_KB, "search", "context", "turn")
RIVALS_NAME = {"message, ten a batch": "message", **dict.fromkeys(OF_1_KB, "long message")}
OTHER_MB = (1769, 512)
"""Sizes of `project` that are compared with the deployed one."""
FORMER_MESSAGE = 34.6
"""Dollars of a million messages of 1 KB before (in November 2026), without logs, a batch for each."""
GOAL = 0.5
"""Of the former message's dollars."""


@cache
def counted() -> dict[str, Any]:
    """The counted calls, by search engine; with the day and the machine."""
    loaded: dict[str, Any] = json.loads(COUNTED.read_text("utf-8"))
    return loaded


def operations_page() -> str:
    """docs/operations.md: its own words, and this section up to the next heading."""
    before, heading, rest = PAGE.read_text("utf-8").partition(HEADING)
    assert heading, f"{PAGE.name} has no heading {HEADING!r}"
    _, following, after = rest.partition("\n## ")
    return f"{before}{heading}\n{section()}{following}{after}"


def section() -> str:
    """Prices, what an idle stack pays, and what both rest on."""
    return "\n\n".join([_INTRODUCTION, _prices(), _basis(), _idle(), _parts(), _units(), _compared()]) + "\n"


def _prices() -> str:
    rivals: Mapping[str, Mapping[str, Any]] = price_file()["rivals"]
    used = {name: per_million(counted()[name]) for name in ENGINES}
    rows = []
    for said, alone in (("a month idle", False), ("a month idle, alone in its account", True)):
        idle = [_money(_idle_of(name, alone=alone)["in all"]) for name in ENGINES]
        rows.append([said, *idle, *(_money(one["idle_month"]) for one in rivals.values())])
    for asked in ASKED:
        ours = (_money(used[name][asked]["in all"]) for name in ENGINES)
        rows.append([f"a million: {asked}", *ours, *(_money(one[_rivals_name(asked)]) for one in rivals.values())])
    return table(["dollars", *(f"`{name}`" for name in ENGINES), *rivals], rows)


def _rivals_name(asked: str) -> str:
    return RIVALS_NAME.get(asked, asked)


def _money(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:,.1f}"


def _idle_of(engine: str, *, alone: bool) -> dict[str, float]:
    return idle_month(counted()[engine], domain=engine == "domain", alone=alone)


def _basis() -> str:
    prices, made = price_file(), counted()["about"]
    days = sorted({one["read_on"] for one in prices["aws"].values()})
    rivals = "\n\n".join(
        f"*{name}*: {one['note']} ({one['source']}, read {one['read_on']})." for name, one in prices["rivals"].items()
    )
    facts = {"region": prices["region"], "days": f"{days[0]} to {days[-1]}", "rivals": rivals}
    return _filled(_BASIS.format(**facts, architecture=stack.default_of("Architecture"), **made, **prices["assumed"]))


def _units() -> str:
    asked = [(work, engine) for work in ("context", "search") for engine in ENGINES]
    read = {f"{work}_{engine}": counted()[engine][work]["read_units"] for work, engine in asked}
    more = BEYOND_FULL * price("read_units_million")
    facts = {"waiting": PACKED_AFTER // 2, "records": f"{FULL_RECORDS:,}", "units": BEYOND_FULL, "more": more}
    return _filled(_UNITS.format(**read, **facts, object=price("object_reads_million")))


def _filled(text: str) -> str:
    """Each paragraph, and each point of a list, in lines of up to 120 characters."""
    return "\n\n".join("\n".join(map(_line_by_line, re.split(r"\n(?=- )", one))) for one in text.split("\n\n"))


def _line_by_line(text: str) -> str:
    indent = "  " if text.startswith("- ") else ""
    return textwrap.fill(
        " ".join(text.split()), 120, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


def _idle() -> str:
    named = [(f"`{name}`", _idle_of(name, alone=False), _idle_of(name, alone=True)) for name in ENGINES]
    parts = list(named[-1][1])
    rows = [[part, *(_cents(one.get(part, 0.0)) for _, *both in named for one in both)] for part in parts]
    head = [
        "dollars a month, idle",
        *(f"{name}{more}" for name, *_ in named for more in ("", ", alone in its account")),
    ]
    pictures = _idle_of("table", alone=False)["in all"] + stack.dashboards() * price("dashboard_month")
    counts = [stack.alarm_metrics(domain=domain) for domain in (False, True)]
    words = _IDLE.format(of_table=counts[0], of_domain=counts[1], dashboards=stack.dashboards(), pictures=pictures)
    return f"{_filled(words)}\n\n{table(head, rows)}"


def _cents(value: float) -> str:
    return f"{value:.2f}"


def _parts() -> str:
    made = []
    for name in ENGINES:
        used = per_million(counted()[name])
        rows = [[service, *(_cents(used[asked][service]) for asked in ASKED)] for service in next(iter(used.values()))]
        made.append(table([f"`{name}`, dollars a million", *ASKED], rows))
    return "\n\n".join(made)


def _compared() -> str:
    used, work = per_million(counted()["domain"]), work_of(counted()["domain"])
    projected = Run(work=work["project"], function="project")
    less = [_of_project(projected, None) - _of_project(projected, mb) for mb in OTHER_MB]
    alone, shared = (_without_logs(used[f"message{kind}"]) for kind in ("", ", ten a batch"))
    long = {name: _compared_with_former(_without_logs(used[name])) for name in OF_1_KB}
    words = _COMPARED.format(
        former=FORMER_MESSAGE,
        said_bytes=counted()["about"]["said_bytes"],
        goal=GOAL * FORMER_MESSAGE,
        alone=_compared_with_former(alone),
        shared=_compared_with_former(shared),
        long=long[LONG],
        long_shared=long[LONG_SHARED],
        unjudged=long[UNJUDGED],
        unjudged_shared=long[UNJUDGED_SHARED],
        computed=used[LONG]["Lambda duration"],
        project_mb=f"{stack.memory_mb('project'):,}",
        sizes=" and ".join(f"{mb:,}" for mb in OTHER_MB),
        at_sizes=" and ".join(f"{alone - one:.1f} ({_share(alone - one)} %)" for one in less),
        fixed=sum(used["message"][name] for name in ("Lambda requests", "HTTP API", "EventBridge")),
        units=used["message"]["DynamoDB writes"],
        write_units=work["ingest"].write_units + work["project"].write_units,
    )
    waits = 1e6 * dollars(turn_runs(work)[0])["Lambda duration"]
    turn, in_one = used["turn"]["in all"], turn_in_one_function(counted()["domain"])
    memory = stack.memory_mb("converse")
    return _filled(f"{words}\n\n{_TURN.format(memory=memory, waits=waits, turn=turn, in_one=in_one)}")


def _of_project(run: Run, memory_mb: int | None) -> float:
    return 1e6 * dollars(run, memory_mb)["Lambda duration"]


def _without_logs(parts: Mapping[str, float]) -> float:
    return parts["in all"] - parts["logs"]


def _share(message: float) -> str:
    return f"{100 * message / FORMER_MESSAGE:.0f}"


def _compared_with_former(message: float) -> str:
    """Its dollars, their share of the former ones, and whether the goal is met."""
    return f"{message:.1f} ({_share(message)} %, {'met' if message <= GOAL * FORMER_MESSAGE else '**missed**'})"


_INTRODUCTION = """\
Computed by `python -m infra.tools.costs` from counted calls (`infra/tools/costs/counted.json`), dated prices with
their sources (`prices.json` beside it) and template.yaml; `make docs` writes it anew after a change of any of them."""

_BASIS = """\
AWS's list prices of {region}, read on {days}, without free tier; Lambda's of {architecture}. Calls, units and the
processor's time were counted on {counted_on} ({machine}, which other work had under a load of {load}, so that its
seconds are rather too many) for a user of 1,000 messages, means over what people said and asked (LoCoMo). A message
has {said_bytes} bytes on average and is projected alone in its batch, the dearest form, unless the row says
otherwise. Assumed: {store_call_ms} ms for calls of table and bucket that go out together, {engine_request_ms} ms
for OpenSearch's, {log_bytes_a_run} bytes of log a run, {model_seconds:g} s for the language model of a turn, whose
own price is not in it. Not in it either: storage, backups, transfer, cold starts, a domain that is larger than the
template's.

{rivals}"""

BEYOND_FULL = 76
"""Read units of a search for the vectors of the nearest, where blocks have them packed (`bench.table_search`)."""

_UNITS = """\
A context reads {context_table:.0f} units of the table with `table` and {context_domain:.0f} with `domain`, a search
{search_table:.0f} and {search_domain:.0f}. With `table` {waiting} documents wait to be packed meanwhile, as on average,
and the process has the user's blocks from an earlier search. One that has not reads them from the bucket, for
{object:.2f} dollars a million and some 40 ms of a thousand records. A user of more than {records} records takes some
{units} units more, {more:.1f} dollars a million."""

_IDLE = """\
An idle stack pays for its alarms (an alarm of several metrics is billed for each: {of_table} with `table`,
{of_domain} with `domain`), the metrics that alarms wait for, and its schedules. CloudWatch gives each account 10
alarm metrics, 10 metrics and 3 dashboards a month: a stack that is alone there pays the smaller figure.
`Dashboards=true` adds {dashboards} dashboards, for nothing where the account has none yet; in one that has three
already it makes `table` {pictures:.2f}."""

_COMPARED = """\
A million messages of 1 KB were {former} dollars when `project` waited for OpenSearch's refresh and no model judged,
without logs and each in a batch of its own; the goal is half of it, {goal:.1f}. In that sense, with `domain`:

- for the same work, that is without the judge (`Judge=none`, where keys alone settle), {unjudged},
and {unjudged_shared} where ten share a batch;
- messages as people write them, of {said_bytes} bytes, judged: {alone}, and {shared} where ten share a batch, as the
window of 5 s makes them from two messages a second on;
- messages of 1 KB, judged: {long}, and {long_shared} where ten share a batch, which was counted after the others: more
of the older messages had 1 KB by then.

The processor's seconds are this machine's, which needs half as long again for the same work on some days: on
2026-11-27 the first two, alone in a batch, were 17.0 and 15.8, with a write unit more. What is
missed where ten share a batch is missed by the
judge, which came since. Of a message of 1 KB the functions take {computed:.1f}. Of
the processor's time the encoder takes some 65 ms, for 270 pieces; the judge's first look at its three parts 20; all
else, calls of the SDK above all, 40. The rest are the judge's comparisons, of the one message in eight in which some
part may change something: 9 ms for each part with each part of the twelve nearest older messages, which in this count
have 1 KB too, so 36 for a part. With no comparison at all it would be half a dollar more than without the judge, which
the first look takes.

What waits costs less in a smaller function: with {sizes} MB instead of {project_mb} for `project` the short ones
would be {at_sizes} dollars; it has {project_mb}, since with 512 the projector gets on at half the speed after an
import. Of a message {fixed:.1f} dollars are requests, API and bus, and {units:.1f} its {write_units:.1f} write units:
six for event, dedupe record and marker in one transaction, then the vector, which has the number of the segment beside
it, and its entry in the conversation, the count of the segment, the count towards a summary, the bus's log, the
marker's removal, and what a few messages change in memories. Ten in a batch share the two counts."""

_TURN = """\
A turn waits for its model in a function of {memory} MB, which takes {waits:.1f} dollars of a million's {turn:.0f};
were the models of recall in the function that waits, a million would be {in_one:.0f}."""


def console_file() -> str:
    """What the console tells of prices: dollars of a million calls and of a month idle, by engine."""
    kinds = ("message", "search", "context", "turn")
    million = {
        name: {kind: round(per_million(counted()[name])[kind]["in all"], 2) for kind in kinds} for name in ENGINES
    }
    facts = {
        "region": price_file()["region"],
        "read_on": max(one["read_on"] for one in price_file()["aws"].values()),
        "counted_on": counted()["about"]["counted_on"],
        "idle_month": {name: round(_idle_of(name, alone=False)["in all"], 2) for name in ENGINES},
        "million": million,
    }
    return json.dumps(facts, indent=1) + "\n"
