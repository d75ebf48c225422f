"""docs/benchmarks.md, in parts. A part whose figures are missing stands as the page has it so far."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from infra.tools.bench.memory_sizes import GIVEN_MB, SIZES_MB, SLOWER_SECONDS, SPARE, Answer, answer_of

Figures = Mapping[str, Any]
Goal = tuple[str, str, bool]
OURS, MEM0 = "Recollect", "mem0"
RUN = "python -m infra.tools.bench"
LEAST_RECALL = {"locomo-dev": 0.87, "beam-dev": 0.74, "madial-zh-dev": 0.67}
FIRST_OVER_WARM = 1.2
WORK = (
    "ingest, turn",
    "project, turn",
    "project, of 100 turns",
    "search",
    "context",
    "ingest, telling turn",
    "project, telling turn",
    "ingest, with key",
    "reconcile, nothing pending",
)


def page(files: Mapping[str, Figures], before: str = "") -> str:
    """The page, from what stands in build/bench; of what does not, as the page has it so far."""
    return "\n\n".join([_HEAD, *(_part(title, files, before) for title in _PARTS)]) + "\n"


def _part(title: str, files: Mapping[str, Figures], before: str) -> str:
    needed, body = _PARTS[title]
    if any(name not in files for name in needed):
        return _as_it_stands(before, title) or f"## {title}\n\nNot measured yet: {_command(needed)}."
    return f"## {title}\n\n{_measured(needed, files)}\n\n{body({name: files[name]['figures'] for name in needed})}"


def _as_it_stands(before: str, title: str) -> str | None:
    found = re.search(rf"^## {re.escape(title)}$.*?(?=^## |\Z)", before, re.MULTILINE | re.DOTALL)
    return found[0].strip() if found else None


def _measured(needed: Sequence[str], files: Mapping[str, Figures]) -> str:
    days = sorted({files[name]["about"]["made"][:10] for name in needed})
    about = files[needed[0]]["about"]
    return (
        f"Measured {' and '.join(days)} by {_command(needed)}: {about['machine']},\n"
        f"Python {about['python']}, SQLite {about['sqlite']}, embedder `{about['embedder']}`."
    )


def _command(needed: Iterable[str]) -> str:
    return f"`{RUN} {' '.join(f'--only {name}' for name in needed)}`"


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)


def goals(found: Iterable[Goal]) -> str:
    """What was to be reached, what was seen, and whether that is enough."""
    return table(["goal", "seen", ""], [(goal, seen, "met" if met else "**missed**") for goal, seen, met in found])


def _points(value: float) -> str:
    return f"{value:.3f}".removeprefix("0")


def _milliseconds(figures: Figures) -> str:
    return f"{figures['p50_ms']:.1f} / {figures['p95_ms']:.1f}"


def _quality(made: Mapping[str, Figures]) -> str:
    quality, engines = made["quality"], made["engines"]
    rows = [
        [name, system, *_recalls(one), *_times(one, figures["systems"][MEM0])]
        for name, figures in quality.items()
        for system, one in figures["systems"].items()
    ]
    head = ["data", "system", "@5", "@10", "@25", "@50", "add", "over mem0", "search", "over mem0"]
    found = [*_recall_goals(quality, engines), *_speed_goals(quality)]
    return "\n\n".join([_RIVALS, goals(found), table(head, rows)])


def _recalls(one: Figures) -> list[str]:
    return [_points(one["recall"]["all"][k]) for k in ("5", "10", "25", "50")]


def _times(one: Figures, mem0: Figures) -> list[str]:
    """Of add and search: p50 / p95, and p50 over mem0's, in brackets without the encoding."""
    cells: list[str] = []
    for call in ("add", "search"):
        whole, rest = (one[call][part]["p50_ms"] / mem0[call][part]["p50_ms"] for part in ("whole", "rest"))
        cells += [_milliseconds(one[call]["whole"]), f"{whole:.2f} ({rest:.2f})"]
    return cells


def _recall_goals(quality: Figures, engines: Figures) -> Iterable[Goal]:
    for name, least in LEAST_RECALL.items():
        seen = engines[name]["laptop"]
        yield f"recall@10, {name}: ≥ {least:g}", _points(seen), seen >= least
    for name, figures in quality.items():
        at_ten = {system: one["recall"]["all"]["10"] for system, one in figures["systems"].items()}
        ours, best = at_ten.pop(OURS), max(at_ten.values())
        yield f"recall@10 above every rival's, {name}", f"{_points(ours)} against {_points(best)}", ours > best
    gap = max(abs(one["engines"] - one["laptop"]) for one in engines.values())
    yield "recall@10 on OpenSearch that of SQLite within .02, all three", f"within {_points(gap)}", gap <= 0.02


def _speed_goals(quality: Figures) -> Iterable[Goal]:
    for name, figures in quality.items():
        for call in ("add", "search"):
            ratios = [over[call]["whole"] for over in figures["over"].values()]
            seen = " and ".join(f"{ratio:.2f}" for ratio in ratios)
            yield f"{call}, p50 over mem0's with and without BM25, {name}: ≤ 1/3", seen, max(ratios) <= 1 / 3
        search = figures["systems"][OURS]["search"]
        yield _over_encoding(f"search over one encoding of the question, {name}", search, 2)


def _over_encoding(what: str, times: Figures, limit: float) -> Goal:
    whole, encoding = times["whole"]["p50_ms"], times["encoding"]["p50_ms"]
    return (
        f"{what}: ≤ {limit:g}",
        f"{whole / encoding:.2f} ({whole:.1f} ms over {encoding:.1f} ms)",
        whole <= limit * encoding,
    )


def _sizes(made: Mapping[str, Figures]) -> str:
    local, engines = made["local-sizes"], made["aws-sizes"]
    rows, found = [], []
    for store, figures, limit in (("SQLite", local, 3.0), ("DynamoDB Local, OpenSearch", engines, 1.5)):
        for call in ("search", "context"):
            by_events = figures[call]["by_events"].values()
            rows.append(
                [store, call, *(f"{_milliseconds(one['whole'])} ({one['rest']['p50_ms']:.1f})" for one in by_events)]
            )
        ratio = figures["context"]["ratio"]
        seen = f"{ratio['whole']:.2f} (without encoding {ratio['rest']:.2f})"
        found.append((f"context p50, largest user over smallest, {store}: ≤ {limit:g}", seen, ratio["whole"] <= limit))
    largest = list(local["search"]["by_events"].values())[-1]
    found.append(_over_encoding("search of the largest user over one encoding, SQLite", largest, 6))
    head = ["store", "call", *(f"{int(size):,} events" for size in local["search"]["by_events"])]
    return "\n\n".join([_GROWTH, goals(found), table(head, rows)])


def _console(made: Mapping[str, Figures]) -> str:
    figures = made["console"]
    pages, waiting, assets = figures["pages"], figures["waiting"], figures["assets_bytes"]
    heaviest = max(pages, key=lambda name: pages[name]["bytes"])
    slowest = max(pages, key=lambda name: pages[name]["first_ms"])
    first, weight = pages[slowest]["first_ms"], (pages[heaviest]["bytes"] + assets) / 1000
    found = [
        ("a page's first opening, of the processor: ≤ 100 ms", f"{first:.0f} ms ({slowest})", first <= 100),
        _page_goal(f"a page at {figures['events']:,} events", pages),
        _page_goal("the same while all events wait", waiting),
        ("a page with its style and scripts: ≤ 150 KB", f"{weight:.0f} KB ({heaviest})", weight <= 150),
    ]
    rows = [
        [name, *_page_times(one), *_page_times(waiting[name])[1:], *_kilobytes(one, assets)]
        for name, one in pages.items()
    ]
    head = ["page", "first, ms", "p50 / p95", "processor", "p50 / p95, all wait", "processor", "page, KB", "whole, KB"]
    about = _PAGES.format(primed=f"{figures['primed_ms']:.0f}")
    return "\n\n".join([about, goals(found), table(head, rows)])


def _page_goal(what: str, pages: Figures) -> Goal:
    slowest = max(pages, key=lambda name: pages[name]["p50_ms"])
    took = pages[slowest]["p50_ms"]
    return f"{what}, p50 by the clock: ≤ 100 ms", f"{took:.1f} ms ({slowest})", took <= 100


def _page_times(one: Figures) -> list[str]:
    return [f"{one['first_ms']:.0f}", _milliseconds(one), f"{one['processor_ms']:.1f}"]


def _kilobytes(one: Figures, assets: int) -> list[str]:
    return [f"{size / 1000:.1f}" for size in (one["bytes"], one["bytes"] + assets)]


def _costs(made: Mapping[str, Figures]) -> str:
    costs = made["aws-costs"]
    calls = [
        [
            name,
            one["dynamodb_calls"],
            one["opensearch_requests"],
            len(one["waves"]),
            f"{one['wcu']:g}",
            f"{one['rcu']:g}",
        ]
        for name, one in ((name, costs[name]) for name in WORK)
    ]
    units = costs["ingest, turn"]["wcu"] + costs["project, turn"]["wcu"]
    waves = len(costs["context"]["waves"])
    found = [
        ("waves of calls of a context, after encoding: ≤ 2", str(waves), waves <= 2),
        ("WCU of a 1 KB turn, index and projection included: ≤ 16", f"{units:g}", units <= 16),
    ]
    head = ["work", "DynamoDB calls", "OpenSearch requests", "waves", "WCU", "RCU"]
    return "\n\n".join([_CALLS, goals(found), table(head, calls), _PRICED])


def _contradictions(made: Mapping[str, Figures]) -> str:
    figures = made["contradictions"]
    limits = (0.25, 0.04, 0.25, 0.04)
    found = [
        (f"{name}: ≤ {100 * limit:g} %", f"{100 * one['share']:.1f} % of {one['count']:,}", one["share"] <= limit)
        for (name, one), limit in zip(figures["pairs"].items(), limits, strict=True)
    ]
    ended, changed = figures["superseded"], figures["changed"]
    seen = f"{ended['decisions']} of {ended['turns']:,} turns ({100 * ended['share']:.2f} %)"
    found.append(("decisions on LoCoMo dev, all counted as false: < 0.5 % of turns", seen, ended["share"] < 0.005))
    settled, off = changed["newest_first"]["judged"], changed["newest_first"]["off"]
    seen = f"{settled} of {changed['questions']}, {off} without settling"
    found.append(("newest gold turn first, BEAM dev's questions about changes, by settling", seen, settled > off))
    keyed, projected = figures["keyed"], figures["projection"]
    found.append(("told with a key, still current: 0", f"{keyed['stale']} of {keyed['count']}", not keyed["stale"]))
    rows = [[way, *(f"{one[name]:.0f}" for name in ("p50", "p95", "mean"))] for way, one in projected.items()]
    return "\n\n".join([_PAIRS, goals(found), _PROJECTED, table(["judge", "p50 ms", "p95 ms", "mean ms"], rows)])


_IN_ENCODINGS = "a context over one encoding of its question, a user of 600 turns, without the second stage"


def _natural(made: Mapping[str, Figures]) -> str:
    figures = made["natural"]
    whole, search, unknown = figures["messages"]["all"], figures["search"]["all"], figures["messages"]["unknown"]
    at, first = search["right_at"], search["stale_first"]
    found = [
        ("right: what is needed is in the messages: ≥ .93", _points(whole["right"]), whole["right"] >= 0.93),
        (
            "misled: a stale turn unmarked, without the needed one: ≤ .05",
            _points(whole["misled"]),
            whole["misled"] <= 0.05,
        ),
        ("stale: a stale turn unmarked: ≤ .60", _points(whole["stale"]), whole["stale"] <= 0.60),
        ("precise: needed among the lines shown: ≥ .15", _points(whole["precise"]), whole["precise"] >= 0.15),
        ("tokens of the messages: ≤ 900", f"{whole['tokens']:.0f}", whole["tokens"] <= 900),
        ("lines where nothing answers: ≤ 3", f"{unknown['lines']:.1f}", unknown["lines"] <= 3),
        ("search, right among the first 3: ≥ .65", _points(at["3"]), at["3"] >= 0.65),
        ("search, right among the first 10: ≥ .88", _points(at["10"]), at["10"] >= 0.88),
        ("search, a stale turn above all that is needed: ≤ .30", _points(first), first <= 0.30),
        _over_encoding(_IN_ENCODINGS, figures["encodings"], 3),
    ]
    rows = [_natural_row(kind, figures) for kind in figures["messages"]]
    head = [
        "questions",
        "",
        "right",
        "misled",
        "stale",
        "precise",
        "lines",
        "tokens",
        "search @3",
        "@10",
        "stale first",
    ]
    prompt = figures["prompt"]["all"]
    seen = f"The prompt, whose eight lines the document chooses: right {_points(prompt['right'])}, misled "
    seen += f"{_points(prompt['misled'])}, precise {_points(prompt['precise'])}, {prompt['tokens']:.0f} tokens."
    read = figures["search_reranked"]["all"]
    three, ten = (_points(read["right_at"][k]) for k in ("3", "10"))
    seen += f" A search with `rerank`: @3 {three}, @10 {ten}, stale first {_points(read['stale_first'])}."
    return "\n\n".join([_NATURAL, goals(found), table(head, rows), seen])


def _natural_row(kind: str, figures: Figures) -> list[str]:
    messages, search = figures["messages"][kind], figures["search"][kind]
    shares = [messages[name] for name in ("right", "misled", "stale", "precise")]
    found = [search["right_at"]["3"], search["right_at"]["10"], search["stale_first"]]
    counts = [f"{messages['lines']:.1f}", f"{messages['tokens']:.0f}"]
    return [kind, str(messages["questions"]), *map(_known, shares), *counts, *map(_known, found)]


def _known(share: float | None) -> str:
    return "–" if share is None else _points(share)


def _cold_start(made: Mapping[str, Figures]) -> str:
    figures = made["cold-start"]
    answers, model = figures["answers"], figures["model"]
    over = {name: one["first_seconds"] / one["warm_seconds"] for name, one in answers.items()}
    worst = max(over, key=lambda name: over[name])
    goal = f"a first answer, once started, ≤ {FIRST_OVER_WARM} warm ones"
    found: list[Goal] = [(goal, f"{over[worst]:.1f} ({worst})", over[worst] <= FIRST_OVER_WARM)]
    load, held = model["load_seconds"], model["resident_mb"]
    found.append(("the default embedder loads in ≤ 0.35 s", f"{load:.2f} s", load <= 0.35))
    found.append(("a process with it holds ≤ 200 MB", f"{held:.0f} MB", held <= 200))
    rows = [["bare", f"{1000 * figures['bare_seconds']:.0f}", "", "", ""]]
    rows += [[name, *_answer_row(one), f"{over[name]:.1f}"] for name, one in answers.items()]
    head = ["function", "start, ms", "first answer", "warm answer", "first over warm"]
    return "\n\n".join([_STARTS, goals(found), table(head, rows)])


def _answer_row(one: Figures) -> list[str]:
    return [f"{1000 * one[name]:.0f}" for name in ("start_seconds", "first_seconds", "warm_seconds")]


def _memory_sizes(made: Mapping[str, Figures]) -> str:
    answers = {name: answer_of(name, one) for name, one in made["memory-sizes"].items()}
    rows = [[name, *_sized(one), f"**{one.chosen_mb}**"] for name, one in answers.items()]
    rows += [[name, "", "", *("" for _ in SIZES_MB), f"**{size}**"] for name, (size, _) in GIVEN_MB.items()]
    head = ["function", "processor, ms", "resident, MB", *(f"at {size:,} MB" for size in SIZES_MB), "given, MB"]
    reasons = "; ".join(f"`{name}` {why}" for name, (_, why) in GIVEN_MB.items())
    words = _MEMORY.format(spare=SPARE, slower_ms=round(1000 * SLOWER_SECONDS))
    return "\n\n".join([words, table(head, rows), f"Without a sample that could decide: {reasons}."])


def _sized(one: Answer) -> list[str]:
    sizes = [f"{1000 * one.seconds(size):.0f} ms, {one.dollars_per_million(size):.2f} $" for size in SIZES_MB]
    return [f"{1000 * one.work.processor_seconds:.0f}", f"{one.resident_mb:.0f}", *sizes]


_HEAD = f"""# Benchmarks

Written by `make bench`, that is `{RUN} --write`. Each figure is a ratio to a named
baseline **in the same run**, on one machine. Milliseconds are p50 / p95 and say what that machine did,
no more. A goal that was missed says so. What was measured to decide something stands, with its figures, where it was
decided: [adr](adr)."""

_RIVALS = """\
LangGraph's `InMemoryStore` (nothing on disk) and mem0 (`infer=False`, embedded Qdrant on disk, telemetry off, with and
without its BM25, which needs fastembed beside it), pinned in `infra/tools/bench/rivals.txt`, in an environment of their
own. All have our embedder with its prefixes and pooling, in one process; each conversation is a user, or a namespace.
Rivals get speaker and day in the text (`Anna (8 May 2023): …`), Recollect in its fields. Evidence recall@k is the share
of a question's gold turns among the first k, as `recollect eval DATA --k 5,10,25,50` prints it; a difference under .025
is noise on these sets. *Add* is one turn with `synchronous=FULL`, acknowledged **and** searchable, *search* is for ten,
the systems in turns; in brackets the ratio of all but the encoding, which is the same for all."""

_GROWTH = """\
LoCoMo's turns, repeated with dates of their own (every five minutes) until users have 1,000, 10,000 and 100,000, all in
one store; 60 questions to each in turns. DynamoDB Local and OpenSearch run on the same two cores as the client. In
brackets: p50 without encoding the question. 10^6 events, and 10^5 users: [adr 3](adr/0003-ranking-in-the-domain.md)."""

_PAGES = """\
One user of a laptop's server (SQLite) with LoCoMo's turns, repeated, and 100 values that were told twice each. The
console is asked in a process of its own, without a socket, after what a server loads and compiles beside its start,
{primed} ms of the processor: each page once (*first*, of the processor), and all of them twenty times in turns; the
same while all turns wait to be projected, as after an import. Milliseconds by the clock grow with what else the machine
does; those of the processor hardly do, and there is nothing else to wait for. *Whole* is a page with its style and
scripts, nothing compressed."""

_CALLS = """\
A user with 1,000 turns; the turn has 1,024 bytes, put together of what people said (LoCoMo). Counted on the real
adapters through the SDK's own events: each call is held up for 80 ms, and the longest chain of calls that do not
overlap is the number of waves. Units are what DynamoDB Local says, or AWS's rules where they give more. A *telling*
turn begins with where one lives."""

_PRICED = """\
Here the newest hundred messages have 1 KB. What a million of each costs, for both search engines, and what an idle
stack does, is counted apart, for messages as people write them, of which a context reads at most 45 units
(`tests/engines/test_read_units.py`): [operations](operations.md#what-it-costs)."""

_PAIRS = """\
Pairs of statements of writers whom the judge has not learnt from, read without a store, where missed is neither settled
nor asked about; LoCoMo dev ingested whole; BEAM dev's questions about changes with more than one gold turn, with
`conflict.auto_apply` at `judged` and at `off`; the changes among the pairs, each told with one key. More in
[contradictions](contradictions.md)."""

_NATURAL = """\
Ordinary people and an assistant over three months, 100 questions at their times, each asked in a new conversation by
`POST /v1/context` and `POST /v1/search` with their defaults; nothing of the talks is learnt from. `recollect eval
FOLDER` prints the same. *Right* and *precise* are of the questions that something answers, *stale* and *misled* of
those on which something said is wrong by then."""

_PROJECTED = """\
Projecting one message of LoCoMo, embedding it included, on one thread; the baseline is the same without the judge."""

_STARTS = """\
Of the artifacts that `sam build` made, on Python 3.13, over the local engines: milliseconds of the processor, all
threads, medians of processes of their own; the user has forty records, and no question is asked twice. A function
opens while it starts what its requests need: the SDK and its clients, use cases and models (`entrypoints/priming.py`).
Then it answers the requests that its clients ask for most to itself, and nothing of that is written, logged or counted
(`entrypoints/http/warm_up.py`). On Lambda a start has a whole processor, and a request of a function of 512 MB less
than a third of one. Bare is `import aws_lambda_powertools, boto3` from the same layer. With neither, a first answer
took (2026-11-26, in the same way, over an empty store) 346 ms of ingest, 199 of memories, 248 of retrieval, 403 of
context, 318 of knowledge, 242 of mcp. Beside much other work a first answer is slower than it is: a start begins no
warm-up after three seconds by the clock. (On 2026-11-27, beside a load of 19, `knowledge` had 1.4; in five processes
measured again by themselves, 62 ms over 64.)"""

_MEMORY = """\
What a warm answer to a function's sample event takes, and its duration costs a million times, at several sizes.
Processor time and resident memory are measured of the built functions over the local engines; time at a size is
emulated, and nothing here has run on Lambda: processor time over the share of a processor that the memory gives (a
whole one at 1,769 MB), and the waiting that the [cost page](operations.md#what-it-costs) counts and assumes. Given is
the smallest size that has {spare} times what is resident, and at which an answer takes at most {slower_ms} ms more than
on a whole processor; else a whole one. `template.yaml` has these sizes."""

_PARTS: Mapping[str, tuple[tuple[str, ...], Callable[[Mapping[str, Figures]], str]]] = {
    "Quality against rivals": (("quality", "engines"), _quality),
    "Latency by size": (("local-sizes", "aws-sizes"), _sizes),
    "Console": (("console",), _console),
    "Cost on AWS": (("aws-costs",), _costs),
    "Contradictions": (("contradictions",), _contradictions),
    "Natural talks": (("natural",), _natural),
    "Import and cold start": (("cold-start",), _cold_start),
    "Memory of functions": (("memory-sizes",), _memory_sizes),
}
