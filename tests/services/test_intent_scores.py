"""What is scored and in what order, on SQLite and on the real engines (R-06, R-45, R-46, R-70, R-79, R-112)."""

from collections.abc import Callable
from typing import Any

import pytest

from embedded.asking import logged
from recollect.intent import ranking as intent_retrieval
from recollect.intent import retrieve as intent_answer
from recollect.intent import retrieve as retrieve_by_intent
from recollect.intent.scoring import PrivacyFilter, RetrievalRecord
from samples.wrapped import Wrapped
from services.intent_asking import BP, asked, contents, draft, keyword_shares, told
from services.serving import Service

AGES = (0, 0.25, 9, 45, 88.2, 90, 120)


@pytest.fixture(scope="module")
def diary(one_for_all: Service) -> Service:
    """Readings of several ages; records with a word in one field and the others absent; a secret among them."""
    told(
        one_for_all,
        *(draft(f"blood pressure {days}", days) for days in AGES),
        draft("of Monday", 1, title="violin lesson"),
        draft("of Tuesday", 1, category="violin class"),
        draft("of Wednesday", 1, notes="the VIOLIN wants tuning"),
        draft("violins", 1),
        draft("nothing of it", 1),
        draft("blood pressure and violin in secret", 1, is_private=True),
        draft("harbour in Health", 3, space_id="Health"),
        draft("harbour in Fitness", 4, space_id="Fitness"),
    )
    return one_for_all


@pytest.mark.spec("R-79", "R-32", "R-33", "R-34")
@pytest.mark.parametrize(
    ("query", "share"),
    [
        ("blood, pressure; BLOOD!", 1.0),
        ("any blood pressure now", 0.5),
        ("my own blood now and then again", 1 / 7),
        ("wholly unrelated blood" + " zebra" * 17, 1 / 20),
    ],
)
def test_a_score_is_six_tenths_of_the_keywords_and_four_of_recency(diary: Service, query: str, share: float) -> None:
    """Recency falls by fractions of a day to nothing at ninety days, and no further."""
    answer = asked(diary, query, time_window={"last_days": 200}, explain=True)
    recency = {f"blood pressure {days}": max(0.0, 1 - days / 90) for days in AGES}
    expected = {text: 0.6 * share + 0.4 * left for text, left in recency.items() if 0.6 * share + 0.4 * left >= 0.3}
    results = {one["content"]: one for one in answer["results"]}
    assert {text: one["score"] for text, one in results.items()} == pytest.approx(expected, abs=1e-6)
    assert contents(answer) == [text for text in recency if text in expected]
    for text, one in results.items():
        assert one["scores"]["keyword_match"] == pytest.approx(share, abs=1e-6)
        assert one["scores"]["recency"] == pytest.approx(recency[text], abs=1e-6)
        assert one["why"]["shares"]["keyword_match"] == pytest.approx(0.6 * share, abs=1e-6)


@pytest.mark.spec("R-70", "R-79", "R-35", "R-36", "R-38")
def test_absent_fields_are_skipped_and_each_other_is_read(diary: Service) -> None:
    answer = asked(diary, "Where is my violin?")
    one_of_four = {"of Monday": 0.25, "of Tuesday": 0.25, "of Wednesday": 0.25, "violins": 0.25}
    assert keyword_shares(answer) == pytest.approx(one_of_four)
    assert len({one["score"] for one in answer["results"]}) == 1


@pytest.mark.spec("R-70", "R-79")
def test_a_saved_memory_has_none_of_these_fields_and_is_scored_by_its_words(service: Service) -> None:
    service.saved("my violin is in the attic")
    answer = service.search(query="Where is my violin?", mode="intent")
    assert keyword_shares(answer) == pytest.approx({"my violin is in the attic": 3 / 4})


@pytest.mark.spec("R-79", "R-P9", "R-P10")
def test_of_equal_relevance_the_later_day_then_the_more_viewed_then_the_later_instant(service: Service) -> None:
    """Beyond ninety days there is no recency: what one query finds there is all equally relevant."""
    told(
        service,
        draft("oboe at dawn, seen often", 100.4, views=9),
        draft("oboe in the morning, seen once", 100.2, views=1),
        draft("oboe at eleven, seen once", 100.05, views=1),
        draft("oboe the day after, never seen", 99.4),
    )
    answer = asked(service, "Oboe oboe, oboe", time_window={"last_days": 200})
    assert [one["score"] for one in answer["results"]] == pytest.approx([0.6] * 4)
    assert contents(answer) == [
        "oboe the day after, never seen",
        "oboe at dawn, seen often",
        "oboe at eleven, seen once",
        "oboe in the morning, seen once",
    ]


class _Seen(Wrapped):
    def __init__(self, part: object, steps: list[str]) -> None:
        super().__init__(part)
        self.steps = steps

    def window(self, *given: Any) -> Any:
        self.steps.append("date filter")
        return super().__getattr__("window")(*given)


@pytest.mark.spec("R-06", "R-46", "P-17", "R-P13")
@pytest.mark.parametrize("query", [BP, "Hello"])
def test_the_order_of_the_steps_and_what_each_is_given(
    diary: Service, monkeypatch: pytest.MonkeyPatch, query: str
) -> None:
    """Dates, date filter, analysis, privacy, scores, cut: the scorer is given nothing private, by intent or by date."""
    steps: list[str] = []
    given: dict[str, list[str]] = {}

    def watched(where: Any, name: str, step: str) -> None:
        whole: Callable[..., Any] = getattr(where, name)

        def called(*args: Any, **more: Any) -> Any:
            steps.append(step)
            records = next((one for one in args if isinstance(one, list | tuple)), ())
            given.setdefault(step, [str(one.content) for one in records if isinstance(one, RetrievalRecord)])
            return whole(*args, **more)

        monkeypatch.setattr(where, name, called)

    seen = diary.with_parts(timeline=_Seen(diary.app.parts.timeline, steps))
    watched(retrieve_by_intent, "named_dates", "dates")
    watched(retrieve_by_intent, "analyze", "analysis")
    watched(PrivacyFilter, "filter", "privacy")
    watched(intent_retrieval, "_scored_all", "scores")
    watched(intent_retrieval, "newest_records", "newest")
    watched(intent_answer, "truncated", "cut")
    answer = asked(seen, query)
    chosen = "scores" if query == BP else "newest"
    assert steps == ["dates", "date filter", "analysis", "privacy", chosen, "cut", "privacy", "cut"]
    assert [text for text in given["privacy"] if "secret" in text] == ["blood pressure and violin in secret"]
    assert [text for text in given[chosen] if "secret" in text] == []
    assert [text for text in given["cut"] if "secret" in text] == []
    assert given["cut"] == contents(answer)


@pytest.mark.spec("R-112", "R-89", "R-65")
@pytest.mark.parametrize("step", ["named_dates", "analyze", "space_reach", "fallback_reason", "retrieve"])
def test_whatever_fails_is_answered_by_date(diary: Service, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    """Of the active space, without what is private, newest first; an error is told by its type."""

    def broken(*_given: Any, **_more: Any) -> Any:
        raise RuntimeError("a secret")

    monkeypatch.setattr(retrieve_by_intent, step, broken)
    with logged() as lines:
        answer = asked(diary, "Show the violin of mine", active_space_id="Health")
        everything = asked(diary, BP, time_window={"last_days": 95}, top_k=100)
    assert contents(answer) == ["harbour in Health"]
    assert len(everything["results"]) == 13
    assert "blood pressure and violin in secret" not in contents(everything)
    for one in (answer, everything):
        assert (one["diagnostics"]["fallback"], one["diagnostics"]["fallback_reason"]) == ("date_based", "error")
        times = [result["timestamp"] for result in one["results"]]
        assert times == sorted(times, reverse=True)
    told_of = [one for one in lines if one["event"] == "retrieval_fallback"]
    assert [(one["level"], one["reason"], one["error"]) for one in told_of] == [
        ("WARNING", "error", "RuntimeError")
    ] * 2
    assert "a secret" not in str(lines)


@pytest.mark.spec("R-45")
def test_the_context_is_cut_to_its_size(service: Service) -> None:
    """Of each text a hundred characters, of all of them twenty records and 2,000 tokens; titles stand whole."""
    told(service, *(draft(f"harbour {n:02} " + "x" * 5000, n / 4, notes="y" * 300) for n in range(30)))
    stats = asked(service, "Where is the harbour?", top_k=100)["diagnostics"]["stats"]
    line = len("2024-05-15") + 1 + 100 + 1 + 100
    assert (stats["records_included"], stats["tokens"]) == (15, 15 * -(-line // 4))
    assert (stats["date_based_records"], stats["date_based_tokens"]) == (20, 20 * -(-line // 4))
    told(service, *(draft(f"short {n:02}", n / 9, title="t" * 500) for n in range(20)), user="berta")
    titled = asked(service, "Where is a short one?", top_k=100, user_id="berta")["diagnostics"]["stats"]
    each = -(-len(f"2024-05-15 {'t' * 500} short 00") // 4)
    assert titled["date_based_records"] == 20
    assert titled["date_based_tokens"] == 2000 // each * each
