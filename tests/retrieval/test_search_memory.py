"""Search: what is found, when, by whom, and what is said where a part is away."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from embedded.setting import ANNA, NOON, Away, Memory, away, open_memory, with_parts
from recollect.adapters.embedders.hashing import HashingEmbedder
from recollect.contracts.examples import some_events
from recollect.core.learned_share import LearnedShare, LearnedShares
from recollect.core.scope import Scope
from recollect.core.vectors import Encoding, TextKind
from recollect.retrieval.filters import DropReason, SearchFilters, TimeWindow
from recollect.retrieval.nomination import Arm
from recollect.retrieval.pipeline import RecallRequest
from recollect.retrieval.ranking import Mode
from recollect.retrieval.unprojected import TailSlots
from recollect.search_index.page import index_document
from recollect.timeline.record import EventDraft

Settle = Callable[[], object]
TEXTS = ("I live in Paris with my dog", "My sister paints sunrises", "The bakery opens at seven")


@pytest.fixture(params=[False, True], ids=["waiting", "projected"])
def settle(memory: Memory, request: pytest.FixtureRequest) -> Settle:
    """Projects what was said, or leaves it waiting."""
    return memory.project if request.param else lambda: None


@pytest.mark.parametrize("mode", Mode)
def test_a_just_ingested_event_is_found_in_every_mode(memory: Memory, mode: Mode, settle: Settle) -> None:
    memory.add(*TEXTS)
    settle()
    assert memory.found("my sister paints", mode=mode)[0] == TEXTS[1]


@pytest.mark.parametrize("mode", Mode)
def test_the_order_is_the_same_before_and_after_projection(memory: Memory, mode: Mode) -> None:
    memory.add(*TEXTS)
    before = {r.event.id: r.ranked.score for r in memory.search("dog sunrise", mode=mode).results}
    memory.project()
    after = {r.event.id: r.ranked.score for r in memory.search("dog sunrise", mode=mode).results}
    assert list(before) == list(after)
    assert before == pytest.approx(after, abs=1e-3)


class TowardsTheBakery(HashingEmbedder):
    """To it whatever is asked as a question lies at the last text; a query in the words of the second asks of now."""

    learned: Any = LearnedShares(
        of_now=LearnedShare(HashingEmbedder().encode([TEXTS[1]], TextKind.QUERY)[0].vector * 50, -25.0)
    )

    def encode(self, texts: Sequence[str], kind: TextKind, *, with_tokens: bool = False) -> list[Encoding]:
        own = super().encode(texts, kind, with_tokens=with_tokens)
        if kind is not TextKind.QUESTION:
            return own
        there = super().encode([TEXTS[2]] * len(texts), kind, with_tokens=with_tokens)
        return [replace(one, as_query=plain) for one, plain in zip(there, own, strict=True)]


def test_a_search_asks_towards_the_answer_and_a_context_as_it_did(memory: Memory, settle: Settle) -> None:
    memory.add(*TEXTS)
    settle()
    asked = with_parts(memory, embedder=TowardsTheBakery())
    assert asked.found(TEXTS[1], mode=Mode.SEMANTIC)[0] == TEXTS[2]
    recalled = asked.context(TEXTS[1]).gathered.recalled
    assert recalled.text(recalled.ranked[0]) == TEXTS[1]
    for words, of_now in ((TEXTS[1], True), (TEXTS[0], False)):
        request = RecallRequest(text=words, vector=None, mode=Mode.HYBRID, filters=SearchFilters(now=NOON), wanted=3)
        for as_question in (False, True):
            opened = asked.app.retrieval.pipeline.begin(ANNA, replace(request, as_question=as_question))
            assert (opened.query.of_now > 0.9) == of_now


@pytest.mark.spec("A-24", "A-32", "A-75")
def test_nobody_sees_anothers_memory(memory: Memory) -> None:
    others = Scope("acme", "ben"), Scope("other", "anna"), Scope("acme", "anna", "coach")
    for scope in (*others, Scope("acme", "anna", None, "h")):
        memory.add("I live in Oslo", scope=scope)
    memory.add("I live in Paris")
    for state in ("tail", "indexed"):
        for mode in Mode:
            for scope in others:
                assert memory.found("live", mode=mode, scope=scope) == ["I live in Oslo"], (state, scope)
            assert len(memory.found("live", mode=mode)) == 3
            assert memory.found("live", mode=mode, scope=Scope("nobody", "anna")) == []
        memory.project()


def test_private_and_expired_events_are_found_by_nobody(memory: Memory, settle: Settle) -> None:
    memory.add(
        EventDraft(content="secret dog", is_private=True, timestamp=NOON),
        EventDraft(content="gone dog", expires_at=memory.now + timedelta(minutes=1), timestamp=NOON),
        EventDraft(content="open dog", timestamp=NOON),
    )
    settle()
    memory.now += timedelta(minutes=1)
    for mode in Mode:
        assert memory.found("dog", mode=mode) == ["open dog"]


@pytest.mark.spec("A-25")
def test_at_most_as_many_as_wanted_and_by_score(memory: Memory) -> None:
    memory.add(*(f"dog number {n}" for n in range(30)))
    memory.project()
    results = memory.search("dog number 7", wanted=5).results
    assert len(results) == 5
    assert [r.ranked.score for r in results] == sorted((r.ranked.score for r in results), reverse=True)
    assert results[0].event.content == "dog number 7"


@pytest.mark.spec("A-28", "A-29", "A-30")
def test_thresholds_and_windows_drop_and_are_counted(memory: Memory) -> None:
    memory.add(*TEXTS)
    memory.project()
    exact = memory.search(TEXTS[0], mode=Mode.SEMANTIC, min_similarity=0.99)
    assert [r.event.content for r in exact.results] == [TEXTS[0]]
    assert (exact.diagnostics.matched_count, exact.diagnostics.filtered_count) == (1, 2)
    assert exact.diagnostics.dropped == {DropReason.THRESHOLD: 2}
    first = NOON + timedelta(minutes=1)
    windowed = memory.search("dog", window=TimeWindow(first, first))
    assert [r.event.content for r in windowed.results] == [TEXTS[0]]
    assert windowed.diagnostics.dropped == {DropReason.WINDOW: 2}
    assert windowed.diagnostics.exact


def test_a_stale_index_brings_nothing_back(memory: Memory) -> None:
    memory.add("I live in Paris")
    memory.project()
    memory.app.parts.timeline.read = lambda scope, refs: {}  # type: ignore[method-assign]
    answer = memory.search("Paris")
    assert answer.results == ()
    assert answer.diagnostics.dropped == {DropReason.DELETED: 1}


def test_places_of_what_was_dropped_are_filled_from_below(memory: Memory) -> None:
    memory.add(*(EventDraft(content=f"dog {n}", timestamp=NOON + timedelta(days=n)) for n in range(40)))
    memory.project()
    timeline, hidden = memory.app.parts.timeline, set(memory.ids[:12])
    real = timeline.read
    timeline.read = lambda scope, refs: {i: e for i, e in real(scope, refs).items() if i not in hidden}  # type: ignore[method-assign]
    assert len(memory.found("dog 1 2 3 4 5 6 7 8 9 10 11", wanted=10)) == 10


@pytest.mark.parametrize("stale", [1, 4, 5, 12, 39])
def test_however_much_of_an_index_is_stale_nothing_deleted_is_shown(memory: Memory, stale: int) -> None:
    """Nor where the rounds of reading back end before the first record that may be shown."""
    memory.add(*("dog " * (40 - n) + str(n) for n in range(40)))
    memory.project()
    best_first = [r.event.id for r in memory.search("dog", wanted=40).results]
    timeline, hidden = memory.app.parts.timeline, set(best_first[:stale])
    real = timeline.read
    timeline.read = lambda scope, refs: {i: e for i, e in real(scope, refs).items() if i not in hidden}  # type: ignore[method-assign]
    assert not {r.event.id for r in memory.search("dog", wanted=1).results} & hidden


@pytest.mark.spec("P-19")
@pytest.mark.parametrize("newer_first", [False, True], ids=["newer", "late"])
def test_readers_apply_the_slot_rule_to_what_is_not_yet_projected(
    memory: Memory, settle: Settle, newer_first: bool
) -> None:
    def city(name: str, days: int) -> EventDraft:
        return EventDraft(content=f"I live in {name}", key="city", timestamp=NOON + timedelta(days=days))

    values = [city("Paris", 1), city("Lyon", 2)]
    first, second = reversed(values) if newer_first else values
    memory.add(first)
    settle()
    memory.add(second)
    memory.add(city("Oslo", 9), scope=Scope("acme", "anna", "coach"))
    for _ in ("tail", "indexed"):
        for mode in Mode:
            assert sorted(memory.found("I live in Paris", mode=mode)) == ["I live in Lyon", "I live in Oslo"]
        shown = [one.item.content for one in memory.context("I live in Paris").prompt.memories]
        assert shown == ["I live in Lyon", "I live in Oslo"]
        assert len(memory.found("I live in Paris", include_superseded=True)) == 3
        memory.project()


def test_without_keys_no_slot_is_read(memory: Memory) -> None:
    events = some_events(ANNA, 3)
    unread: Any = Away(memory.app.parts.timeline, ["slot_history"])
    assert TailSlots(unread, memory.app.parts.concurrency).read(ANNA, events) == tuple(events)


def test_as_of_and_recorded_as_of_answer_for_the_past(memory: Memory) -> None:
    memory.add(EventDraft(content="city Rome", key="city", timestamp=NOON - timedelta(days=9)))
    memory.now = NOON + timedelta(days=2)
    memory.add(EventDraft(content="city Paris", key="city", timestamp=NOON - timedelta(days=5)))
    for _ in ("tail", "indexed"):
        assert memory.found("city") == ["city Paris"]
        assert memory.found("city", as_of=NOON - timedelta(days=6)) == ["city Rome"]
        assert memory.found("city", as_of=NOON - timedelta(days=10)) == []
        assert memory.found("city", recorded_as_of=NOON + timedelta(days=1)) == ["city Rome"]
        memory.project()


def test_without_the_index_the_timeline_answers_and_says_so(memory: Memory) -> None:
    memory.add(*TEXTS)
    memory.project()
    memory.add("The dog is called Rex")
    with away(memory, "index", "nominate") as broken:
        answer = broken.search("what is my dog called")
        assert answer.results[0].event.content == "The dog is called Rex"
        assert answer.diagnostics.fallback == "timeline"
        assert answer.diagnostics.missing == ("index",)
        assert broken.context("my dog").gathered.recalled.fallback == "timeline"


@pytest.mark.parametrize("mode", [Mode.HYBRID, Mode.SEMANTIC])
def test_without_the_embedder_words_rank_and_it_says_so(memory: Memory, mode: Mode) -> None:
    memory.add(*TEXTS)
    memory.project()
    with away(memory, "embedder", "encode") as broken:
        answer = broken.search("bakery", mode=mode)
        assert answer.results[0].event.content == TEXTS[2]
        assert (answer.diagnostics.fallback, answer.diagnostics.missing) == ("lexical", ("embedder",))
        assert broken.search("bakery", mode=mode, min_similarity=0.1).results == ()


def test_with_both_away_the_words_of_the_timeline_answer(memory: Memory) -> None:
    memory.add(*TEXTS)
    with away(memory, "index", "nominate") as half, away(half, "embedder", "encode") as broken:
        answer = broken.search("bakery")
        assert answer.results[0].event.content == TEXTS[2]
        assert set(answer.diagnostics.missing) == {"index", "embedder"}


def test_no_embedder_is_lexical_and_never_pretends(tmp_path: Path) -> None:
    memory = open_memory(tmp_path, RECOLLECT_EMBEDDER="none")
    memory.add(*TEXTS)
    assert memory.project() == 3
    answer = memory.search("bakery")
    assert answer.results[0].event.content == TEXTS[2]
    assert answer.diagnostics.missing == ("embedder",)
    memory.app.parts.close()


def test_the_last_and_the_first_of_a_stopped_projector(memory: Memory) -> None:
    for part in range(30):
        start = NOON - timedelta(days=3650) + timedelta(days=part)
        memory.add(*(EventDraft(content=f"entry w{part * 100 + n}", timestamp=start) for n in range(100)))
    for mode in Mode:
        least = 0.0 if mode is Mode.SEMANTIC else None
        assert memory.found("entry w2999", mode=mode, min_similarity=least)[0] == "entry w2999"
    assert memory.found("entry w0", mode=Mode.LEXICAL)[0] == "entry w0"
    diagnostics = memory.search("entry").diagnostics
    assert (diagnostics.tail, diagnostics.tail_cut) == (100, True)


def test_another_tenants_writes_change_no_score(memory: Memory) -> None:
    memory.add(*TEXTS)
    memory.project()
    before = [(r.event.id, r.ranked.score) for r in memory.search("dog").results]
    memory.add(*(f"dog dog dog {n}" for n in range(50)), scope=Scope("other", "anna"))
    memory.add(*(f"dog dog dog {n}" for n in range(50)), scope=Scope("acme", "ben"))
    memory.project()
    assert [(r.event.id, r.ranked.score) for r in memory.search("dog").results] == before


def test_an_older_version_never_replaces_a_newer_document(memory: Memory) -> None:
    memory.add(EventDraft(content="city Rome", key="city", timestamp=NOON))
    memory.project()
    stale = memory.app.parts.timeline.find(ANNA, memory.ids[0])
    assert stale is not None
    memory.add(EventDraft(content="city Oslo", key="city", timestamp=NOON + timedelta(days=1)))
    memory.project()
    memory.app.parts.index.put([index_document(ANNA, stale, None)])
    assert memory.found("city Rome") == ["city Oslo"]


def test_each_result_says_who_nominated_it(memory: Memory) -> None:
    memory.add(*TEXTS)
    memory.project()
    memory.add("a dog again")
    arms = {r.event.content: set(r.ranked.candidate.arms) for r in memory.search("dog").results}
    assert {Arm.LEXICAL, Arm.VECTOR} <= arms[TEXTS[0]]
    assert Arm.TAIL in arms["a dog again"]


@pytest.mark.spec("A-28")
@pytest.mark.parametrize("mode", Mode)
def test_a_similarity_can_be_asked_for_in_every_mode(memory: Memory, mode: Mode, settle: Settle) -> None:
    memory.add(*TEXTS)
    settle()
    assert memory.found(TEXTS[0], mode=mode, min_similarity=0.95) == [TEXTS[0]]


def test_the_end_of_a_long_question_counts_as_much_as_its_beginning(memory: Memory, settle: Settle) -> None:
    memory.add("The copper kettle sings", *(f"remark number {n} about nothing" for n in range(20)))
    settle()
    asked = " ".join(f"filler{n}" for n in range(120)) + " kettle"
    first = memory.search(asked, mode=Mode.LEXICAL).results[0]
    assert first.event.content == "The copper kettle sings"


def test_an_answer_comes_with_its_question(memory: Memory, settle: Settle) -> None:
    memory.add("What is your favourite instrument?", conversation="music")
    answer = EventDraft(content="Definitely the one with two strings", speaker="Ben", timestamp=memory.now)
    memory.add(answer, conversation="music")
    for n in range(12):
        memory.add(f"Definitely number {n}", conversation=f"other-{n}")
    settle()
    found = memory.search("favourite instrument").results
    assert found[0].event.content == answer.content
    assert found[0].ranked.shares["exchange"] > found[1].ranked.shares["exchange"]


def test_in_hybrid_mode_the_words_of_a_question_are_weighed_by_how_rare_they_are(memory: Memory) -> None:
    memory.add("dog kettle", *(f"dog {n}" for n in range(12)))
    memory.project()
    first = memory.search("dog kettle").results[0].ranked
    assert first.signals["weighted_similarity"] != first.signals["similarity"]
    assert memory.search("dog kettle", mode=Mode.SEMANTIC).results[0].ranked.signals.keys() == {"similarity", "bm25"}
