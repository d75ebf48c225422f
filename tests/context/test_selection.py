"""Which memories stand in a context (K-15 to K-25, K-68, K-69, K-91, P-1, P-2, P-4)."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.context.selection import ContextItem, Section, Selection, by_importance, reach_of, select
from recollect.rules.groups import ContextRules
from samples.context_items import NOW, item

LIMITS = ContextRules()
RECENT = [item(f"r{n:02}", hours=n) for n in range(1, 21)]
HITS = [item(f"s{n}", hours=100 + n, score=1 - n / 10) for n in range(1, 7)]
WEIGHTY = [item(f"i{n}", hours=200 + n, importance=0.95 - n / 100) for n in range(1, 10)]


def chosen(
    recent: Sequence[ContextItem] = (),
    semantic: Sequence[ContextItem] = (),
    important: Sequence[ContextItem] = (),
    limits: ContextRules = LIMITS,
    exclude: frozenset[str] = frozenset(),
) -> Selection:
    return select(recent, semantic, important, limits, NOW, exclude)


def ids(selection: Selection, section: Section | None = None) -> set[str]:
    return {s.item.id for s in selection.chosen if section in (None, s.section)}


# Newest, found and important are far enough apart in importance for no displacement unless a test wants one.
MILD = replace(LIMITS, displace_delta=1.0)


@pytest.mark.spec("K-15", "K-16", "K-17", "K-22", "K-24")
def test_five_newest_then_three_hits_make_eight() -> None:
    selection = chosen(RECENT, HITS, WEIGHTY, MILD)
    assert ids(selection, Section.RECENT) == {"r01", "r02", "r03", "r04", "r05"}
    assert ids(selection, Section.SEMANTIC) == {"s1", "s2", "s3"}
    assert ids(selection, Section.IMPORTANT) == set()


@pytest.mark.spec("K-20", "K-24")
def test_important_ones_take_what_hits_leave() -> None:
    assert ids(chosen(RECENT, HITS[:1], WEIGHTY, MILD), Section.IMPORTANT) == {"i1", "i2"}
    assert ids(chosen([], HITS, WEIGHTY, MILD), Section.IMPORTANT) == {"i1", "i2", "i3", "i4", "i5"}


@pytest.mark.spec("K-20")
def test_at_most_five_important_ones_and_of_equals_the_newer() -> None:
    equals = [item(f"e{n}", hours=n, importance=0.7) for n in range(9)]
    assert ids(chosen([], [], list(reversed(equals)))) == {f"e{n}" for n in range(5)}


@pytest.mark.spec("K-20")
def test_of_equals_at_one_time_the_higher_id() -> None:
    assert ids(chosen([], [], [item(f"e{n}") for n in range(9)])) == {f"e{n}" for n in range(4, 9)}


@pytest.mark.spec("K-16", "K-65")
def test_places_left_over_go_to_the_newest_six_to_ten() -> None:
    assert ids(chosen(RECENT, [], [])) == {f"r{n:02}" for n in range(1, 9)}
    assert ids(chosen(RECENT, HITS[:1], [])) == {"s1"} | {f"r{n:02}" for n in range(1, 8)}
    assert ids(chosen(RECENT, [], [], replace(LIMITS, total=20))) == {f"r{n:02}" for n in range(1, 11)}


@pytest.mark.spec("K-16")
def test_ten_recent_is_the_literal_reading() -> None:
    selection = chosen(RECENT, HITS, WEIGHTY, replace(LIMITS, recent=10, total=18, displace_delta=1.0))
    assert [len(ids(selection, section)) for section in Section] == [10, 3, 5]


@pytest.mark.spec("K-19")
def test_hits_among_the_recent_are_replaced_by_the_next() -> None:
    hits = [replace(RECENT[0], score=1.0), replace(RECENT[4], score=0.99), *HITS]
    assert ids(chosen(RECENT, hits, [], MILD), Section.SEMANTIC) == {"s1", "s2", "s3"}


@pytest.mark.spec("K-21", "K-69")
def test_important_ones_already_chosen_are_excluded() -> None:
    important = [replace(RECENT[0], importance=1.0), replace(HITS[0], importance=0.99), *WEIGHTY]
    selection = chosen(RECENT, HITS[:1], important, MILD)
    assert ids(selection, Section.IMPORTANT) == {"i1", "i2"}
    assert len(selection.chosen) == 8


@pytest.mark.spec("K-69")
def test_an_event_and_the_memory_made_from_it_alone_are_one() -> None:
    memory = item("m1", importance=0.9, score=0.9, source_event_ids=("r01",))
    merged = item("m2", importance=0.9, score=0.8, source_event_ids=("r01", "r02"))
    assert ids(chosen(RECENT[:3], [memory, merged], [memory])) == {"r01", "r02", "r03", "m2"}
    assert ids(chosen([], [memory], RECENT[:1])) == {"m1"}


@pytest.mark.spec("K-18")
def test_the_current_input_is_no_memory() -> None:
    memory = item("m1", score=1.0, source_event_ids=("r01",))
    hits = [memory, replace(RECENT[0], score=0.9), *HITS]
    selection = chosen(RECENT, hits, [replace(RECENT[0], importance=1.0)], MILD, frozenset({"r01"}))
    assert ids(selection, Section.RECENT) == {"r02", "r03", "r04", "r05", "r06"}
    assert ids(selection, Section.SEMANTIC) == {"s1", "s2", "s3"}
    assert "r01" not in {left.id for left in selection.left_out}


@pytest.mark.spec("K-25", "K-34", "K-71")
def test_chosen_ones_stand_by_time_and_ties_by_id() -> None:
    tied = [item("b", 5), item("a", 5), item("c", 5)]
    assert [s.item.id for s in chosen(tied, [item("old", 50, score=1)], [item("new", 1)]).chosen] == [
        "old", "a", "b", "c", "new",
    ]  # fmt: skip


@pytest.mark.spec("K-91")
@pytest.mark.parametrize("count", [7, 8, 9, 30])
def test_all_sources_overlapping(count: int) -> None:
    everything = [item(f"x{n:02}", hours=n, score=1 - n / 100) for n in range(count)]
    selection = chosen(everything[:10], everything, everything)
    assert len(selection.chosen) == min(count, 8)
    assert len(ids(selection)) == len(selection.chosen)


@pytest.mark.spec("K-68")
@pytest.mark.parametrize(("importance", "displaces"), [(0.9, True), (0.9 - 1e-10, True), (0.89, False), (0.5, False)])
def test_at_the_limit_a_much_more_important_one_takes_the_weakest_hits_place(
    importance: float, displaces: bool
) -> None:
    weighty = [item("low", 300, importance=importance - 0.01), item("top", 301, importance=importance)]
    selection = chosen(RECENT, HITS, weighty)
    expected = {"s1", "s2", "top"} if displaces else {"s1", "s2", "s3"}
    assert ids(selection) - {r.id for r in RECENT} == expected
    if displaces:
        reasons = {s.item.id: (s.section, s.reason) for s in selection.chosen}
        assert reasons["top"] == (Section.IMPORTANT, f"importance {importance:.2f}, took the place of s3")
        left = {one.id: (one.section, one.reason, one.because) for one in selection.left_out}
        told = "Something that matters more took its place."
        assert left["s3"] == (Section.SEMANTIC, "gave its place to top", told)


TOP, NEXT = item("top", importance=1.0), item("next", importance=0.99)
DISPLACING = {
    "of hits the one with the lowest score gives way": (
        [item("a", score=0.2, importance=0.1), item("b", score=0.9, importance=0.0), item("c", score=0.3)],
        [TOP],
        {"b", "c", "top"},
    ),
    "of equally weak hits the last ranked": (
        [item("a", score=0.5, importance=0.1), item("b", score=0.5, importance=0.1)],
        [TOP, NEXT],
        {"a", "top", "next"},
    ),
    "compared with the weakest hit only": (
        [item("a", score=0.9, importance=0.0), item("b", score=0.1, importance=0.8)],
        [TOP, NEXT],
        {"a", "b", "top"},
    ),
    "of equally important ones the newer displaces": (
        HITS,
        [item("old", 300, importance=1.0), item("new", 299, importance=1.0)],
        {"s1", "s2", "new"},
    ),
    "only one displaces": (HITS, [item(f"i{n}", importance=1.0) for n in range(3)], {"s1", "s2", "i2"}),
}


@pytest.mark.spec("K-68")
@pytest.mark.parametrize(("hits", "important", "beside"), DISPLACING.values(), ids=DISPLACING)
def test_who_displaces_whom(hits: list[ContextItem], important: list[ContextItem], beside: set[str]) -> None:
    assert ids(chosen(RECENT, hits, important)) - {r.id for r in RECENT} == beside


@pytest.mark.spec("K-68")
def test_without_a_hit_none_displaces() -> None:
    assert ids(chosen(RECENT, [], [TOP], replace(LIMITS, recent=8))) == {f"r{n:02}" for n in range(1, 9)}


@pytest.mark.spec("K-66", "K-68")
def test_nothing_displaces_while_the_important_source_has_had_its_five() -> None:
    important = [item(f"i{n}", importance=1.0) for n in range(9)]
    selection = chosen([], HITS, important)
    assert [len(ids(selection, section)) for section in Section] == [0, 3, 5]


@pytest.mark.spec("K-22")
def test_nothing_is_chosen_for_no_place_or_from_nothing() -> None:
    assert chosen(RECENT, HITS, WEIGHTY, replace(LIMITS, total=0)).chosen == ()
    assert chosen() == Selection((), ())


def test_a_source_at_zero_is_off() -> None:
    off = replace(LIMITS, recent=0, semantic=0)
    selection = chosen(RECENT, HITS, WEIGHTY, off)
    assert ids(selection) == {"i1", "i2", "i3", "i4", "i5"}
    assert not chosen(RECENT, HITS, WEIGHTY, replace(LIMITS, important=0)).chosen[0].item.id.startswith("i")


@pytest.mark.spec("P-1")
def test_seven_memories_of_other_conversations_all_appear() -> None:
    assert len(chosen([], [], WEIGHTY[:7]).chosen) == 7
    assert len(chosen([], [], WEIGHTY[:8]).chosen) == 5
    assert len(chosen([], [], WEIGHTY[:7], replace(LIMITS, recent=0, semantic=0, important=2)).chosen) == 2


@pytest.mark.spec("K-08", "P-4")
def test_decay_changes_the_order_of_important_ones_only() -> None:
    important = [item("old", 24 * 60, importance=0.9), item("new", 0, importance=0.6)]
    one = replace(LIMITS, recent=0, semantic=0, important=1, total=1)
    assert ids(chosen([], [], important, one)) == {"old"}
    decaying = chosen([], [], important, replace(one, decay_half_life_days=30))
    assert ids(decaying) == {"new"}
    assert decaying.chosen[0].item.importance == 0.6


def test_reasons_say_source_and_rank() -> None:
    selection = chosen(RECENT[:2], [item("s1", 50, score=0.8234)], [item("i1", 60, importance=0.9)])
    assert {s.item.id: s.reason for s in selection.chosen} == {
        "r01": "number 1 of the newest",
        "r02": "number 2 of the newest",
        "s1": "search rank 1, score 0.82",
        "i1": "importance 0.90, rank 1 by importance",
    }


def test_what_is_left_out_has_a_reason_once() -> None:
    selection = chosen(RECENT, HITS, WEIGHTY, MILD)
    reasons = {left.id: left.reason for left in selection.left_out}
    assert len(reasons) == len(selection.left_out) == 20 + 6 + 9 - 8
    assert reasons["r06"] == "not among the first 5 of its source"
    assert reasons["s4"] == "not among the first 3 of its source"
    assert reasons["i1"] == "all 8 places were taken"
    assert not any("content of" in reason for reason in reasons.values())
    because = {left.id: left.because for left in selection.left_out}
    assert because["r06"] == "The prompt takes the newest 5 alone."
    assert because["s4"] == "The prompt takes the first 3 that the question finds."
    assert because["i1"] == "All 8 places were taken."


MEMORIES = {"n27": ("n01",), "n28": ("n04",), "n29": ("n02", "n03")}


def stored(name: str, hours: int, importance: float, score: float | None) -> ContextItem:
    """An event, or one of the three memories: one id always has the same sources."""
    return item(name, hours, importance=importance, score=score, source_event_ids=MEMORIES.get(name, (name,)))


ITEMS = st.builds(
    stored,
    st.sampled_from([f"n{n:02}" for n in range(30)]),
    st.integers(0, 50),
    st.floats(0, 1),
    st.none() | st.floats(0, 1),
)
SOURCES = st.lists(ITEMS, max_size=14)
RULES = st.builds(
    ContextRules,
    total=st.integers(0, 12),
    recent=st.integers(0, 12),
    recent_fill=st.integers(0, 12),
    semantic=st.integers(0, 6),
    important=st.integers(0, 6),
    displace_delta=st.floats(0, 1),
    decay_half_life_days=st.none() | st.floats(0.1, 90),
)


@pytest.mark.spec("K-22", "K-23", "K-25", "K-67", "K-69")
@settings(max_examples=300, deadline=None)
@given(SOURCES, SOURCES, SOURCES, RULES, st.frozensets(st.sampled_from(["n01", "n02"])))
def test_never_too_many_none_twice_and_by_time(
    recent: list[ContextItem],
    semantic: list[ContextItem],
    important: list[ContextItem],
    limits: ContextRules,
    exclude: frozenset[str],
) -> None:
    selection = chosen(recent, semantic, important, limits, exclude)
    items = [s.item for s in selection.chosen]
    identities = [i.identity for i in items]
    assert len(items) <= limits.total
    assert len(set(identities)) == len(identities)
    assert [(i.timestamp, i.id) for i in items] == sorted((i.timestamp, i.id) for i in items)
    assert not exclude & (set(identities) | {i.id for i in items})
    offered = {i.identity for source in (recent, semantic, important) for i in source}
    assert set(identities) <= offered
    sections = [s.section for s in selection.chosen]
    assert sections.count(Section.SEMANTIC) <= limits.semantic
    assert not set(identities) & {left.id for left in selection.left_out if left.id not in MEMORIES}


@pytest.mark.spec("P-1", "K-91")
@settings(max_examples=300, deadline=None)
@given(st.lists(ITEMS, max_size=7, unique_by=lambda i: i.identity), st.data())
def test_with_fewer_than_eight_memories_all_appear(memories: list[ContextItem], data: st.DataObject) -> None:
    recent = sorted((m for m in memories if data.draw(st.booleans())), key=lambda m: m.timestamp, reverse=True)
    semantic = [m for m in memories if data.draw(st.booleans())]
    selection = chosen(recent, semantic, memories)
    assert {s.item.identity for s in selection.chosen} == {m.identity for m in memories}
    assert selection.left_out == ()


@pytest.mark.spec("P-4")
@settings(deadline=None)
@given(SOURCES, SOURCES)
def test_sections_recent_and_semantic_do_not_depend_on_importance(
    recent: list[ContextItem], semantic: list[ContextItem]
) -> None:
    without_weight = [replace(i, importance=0.0) for i in recent], [replace(i, importance=0.0) for i in semantic]
    assert ids(chosen(recent, semantic)) == ids(chosen(*without_weight))


@given(
    st.lists(st.floats(0, 1), min_size=1, max_size=60),
    st.integers(0, 12),
    st.integers(0, 8),
    st.integers(0, 12),
    st.integers(0, 8),
    st.sampled_from([None, 1.0]),
)
def test_what_lies_beyond_the_reach_changes_no_choice(
    weights: list[float], total: int, recent: int, recent_fill: int, weighty: int, half_life: float | None
) -> None:
    limits = ContextRules(
        total=total, recent=recent, recent_fill=recent_fill, important=weighty, decay_half_life_days=half_life
    )
    items = [item(f"r{n:03}", hours=n, importance=weight) for n, weight in enumerate(weights)]
    reach, in_order = reach_of(limits), by_importance(items, half_life, NOW)
    whole = select(items, items[5:9], items, limits, NOW)
    within = select(items[: reach.recent], items[5:9], in_order[: reach.important], limits, NOW)
    assert within.chosen == whole.chosen
