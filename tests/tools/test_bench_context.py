"""The bench of contexts: what stands in view within a budget, against what, and that a missed goal says so."""

import importlib
from collections.abc import Iterator
from copy import deepcopy
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from recollect.bootstrap import open_app
from recollect.settings import Settings

BENCH = Path(__file__).resolve().parents[2] / "infra" / "bench"
END = datetime(2024, 5, 15, 12, tzinfo=UTC)
GOLD = 30
"""How many turns ago the gold turn was said."""


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(BENCH))
    return importlib.import_module("context_bench")


@pytest.fixture
def data(bench: ModuleType) -> Any:
    """Sixty turns a day apart, the newest of them long, one about a violin; two questions about it."""
    made: Any = importlib.import_module("bench_data")
    texts = ["I practised the violin" if ago == GOLD else f"I walked {ago} miles along the river" for ago in range(60)]
    texts[0] = "The weather report: " + "rain and wind and rain again, " * 140
    turns = [made.Turn("c", str(ago), "Ann", texts[ago], END - timedelta(days=ago)) for ago in reversed(range(60))]
    asked = ("Did I practise the violin?", "The violin, did I practise it on 2024-04-15?")
    questions = tuple(made.Question("c", text, "any", frozenset({str(GOLD)}), END) for text in asked)
    return made.DataSet("small", tuple(turns), questions)


@pytest.fixture
def memory(bench: ModuleType, data: Any, tmp_path: Path) -> Iterator[Any]:
    """Without an embedder: search goes by words."""
    variables = {"RECOLLECT_HOME": str(tmp_path), "RECOLLECT_EMBEDDER": "none"}
    loaded = importlib.import_module("bench_ours").OurMemory(open_app(Settings.from_environment(variables)))
    loaded.load(data.turns)
    yield loaded
    loaded.close()


@pytest.fixture
def seen(bench: ModuleType, memory: Any, data: Any) -> Any:
    return bench.in_view(memory, data)


def test_nothing_takes_more_than_its_budget(bench: ModuleType, seen: Any) -> None:
    for by_budget in seen.values():
        for name, budget in bench.BUDGETS.items():
            assert budget is None or by_budget[name]["tokens"] <= budget


@pytest.mark.spec("R-02")
def test_the_date_filter_shows_the_newest_twenty_of_its_window(seen: Any, memory: Any, data: Any) -> None:
    """Thirty days ago is in no fourteen days and not among the newest twenty; one question names the day."""
    assert seen["date filter, 14 days"]["none"]["any"] == pytest.approx(1 / 2)
    assert seen["date filter, all days"]["none"]["any"] == 0
    plain, named = (importlib.import_module("context_views").fits(memory, data.turns, q) for q in data.questions)
    assert plain["date filter, 14 days"](None).turn_ids == {str(ago) for ago in range(15)}
    assert plain["date filter, all days"](None).turn_ids == {str(ago) for ago in range(20)}
    assert named["date filter, 14 days"](None).turn_ids == {str(GOLD)}


def test_the_baselines_are_the_newest_messages_cut_from_the_oldest(bench: ModuleType, seen: Any) -> None:
    """The newest message takes more than 1,000 tokens: there is room for it at 2,000."""
    last, fitting = seen["last 20 messages"], seen["newest messages that fit"]
    assert last["none"]["any"] == 0
    assert fitting["none"]["all"] == 1
    assert last["1000"]["tokens"] < 20 < 1000 < last["2000"]["tokens"]
    assert last["2000"]["tokens"] < fitting["2000"]["tokens"]


def test_a_context_holds_what_search_finds_and_more_places_only_where_asked_for(
    bench: ModuleType, memory: Any, data: Any
) -> None:
    fits = importlib.import_module("context_views").fits(memory, data.turns, data.questions[0])
    by_default, raised, hits = (
        fits[name](None).turn_ids for name in ("prompt", "prompt, 50 places", "prompt, 50 search hits")
    )
    assert len(by_default) == 8
    assert str(GOLD) in by_default & raised & hits
    assert len(raised) > 8
    assert {str(ago) for ago in range(5)} <= raised


def test_what_is_fitted_again_is_what_a_call_with_that_budget_answers(
    bench: ModuleType, memory: Any, data: Any
) -> None:
    views = importlib.import_module("context_views")
    question = data.questions[0]
    fits = views.fits(memory, data.turns, question)
    for limits, prompt, messages in (
        (None, "prompt", "messages"),
        (views.RAISED, "prompt, 50 places", "messages, 50 places"),
    ):
        answer = views.context_of(memory, views.context_request(question, limits, 1000), question.conversation)
        items = {i for one in answer.prompt.memories for i in one.item.source_event_ids}
        shown = fits[prompt](1000)
        assert (shown.turn_ids, shown.tokens) == ({memory.turn_id(i) for i in items}, answer.prompt.tokens)
        assert fits[messages](1000).tokens == answer.messages.tokens


@pytest.mark.spec("R-05", "R-96")
def test_what_is_saved_is_told_against_the_date_filter(bench: ModuleType, seen: Any) -> None:
    saved = bench.saved(seen)
    ours, theirs = seen["prompt"]["none"]["tokens"], seen["date filter, 14 days"]["none"]["tokens"]
    assert saved["prompt"]["none"] == pytest.approx(1 - ours / theirs)
    assert saved["date filter, 14 days"] == dict.fromkeys(bench.BUDGETS, 0)


@pytest.mark.spec("R-05", "R-96")
def test_the_page_says_what_was_met_and_what_was_missed(bench: ModuleType, seen: Any) -> None:
    page = importlib.import_module("context_page")
    figures = {"small": {"in_view": deepcopy(seen), "times": _times()}}
    figures["small"]["in_view"]["prompt"]["2000"]["any"] = 0.9
    figures["small"]["in_view"]["prompt"]["1000"]["any"] = seen["date filter, 14 days"]["1000"]["any"]

    def judged(text: str) -> list[bool]:
        return [met for goal, _, met in page.context_goals({"context": figures}) if text in goal]

    assert judged("at 2,000 tokens") == [True]
    assert judged("at 1,000 tokens") == [False]
    for tokens, is_met in ((70, True), (71, False)):
        figures["small"]["in_view"]["prompt"]["none"] = {"any": 1.0, "all": 1.0, "tokens": tokens}
        figures["small"]["in_view"]["date filter, 14 days"]["none"] = {"any": 0.5, "all": 0.5, "tokens": 100}
        assert judged("Stage 4's (date filter, 14 days)") == [is_met]
    part = page.context_part({"context": figures})
    assert all(f"| small | {view} | " in part for view in seen)


def _times() -> dict[str, Any]:
    times = {"p50_ms": 1.0, "p95_ms": 2.0}
    return {"whole": times, "rest": times, "assembly": times, "share": {"whole": 0.1, "rest": 0.1}}
