"""Retrieval by intent over SQLite: what is answered, what is logged, and what happens where something fails."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from embedded.asking import Asking, contents, draft, logged, relevance
from embedded.memory_items import save
from embedded.setting import ANNA, NOON, Memory, away, with_parts
from recollect.core.errors import Unavailable
from recollect.intent import retrieve as retrieve_by_intent
from recollect.intent.analysis import Intent, IntentName
from recollect.intent.retrieve import IntentLog, RetrieveByIntent, Times
from recollect.intent.scoring import FallbackReason
from recollect.retrieval.filters import DropReason
from recollect.rules.groups import LoggingRules

BP = "What was my blood pressure?"


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


@pytest.fixture(params=["as told", "projected"])
def either(request: pytest.FixtureRequest, health: Asking) -> Asking:
    """Before and after projection."""
    if request.param == "projected":
        health.memory.project()
    return health


@pytest.mark.spec("R-83", "R-84", "R-85", "R-86")
def test_blood_pressure_of_last_week(either: Asking) -> None:
    found = either("What was my blood pressure last week?", "Health")
    assert contents(found) == [f"blood pressure {110 + day}/80" for day in range(8)]
    assert len(found.results) < 10
    assert found.size.tokens < found.date_based.tokens
    assert found.token_savings == pytest.approx(1 - found.size.tokens / found.date_based.tokens)


@pytest.mark.spec("R-87", "R-88", "R-118")
def test_two_spaces_that_are_named_are_both_searched_with_one_threshold(either: Asking) -> None:
    found = either("Compare my Health and Fitness records", "Health")
    assert {one.event.space_id for one in found.results} == {"Health", "Fitness"}
    assert found.crosses_spaces
    assert all(score >= 0.3 for score in relevance(found))
    late = either.with_rules(relevance_threshold=0.39)("Compare my Health and Fitness records", "Health")
    assert {one.event.space_id for one in late.results} == {"Health", "Fitness"}
    assert all(score >= 0.39 for score in relevance(late))


@pytest.mark.spec("R-89", "R-69", "R-113")
@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ("Hello there", "short_query"),
        ("what is it", "stop_words_only"),
        ("🎉🎉", "no_keywords"),
        ("was it today", "no_content_keyword"),
    ],
)
def test_short_stop_word_only_and_wordless_queries_are_answered_by_date(
    either: Asking, query: str, reason: str
) -> None:
    found = either(query, "Health")
    assert (found.fallback, found.diagnostics.fallback) == (FallbackReason(reason), "date_based")
    times = [one.event.timestamp for one in found.results]
    assert times == sorted(times, reverse=True)
    assert {one.event.space_id for one in found.results} == {"Health"}
    assert relevance(found) == [0.0] * len(times)


@pytest.mark.spec("R-01", "R-02", "R-110", "R-113")
def test_the_date_filter_goes_first(either: Asking) -> None:
    found = either("hello")
    assert len(found.results) == 15
    assert found.date_based.records == 20
    assert found.stats.records_considered == 43
    assert either("hello", last_days=7).stats.records_considered == 22
    assert either("hello", last_days=90).stats.records_considered == 75


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


@pytest.mark.spec("R-06", "R-46", "P-17")
def test_the_order_of_the_steps(health: Asking, monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[str] = []

    def watched(name: str, step: Any) -> Any:
        def called(*given: Any, **more: Any) -> Any:
            steps.append(name)
            return step(*given, **more)

        return called

    where = retrieve_by_intent
    for name in ("named_dates", "analyze", "retrieve", "answered"):
        monkeypatch.setattr(where, name, watched(name, getattr(where, name)))
    use_case: Any = health.memory.app.intent
    monkeypatch.setattr(use_case, "_candidates", _Watched(use_case._candidates, steps))
    domain = "recollect.intent.ranking"
    monkeypatch.setattr(f"{domain}.PrivacyFilter.filter", watched("privacy", _privacy()))
    monkeypatch.setattr(f"{domain}._scored_all", watched("score", _scored()))
    health(BP)
    assert steps[:7] == ["named_dates", "date filter", "analyze", "retrieve", "privacy", "score", "answered"]


class _Watched:
    def __init__(self, candidates: Any, steps: list[str]) -> None:
        self._candidates, self._steps = candidates, steps

    def begin(self, *given: Any) -> Any:
        return self._candidates.begin(*given)

    def gather(self, *given: Any) -> Any:
        self._steps.append("date filter")
        return self._candidates.gather(*given)


def _privacy() -> Any:
    from recollect.intent.scoring import PrivacyFilter

    return PrivacyFilter.filter


def _scored() -> Any:
    from recollect.intent import ranking as intent_retrieval

    return intent_retrieval._scored_all


@pytest.mark.spec("R-73", "R-74", "R-75")
def test_no_match_is_empty_logged_and_suggests_a_broader_search(health: Asking) -> None:
    with logged() as lines:
        found = health("Where is my umbrella?", "Health")
    assert (found.results, found.fallback) == ((), None)
    assert found.suggestion is not None
    (line,) = [one for one in lines if one["event"] == "zero_matches"]
    assert line["recordsConsidered"] == 43
    assert health(BP).suggestion is None


@pytest.mark.spec("R-39", "R-40", "R-80", "P-17", "R-P11", "R-P12")
def test_private_deleted_and_rejected_records_are_in_no_answer(memory: Memory) -> None:
    asking = Asking.of(memory)
    ids = asking.said(
        draft("blood pressure one", 1),
        draft("blood pressure two", 2, is_private=True),
        draft("blood pressure three", 3),
        draft("blood pressure four", 4, expires_at=NOON - timedelta(hours=1)),
    )
    memory.app.deletion.events.forget(asking.scope, event_id=ids[2], now=NOON)
    for query in (BP, "hello"):
        found = asking(query)
        assert contents(found) == ["blood pressure one"]
        assert (found.diagnostics.dropped[DropReason.PRIVATE], found.stats.records_excluded_privacy) == (1, 1)


@pytest.mark.spec("P-19")
@pytest.mark.parametrize("projected", [False, True])
def test_what_something_newer_replaced_does_not_come_back(memory: Memory, projected: bool) -> None:
    asking = Asking.of(
        memory, draft("my blood pressure is high", 3, key="bp"), draft("my blood pressure is fine", 1, key="bp")
    )  # fmt: skip
    if projected:
        memory.project()
    assert contents(asking(BP)) == ["my blood pressure is fine"]
    everything = asking(BP, include_superseded=True)
    assert contents(everything) == ["my blood pressure is fine", "my blood pressure is high"]
    assert contents(asking(BP, as_of=NOON - timedelta(days=2))) == ["my blood pressure is high"]


def test_memories_that_were_saved_directly_are_found_once(memory: Memory) -> None:
    save(memory, "my blood pressure is usually 118/76")
    memory.project()
    found = Asking(memory, ANNA)(BP, now=memory.now + timedelta(minutes=1))
    assert contents(found) == ["my blood pressure is usually 118/76"]
    assert found.results[0].memory is not None
    assert contents(Asking(memory, ANNA)(BP, now=memory.now + timedelta(days=30))) == []


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


@pytest.mark.spec("R-22")
def test_a_space_is_known_though_none_of_its_records_lies_in_the_window(memory: Memory) -> None:
    asking = Asking.of(memory, draft("saw Lisbon", 20, space_id="Travel"), draft("slept", 1, space_id="Health"))
    memory.project()
    found = asking("What is in my Travel space?", "Health")
    assert found.analysis is not None
    assert [one.normalized for one in found.analysis.entities] == ["Travel"]
    assert contents(asking("What is in my Travel space?", "Health", last_days=90)) == ["saw Lisbon"]


@pytest.mark.spec("R-111", "R-114")
def test_switched_off_it_is_the_date_based_mode(health: Asking) -> None:
    found = health.with_rules(enabled=False)("What was my blood pressure yesterday?", "Health")
    assert (found.fallback, found.analysis) == (FallbackReason.DISABLED, None)
    assert len(found.results) == 15
    assert found.stats.records_considered == 43


class _Broken(RuntimeError):
    pass


def _broken(*_given: Any, **_more: Any) -> Any:
    raise _Broken("a secret")


@pytest.fixture(params=["named_dates", "analyze", "space_reach", "fallback_reason", "retrieve"])
def failing(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """A step that fails."""
    monkeypatch.setattr(retrieve_by_intent, request.param, _broken)
    return str(request.param)


@pytest.mark.spec("R-112", "R-65", "R-89")
def test_whatever_fails_is_logged_and_answered_by_date(failing: str, health: Asking) -> None:
    with logged() as lines:
        found = health(BP, "Health")
    assert found.fallback is FallbackReason.ERROR
    assert len(found.results) == 15
    assert {one.event.space_id for one in found.results} == {"Health"}
    (line,) = [one for one in lines if one["event"] == "retrieval_fallback"]
    assert (line["level"], line["reason"], line["error"]) == ("WARNING", "error", "_Broken")
    assert "a secret" not in str(lines)


def test_without_records_there_is_no_answer(health: Asking) -> None:
    with away(health.memory, "timeline", "window") as memory, pytest.raises(Unavailable):
        replace(health, memory=memory)(BP)


@pytest.mark.spec("R-66", "R-68", "R-67")
def test_a_classifier_that_fails_leaves_a_question_and_retrieval_goes_on(health: Asking) -> None:
    use_case: Any = health.memory.app.intent
    use_case._classifier = _broken
    with logged() as lines:
        found = health(BP)
    assert found.analysis is not None
    assert (found.analysis.intent, found.analysis.intent_confidence) == (IntentName.QUESTION, 0.5)
    assert found.results
    (line,) = [one for one in lines if one["event"] == "low_confidence"]
    assert line["intentConfidence"] == 0.5


@pytest.mark.spec("R-78")
def test_a_richer_classifier_may_be_plugged_in(health: Asking) -> None:
    use_case: Any = health.memory.app.intent
    use_case._classifier = lambda _query, _keywords: Intent(IntentName.COMMAND, 0.9)
    found = health("Show me my blood pressure")
    assert found.analysis is not None
    assert found.analysis.intent is IntentName.COMMAND


@pytest.mark.spec("R-99", "P-18")
def test_the_analysis_is_logged_with_the_documents_fields_and_no_text(health: Asking) -> None:
    with logged() as lines:
        health("What was my blood pressure last week?", "Health")
    (line,) = [one for one in lines if one["event"] == "query_analysis"]
    fields = {"category", "originalQuery", "keywords", "keywordCount", "entities", "intent", "intentConfidence"}
    assert {*fields, "event", "analysisTimeMs", "message", "level"} == set(line)
    assert (line["message"], line["category"]) == ("Query analyzed", "intent_retrieval")
    assert (line["keywordCount"], line["intent"], line["intentConfidence"]) == (7, "question", 0.8)
    assert line["originalQuery"]["length"] == 37
    assert [one["type"] for one in line["entities"]] == ["date", "category"]
    assert "blood" not in str(lines)
    assert line["analysisTimeMs"] > 0


@pytest.mark.spec("R-99", "P-18")
def test_content_is_logged_only_where_the_rules_say_so(health: Asking) -> None:
    telling = replace(health, rules=replace(health.rules, logging=LoggingRules(content=True)))
    with logged() as lines:
        telling(BP)
    (line,) = [one for one in lines if one["event"] == "query_analysis"]
    assert line["originalQuery"] == BP


@pytest.mark.spec("R-100", "R-118")
def test_the_retrieval_is_logged_with_the_documents_fields(health: Asking) -> None:
    with logged() as lines:
        found = health(BP, "Health", last_days=90)
        health("What did I run in Fitness?", "Health")
    complete, crossing = (one for one in lines if one["event"] == "retrieval_complete")
    stats = found.stats
    assert complete["message"] == "Intent-driven retrieval complete"
    assert complete["category"] == "intent_retrieval"
    assert complete["recordsConsidered"] == stats.records_considered == 75
    assert complete["recordsMatched"] == stats.records_matched == 25
    assert complete["recordsIncluded"] == stats.records_included == 15
    assert complete["recordsExcludedPrivacy"] == stats.records_excluded_privacy == 25
    assert complete["recordsExcludedThreshold"] == stats.records_excluded_threshold == 0
    assert [one["id"] for one in complete["topScores"]] == [one.event.id for one in found.results[:10]]
    assert complete["retrievalTimeMs"] > 0
    assert complete["tokenSavingsVsStage4"] == round(found.token_savings, 4)
    assert (complete["crossSpace"], crossing["crossSpace"]) == (False, True)


@pytest.mark.spec("R-101")
def test_the_times_are_logged_and_nothing_is_divided_by_nothing(health: Asking) -> None:
    with logged() as lines:
        health(BP)
        health("hello")
    first, by_date = (one for one in lines if one["event"] == "performance")
    assert (first["message"], first["category"]) == ("Retrieval performance", "intent_retrieval")
    for name in ("keywordExtractionMs", "intentClassificationMs", "relevanceScoringMs", "totalRetrievalMs"):
        assert first[name] > 0
    assert first["recordsPerSecond"] > 0
    assert (by_date["relevanceScoringMs"], by_date["recordsPerSecond"]) == (0, 0)
    assert Times(scored=5).records_per_second == 0


@pytest.mark.spec("R-72", "R-71")
def test_records_that_cannot_be_scored_are_warned_of() -> None:
    with logged() as lines:
        IntentLog(content=False).unscorable(["e1"])
        IntentLog(content=False).unscorable([])
    assert [(one["level"], one["recordIds"]) for one in lines] == [("WARNING", ["e1"])]


@pytest.mark.spec("R-24", "R-107")
def test_the_conversation_completes_a_follow_up(health: Asking) -> None:
    found = health("And what about the dog?", history=["I asked something", "My blood pressure please"])
    assert found.analysis is not None
    assert found.analysis.context is not None
    assert "pressure" in found.analysis.keywords


def test_the_use_case_is_made_of_the_documents_parts(health: Asking) -> None:
    assert isinstance(health.memory.app.intent, RetrieveByIntent)
    again = with_parts(health.memory)
    assert contents(replace(health, memory=again)(BP)) == contents(health(BP))
