"""The retriever, date-based mode and truncator (R-01, R-02, R-30, R-31, R-43 to R-45), and all of it over SQLite."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from embedded.asking import Asking, contents, draft
from embedded.setting import Memory, away
from recollect.core.errors import Unavailable
from recollect.core.time import EARLIEST
from recollect.intent.ranking import RetrievalResult, TruncationPolicy, retrieve, retrieve_by_date, truncated
from recollect.intent.scoring import (
    MOST_RECORDS,
    RetrievalRecord,
    active_alone,
    date_window,
    newest_records,
)
from recollect.retrieval.filters import TimeWindow
from recollect.rules.groups import IntentRules
from recollect.text.dates import TimeRange, named_dates
from samples.retrieval_records import NOW, RULES, analysed, record

BP = "What was my blood pressure?"


def many(count: int, **changes: Any) -> list[RetrievalRecord]:
    return [record(id=f"r{n:03d}", days=n / 10, **changes) for n in range(count)]


def retrieved(
    query: str, records: list[RetrievalRecord], rules: IntentRules = RULES, most: int = 15
) -> RetrievalResult:
    return retrieve(analysed(query), records, None, rules, NOW, most)


@pytest.mark.spec("R-30", "R-43", "R-104", "R-P8")
@pytest.mark.parametrize(
    ("most", "configured", "expected"), [(15, 15, 15), (4, 15, 4), (15, 6, 6), (100, 100, 15), (0, 15, 0)]
)
def test_the_smallest_limit_wins(most: int, configured: int, expected: int) -> None:
    found = retrieved(BP, many(40), replace(RULES, max_results=configured), most)
    assert len(found.records) == found.stats.records_included == expected
    assert [one.record.id for one in found.records] == [f"r{n:03d}" for n in range(expected)]


@pytest.mark.spec("R-31")
def test_the_result_has_records_scores_and_statistics() -> None:
    records = [*many(3), record("walked", id="no match"), record(id="private", is_private=True)]
    found = retrieved(BP, [*records, record("blood pressure", id="old", days=89)])
    best, stats = found.records[0], found.stats
    assert best.record.id == "r000"
    assert best.relevance_score == pytest.approx(0.64)
    assert best.keyword_match_score == pytest.approx(0.4)
    assert best.recency_score == 1.0
    assert (stats.records_considered, stats.records_matched, stats.records_included) == (6, 4, 3)
    assert (stats.records_excluded_privacy, stats.records_excluded_threshold) == (1, 1)
    assert stats.records_considered >= stats.records_matched >= stats.records_included


@pytest.mark.spec("R-103", "R-88")
def test_the_threshold_is_inclusive_and_configured() -> None:
    at, below = record("blood", id="at", days=45), record("blood", id="below", days=45.5)
    query = "blood one two three four"  # 0.6 / 5 + 0.4 / 2
    assert [
        one.record.id for one in retrieved(query, [at, below], replace(RULES, relevance_threshold=0.32)).records
    ] == ["at"]
    assert retrieved(query, [at, below], replace(RULES, relevance_threshold=0.9)).records == ()


@pytest.mark.spec("R-P15", "R-87")
def test_each_space_that_is_named_has_its_best_record_among_the_first() -> None:
    records = [*many(20, space_id="Health"), record("ran", id="run", days=9, space_id="Fitness")]
    found = retrieve(analysed("Compare my Health and Fitness records"), records, "Health", RULES, NOW)
    assert len(found.records) == 15
    assert found.records[-1].record.id == "run"


@pytest.mark.spec("P-17", "R-P8", "R-69")
def test_by_date_nothing_is_scored_and_privacy_goes_first() -> None:
    records = [
        *many(30),
        record(id="private", days=-1, is_private=True),
        record(id="deleted", days=-1, is_deleted=True),
    ]
    found = retrieve_by_date(records, active_alone(None), RULES)
    assert [one.record.id for one in found.records] == [f"r{n:03d}" for n in range(15)]
    assert {one.relevance_score for one in found.records} == {None}
    assert found.stats.records_excluded_privacy == 2


@pytest.mark.spec("R-02")
def test_the_date_based_mode_takes_the_twenty_newest() -> None:
    records = [record(id=f"r{n}", days=n, created_at=None if n == 3 else NOW - timedelta(days=n)) for n in (5, 3, 9)]
    assert [one.id for one in newest_records(records)] == ["r5", "r9", "r3"]
    assert len(newest_records(many(40))) == MOST_RECORDS == 20


@pytest.mark.spec("R-84", "R-110", "P-15")
def test_a_date_of_the_query_takes_the_place_of_the_default_and_narrows_what_is_given() -> None:
    (week,) = [found.range for found in named_dates("last week", NOW)]
    assert date_window(TimeWindow(), [week], NOW) == TimeWindow(NOW - timedelta(days=7), NOW)
    wide, late = TimeWindow(NOW - timedelta(days=30), None), TimeWindow(NOW - timedelta(days=2), None)
    assert date_window(wide, [week], NOW) == TimeWindow(NOW - timedelta(days=7), NOW)
    assert date_window(late, [week], NOW) == TimeWindow(NOW - timedelta(days=2), NOW)
    apart = date_window(TimeWindow(None, NOW - timedelta(days=9)), [week], NOW)
    assert not apart.contains(NOW - timedelta(days=8))
    two = [TimeRange(NOW - timedelta(days=9), NOW - timedelta(days=8)), week]
    assert date_window(TimeWindow(), two, NOW) == TimeWindow(NOW - timedelta(days=9), NOW)


def test_a_year_that_no_timeline_knows_is_no_error() -> None:
    named = [found.range for found in named_dates("0001-01-01", NOW)]
    assert date_window(TimeWindow(), named, NOW) == TimeWindow(EARLIEST, EARLIEST)


@pytest.mark.spec("R-45")
def test_the_context_is_cut_to_its_size() -> None:
    shown = truncated([record("x" * 300, title="Title", category="note", created_at=datetime(2024, 5, 1, tzinfo=UTC))])
    assert shown.lines == (f"2024-05-01 Title note {'x' * 100}",)
    assert shown.tokens == 31
    assert len(truncated(many(30)).lines) == 20
    small = truncated(many(30), TruncationPolicy(tokens=25))
    assert 0 < small.tokens <= 25
    assert len(small.lines) == 3
    assert "\n" not in truncated([record("one\ntwo", notes="three\nfour")]).lines[0]
    assert truncated([RetrievalRecord(id="bare")]).lines == ("",)


@pytest.fixture
def health(memory: Memory) -> Asking:
    """Twenty-five days of a health diary: three things a day."""
    told = []
    for day in range(25):
        told += [
            draft(f"blood pressure {110 + day}/80", day, space_id="Health", category="blood pressure"),
            draft(f"walked the dog for {day + 20} minutes", day + 0.1, space_id="Health"),
            draft(f"ran {day} miles along the river", day + 0.2, space_id="Fitness"),
        ]
    return Asking.of(memory, *told)


@pytest.mark.spec("R-44")
def test_the_candidates_are_not_cut_to_twenty(memory: Memory) -> None:
    asking = Asking.of(memory, *(draft(f"walked {n}", n / 40) for n in range(99)), draft("blood pressure", 9))
    found = asking(BP)
    assert contents(found) == ["blood pressure"]
    assert (found.stats.records_considered, found.diagnostics.exact) == (100, True)


@pytest.mark.spec("R-44")
def test_what_is_read_is_bounded_and_says_so(health: Asking, monkeypatch: pytest.MonkeyPatch) -> None:
    health.memory.project()
    monkeypatch.setattr("recollect.intent.candidates.MOST_CANDIDATES", 10)
    found = health(BP, last_days=90)
    assert (found.stats.records_considered, found.diagnostics.exact) == (10, False)


def test_nobody_sees_anothers_records(memory: Memory, health: Asking) -> None:
    assert Asking.of(memory)(BP).stats.records_considered == 0
    other = replace(health, scope=replace(health.scope, tenant="other"))
    assert other(BP).stats.records_considered == 0
    coach = replace(health, scope=replace(health.scope, persona_id="coach"))
    assert coach(BP).stats.records_considered == 0


def test_filters_narrow_the_candidates(health: Asking) -> None:
    assert health(BP, space_id="Fitness").results == ()
    assert len(health(BP, space_id="Health").results) == 15
    assert health(BP, conversation_id="elsewhere").stats.records_considered == 0


def test_without_records_there_is_no_answer(health: Asking) -> None:
    with away(health.memory, "timeline", "window") as memory, pytest.raises(Unavailable):
        replace(health, memory=memory)(BP)
