"""What a search by intent logs, on SQLite and on the real engines: fields, counts, times (R-67 to R-101, R-P13)."""

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from embedded.asking import logged
from recollect.intent import candidates as intent_candidates
from recollect.intent import ranking as intent_retrieval
from recollect.intent import retrieve as retrieve_by_intent
from recollect.intent.analysis import Intent, classify
from recollect.intent.ranking import retrieve
from recollect.intent.scoring import scored, space_reach
from recollect.text.terms import extract_keywords
from samples.wrapped import Wrapped
from services.intent_asking import BP, asked, draft, the_line, told
from services.serving import Service

READINGS = 100
"""Of them one is private."""


@pytest.fixture(scope="module")
def diary(one_for_all: Service) -> Service:
    """A hundred and one readings of ten days, one of them private, and walks in another space."""
    told(
        one_for_all,
        *(draft(f"blood pressure {n}", n / 10, space_id="Health") for n in range(READINGS)),
        draft("blood pressure in secret", 0.01, space_id="Health", is_private=True),
        *(draft(f"walked {n} miles", n, space_id="Fitness") for n in range(5)),
    )
    told(one_for_all, draft("blood pressure of berta"), user="berta")
    return one_for_all


@pytest.mark.spec("R-99", "R-09", "P-18")
@pytest.mark.parametrize("content", [False, True])
def test_the_analysis_is_logged_with_the_documents_fields(service: Service, content: bool) -> None:
    """Words only where the tenant's rules say so; else each text as a length and a hash."""
    told(service, draft("blood pressure 120/80"))
    service.rules(logging={"content": content})
    query = "What was my blood pressure today?"
    with logged() as lines:
        asked(service, query)
    line = the_line(lines, "query_analysis")
    fields = {"category", "event", "originalQuery", "keywords", "keywordCount", "entities", "intent"}
    assert set(line) == {*fields, "intentConfidence", "analysisTimeMs", "message", "level"}
    assert (line["message"], line["category"]) == ("Query analyzed", "intent_retrieval")
    assert (line["keywordCount"], line["intent"], line["intentConfidence"]) == (6, "question", 0.8)
    assert [one["type"] for one in line["entities"]] == ["date", "category"]
    assert line["analysisTimeMs"] > 0
    if content:
        assert (line["originalQuery"], line["keywords"]) == (query, ["what", "was", "my", "blood", "pressure", "today"])
    else:
        assert [one["length"] for one in (line["originalQuery"], *line["keywords"])] == [33, 4, 3, 2, 5, 8, 5]
        assert "blood" not in str(lines)


@pytest.mark.spec("R-100", "R-118")
def test_the_retrieval_is_logged_with_the_documents_fields(diary: Service) -> None:
    with logged() as lines:
        answer = asked(diary, BP, active_space_id="Health", top_k=100)
        asked(diary, "What have I walked in Fitness?", active_space_id="Health")
    line, crossing = (one for one in lines if one["event"] == "retrieval_complete")
    assert (line["message"], line["category"]) == ("Intent-driven retrieval complete", "intent_retrieval")
    assert (line["recordsConsidered"], line["recordsMatched"], line["recordsIncluded"]) == (106, 100, 15)
    assert (line["recordsExcludedPrivacy"], line["recordsExcludedThreshold"]) == (6, 0)
    scored = [{"id": one["id"], "score": round(one["score"], 6)} for one in answer["results"]]
    assert line["topScores"] == scored[:10]
    stats = answer["diagnostics"]["stats"]
    assert line["tokenSavingsVsStage4"] == stats["token_savings"] > 0
    assert line["retrievalTimeMs"] == stats["retrieval_time_ms"] > 0
    assert (line["crossSpace"], crossing["crossSpace"]) == (False, True)


@pytest.mark.spec("R-100", "R-103")
def test_what_stays_below_the_threshold_is_counted(diary: Service) -> None:
    query = "When was my blood so much higher than in all other weeks before?"
    with logged() as lines:
        asked(diary, query, user_id="berta", as_of="2024-07-15T12:00:00Z", time_window={"last_days": 90})
    line = the_line(lines, "retrieval_complete")
    counts = (line["recordsConsidered"], line["recordsMatched"], line["recordsIncluded"])
    assert (counts, line["recordsExcludedThreshold"]) == ((1, 1, 0), 1)


@pytest.mark.spec("R-74", "R-73")
def test_no_match_is_logged(diary: Service) -> None:
    with logged() as lines:
        asked(diary, "Where is my umbrella?", active_space_id="Health")
    line = the_line(lines, "zero_matches")
    assert (line["category"], line["recordsConsidered"], line["recordsMatched"]) == ("intent_retrieval", 106, 0)
    assert "umbrella" not in str(lines)
    with logged() as lines:
        asked(diary, BP)
    assert "zero_matches" not in {one["event"] for one in lines}


@pytest.mark.spec("R-P13", "R-100", "P-17", "P-18")
@pytest.mark.parametrize("query", [BP, "Hello", "Where is my umbrella?"])
@pytest.mark.parametrize("content", [False, True])
def test_what_is_private_is_in_no_log(service: Service, query: str, content: bool) -> None:
    """Nor is what was deleted: neither id nor word, even where words are logged."""
    ids = told(
        service,
        draft("blood pressure one", 1),
        draft("blood pressure privately high", 0.5, is_private=True),
        draft("blood pressure deleted", 0.2),
    )
    service.delete(f"events/{ids[2]}")
    service.rules(logging={"content": content}, intent={"relevance_threshold": 0})
    with logged() as lines:
        asked(service, query)
    log = str(lines) + service.caller.surface.log.getvalue().splitlines()[-1]
    assert not [one for one in (*ids[1:], "privately", "deleted") if one in log]
    assert the_line(lines, "retrieval_complete")["recordsExcludedPrivacy"] == 1
    assert (ids[0] in log) == (query == BP)


class Clock:
    """Stands still but where it is told to go on."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def perf_counter(self) -> float:
        return self.seconds

    def during(self, milliseconds: float, work: Callable[..., Any]) -> Callable[..., Any]:
        """The work, which takes so long by this clock."""

        def done(*given: Any, **more: Any) -> Any:
            self.seconds += milliseconds / 1000
            return work(*given, **more)

        return done


@pytest.fixture
def clock(diary: Service, monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Reading takes 40 ms, the keywords 7, the classifier 3, scores 20; and names, between these, 5."""
    clock, where, use_case = Clock(), retrieve_by_intent, diary.app.intent
    monkeypatch.setattr(where, "time", SimpleNamespace(perf_counter=clock.perf_counter))
    monkeypatch.setattr(where, "extract_keywords", clock.during(7, extract_keywords))
    monkeypatch.setattr(where, "space_reach", clock.during(5, space_reach))
    monkeypatch.setattr(where, "retrieve", clock.during(20, retrieve))
    monkeypatch.setattr(use_case, "_classifier", clock.during(3, classify))
    walk = intent_candidates.IntentCandidates._walk
    monkeypatch.setattr(intent_candidates.IntentCandidates, "_walk", clock.during(40, walk))
    return clock


@pytest.mark.spec("R-101", "R-90", "R-91", "R-92", "R-93", "R-99", "R-100")
def test_each_time_is_that_of_its_phase(diary: Service, clock: Clock) -> None:
    """By a clock that the phases alone move: each query with its line and its times."""
    with logged() as lines:
        stats = [asked(diary, f"What was blood pressure {n}?")["diagnostics"]["stats"] for n in range(20)]
    told_of = [one for one in lines if one["event"] == "performance"]
    assert len(told_of) == 20
    for line in told_of:
        assert (line["message"], line["category"]) == ("Retrieval performance", "intent_retrieval")
        assert line["keywordExtractionMs"] == pytest.approx(7)
        assert line["intentClassificationMs"] == pytest.approx(3)
        assert line["relevanceScoringMs"] == pytest.approx(20)
        assert line["totalRetrievalMs"] == pytest.approx(40 + 7 + 3 + 5 + 20)
        assert line["recordsPerSecond"] == pytest.approx(READINGS / 0.020)
    assert {one["retrieval_time_ms"] for one in stats} == {75}
    assert {one["analysisTimeMs"] for one in lines if one["event"] == "query_analysis"} == {15}
    assert {one["retrievalTimeMs"] for one in lines if one["event"] == "retrieval_complete"} == {75}


@pytest.mark.spec("R-101")
def test_nothing_is_divided_by_nothing(diary: Service, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    """By date nothing is scored; and where the clock stands still all the same, there is no speed."""
    with logged() as lines:
        asked(diary, "Hello")
    line = the_line(lines, "performance")
    assert (line["relevanceScoringMs"], line["recordsPerSecond"]) == (0, 0)
    assert line["totalRetrievalMs"] == pytest.approx(40 + 7 + 3 + 5)
    monkeypatch.setattr(retrieve_by_intent, "retrieve", retrieve)
    with logged() as lines:
        asked(diary, BP)
    line = the_line(lines, "performance")
    assert (line["relevanceScoringMs"], line["recordsPerSecond"]) == (0, 0)


@pytest.mark.spec("R-90", "R-91", "R-92")
def test_each_part_is_done_once_for_a_query_and_each_record_scored_once(
    diary: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hundred candidates: one extraction, one classification, a hundred scores; those of others are not compared."""
    done: list[str] = []

    def counted(name: str, work: Callable[..., Any]) -> Callable[..., Any]:
        def called(*given: Any) -> Any:
            done.append(name)
            return work(*given)

        return called

    monkeypatch.setattr(retrieve_by_intent, "extract_keywords", counted("extraction", extract_keywords))
    monkeypatch.setattr(intent_retrieval, "scored", counted("score", scored))

    def classifier(query: str, keywords: Sequence[str]) -> Intent:
        done.append("classification")
        return classify(query, keywords)

    monkeypatch.setattr(diary.app.intent, "_classifier", classifier)
    asked(diary, BP)
    assert {name: done.count(name) for name in done} == {"extraction": 1, "classification": 1, "score": READINGS}


class _Counted(Wrapped):
    def __init__(self, part: object, calls: list[str]) -> None:
        super().__init__(part)
        self.calls = calls

    def __getattr__(self, name: str) -> Any:
        self.calls.append(name)
        return getattr(self.part, name)


@pytest.mark.spec("R-93", "R-92")
def test_a_query_asks_the_store_as_often_whatever_there_is_and_neither_index_nor_embedder(diary: Service) -> None:
    """A page of the timeline and a handful of reads beside it: of one record as of a hundred."""
    store: list[str] = []
    others: list[str] = []
    parts = diary.app.parts
    counted = diary.with_parts(
        timeline=_Counted(parts.timeline, store),
        items=_Counted(parts.items, store),
        index=_Counted(parts.index, others),
        embedder=_Counted(parts.embedder, others),
    )
    asked(counted, BP)  # the tenant's rules are known from now on
    counts = []
    for user in ("berta", "anna"):
        store.clear()
        answer = asked(counted, BP, user_id=user)
        counts.append((answer["diagnostics"]["stats"]["records_considered"], sorted(store)))
    (few, calls_of_few), (many, calls_of_many) = counts
    assert (few, many, others) == (1, 106, [])
    assert calls_of_few == calls_of_many
    assert calls_of_few.count("window") == 1
    assert len(calls_of_few) <= 6
