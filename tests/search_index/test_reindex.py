"""The index of another embedder, built beside the one in use, checked and switched to (A-33 to A-37)."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from embedded.reindexing import OTHER, OtherEmbedder, reindexed, run_job, stepped, with_embedder
from embedded.setting import ANNA, Memory, with_parts
from embedded.standing import Before
from recollect.adapters.embedders.hashing import HashingEmbedder
from recollect.core.errors import NotReady
from recollect.core.items import of_tenant
from recollect.core.scope import Scope
from recollect.core.vectors import Encoding, TextKind
from recollect.jobs.job import JobStatus
from recollect.ports import SearchIndex
from recollect.retrieval.nomination import IndexCount
from recollect.retrieval.ranking import Mode
from recollect.search_index import reindex
from recollect.timeline.record import EventDraft

TEXTS = ("I live in Paris with my dog", "My sister paints sunrises", "The bakery opens at seven")
BEN = Scope("acme", "ben")


def _index(memory: Memory) -> SearchIndex:
    return memory.app.parts.index


def _semantic(memory: Memory, text: str, scope: Scope = ANNA) -> list[str]:
    answer = memory.search(text, scope, mode=Mode.SEMANTIC, min_similarity=0.9)
    assert answer.diagnostics.fallback is None
    return [result.event.content for result in answer.results]


@pytest.fixture
def projected(memory: Memory) -> Memory:
    """A memory of the texts, projected."""
    memory.add(*TEXTS)
    memory.project()
    return memory


@pytest.mark.spec("A-33")
def test_a_new_embedder_gets_an_index_of_its_own_and_the_old_one_goes(memory: Memory) -> None:
    memory.add(*TEXTS)
    memory.add("Ben lives in Oslo", scope=BEN)
    memory.project()
    other = with_embedder(memory, OtherEmbedder())
    counts = reindexed(other)
    assert counts == {"rebuilt": 4, "encoded": 4, "users": 2, "dropped": 0}
    assert _semantic(other, TEXTS[1]) == [TEXTS[1]]
    assert _semantic(other, "Ben lives in Oslo", BEN) == ["Ben lives in Oslo"]
    assert _index(other).count(of_tenant("acme")) == IndexCount(4, 4)
    assert _index(memory).count(of_tenant("acme")) == IndexCount(4, 0)


@pytest.mark.spec("A-33")
def test_until_the_switch_the_new_process_searches_by_words_and_says_so(projected: Memory) -> None:
    other = with_embedder(projected, OtherEmbedder())
    answer = other.search("who paints sunrises")
    assert answer.results[0].event.content == TEXTS[1]
    assert (answer.diagnostics.fallback, answer.diagnostics.missing) == ("lexical", ("vectors",))
    semantic = other.search("my sister paints", mode=Mode.SEMANTIC)
    assert semantic.results[0].event.content == TEXTS[1]
    other.now = projected.now
    other.add("said just now")
    found = other.search("said just now", mode=Mode.SEMANTIC, min_similarity=0.9)
    assert [result.event.content for result in found.results] == ["said just now"]
    reindexed(other)
    assert other.search("who paints sunrises").diagnostics.missing == ()


@pytest.mark.spec("A-33")
def test_reads_and_writes_go_on_at_every_step(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reindex, "PAGE", 2)
    memory.add(*(f"remark number{n} of anna" for n in range(7)))
    memory.add(*(f"remark number{n} of ben" for n in range(3)), scope=BEN)
    memory.project()
    other = with_embedder(memory, OtherEmbedder())
    said: list[str] = []

    def between(_state: object) -> None:
        said.append(f"said meanwhile number{len(said)}")
        other.now = max(other.now, memory.now)
        other.add(said[-1])
        assert other.found(said[-1])[0] == said[-1]
        assert other.project() == 1
        assert other.found(said[-1])[0] == said[-1]
        assert other.found("remark number3 of anna")[0] == "remark number3 of anna"

    stepped(other, "acme", between)
    assert len(said) > 6
    for text in (*said, *(f"remark number{n} of anna" for n in range(7))):
        assert _semantic(other, text)[0] == text
    assert other.app.search_index.health.check().ready
    assert other.app.search_index.states.read("acme").state.generation == OTHER


def test_what_is_deleted_while_it_is_built_is_in_neither(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reindex, "PAGE", 1)
    memory.add(*TEXTS)
    memory.project()
    other = with_embedder(memory, OtherEmbedder())
    left = list(memory.ids)

    def between(state: object) -> None:
        if isinstance(state, dict) and state.get("walked") == 2 and len(left) == 3:
            other.app.deletion.events.forget(ANNA, now=other.now, event_id=left.pop(0))
            other.project()

    stepped(other, "acme", between)
    assert len(left) == 2
    assert other.app.search_index.in_use.count(ANNA) == IndexCount(2, 2)
    assert {ref.id for ref in other.app.search_index.in_use.listed(ANNA, 10, None).refs} == set(left)


def test_vectors_that_are_kept_are_used_again(projected: Memory) -> None:
    index = _index(projected)
    index.remove(ANNA, projected.ids)
    embedder = _CountingHashing()
    again = with_parts(projected, embedder=embedder)
    assert reindexed(again)["encoded"] == 0
    assert embedder.encoded == []
    assert _semantic(again, TEXTS[2]) == [TEXTS[2]]


def test_what_was_projected_without_the_model_gets_its_vector(memory: Memory) -> None:
    memory.add(TEXTS[0])
    memory.project()
    blind = with_embedder(memory, None)
    blind.now = memory.now
    blind.add(TEXTS[1])
    blind.project()
    assert blind.found("sister paints")[0] == TEXTS[1]
    assert memory.app.search_index.health.lagging() == {"acme": "incomplete"}
    assert memory.app.search_index.health.check().ready
    counts = reindexed(memory)
    assert (counts["rebuilt"], counts["encoded"]) == (2, 1)
    assert _semantic(memory, TEXTS[1]) == [TEXTS[1]]
    assert memory.app.search_index.health.lagging() == {}


def test_a_tenant_s_switch_is_nobody_else_s(memory: Memory) -> None:
    strangers = Scope("other", "anna")
    memory.add(TEXTS[0])
    memory.add(TEXTS[0], scope=strangers)
    memory.project()
    other = with_embedder(memory, OtherEmbedder())
    reindexed(other)
    assert _semantic(other, TEXTS[0]) == [TEXTS[0]]
    assert other.app.search_index.health.lagging() == {"other": "generation"}
    assert _semantic(memory, TEXTS[0], strangers) == [TEXTS[0]]


def test_back_to_the_first_embedder_is_another_switch(projected: Memory) -> None:
    other = with_embedder(projected, OtherEmbedder())
    reindexed(other)
    back = with_embedder(projected, HashingEmbedder())
    assert back.search(TEXTS[0]).diagnostics.missing == ("vectors",)
    assert reindexed(back)["encoded"] == 3
    assert _semantic(back, TEXTS[0]) == [TEXTS[0]]


def test_superseded_private_and_expired_records_are_as_they_were(memory: Memory) -> None:
    memory.add(*(_draft(memory, city, key="city") for city in ("I live in Rome", "I live in Paris")))
    memory.add(_draft(memory, "the secret bakery", is_private=True), _draft(memory, "soon gone bakery", expires=True))
    memory.project()
    before = [set(memory.found("live in bakery")), set(memory.found("live in", include_superseded=True))]
    other = with_embedder(memory, OtherEmbedder())
    reindexed(other)
    assert [set(other.found("live in bakery")), set(other.found("live in", include_superseded=True))] == before
    assert other.app.search_index.in_use.count(ANNA) == IndexCount(4, 3)


def _draft(memory: Memory, text: str, *, expires: bool = False, **changes: Any) -> EventDraft:
    draft = memory._draft(text)
    return replace(draft, **changes, expires_at=memory.now.replace(year=2030) if expires else None)


def test_a_process_with_the_old_embedder_writes_to_both_and_spoils_nothing(projected: Memory) -> None:
    other = with_embedder(projected, OtherEmbedder())
    said: list[str] = []

    def between(_state: object) -> None:
        said.append(f"said to the old process number{len(said)}")
        projected.now = max(other.now, projected.now)
        projected.add(said[-1])
        projected.project()
        assert projected.found(said[-1])[0] == said[-1]

    stepped(other, "acme", between)
    assert other.found(said[0])[0] == said[0]
    assert _semantic(other, TEXTS[0]) == [TEXTS[0]]
    assert other.app.search_index.health.lagging() == {"acme": "incomplete"}
    reindexed(other)
    assert other.app.search_index.health.lagging() == {}
    assert all(text in _semantic(other, text) for text in said)


def test_a_process_with_the_old_embedder_searches_by_words_after_the_switch(projected: Memory) -> None:
    reindexed(with_embedder(projected, OtherEmbedder()))
    assert projected.found("who paints sunrises")[0] == TEXTS[1]
    assert projected.search("who paints sunrises").diagnostics.missing == ("vectors",)


@pytest.mark.spec("A-34")
def test_documents_without_a_record_are_found_and_removed(projected: Memory) -> None:
    database = projected.app.parts._database  # type: ignore[attr-defined] # of the laptop's parts only
    with database.writing(durable=True) as connection:
        connection.execute("DELETE FROM events WHERE id = ?", (projected.ids[0],))
    counts = reindexed(projected)
    assert (counts["rebuilt"], counts["removed"]) == (2, 1)
    assert {ref.id for ref in _index(projected).listed(ANNA, 10, None).refs} == set(projected.ids[1:])


def test_an_index_that_loses_documents_again_and_again_is_reported(projected: Memory) -> None:
    job = run_job(with_parts(projected, index=_Forgetful(projected.app.parts.index)), "reindex")
    assert (job.status, dict(job.errors)) == (JobStatus.FAILED, {"IndexLacksDocuments": 1})


def test_an_unknown_source_is_refused(memory: Memory) -> None:
    job = run_job(memory, "reindex", **{"from": "nowhere"})
    assert (job.status, dict(job.errors)) == (JobStatus.FAILED, {"InvalidInput": 1})


def test_while_the_model_is_missing_nothing_is_built(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> object:
        raise NotReady("the model is missing")

    memory.add(TEXTS[0])
    memory.project()
    monkeypatch.setattr(memory.app.parts, "checks", lambda: {"embedder": missing, "index": missing})
    with pytest.raises(NotReady):
        memory.app.reindexing.reindex.step("acme", {}, memory.now, lambda: 0.0)
    assert memory.app.reindexing.generations.begin(memory.now) == []


class _CountingHashing(HashingEmbedder):
    def __init__(self) -> None:
        self.encoded: list[str] = []

    def encode(self, texts: Sequence[str], kind: TextKind, *, with_tokens: bool = False) -> list[Encoding]:
        self.encoded += texts if kind is TextKind.PASSAGE else ()
        return super().encode(texts, kind, with_tokens=with_tokens)


class _Forgetful(Before):
    """Takes documents and shows one less."""

    def count(self, owner: Scope, most: int | None = None) -> IndexCount:
        found = self.part.count(owner)
        return IndexCount(found.documents - 1, found.vectors)
