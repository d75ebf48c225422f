"""The lifecycle of the index: bootstrap, readiness, rotation, restoring, warnings, degraded mode (A-33 to A-39)."""

from collections.abc import Sequence
from typing import Any

import pytest

from recollect.adapters.embedders.hashing import HashingEmbedder
from recollect.core.errors import Unavailable
from recollect.core.vectors import Encoding, TextKind
from recollect.search_index.health import SLOW_WRITES, WatchIndex, WatchPolicy
from recollect.search_index.page import FOLDER
from recollect.timeline.bus import SEMANTIC_WARNING
from recollect.timeline.timeline import Projection
from samples.wrapped import Wrapped
from services.serving import LAPTOP, USER, Service, now

TEXTS = ("I live in Paris with my dog", "My sister paints sunrises", "The bakery opens at seven")
SUNRISES = "who paints sunrises"


class NoPassages(HashingEmbedder):
    """Encodes questions only: what is indexed must have its vector already."""

    def encode(self, texts: Sequence[str], kind: TextKind, *, with_tokens: bool = False) -> list[Encoding]:
        assert kind is not TextKind.PASSAGE or not texts, "nothing is encoded anew"
        return super().encode(texts, kind, with_tokens=with_tokens)


class AwayIndex(Wrapped):
    def nominate(self, *asked: Any) -> None:
        raise Unavailable("the index is away")

    def put(self, *asked: Any, **more: Any) -> None:
        raise Unavailable("the index is away")


def remembered(service: Service) -> dict[str, str]:
    """The ids of three memories, in the index, by their contents."""
    ids = {text: service.saved(text)["id"] for text in TEXTS}
    service.settle()
    return ids


def lose_index(service: Service, ids: Sequence[str]) -> None:
    """As an engine loses it: there is an index, and nothing in it."""
    index: Any = service.app.parts.index
    if service.kind == LAPTOP:
        index.remove(service.scope(), list(ids))
        return
    index._client.indices.delete(index=f"{service.app.settings.index_prefix}-*")
    assert service.app.parts.create() == ["index"]


def lose_vectors(service: Service, ids: Sequence[str]) -> None:
    """Those that are kept beside the records."""
    records = service.app.parts.timeline.records(service.scope(), 100, None).events
    lost = [Projection(record.ref, None, None) for record in records if record.id in ids]
    service.app.parts.projections.save(service.scope(), lost)


def index_part(service: Service) -> tuple[int, bool]:
    """The status of readiness, and whether the index is ready."""
    answer = service.ready()
    return answer.status, answer.json["parts"]["index"]["ready"]


def answered(service: Service) -> tuple[str, str | None]:
    """The best result of a search, and by what else than the index it was found."""
    answer = service.search(query=SUNRISES)
    return answer["results"][0]["content"], answer["diagnostics"].get("fallback")


@pytest.mark.spec("A-33", "A-34", "A-35")
def test_an_empty_index_is_not_ready_answers_all_the_same_and_is_rebuilt_from_the_records(own_service: Service) -> None:
    assert index_part(own_service) == (200, True)
    ids = remembered(own_service)
    assert (index_part(own_service), answered(own_service)) == ((200, True), (TEXTS[1], None))
    lose_index(own_service, list(ids.values()))
    again = own_service.restarted()
    assert index_part(again) == (503, False)
    if again.kind == LAPTOP:
        assert again.app.reindexing.generations.begin(now()) == [again.tenant], "a laptop's server begins by itself"
    assert again.job("reindex")["counts"]["rebuilt"] == 3
    assert (index_part(again), answered(again)) == ((200, True), (TEXTS[1], None))
    for text, memory_id in ids.items():
        (found,) = again.search(query=text, mode="semantic", min_similarity=0.99)["results"]
        assert found["id"] == memory_id


@pytest.mark.spec("A-33", "A-36")
def test_a_rotation_flushes_the_index_and_takes_the_place_of_the_one_before(service: Service) -> None:
    ids = remembered(service)
    store, before = service.app.parts.snapshots, set[str]()
    for count in (3, 4):
        assert service.job("snapshot")["counts"]["indexed"] == count
        names = set(store.names(service.tenant, FOLDER))
        assert names
        assert not names & before
        before = names
        ids |= {(text := f"after {count}"): service.saved(text)["id"]}
        service.settle()
    if service.kind == LAPTOP:
        assert [one.name for one in service.app.settings.home.rglob("semantic-index")] == ["semantic-index"]
    assert rotated(service) == {ids[text] for text in (*TEXTS, "after 3")}
    service.delete(f"memories/{ids[TEXTS[0]]}")
    service.settle()
    assert rotated(service) == {ids[text] for text in (*TEXTS[1:], "after 3")}, "what is deleted is in no snapshot"


def rotated(service: Service) -> set[str]:
    """The records that have a vector in the snapshot of the index."""
    snapshots = service.app.search_index.snapshots
    assert snapshots is not None
    return set(
        snapshots.vectors(service.scope(), service.app.parts.timeline.records(service.scope(), 100, None).events)
    )


@pytest.mark.spec("A-33", "A-37")
def test_a_lost_index_is_loaded_from_its_snapshot_before_it_is_ready(own_service: Service) -> None:
    ids = list(remembered(own_service).values())
    own_service.job("snapshot")
    lose_index(own_service, ids)
    lose_vectors(own_service, ids)
    again = own_service.with_parts(embedder=NoPassages())
    assert index_part(again) == (503, False)
    counts = again.job("reindex")["counts"]
    assert (counts["rebuilt"], counts["encoded"]) == (3, 0)
    assert (index_part(again), answered(again)) == ((200, True), (TEXTS[1], None))
    assert again.found(query=TEXTS[0], mode="semantic", min_similarity=0.99) == [TEXTS[0]]


@pytest.mark.spec("A-38")
def test_an_index_that_is_too_full_is_warned_of(service: Service) -> None:
    service.rules(limits={"index_capacity": 2})
    for text in TEXTS[:2]:
        service.saved(text)
    service.settle()
    assert service.bus(SEMANTIC_WARNING) == []
    service.saved(TEXTS[2])
    service.settle()
    (warning,) = service.bus(SEMANTIC_WARNING)
    assert warning == {"severity": "warning", "reason": "index_capacity_exceeded"}


@pytest.mark.spec("A-38")
def test_an_index_that_is_slow_to_write_is_warned_of(service: Service) -> None:
    app = service.app
    policy = WatchPolicy(slow_seconds=0.5)
    watch = WatchIndex(app.search_index.in_use, app.parts.publisher, app.rules.resolved, app.ids, now, policy)
    watch.watch({service.tenant: 1}, 0.49)
    assert service.bus(SEMANTIC_WARNING) == []
    for _ in range(2):
        watch.watch({service.tenant: 1}, 0.5)
    assert service.bus(SEMANTIC_WARNING) == [{"severity": "warning", "reason": SLOW_WRITES}]


@pytest.mark.spec("A-39")
def test_writes_are_throttled_with_the_time_to_come_back(service: Service) -> None:
    service.rules(limits={"writes_per_second": 0.01})
    service.say("one")
    for path, body in (
        ("/v1/events", {"user_id": USER, "events": [{"content": "two"}]}),
        ("/v1/memories", {"user_id": USER, "content": "two"}),
    ):
        refused = service.caller.post(path, body)
        assert (refused.status, int(refused.headers["retry-after"]) > 0) == (429, True)
    assert service.listed() == ["one"], "reads go on"
    service.rules()
    service.say("two")


@pytest.mark.spec("A-39")
def test_without_the_index_searches_are_answered_and_writes_are_kept(service: Service) -> None:
    remembered(service)
    degraded = service.with_parts(index=AwayIndex(service.app.parts.index))
    assert answered(degraded) == (TEXTS[1], "timeline")
    said = degraded.say("An owl sings at midnight")
    assert set(degraded.app.projection.reconciliation.run(now()).failed) == {said}
    assert degraded.found(query="owl sings at midnight")[0] == "An owl sings at midnight"
    service.settle()
    (found, *_) = service.search(query="owl sings at midnight")["results"]
    assert found["id"] == said
