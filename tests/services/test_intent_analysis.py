"""A query analysed, on SQLite and on the real engines: entities, intent, what is said before (R-08 to R-29, R-66)."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from embedded.asking import logged
from recollect.intent.analysis import Intent, IntentName
from services.intent_asking import BP, analysed, asked, contents, draft, found, the_line, told
from services.serving import Service

DAYS = 20
WEEK = "2024-05-08T12:00:00.000000Z/2024-05-15T12:00:00.000000Z"


@pytest.fixture(scope="module")
def diary(one_for_all: Service) -> Service:
    """Each noon the steps of a day, from 15 May 2024 back; and a reading in another space, of a category of its own."""
    told(
        one_for_all,
        *(draft(f"шаги steps pasos 步数 {days}", days, space_id="Fitness") for days in range(DAYS)),
        draft("blood pressure 120/80", 3, space_id="Health"),
        draft("slept badly", 2, space_id="Health", category="sleep quality"),
        draft("glucose 5.5 mmol/L", 2.5, space_id="Health"),
    )
    return one_for_all


@pytest.mark.spec("R-08", "R-09", "R-11")
def test_the_analysis_has_all_its_parts(diary: Service) -> None:
    """Its names are those of what is stored: a space and a category that no query has ever named."""
    query = "Health: was blood pressure 120/80 or sleep quality better last week?"
    answer = asked(diary, query)
    assert answer["analysis"].pop("keywords") == [
        "health", "was", "blood", "pressure", "120", "80", "or", "sleep", "quality", "better", "last", "week",
    ]  # fmt: skip
    assert answer["analysis"] == {
        "entities": [
            {"type": "date", "value": "last week", "normalized": WEEK},
            {"type": "measurement", "value": "120/80", "normalized": "120/80"},
            {"type": "category", "value": "blood pressure", "normalized": "blood pressure"},
            {"type": "category", "value": "sleep quality", "normalized": "sleep quality"},
            {"type": "spaceName", "value": "Health", "normalized": "Health"},
        ],
        "intent": "question",
        "intent_confidence": 0.8,
    }
    assert set(contents(answer)) == {"blood pressure 120/80", "slept badly"}
    alone = analysed(diary, query)
    assert [one["type"] for one in alone["entities"]] == ["date", "measurement", "category"]
    named = analysed(diary, query, spaces=["Health"], categories=["sleep quality"])
    assert [one["type"] for one in named["entities"]] == ["date", "measurement", "category", "category", "spaceName"]


@pytest.mark.spec("R-08", "R-09", "R-24", "R-107")
def test_what_was_said_before_is_told_beside_the_query(diary: Service) -> None:
    said = ["I drank tea", "I measured glucose", "and then I slept"]
    answer = asked(diary, "And how was it then?", history=said)
    assert answer["analysis"]["keywords"] == [
        "and", "how", "was", "it", "then", "measured", "glucose", "slept"
    ]  # fmt: skip
    assert answer["analysis"]["context"] == {"messages": 2, "keywords": ["measured", "glucose", "slept"]}
    assert answer["diagnostics"]["fallback_reason"] == "stop_words_only"
    follow_up = asked(diary, "And what of my reading then?", history=said)
    assert set(contents(follow_up)) == {"glucose 5.5 mmol/L", "slept badly"}
    assert "context" not in asked(diary, "What was my own reading then?", history=said)["analysis"]


@pytest.mark.spec("R-19")
@pytest.mark.parametrize(
    ("query", "days"),
    [
        ("How many steps today?", [0]),
        ("How many steps last week?", range(8)),
        ("How many steps on 7 May 2024 and on 2024-05-05?", [8, 9, 10]),
        ("昨天 的 步数 是多少", [1]),
    ],
)
def test_a_date_is_a_range_and_what_lies_outside_of_it_is_no_candidate(
    diary: Service, query: str, days: Sequence[int]
) -> None:
    answer = asked(diary, query, active_space_id="Fitness", top_k=15)
    assert contents(answer) == [f"шаги steps pasos 步数 {day}" for day in days]
    assert {one["type"] for one in answer["analysis"]["entities"]} == {"date"}


INTENTS = [
    ("What were my steps then?", "question", 0.8),
    ("Hello?", "question", 0.8),
    ("昨天 的 步数 是多少？", "question", 0.8),
    ("كم كان ضغطي؟", "question", 0.8),
    ("Hello there", "greeting", 0.6),
    ("a a a I steps", "greeting", 0.6),
    ("🎉🎉🎉", "greeting", 0.6),
    ("Show me my steps", "question", 0.5),
    ("I walked my steps", "question", 0.5),
    ("maybe steps or so", "question", 0.5),
]


@pytest.mark.spec("R-23", "R-26", "R-27", "R-28", "R-29", "R-78", "R-69", "R-P3", "P-7")
@pytest.mark.parametrize(("query", "intent", "confidence"), INTENTS)
def test_an_intent_and_how_sure_it_is(diary: Service, query: str, intent: str, confidence: float) -> None:
    """By the first rule that holds; commands and statements are questions. The same each time, and wherever."""
    answers = [asked(diary, query)["analysis"], asked(diary, query)["analysis"], analysed(diary, query)]
    assert {(one["intent"], one["intent_confidence"]) for one in answers} == {(intent, confidence)}


@pytest.fixture
def classified(diary: Service, monkeypatch: pytest.MonkeyPatch) -> Callable[[Any], None]:
    return lambda classifier: monkeypatch.setattr(diary.app.intent, "_classifier", classifier)


@pytest.mark.spec("R-10", "R-29", "R-78", "P-7")
@pytest.mark.parametrize("name", ["question", "command", "statement", "greeting"])
def test_a_richer_classifier_may_give_each_of_the_four(
    diary: Service, classified: Callable[[Any], None], name: str
) -> None:
    given: list[tuple[str, list[str]]] = []

    def richer(query: str, keywords: Sequence[str]) -> Intent:
        given.append((query, list(keywords)))
        return Intent(IntentName(name), 0.75)

    usual = found(diary, BP)
    classified(richer)
    answer = asked(diary, BP)
    assert given == [(BP, ["what", "was", "my", "blood", "pressure"])]
    assert (answer["analysis"]["intent"], answer["analysis"]["intent_confidence"]) == (name, 0.75)
    assert contents(answer) == usual == ["blood pressure 120/80"]
    assert {one.value for one in IntentName} == {"question", "command", "statement", "greeting"}


@pytest.mark.spec("R-66", "R-67", "R-68")
def test_what_cannot_be_classified_is_a_question_and_retrieval_goes_on(
    diary: Service, classified: Callable[[Any], None]
) -> None:
    def broken(*_given: Any) -> Intent:
        raise RuntimeError("a secret")

    classified(broken)
    with logged() as lines:
        answer = asked(diary, "Hello blood pressure of mine")
    assert (answer["analysis"]["intent"], answer["analysis"]["intent_confidence"]) == ("question", 0.5)
    assert contents(answer) == ["blood pressure 120/80"]
    assert "fallback" not in answer["diagnostics"]
    assert the_line(lines, "low_confidence")["intentConfidence"] == 0.5
    assert "a secret" not in str(lines)


@pytest.mark.spec("R-67")
@pytest.mark.parametrize(("query", "logged_low"), [("Show my blood pressure", 1), (BP, 0), ("Hello there", 0)])
def test_low_confidence_is_logged_and_higher_is_not(diary: Service, query: str, logged_low: int) -> None:
    with logged() as lines:
        asked(diary, query)
    assert [one["event"] for one in lines].count("low_confidence") == logged_low


@pytest.mark.spec("R-107", "R-P20")
def test_a_tenants_rules_say_how_far_back_is_read_but_never_beyond_two(service: Service) -> None:
    told(service, draft("blood pressure"))
    history = ["first", "second", "third"]
    assert service.send("GET", "/v1/rules").json["rules"]["intent"]["context_lookback"] == 2
    expected: dict[int, list[str]] = {0: [], 1: ["third"], 2: ["second", "third"], 9: ["second", "third"]}
    for lookback, added in expected.items():
        service.rules(intent={"context_lookback": lookback})
        context = asked(service, "And what about it then?", history=history)["analysis"].get("context")
        assert (context or {"keywords": []})["keywords"] == added
