"""What becomes of a memory by what newer texts do to it: the same in whatever order they come."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.contradictions.decisions import BY_KEY, Verdict, bounded, reopened, settled
from recollect.contradictions.judge import Relation, RelationKind, TimeBound
from recollect.memories.memory import MemoryStatus, memory_at
from samples.memories import memory_of_anna

MAY = datetime(2026, 5, 1, tzinfo=UTC)
DAY = timedelta(days=1)
LONG = "I live in Paris, and my sister Anna bakes bread every Sunday morning."
PARIS = memory_of_anna("I live in Paris.", MAY, importance=0.9)


def verdict(kind: RelationKind, day: int = 1, by: str = "b", until: datetime | None = None) -> Verdict:
    """What a record of that day does to the first clause."""
    relation = Relation(kind=kind, rule="home", ended=((0, 15),), until=until, merged="I live in Lyon.")
    return Verdict(by, MAY + day * DAY, relation)


@pytest.mark.spec("P-24")
@pytest.mark.parametrize(
    ("kind", "status", "by", "valid_to"),
    [
        (RelationKind.SUPERSEDES, MemoryStatus.SUPERSEDED, "b", MAY + DAY),
        (RelationKind.RETRACTS, MemoryStatus.RETRACTED, "b", MAY),
        (RelationKind.CHANGES_PART, MemoryStatus.MERGED, "b", MAY + DAY),
        (RelationKind.UNDECIDED, MemoryStatus.ACTIVE, None, None),
    ],
)
def test_each_relation_gives_its_status_whatever_the_importance(
    kind: RelationKind, status: MemoryStatus, by: str | None, valid_to: datetime | None
) -> None:
    after = settled(PARIS, [verdict(kind)])
    assert (after.status, after.superseded_by, after.valid_to) == (status, by, valid_to)


@pytest.mark.spec("P-24")
def test_a_bounded_value_supersedes_nothing() -> None:
    after = settled(PARIS, [verdict(RelationKind.OVERRIDES, until=MAY + 3 * DAY)])
    assert after.status is MemoryStatus.ACTIVE
    assert [(one.since, one.until) for one in after.lapses] == [(MAY + DAY, MAY + 3 * DAY)]


@pytest.mark.spec("P-24")
@pytest.mark.parametrize(("content", "until"), [("I live in Paris.", 16), (LONG, 15)])
def test_what_is_announced_for_a_day_ends_the_memory_from_that_day_on(content: str, until: int) -> None:
    told = verdict(RelationKind.SUPERSEDES)
    announced = replace(told, relation=replace(told.relation, since=MAY + 9 * DAY))
    after = settled(replace(PARIS, content=content), [announced, announced])
    assert [(one.since, one.end, one.announced) for one in after.lapses] == [(MAY + 9 * DAY, until, True)]
    assert memory_at(after, MAY + 8 * DAY) is not None
    ended = memory_at(after, MAY + 9 * DAY)
    assert ended is None if content != LONG else ended is not None and "Paris" not in ended.content


@pytest.mark.spec("P-11")
def test_a_text_that_says_other_things_too_loses_only_what_ended() -> None:
    after = settled(replace(PARIS, content=LONG), [verdict(RelationKind.SUPERSEDES)])
    assert after.status is MemoryStatus.ACTIVE
    assert [(one.start, one.end, one.until) for one in after.lapses] == [(0, 15, None)]


@pytest.mark.spec("P-24")
def test_what_a_key_superseded_before_and_what_was_rejected_stays() -> None:
    by_key = replace(PARIS, status=MemoryStatus.SUPERSEDED, superseded_by="a", valid_to=MAY + DAY, settled_by=BY_KEY)
    rejected = replace(PARIS, status=MemoryStatus.REJECTED)
    for memory in (by_key, rejected):
        assert settled(memory, [verdict(RelationKind.SUPERSEDES)]) is memory


@pytest.mark.spec("P-24")
def test_what_ends_it_before_its_keys_next_value_counts() -> None:
    by_key = replace(
        PARIS, status=MemoryStatus.SUPERSEDED, superseded_by="z", valid_to=MAY + 9 * DAY, settled_by=BY_KEY
    )
    after = settled(by_key, [verdict(RelationKind.SUPERSEDES)])
    assert (after.superseded_by, after.valid_to) == ("b", MAY + DAY)


verdicts = st.lists(
    st.builds(
        verdict,
        st.sampled_from([kind for kind in RelationKind if kind is not RelationKind.OVERRIDES]),
        st.integers(1, 4),
        st.sampled_from("bcde"),
    ),
    max_size=4,
    unique_by=lambda one: one.by,
)


@pytest.mark.spec("P-24")
@given(verdicts)
def test_the_order_in_which_they_come_makes_no_difference(found: list[Verdict]) -> None:
    results = set()
    for order in permutations(found):
        memory = PARIS
        for one in order:
            memory = settled(memory, [one])
        results.add((memory.status, memory.superseded_by, memory.valid_to))
    assert len(results) <= 1
    together = settled(PARIS, found)
    assert not found or results == {(together.status, together.superseded_by, together.valid_to)}


@given(verdicts)
def test_again_changes_nothing(found: list[Verdict]) -> None:
    once = settled(PARIS, found)
    assert settled(once, found) is once


@pytest.mark.spec("P-24")
def test_taking_it_back_makes_the_memory_current_again() -> None:
    for kind in (RelationKind.SUPERSEDES, RelationKind.RETRACTS, RelationKind.CHANGES_PART):
        assert reopened(settled(PARIS, [verdict(kind)]), "b") == PARIS
    held = settled(PARIS, [verdict(RelationKind.OVERRIDES, until=MAY + 3 * DAY)])
    assert reopened(held, "b") == PARIS
    assert reopened(PARIS, "b") is PARIS


@pytest.mark.spec("P-24")
def test_a_bound_in_its_own_words_ends_a_memory_or_its_clause() -> None:
    bound = TimeBound((0, 15), MAY + 2 * DAY, "home")
    assert bounded(PARIS, [bound]).valid_to == MAY + 2 * DAY
    parts = bounded(replace(PARIS, content=LONG), [bound])
    assert parts.valid_to is None
    assert [(one.by, one.since, one.until) for one in parts.lapses] == [("a", MAY + 2 * DAY, None)]
    assert bounded(parts, [bound]) is parts
