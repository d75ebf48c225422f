"""Right after a bulk import: the words of what no projector has reached find it, in every mode, for whom they may.

120 remarks come after what is looked for, so that it is none of the user's newest 100 that wait.
"""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from embedded.archiving import USER
from embedded.setting import ANNA, NOON, Away, Memory, away, open_memory, with_parts
from recollect.core.event import EventType
from recollect.core.scope import Scope
from recollect.deletion.reject import Rejecting
from recollect.intent.retrieve import IntentQuestion
from recollect.retrieval.filters import DropReason, SearchFilters, TimeWindow
from recollect.retrieval.pipeline import COMPARED
from recollect.retrieval.ranking import Mode
from recollect.timeline.record import EventDraft

VIOLIN = "My violin teacher is called Berta"
ASKED = "violin teacher called"
REMARKS = 120


def bury(memory: Memory, scope: Scope = ANNA) -> None:
    """Puts so much after what was said that the tail does not reach it; nobody projects."""
    for part in range(2):
        memory.add(*(f"r{part}{n} s{part}{n}" for n in range(REMARKS // 2)), scope=scope)


def found(memory: Memory, mode: Mode, text: str = ASKED, **more: object) -> list[str]:
    """What a search finds; in semantic mode with a threshold."""
    least = 0.3 if mode is Mode.SEMANTIC else None
    return memory.found(text, mode=mode, min_similarity=least, **more)


@pytest.mark.parametrize("mode", Mode)
def test_words_find_what_no_projector_has_reached(memory: Memory, mode: Mode) -> None:
    memory.add(VIOLIN)
    bury(memory)
    assert found(memory, mode)[0] == VIOLIN
    assert found(memory, mode, "the piano tuner Gregor r17")[:1] != [VIOLIN]


@pytest.mark.parametrize("mode", Mode)
@pytest.mark.parametrize("projected", [0, 30, 120])
def test_a_projector_that_has_come_half_way_hides_nothing(memory: Memory, mode: Mode, projected: int) -> None:
    memory.add(*(f"n{n} w{n}" for n in range(60)), VIOLIN)
    bury(memory)
    memory.app.projection.events.project(
        memory.app.parts.projections.pending(projected, None).markers if projected else (), memory.now
    )
    assert found(memory, mode)[0] == VIOLIN
    assert found(memory, mode, "n7")[0] == "n7 w7"


def test_words_are_there_after_the_process_that_stored_them_ended(tmp_path: Path) -> None:
    first = open_memory(tmp_path)
    first.add(VIOLIN)
    bury(first)
    first.app.parts.close()
    again = open_memory(tmp_path)
    again.now = first.now
    assert [found(again, mode)[0] for mode in Mode] == [VIOLIN] * 3
    assert again.search(ASKED).diagnostics.pending == REMARKS + 1
    again.app.parts.close()


@pytest.mark.parametrize("mode", Mode)
def test_filters_and_windows_hold_for_what_waits(memory: Memory, mode: Mode) -> None:
    drafts = [
        EventDraft(content=VIOLIN, timestamp=NOON, key="music", space_id="s", metadata={"n": 1}),
        EventDraft(content=f"{VIOLIN} now", timestamp=NOON - timedelta(days=9), event_type=EventType.TASK),
    ]
    memory.add(*drafts)
    memory.add(f"{VIOLIN} too", conversation="c2", scope=Scope("acme", "anna", "coach", "h"))
    bury(memory)
    assert len(found(memory, mode)[:3]) == 3
    day = TimeWindow(NOON - timedelta(hours=1), NOON)
    for narrowing in ({"window": day}, {"key": "music"}, {"space_id": "s"}, {"metadata": {"n": 1}}):
        assert found(memory, mode, **narrowing) == [VIOLIN], narrowing
    assert found(memory, mode, event_type="task") == [f"{VIOLIN} now"]
    assert found(memory, mode, conversation_id="c2") == [f"{VIOLIN} too"]
    assert found(memory, mode, scope=Scope("acme", "anna", "coach")) == [f"{VIOLIN} too"]
    assert found(memory, mode, scope=Scope("acme", "anna", None, "h")) == [f"{VIOLIN} too"]
    assert VIOLIN in found(memory, mode, as_of=NOON + timedelta(seconds=1))
    assert VIOLIN not in found(memory, mode, as_of=NOON - timedelta(seconds=1))


@pytest.mark.parametrize("mode", Mode)
def test_nobody_elses_words_and_none_that_may_not_be_shown(memory: Memory, mode: Mode) -> None:
    others = [Scope("acme", "ben"), Scope("other", "anna")]
    for scope in others:
        memory.add(f"{VIOLIN} of another", scope=scope)
    memory.add(
        EventDraft(content=f"{VIOLIN} in private", is_private=True, timestamp=NOON),
        EventDraft(content=f"{VIOLIN} for a day", expires_at=memory.now + timedelta(days=1), timestamp=NOON),
        EventDraft(content=VIOLIN, timestamp=NOON),
    )
    for scope in (ANNA, *others):
        bury(memory, scope)
    seen = [one for one in found(memory, mode) if "violin" in one]
    assert sorted(seen) == [VIOLIN, f"{VIOLIN} for a day"]
    memory.now += timedelta(days=1)
    assert [one for one in found(memory, mode) if "violin" in one] == [VIOLIN]


@pytest.mark.spec("P-22")
@pytest.mark.parametrize("mode", Mode)
def test_what_was_deleted_or_rejected_while_it_waited_is_found_no_more(memory: Memory, mode: Mode) -> None:
    memory.add(VIOLIN, f"{VIOLIN}, says Carl", "I hate liver")
    bury(memory)
    memory.app.deletion.events.forget(ANNA, event_id=memory.ids[0], now=memory.now)
    memory.app.deletion.values.reject(ANNA, "I hate liver", Rejecting(now=memory.now, actor=USER, via="test"))
    for _ in ("waiting", "projected"):
        assert VIOLIN not in found(memory, mode)
        assert found(memory, mode)[0] == f"{VIOLIN}, says Carl"
        assert "I hate liver" not in found(memory, mode, "hate liver")
        memory.project()


def test_a_late_projector_brings_no_words_back(memory: Memory) -> None:
    memory.add(VIOLIN)
    bury(memory)
    stale = memory.app.parts.projections.pending(10, None).markers
    memory.app.deletion.events.forget(ANNA, event_id=memory.ids[0], now=memory.now)
    memory.app.projection.events.project(stale, memory.now)
    assert [VIOLIN in found(memory, mode) for mode in Mode] == [False] * 3
    assert memory.app.parts.index.count(ANNA).documents == REMARKS


def city(name: str, day: int) -> EventDraft:
    return EventDraft(content=f"My city is {name}", key="city", timestamp=NOON + timedelta(days=day))


@pytest.mark.spec("P-19")
@pytest.mark.parametrize("mode", Mode)
@pytest.mark.parametrize("projected", [False, True])
def test_of_a_slot_whose_values_all_wait_the_newest_alone_is_found(memory: Memory, mode: Mode, projected: bool) -> None:
    memory.add(city("Rome", -9))
    if projected:
        memory.project()
    memory.add(city("Oslo", -3), city("Lyon", -6))
    memory.add(city("Bonn", -1), scope=Scope("acme", "anna", "coach"))
    bury(memory)
    for _ in ("waiting", "projected"):
        least = 0.1 if mode is Mode.SEMANTIC else None
        cities = memory.found("My city is Rome", mode=mode, min_similarity=least)
        assert sorted(one for one in cities if "city" in one) == ["My city is Bonn", "My city is Oslo"]
        past = memory.found("My city is Rome", mode=mode, min_similarity=least, as_of=NOON - timedelta(days=5))
        assert [one for one in past if "city" in one] == ["My city is Lyon"]
        memory.project()


@pytest.mark.spec("P-19", "P-22")
def test_a_slot_whose_newest_value_was_deleted_while_all_waited_is_empty(memory: Memory) -> None:
    memory.add(city("Rome", -9), city("Oslo", -3))
    bury(memory)
    memory.app.deletion.events.forget(ANNA, event_id=memory.ids[1], now=memory.now)
    for _ in ("waiting", "projected"):
        assert not [one for one in memory.found("My city is Rome") if "city" in one]
        memory.project()


@pytest.mark.spec("P-19")
def test_by_intent_too_a_value_that_another_replaced_is_none_before_it_is_projected(memory: Memory) -> None:
    memory.add(city("Rome", -2), city("Oslo", -1))
    bury(memory)
    asked = IntentQuestion(text="which city was named", filters=SearchFilters(now=memory.now + timedelta(days=1)))
    answer = memory.app.intent.retrieve(ANNA, asked, memory.app.rules.resolved(ANNA.tenant))
    assert [one.event.content for one in answer.results] == ["My city is Oslo"]
    assert (answer.diagnostics.pending, answer.diagnostics.tail_cut) == (REMARKS + 2, True)


@pytest.mark.spec("A-28", "A-30")
@pytest.mark.parametrize("mode", Mode)
def test_a_threshold_is_held_against_a_vector_made_at_read(memory: Memory, mode: Mode) -> None:
    memory.add(VIOLIN, "violin")
    bury(memory)
    exact = memory.search(VIOLIN, mode=mode, min_similarity=0.99)
    assert [one.event.content for one in exact.results] == [VIOLIN]
    words = 1 if mode is Mode.LEXICAL else 0  # "violin" has a word of the question, and is counted for it
    assert (exact.diagnostics.matched_count, exact.diagnostics.filtered_count) == (1 + words, REMARKS + 1 - words)
    assert exact.diagnostics.dropped == {DropReason.THRESHOLD: REMARKS + 1 - words}
    assert exact.results[0].ranked.signals["similarity"] == pytest.approx(1.0, abs=1e-3)


class Counting(Away):
    """An embedder that counts the passages it encodes."""

    passages = 0

    def encode(self, texts: list[str], kind: object, **more: object) -> Any:
        self.passages += len(texts) if kind == "passage" else 0
        return self.__getattr__("encode")(texts, kind, **more)


def test_a_search_makes_vectors_for_a_bounded_number_and_only_where_a_similarity_is_asked_for(memory: Memory) -> None:
    memory.add(*(f"violin lesson {n}" for n in range(3 * COMPARED)))
    bury(memory)
    counting = Counting(memory.app.parts.embedder, [])
    watched = with_parts(memory, embedder=counting)
    watched.search("violin")
    assert counting.passages == 100
    watched.search("violin", mode=Mode.SEMANTIC)
    assert counting.passages == 100 + COMPARED
    watched.search("violin", mode=Mode.SEMANTIC)
    assert counting.passages == 100 + COMPARED


def test_without_the_embedder_words_alone_rank_what_waits(memory: Memory) -> None:
    memory.add(VIOLIN)
    bury(memory)
    with away(memory, "embedder", "encode") as broken:
        for mode in Mode:
            assert broken.found(ASKED, mode=mode)[0] == VIOLIN


def test_pending_counts_what_waits_of_this_user_until_it_is_projected(memory: Memory) -> None:
    memory.add(VIOLIN)
    memory.add("of another", scope=Scope("acme", "ben"))
    assert _pending(memory) == (1, 1, False)
    bury(memory)
    assert _pending(memory) == (REMARKS + 1, 100, True)
    assert memory.context(ASKED).gathered.recalled.pending == REMARKS + 1
    memory.app.projection.events.project(memory.app.parts.projections.pending(50, None).markers, memory.now)
    assert _pending(memory) == (REMARKS - 48, REMARKS - 48, False)
    memory.project()
    assert _pending(memory) == (0, 0, False)


def _pending(memory: Memory) -> tuple[int, int, bool]:
    told = memory.search(ASKED).diagnostics
    return told.pending, told.tail, told.tail_cut


@pytest.mark.parametrize("when", ["nominate", "tail"])
def test_what_is_projected_in_the_midst_of_a_search_is_found(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    memory.add("I moved to Lyon")
    port = memory.app.parts.index if when == "nominate" else memory.app.parts.timeline
    real = getattr(type(port), when)

    def then_projected(*given: Any) -> Any:
        answer = real(*given)
        monkeypatch.undo()
        memory.project()
        return answer

    monkeypatch.setattr(type(port), when, then_projected)
    assert [one.event.content for one in memory.search("Where?").results] == ["I moved to Lyon"]
