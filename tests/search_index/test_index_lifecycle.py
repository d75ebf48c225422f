"""Readiness of the index, its making by itself, warnings, and a search without it (A-34, A-35, A-38, A-39)."""

from datetime import UTC, datetime, timedelta

import pytest

from embedded.reindexing import OtherEmbedder, with_embedder
from embedded.setting import ANNA, Memory, away, with_parts
from embedded.standing import Before
from recollect.core.items import of_tenant
from recollect.ports import SearchIndex
from recollect.retrieval.nomination import IndexCount
from recollect.retrieval.ranking import Mode
from recollect.search_index.health import CRITICAL, OVER_CAPACITY, SLOW_WRITES, WARNING, WatchIndex, WatchPolicy
from recollect.search_index.reindex import BeginReindex
from recollect.search_index.state import IndexState
from recollect.timeline.bus import SEMANTIC_WARNING

TEXTS = ("I live in Paris with my dog", "My sister paints sunrises", "The bakery opens at seven")


def _index(memory: Memory) -> SearchIndex:
    return memory.app.parts.index


def _run_jobs(memory: Memory) -> None:
    started = datetime.now(UTC)
    for seconds in range(10):
        memory.app.job_runs.run(lambda s=seconds: started + timedelta(seconds=s), lambda: 100.0)  # type: ignore[misc]


@pytest.fixture
def projected(memory: Memory) -> Memory:
    """A memory of the texts, projected."""
    memory.add(*TEXTS)
    memory.project()
    return memory


@pytest.mark.spec("A-34", "A-35")
def test_an_empty_index_is_not_ready_until_it_was_rebuilt_from_the_records(projected: Memory) -> None:
    assert projected.app.readiness.check().ready
    _index(projected).remove(ANNA, projected.ids)
    part = projected.app.readiness.check().parts["index"]
    assert (part.ready, part.pending) == (False, 1)
    assert "reindex" in part.detail
    assert projected.app.reindexing.generations.begin(datetime.now(UTC)) == ["acme"]
    _run_jobs(projected)
    assert projected.app.readiness.check().ready
    assert projected.found("who paints sunrises")[0] == TEXTS[1]


@pytest.mark.spec("A-35")
def test_an_index_of_another_embedder_is_not_ready_until_the_switch(projected: Memory) -> None:
    other = with_embedder(projected, OtherEmbedder())
    assert not other.app.search_index.health.check().ready
    assert other.app.reindexing.generations.begin(datetime.now(UTC)) == ["acme"]
    _run_jobs(other)
    assert other.app.search_index.health.check().ready
    assert projected.app.search_index.health.lagging() == {"acme": "generation"}


@pytest.mark.spec("A-34")
def test_an_index_that_was_made_anew_by_another_is_not_ready(projected: Memory) -> None:
    made_anew = with_parts(projected, index=_MadeAnew(_index(projected)))
    assert made_anew.app.search_index.health.lagging() == {"acme": "lost"}
    assert not made_anew.app.search_index.health.check().ready


def test_a_memory_without_anything_is_ready(memory: Memory) -> None:
    assert memory.app.readiness.check().ready
    assert memory.app.reindexing.generations.begin(datetime.now(UTC)) == []


def test_what_was_all_deleted_is_no_loss(memory: Memory) -> None:
    memory.add(TEXTS[0])
    memory.project()
    memory.app.deletion.events.forget(ANNA, now=memory.now, event_id=memory.ids[0])
    memory.project()
    assert _index(memory).count(of_tenant("acme")) == IndexCount(0, 0)
    assert memory.app.readiness.check().ready


def test_it_begins_once_and_looks_now_and_then(projected: Memory) -> None:
    _index(projected).remove(ANNA, projected.ids)
    begin = BeginReindex(
        projected.app.search_index.health, projected.app.jobs, projected.app.ids, lambda: None, 0.0, 0.0
    )
    assert begin.begin(datetime.now(UTC)) == ["acme"]
    assert begin.begin(datetime.now(UTC)) == [], "its job is not finished"
    slow = BeginReindex(projected.app.search_index.health, projected.app.jobs, projected.app.ids, lambda: None)
    assert slow.begin(datetime.now(UTC)) == []
    _run_jobs(projected)
    assert begin.begin(datetime.now(UTC)) == [], "it is whole"


@pytest.mark.spec("A-39")
@pytest.mark.parametrize("mode", [Mode.HYBRID, Mode.LEXICAL, Mode.SEMANTIC])
def test_with_the_index_away_searches_are_answered_from_the_timeline(projected: Memory, mode: Mode) -> None:
    with away(projected, "index", "nominate") as degraded:
        answer = degraded.search("my sister paints sunrises", mode=mode)
        assert answer.results[0].event.content == TEXTS[1]
        assert (answer.diagnostics.fallback, answer.diagnostics.missing) == ("timeline", ("index",))
        degraded.add("said while it was away")
        assert degraded.found("said while it was away")[0] == "said while it was away"


@pytest.mark.spec("A-39")
def test_with_the_index_away_writes_are_kept_and_shown_later(memory: Memory) -> None:
    with away(memory, "index", "put") as degraded:
        degraded.add(*TEXTS)
        assert set(degraded.app.projection.reconciliation.run(degraded.now).failed.values()) == {"Unavailable"}
    assert memory.app.projection.reconciliation.run(memory.now + timedelta(hours=1)).projected == 3
    assert memory.found("who paints sunrises")[0] == TEXTS[1]


def test_a_pointer_that_cannot_be_read_stops_no_search(projected: Memory) -> None:
    with away(projected, "items", "get") as degraded:
        index = degraded.app.search_index.in_use
        assert index.holds_vectors("acme")


@pytest.mark.spec("A-38")
def test_more_records_than_the_capacity_are_warned_of_once(memory: Memory) -> None:
    _set_limits(memory, index_capacity=2)
    memory.add(*TEXTS[:2])
    memory.project()
    assert _warnings(memory) == []
    memory.add(TEXTS[2])
    memory.project()
    assert _warnings(memory) == [{"severity": WARNING, "reason": OVER_CAPACITY}]
    memory.add("one more", "and another")
    memory.project()
    assert len(_warnings(memory)) == 1


@pytest.mark.spec("A-38")
def test_far_too_many_are_critical_and_slow_writes_are_published(projected: Memory) -> None:
    _set_limits(projected, index_capacity=1)
    watch = _watch(projected, WatchPolicy(slow_seconds=1.0, quiet_seconds=0.0))
    watch.watch({"acme": 1}, 0.9)
    watch.watch({"acme": 1}, 1.0)
    told = [(warning["severity"], warning["reason"]) for warning in _warnings(projected)]
    assert told == [(CRITICAL, OVER_CAPACITY), (WARNING, SLOW_WRITES), (CRITICAL, OVER_CAPACITY)]


def test_a_warning_that_nobody_hears_fails_no_write(memory: Memory) -> None:
    _set_limits(memory, index_capacity=1)
    with away(memory, "publisher", "publish") as muted:
        _watch(muted, WatchPolicy()).watch({"acme": 1}, 100.0)


def test_nobody_is_warned_without_a_capacity(projected: Memory) -> None:
    assert _warnings(projected) == []


@pytest.mark.parametrize(("known_seconds", "warned"), [(60.0, 0), (0.0, 1)])
def test_a_tenant_without_a_capacity_is_asked_about_it_once_a_minute(
    projected: Memory, known_seconds: float, warned: int
) -> None:
    watch = _watch(projected, WatchPolicy(known_seconds=known_seconds))
    watch.watch({"acme": 1}, 0.0)
    _set_limits(projected, index_capacity=1)
    watch.watch({"acme": 1}, 0.0)
    assert len(_warnings(projected)) == warned


def test_a_state_tells_why_it_lags() -> None:
    state = IndexState(generation="a.1", identity="x")
    assert state.lags("a.1", "x") is None
    assert state.lags("b.1", "x") == "generation"
    assert state.lags("a.1", "y") == "lost"
    assert state.begun("a.1").lags("a.1", "x") == "unfinished"
    lacking = state.lacking(["a.1", "b.1"])
    assert lacking.lags("a.1", "x") == "incomplete"
    assert lacking.begun("a.1").lags("a.1", "x") == "unfinished"
    assert lacking.begun("a.1").switched("a.1", "y") == IndexState(generation="a.1", identity="y")
    assert lacking.switched("b.1", "y").lags("b.1", "y") == "incomplete"


def _watch(memory: Memory, policy: WatchPolicy) -> WatchIndex:
    app = memory.app
    return WatchIndex(
        app.search_index.in_use, app.parts.publisher, app.rules.resolved, app.ids, lambda: datetime.now(UTC), policy
    )


def _set_limits(memory: Memory, **limits: object) -> None:
    memory.app.rules.replace("acme", {"limits": limits}, memory.now, None)


def _warnings(memory: Memory) -> list[dict[str, object]]:
    return [dict(event.detail) for event in memory.app.parts.publisher.published("acme", SEMANTIC_WARNING, None)]


class _MadeAnew(Before):
    """The same index with another identity."""

    def identity(self) -> str:
        return "made anew"
