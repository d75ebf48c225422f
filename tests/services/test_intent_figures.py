"""The document's targets that can be counted, on SQLite and on the real engines (R-03 to R-05, R-94 to R-97, R-115).

A diary of a thousand records that a person might keep, some sixty of them in the last fourteen days. No clock is looked
at: what a query takes was measured once (docs/adr/0009-what-a-context-holds.md).
"""

import statistics
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest

from embedded.asking import DIARY_KINDS
from recollect.intent.retrieve import IntentQuestion
from recollect.retrieval.filters import SearchFilters
from recollect.text.sentences import count_tokens
from services.intent_asking import NOON, asked, contents, draft, told
from services.serving import Service

RECORDS, RECORDS_A_DAY = 1000, 4.17


@pytest.fixture(scope="module")
def diary(one_for_all: Service) -> Service:
    """One kind after the other, each some three days apart, over 240 days."""
    kinds = list(DIARY_KINDS)
    told(one_for_all, *(draft(kinds[n % 12].format(n=n), n / RECORDS_A_DAY) for n in range(RECORDS)))
    return one_for_all


@pytest.fixture(scope="module")
def answers(diary: Service) -> dict[str, dict[str, Any]]:
    return {kind: asked(diary, question, top_k=100) for kind, question in DIARY_KINDS.items()}


def stats_of(answers: dict[str, dict[str, Any]], name: str) -> list[float]:
    return [one["diagnostics"]["stats"][name] for one in answers.values()]


@pytest.mark.spec("R-03", "R-05", "R-115")
def test_the_baseline_is_what_the_date_filter_would_have_shown(
    diary: Service, answers: dict[str, dict[str, Any]]
) -> None:
    """The twenty newest of the window, as they stand in the timeline, each on a line of its own after its day."""
    between: dict[str, Any] = {"from": "2024-05-01T12:00:00Z", "to": "2024-05-15T12:00:00Z"}
    listed = diary.window(**between, top_k=20)["events"]
    tokens = sum(count_tokens(f"{one['timestamp'][:10]} {one['content']}") for one in listed)
    assert len(listed) == 20
    assert set(stats_of(answers, "date_based_records")) == {20}
    assert set(stats_of(answers, "date_based_tokens")) == {tokens}
    for one in answers.values():
        stats = one["diagnostics"]["stats"]
        ours = sum(count_tokens(f"{shown['timestamp'][:10]} {shown['content']}") for shown in one["results"])
        assert (stats["tokens"], stats["token_savings"]) == (ours, pytest.approx(1 - ours / tokens, abs=1e-4))


@pytest.mark.spec("R-04", "R-95", "R-03", "R-45", "R-115")
def test_fewer_than_ten_records_on_average(answers: dict[str, dict[str, Any]]) -> None:
    assert statistics.fmean(len(one["results"]) for one in answers.values()) < 10
    assert statistics.fmean(stats_of(answers, "records_considered")) > 50


@pytest.mark.spec("R-05", "R-96", "R-86", "R-115")
def test_a_third_of_the_tokens_are_saved(answers: dict[str, dict[str, Any]]) -> None:
    assert sum(stats_of(answers, "tokens")) <= 0.7 * sum(stats_of(answers, "date_based_tokens"))
    assert min(stats_of(answers, "token_savings")) > 0


@pytest.mark.spec("R-97", "R-116", "R-117", "R-115")
def test_what_is_asked_about_is_found_and_little_else(answers: dict[str, dict[str, Any]]) -> None:
    """Each question finds all records of its kind in the window; of what is shown most is of that kind."""
    right, shown = 0, 0
    for kind, answer in answers.items():
        texts = contents(answer)
        gold = [
            kind.format(n=n) for n in range(RECORDS) if list(DIARY_KINDS)[n % 12] == kind and n / RECORDS_A_DAY <= 14
        ]
        assert "fallback" not in answer["diagnostics"]
        assert set(gold) <= set(texts)
        right, shown = right + len(gold), shown + len(texts)
    assert right / shown > 0.8
    assert sum(not one["results"] for one in answers.values()) / len(answers) < 0.05


@pytest.mark.spec("R-94")
def test_a_hundred_queries_at_once_over_a_thousand_records(diary: Service, answers: dict[str, dict[str, Any]]) -> None:
    """Each is answered as it is alone, and none falls back: the work of one is not in the answer of another."""
    together = Barrier(100)
    rules = diary.app.rules.resolved(diary.tenant)

    def one(n: int) -> tuple[list[str], bool]:
        question = IntentQuestion(text=list(DIARY_KINDS.values())[n % 12], filters=SearchFilters(now=NOON, as_of=NOON))
        together.wait(60)
        answer = diary.app.intent.retrieve(diary.scope(), question, rules)
        return [result.event.id for result in answer.results], answer.fallback is None

    with ThreadPoolExecutor(100) as threads:
        done = list(threads.map(one, range(100)))
    alone = [[result["id"] for result in answer["results"]] for answer in answers.values()]
    assert done == [(alone[n % 12], True) for n in range(100)]
