"""The document's targets, on a month of a diary that a person might keep (R-03 to R-05, R-86, R-94 to R-97, R-115).

No clock is looked at here: times (R-90 to R-94), and what long conversations of others give, were measured once
(docs/adr/0009-what-a-context-holds.md).
"""

import statistics
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from embedded.asking import DIARY_KINDS, Asking, contents, draft
from embedded.setting import open_memory
from recollect.intent.analysis import IntentName
from recollect.intent.retrieve import IntentAnswer


@pytest.fixture(scope="module")
def diary(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asking]:
    """Of each kind one record in three days, over thirty days: some sixty in the last fourteen."""
    memory = open_memory(tmp_path_factory.mktemp("targets"))
    told = [
        draft(kind.format(n=day), day + place / 24)
        for place, kind in enumerate(DIARY_KINDS)
        for day in range(30)
        if (day + place) % 3 == 0
    ]
    asking = Asking.of(memory, *told)
    memory.project()
    yield asking
    memory.app.parts.close()


@pytest.fixture(scope="module")
def answers(diary: Asking) -> dict[str, IntentAnswer]:
    """The answer to each question."""
    return {question: diary(question) for question in DIARY_KINDS.values()}


@pytest.mark.spec("R-03", "R-04", "R-95", "R-115")
def test_fewer_than_ten_records_on_average_where_the_date_filter_gives_twenty(answers: dict[str, IntentAnswer]) -> None:
    assert statistics.fmean(len(one.results) for one in answers.values()) < 10
    assert {one.date_based.records for one in answers.values()} == {20}


@pytest.mark.spec("R-05", "R-86", "R-96", "R-115")
def test_a_third_of_the_tokens_are_saved(answers: dict[str, IntentAnswer]) -> None:
    ours = sum(one.size.tokens for one in answers.values())
    theirs = sum(one.date_based.tokens for one in answers.values())
    assert ours <= 0.7 * theirs
    assert all(one.token_savings > 0 for one in answers.values())


@pytest.mark.spec("R-97", "R-115")
def test_few_queries_match_nothing(answers: dict[str, IntentAnswer]) -> None:
    assert sum(not one.results for one in answers.values()) / len(answers) < 0.05


@pytest.mark.spec("R-117")
def test_few_queries_that_are_no_greetings_fall_back(answers: dict[str, IntentAnswer], diary: Asking) -> None:
    asked = [*answers.values(), diary("Hello"), diary("Good morning")]
    counted = [one for one in asked if one.analysis is None or one.analysis.intent is not IntentName.GREETING]
    assert len(counted) == len(answers)
    assert sum(one.fallback is not None for one in counted) / len(counted) < 0.1


@pytest.mark.spec("R-116")
def test_quality_does_not_drop(answers: dict[str, IntentAnswer], diary: Asking) -> None:
    """The newest record of the kind that is asked about is shown at least as often as by the date filter."""
    newest = contents(diary("hello", wanted=15))
    shown, by_date = 0, 0
    for kind, question in DIARY_KINDS.items():
        start = kind.split("{")[0]
        shown += any(one.startswith(start) for one in contents(answers[question]))
        by_date += any(one.startswith(start) for one in newest)
    assert shown == len(DIARY_KINDS) >= by_date


@pytest.mark.spec("R-94")
def test_a_hundred_queries_at_once_over_a_thousand_records(tmp_path_factory: pytest.TempPathFactory) -> None:
    memory = open_memory(tmp_path_factory.mktemp("load"))
    kinds = list(DIARY_KINDS)
    asking = Asking.of(memory)
    for start in range(0, 1000, 100):
        asking.said(*(draft(kinds[n % 12].format(n=n), n / 75) for n in range(start, start + 100)))
    together = Barrier(100)

    def one(n: int) -> tuple[str, ...]:
        together.wait()
        return ids(asking(list(DIARY_KINDS.values())[n % 12], last_days=14))

    with ThreadPoolExecutor(100) as threads:
        done = list(threads.map(one, range(100)))
    alone = {question: ids(asking(question, last_days=14)) for question in DIARY_KINDS.values()}
    memory.app.parts.close()
    assert {len(found) for found in done} == {15}
    assert done == [alone[list(DIARY_KINDS.values())[n % 12]] for n in range(100)]


def ids(answer: IntentAnswer) -> tuple[str, ...]:
    return tuple(result.event.id for result in answer.results)
