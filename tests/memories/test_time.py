"""Reads answer for the right instant: what holds now, what held then, what was known then (P-24)."""

from itertools import pairwise

import pytest

from embedded.setting import ANNA, NOON, AsANetworkWants, Memory, with_parts
from embedded.timing import DAY, HOUR, Counted, by_words, change, found, items, kept, lapse, said, supersede, texts
from recollect.memories.memory import MemoryStatus
from recollect.memories.reading import MemoryQuery
from recollect.retrieval.filters import DropReason
from recollect.retrieval.ranking import Mode
from recollect.timeline.record import EventDraft

OLD = "The walrus choir rehearses in the harbour chapel"
NEW = "Rehearsals of the walrus choir: the lighthouse"
NEWEST = "Walrus choir, rehearsals, from now on the planetarium"
OTHER = "A ginger biscuit is dunked for four seconds"


def settled(memory: Memory, followed: bool) -> Memory:
    """A day later."""
    memory.now += DAY
    if followed:
        memory.project()
    return memory


@pytest.mark.spec("P-24")
@pytest.mark.parametrize("indexed", [False, True])
def test_a_superseded_memory_is_represented_by_its_successor_once(
    memory: Memory, indexed: bool, followed: bool
) -> None:
    old, new = kept(memory, OLD), kept(memory, NEW, 1)
    kept(memory, OTHER, 2)
    if indexed:
        memory.project()
    supersede(memory, old, new)
    settled(memory, followed)
    assert by_words(memory, "harbour chapel") == [NEW]
    assert by_words(memory, "walrus") == [NEW]
    assert sorted(found(memory, "walrus harbour")) == sorted([NEW, OTHER])
    (result,) = memory.search("harbour chapel", mode=Mode.LEXICAL).results
    assert result.replaces == (old.ref,)
    assert result.memory is not None
    assert (result.memory.status, result.memory.id) == (MemoryStatus.ACTIVE, new.id)
    assert set(found(memory, "walrus harbour", include_superseded=True)) == {OLD, NEW, OTHER}
    assert NEW in items(memory, "the harbour chapel")
    assert OLD not in memory.context("the harbour chapel").prompt.text


@pytest.mark.spec("P-24")
def test_a_successor_takes_the_best_place_and_says_what_it_replaces(memory: Memory, followed: bool) -> None:
    old, new = kept(memory, OLD), kept(memory, NEW, 1)
    for number in range(5):
        kept(memory, f"Harbour chapel bells ring {number} times", 2 + number)
    supersede(memory, old, new)
    settled(memory, followed)
    answer = memory.search("walrus choir rehearses in the harbour chapel")
    assert texts(answer)[0] == NEW
    assert texts(answer).count(NEW) == 1
    assert answer.results[0].replaces == (old.ref,)
    assert [one.place for one in answer.results] == list(range(1, 7))


@pytest.mark.spec("P-24")
def test_successors_are_followed_to_the_one_that_holds_now(memory: Memory, followed: bool) -> None:
    old, new, newest = kept(memory, OLD), kept(memory, NEW, 1), kept(memory, NEWEST, 2)
    supersede(memory, old, new)
    supersede(memory, new, newest)
    settled(memory, followed)
    assert by_words(memory, "harbour chapel") == [NEWEST]
    assert by_words(memory, "harbour lighthouse") == [NEWEST]
    (result,) = memory.search("harbour lighthouse", mode=Mode.LEXICAL).results
    assert result.replaces == (old.ref, new.ref)


@pytest.mark.spec("P-24")
def test_a_circle_and_a_successor_that_is_gone_leave_nothing(memory: Memory, followed: bool) -> None:
    old, new = kept(memory, OLD), kept(memory, NEW, 1)
    supersede(memory, old, new)
    supersede(memory, new, old)
    settled(memory, followed)
    assert by_words(memory, "harbour lighthouse") == []
    other, gone = kept(memory, OTHER, 2), kept(memory, "Biscuits are dunked for five", 3)
    supersede(memory, other, gone)
    memory.app.deletion.events.memory(ANNA, gone, now=memory.now)
    settled(memory, followed)
    assert by_words(memory, "ginger biscuit") == []


@pytest.mark.spec("P-24")
def test_eight_steps_are_walked_and_no_more(memory: Memory) -> None:
    chain = [kept(memory, f"walrus place number{n} alpha{n}", n) for n in range(11)]
    memory.project()
    for old, new in pairwise(chain):
        supersede(memory, old, new)
    memory.project()
    assert by_words(memory, "alpha2") == [chain[10].content]
    assert by_words(memory, "alpha1") == []


@pytest.mark.spec("P-22", "P-24")
@pytest.mark.parametrize("change_of", ["persona", "rejected", "expired"])
def test_a_successor_that_is_not_for_these_eyes_does_not_stand_there(memory: Memory, change_of: str) -> None:
    old, new = kept(memory, OLD), kept(memory, NEW, 1)
    supersede(memory, old, new)
    if change_of == "expired":
        change(memory, new.id, expires_at=memory.now)
    elif change_of == "rejected":
        change(memory, new.id, status=MemoryStatus.REJECTED)
    memory.project()
    asked = {"conversation_id": "c9"} if change_of == "persona" else {}
    assert by_words(memory, "harbour chapel", **asked) == []


@pytest.mark.spec("P-24")
@pytest.mark.parametrize("mode", list(Mode))
def test_counts_add_up_whoever_stands_for_whom(memory: Memory, mode: Mode, followed: bool) -> None:
    old, new = kept(memory, OLD), kept(memory, NEW, 1)
    kept(memory, OTHER, 2)
    memory.project()
    supersede(memory, old, new)
    settled(memory, followed)
    for text in ("harbour chapel", "walrus lighthouse", "ginger biscuit", "nothing of it"):
        for least in (None, 0.2, 0.6):
            found(memory, text, mode=mode, min_similarity=least)
            found(memory, text, mode=mode, min_similarity=least, include_superseded=True)
            found(memory, text, mode=mode, min_similarity=least, as_of=NOON)
    seen = memory.search("walrus lighthouse").diagnostics
    assert (seen.matched_count, seen.dropped) == (2, {DropReason.SUPERSEDED: 1})


@pytest.mark.spec("P-24")
def test_a_value_below_the_threshold_is_found_by_the_words_that_it_replaced(memory: Memory, followed: bool) -> None:
    old, new = kept(memory, OLD), kept(memory, "Lighthouse", 1)
    supersede(memory, old, new)
    settled(memory, followed)
    assert found(memory, OLD, mode=Mode.SEMANTIC, min_similarity=0.9) == ["Lighthouse"]
    assert memory.search(OLD, mode=Mode.SEMANTIC, min_similarity=0.9).diagnostics.matched_count == 1


@pytest.mark.spec("P-24")
def test_as_of_shows_what_held_then(memory: Memory, followed: bool) -> None:
    old, new, newest = kept(memory, OLD), kept(memory, NEW, 2), kept(memory, NEWEST, 4)
    supersede(memory, old, new)
    supersede(memory, new, newest)
    settled(memory, followed)
    for days, content in ((-1, []), (0, [OLD]), (1, [OLD]), (2, [NEW]), (3.9, [NEW]), (4, [NEWEST]), (9, [NEWEST])):
        then = NOON + days * DAY
        assert found(memory, "walrus choir", as_of=then) == content, days
        assert list(items(memory, "walrus choir", as_of=then)) == content, days
        assert by_words(memory, "chapel", as_of=then) == (content if days >= 0 else []), days
    (result,) = memory.search("walrus", as_of=NOON + DAY).results
    assert result.memory is not None
    assert (result.memory.status, result.memory.superseded_by, result.memory.valid_to) == ("active", None, None)
    assert (result.event.superseded_by, result.replaces) == (None, ())


@pytest.mark.spec("P-24")
def test_a_retracted_value_held_at_no_instant_and_was_known(memory: Memory, followed: bool) -> None:
    old, new = kept(memory, OLD), kept(memory, NEW, 2)
    supersede(memory, old, new, MemoryStatus.RETRACTED)
    settled(memory, followed)
    assert found(memory, "walrus", as_of=NOON + DAY) == []
    assert found(memory, "walrus", recorded_as_of=NOON + DAY) == [OLD]
    assert found(memory, "walrus", recorded_as_of=NOON + DAY, as_of=NOON) == [OLD]
    assert found(memory, "walrus") == [NEW]
    assert set(found(memory, "walrus", include_superseded=True)) == {OLD, NEW}
    assert list(items(memory, "walrus", recorded_as_of=NOON + DAY)) == [OLD]
    assert list(items(memory, "walrus", as_of=NOON + DAY)) == []


@pytest.mark.spec("P-24")
def test_what_the_store_knew_are_the_versions_of_that_instant(memory: Memory, followed: bool) -> None:
    old = kept(memory, OLD)
    words = ["first", "second", "third"]
    for days, word in enumerate(words, start=1):
        memory.now = NOON + days * DAY
        change(memory, old.id, content=f"{OLD} {word}")
    new = kept(memory, NEW, 5)
    memory.now = NOON + 6 * DAY
    supersede(memory, old, new)
    settled(memory, followed)
    known = [OLD, *(f"{OLD} {word}" for word in words)]
    for days, content in enumerate(known):
        assert found(memory, "walrus choir", recorded_as_of=NOON + days * DAY + HOUR) == [content]
    both = found(memory, "walrus choir", recorded_as_of=NOON + 5 * DAY + HOUR)
    assert set(both) == {known[-1], NEW}
    assert found(memory, "walrus choir", recorded_as_of=NOON + 6 * DAY) == [NEW]
    assert found(memory, "walrus choir", recorded_as_of=NOON - HOUR) == []
    assert list(items(memory, "walrus choir", recorded_as_of=NOON + DAY + HOUR)) == [known[1]]


@pytest.mark.spec("P-22", "P-24")
def test_the_past_shows_nothing_that_is_gone_by_now(memory: Memory) -> None:
    old, gone = kept(memory, OLD), kept(memory, "The walrus choir sings on Mondays")
    expired = kept(memory, "The walrus choir wears blue scarves")
    memory.now = NOON + DAY
    memory.app.deletion.events.memory(ANNA, gone, now=memory.now)
    change(memory, expired.id, expires_at=memory.now)
    memory.now = NOON + 2 * DAY
    for instant in ({"as_of": NOON}, {"recorded_as_of": NOON}, {"as_of": NOON, "recorded_as_of": NOON}):
        assert found(memory, "walrus choir", **instant) == [OLD]
    change(memory, old.id, status=MemoryStatus.REJECTED)
    assert found(memory, "walrus choir", recorded_as_of=NOON) == []


@pytest.mark.spec("P-1", "P-24")
def test_an_event_is_itself_where_its_memory_was_not_known_yet(memory: Memory) -> None:
    draft = EventDraft(content=OLD, timestamp=NOON, importance=0.9)
    memory.add(draft)
    memory.now = NOON + 2 * DAY
    memory.project()
    (then,) = memory.search("walrus", recorded_as_of=NOON + DAY).results
    (now,) = memory.search("walrus").results
    assert (then.memory, said(then)) == (None, OLD)
    assert now.memory is not None
    memory.add(EventDraft(content=OLD, timestamp=NOON - 5 * DAY, importance=0.9))
    memory.project()
    assert found(memory, "walrus", as_of=NOON - DAY) == [OLD]
    assert found(memory, "walrus") == [OLD]


@pytest.mark.spec("P-24")
def test_a_bounded_value_holds_over_the_open_ended_one_and_then_that_is_current_again(
    memory: Memory, followed: bool
) -> None:
    old, new = kept(memory, OLD), kept(memory, NEW, 1)
    lapse(memory, old, new, NOON + 3 * DAY)
    change(memory, new.id, valid_to=NOON + 3 * DAY)
    settled(memory, followed)
    assert memory.now < NOON + 3 * DAY
    assert by_words(memory, "harbour chapel") == [NEW]
    assert list(items(memory, "harbour chapel")) == [NEW]
    memory.now = NOON + 3 * DAY
    assert found(memory, "walrus choir") == [OLD]
    assert list(items(memory, "walrus choir")) == [OLD]
    assert found(memory, "walrus choir", as_of=NOON + 2 * DAY) == [NEW]
    assert found(memory, "walrus choir", as_of=NOON + DAY / 2) == [OLD]


@pytest.mark.spec("P-24")
def test_a_part_that_ended_is_not_shown_and_the_rest_is(memory: Memory, followed: bool) -> None:
    text = "The walrus choir rehearses in the chapel, and my sister Anna bakes rye bread every Sunday morning."
    rest = text[text.index("my") :]
    old, new = kept(memory, text), kept(memory, NEW, 1)
    memory.project()
    lapse(memory, old, new, None, text.index(","))
    settled(memory, followed)
    assert set(found(memory, "walrus choir bread")) == {rest, NEW}
    assert "chapel" not in memory.context("walrus choir bread").prompt.text
    assert found(memory, "walrus choir", as_of=NOON) == [text]
    assert set(found(memory, "walrus choir bread", include_superseded=True)) == {text, NEW}
    one = memory.app.memories.store.one(ANNA, old.id, memory.now)
    assert (one.content, one.version) == (rest, 2)
    listed = memory.app.memories.listing.page(ANNA, MemoryQuery(), 10, None, memory.now).memories
    assert {memory.content for memory in listed} == {rest, NEW}
    assert by_words(memory, "chapel") == [rest]


@pytest.mark.spec("P-24")
def test_a_stored_memory_shows_all_its_words_where_none_hold_now(memory: Memory) -> None:
    old, new = kept(memory, OLD), kept(memory, NEW, 1)
    lapse(memory, old, new, NOON + 9 * DAY)
    assert memory.app.memories.store.one(ANNA, old.id, memory.now).content == OLD
    supersede(memory, old, new)
    assert memory.app.memories.store.one(ANNA, old.id, memory.now).status is MemoryStatus.SUPERSEDED


@pytest.mark.spec("P-24")
def test_only_a_successor_that_nothing_brought_costs_a_third_wave(memory: Memory) -> None:
    """Two reads in one wave, of events and of memories; the newest memories are in the first."""
    old, new = kept(memory, OLD), kept(memory, NEW, 1)
    for number in range(40):
        kept(memory, f"Biscuit number{number}", 2 + number / 100)
    supersede(memory, old, new)
    memory.project()
    calls: list[str] = []
    counted = with_parts(
        memory,
        timeline=Counted(memory.app.parts.timeline, calls),
        items=Counted(memory.app.parts.items, calls),
        concurrency=AsANetworkWants(),
    )
    first = ["get", "get", "page", "page", "tail"]  # two of the index's own state
    for text, third in (("walrus", []), ("harbour chapel", ["get", "read"]), ("biscuit", [])):
        calls.clear()
        assert by_words(counted, text)
        told = ["get", "read"] if text != "biscuit" else ["read"]
        assert sorted(calls) == sorted([*first, *told, *third]), text
    calls.clear()
    assert found(counted, "walrus", recorded_as_of=NOON + DAY / 2) == [OLD]
    assert sorted(calls) == sorted([*first, "get", "read", "page"])
