"""The query analyzer (R-08, R-09, R-24, R-25, R-P19, R-P20) and its entities (R-11, R-19 to R-22)."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.core.time import iso
from recollect.intent.analysis import Entity, EntityType, IntentName, QueryAnalysis, analyze, extract_entities
from recollect.rules.groups import Rules
from recollect.text.dates import MONTHS, RELATIVE_PHRASES, named_dates
from recollect.text.terms import extract_keywords
from samples.steps import assert_linear

NOW = datetime(2024, 5, 15, 10, 30, tzinfo=UTC)  # a Wednesday


def of_type(
    kind: EntityType, text: str, spaces: tuple[str, ...] = (), categories: tuple[str, ...] = ()
) -> list[Entity]:
    return [entity for entity in extract_entities(text, spaces, categories, NOW) if entity.type is kind]


def day(first: str, last: str | None = None) -> str:
    return f"{first}T00:00:00.000000Z/{last or first}T23:59:59.999999Z"


@pytest.mark.spec("R-19")
@pytest.mark.parametrize(
    ("text", "value", "normalized"),
    [
        ("What today?", "today", day("2024-05-15")),
        ("YESTERDAY's run", "YESTERDAY", day("2024-05-14")),
        ("in last week", "last week", "2024-05-08T10:30:00.000000Z/2024-05-15T10:30:00.000000Z"),
        ("the last 30  days", "last 30  days", "2024-04-15T10:30:00.000000Z/2024-05-15T10:30:00.000000Z"),
        ("past 1 day", "past 1 day", "2024-05-14T10:30:00.000000Z/2024-05-15T10:30:00.000000Z"),
        ("last month", "last month", "2024-04-15T10:30:00.000000Z/2024-05-15T10:30:00.000000Z"),
        ("this week", "this week", day("2024-05-13", "2024-05-19")),
        ("this month", "this month", day("2024-05-01", "2024-05-31")),
        ("on 2023-05-07, at", "2023-05-07", day("2023-05-07")),
        ("2023-05-07T12:00", "2023-05-07", day("2023-05-07")),
        ("May 7, 2023", "May 7, 2023", day("2023-05-07")),
        ("on 7 may 2023", "7 may 2023", day("2023-05-07")),
        ("the 1st of Sept. 2023", "1st of Sept. 2023", day("2023-09-01")),
        ("December 31st 1999", "December 31st 1999", day("1999-12-31")),
        ("the day before yesterday", "the day before yesterday", day("2024-05-13")),
        ("last year", "last year", "2023-05-16T10:30:00.000000Z/2024-05-15T10:30:00.000000Z"),
        ("this year's plans", "this year", day("2024-01-01", "2024-12-31")),
        ("Was war gestern?", "gestern", day("2024-05-14")),
        ("¿Qué hice HOY?", "HOY", day("2024-05-15")),
        ("Qu'ai-je mangé aujourd’hui ?", "aujourd’hui", day("2024-05-15")),
        ("Какое давление было вчера", "вчера", day("2024-05-14")),
        ("昨天的血压是多少", "昨天", day("2024-05-14")),
        ("今日の血圧", "今日", day("2024-05-15")),
        ("어제 혈압", "어제", day("2024-05-14")),
        ("ضغطي أمس", "أمس", day("2024-05-14")),
        ("Letzte Woche gelaufen", "Letzte Woche", "2024-05-08T10:30:00.000000Z/2024-05-15T10:30:00.000000Z"),
        ("o‘tgan hafta", "o‘tgan hafta", "2024-05-08T10:30:00.000000Z/2024-05-15T10:30:00.000000Z"),
        ("el mes pasado", "el mes pasado", "2024-04-15T10:30:00.000000Z/2024-05-15T10:30:00.000000Z"),
        ("на этой неделе", "на этой неделе", day("2024-05-13", "2024-05-19")),
        ("इस महीने", "इस महीने", day("2024-05-01", "2024-05-31")),
        ("am 7. Mai 2023", "7. Mai 2023", day("2023-05-07")),
        ("el 7 de mayo de 2023", "7 de mayo de 2023", day("2023-05-07")),
        ("le 1er août 2023", "1er août 2023", day("2023-08-01")),
        ("7 мая 2023 года", "7 мая 2023", day("2023-05-07")),
        ("7.5.2023", "7.5.2023", day("2023-05-07")),
        ("2023年5月7日", "2023年5月7日", day("2023-05-07")),
        ("2023년 5월 7일", "2023년 5월 7일", day("2023-05-07")),
        ("2023. május 7. napja", "2023. május 7.", day("2023-05-07")),
        ("7. května 2023", "7. května 2023", day("2023-05-07")),
        ("7 मई 2023", "7 मई 2023", day("2023-05-07")),
        ("vorgestern", "vorgestern", day("2024-05-13")),
        ("Wat at ik eergisteren?", "eergisteren", day("2024-05-13")),
        ("Wat deed ik vorige week?", "vorige week", "2024-05-08T10:30:00.000000Z/2024-05-15T10:30:00.000000Z"),
        ("Co jadłem wczoraj?", "wczoraj", day("2024-05-14")),
        ("Vad åt jag igår?", "igår", day("2024-05-14")),
        ("Mitä söin eilen", "eilen", day("2024-05-14")),
        ("Τι έφαγα χθες;", "χθες", day("2024-05-14")),
        ("Hôm qua tôi ăn gì", "Hôm qua", day("2024-05-14")),
        ("เมื่อวานกินอะไร", "เมื่อวาน", day("2024-05-14")),
        ("מה אכלתי אתמול", "אתמול", day("2024-05-14")),
        ("im letzten Jahr", "letzten Jahr", "2023-05-16T10:30:00.000000Z/2024-05-15T10:30:00.000000Z"),
        ("İSTANBUL'da bu yıl", "bu yıl", day("2024-01-01", "2024-12-31")),
    ],
)
def test_dates_of_many_languages(text: str, value: str, normalized: str) -> None:
    assert of_type(EntityType.DATE, text) == [Entity(EntityType.DATE, value, normalized)]


@pytest.mark.spec("R-19")
@pytest.mark.parametrize(
    "text",
    [
        "",
        "2023-02-30",
        "99 May 2023",
        "0000-01-01",
        "todays",
        "12023-05-07",
        "last weekend",
        "last 99999 days",
        "may 7",
        "dieser Hafer",
        "gesternabend",
        "7.13.2023",
        "1.7.5.2023",
        "back in May 2023",
        "7 listopad 2023",
        "Alles hier",
        "Leo",
        "it was in 2023",
    ],
)
def test_no_dates(text: str) -> None:
    assert of_type(EntityType.DATE, text) == []


@pytest.mark.spec("R-84")
def test_last_week_is_the_last_seven_days_whatever_the_zone_of_now() -> None:
    tokyo = timezone(timedelta(hours=9))
    found = extract_entities("last week", (), (), NOW.astimezone(tokyo))
    assert found[0].normalized == "2024-05-08T10:30:00.000000Z/2024-05-15T10:30:00.000000Z"


def test_dates_come_in_the_order_of_the_text() -> None:
    values = [entity.value for entity in of_type(EntityType.DATE, "7 May 2023, yesterday and 2020-01-01, yesterday")]
    assert values == ["7 May 2023", "yesterday", "2020-01-01"]


def test_this_month_in_december_and_february() -> None:
    for now, last in (
        (datetime(2023, 12, 31, tzinfo=UTC), "2023-12-31"),
        (datetime(2024, 2, 1, tzinfo=UTC), "2024-02-29"),
    ):
        assert extract_entities("this month", (), (), now)[0].normalized == day(last[:8] + "01", last)


SPACES = ("Health", "Fitness", "Home Health")
MEASURED, CATEGORY, SPACE = EntityType.MEASUREMENT, EntityType.CATEGORY, EntityType.SPACE_NAME


@pytest.mark.spec("R-20", "R-21", "R-22")
@pytest.mark.parametrize(
    ("kind", "known", "text", "expected"),
    [
        (MEASURED, (), "was 120/80 then", [("120/80", "120/80")]),
        (MEASURED, (), "glucose 5.5 mmol/L.", [("5.5 mmol/L", "5.5 mmol/l")]),
        (MEASURED, (), "5,5mmol/l", [("5,5mmol/l", "5.5 mmol/l")]),
        (MEASURED, (), "72 kg, 10 km and 37 °C", [("72 kg", "72 kg"), ("10 km", "10 km"), ("37 °C", "37 °c")]),
        (MEASURED, (), "50%", [("50%", "50 %")]),
        (MEASURED, (), "12/05/2023 and 24/7, 5 mmolar, room 12", []),
        (MEASURED, (), "1.2.3 kg", []),
        (CATEGORY, (), "What was my Blood  pressure", []),
        (CATEGORY, (), "What was my Blood Pressure?", [("Blood Pressure", "blood pressure")]),
        (CATEGORY, (), "medication", [("medication", "medication")]),
        (CATEGORY, ("Blood", "pressure"), "my blood pressure", [("blood pressure", "blood pressure")]),
        (CATEGORY, ("pressure",), "pressure, blood pressure", [(p, p) for p in ("pressure", "blood pressure")]),
        (CATEGORY, ("blood",), "bloody", []),
        (CATEGORY, ("血压",), "我的血压高", [("血压", "血压")]),
        (CATEGORY, ("straße",), "Straße STRASSE", [("strasse", "strasse")]),
        (CATEGORY, ("Medication", " "), "medication medication", [("medication", "medication")]),
        (SPACE, SPACES, "Compare my HEALTH and fitness records", [("HEALTH", "Health"), ("fitness", "Fitness")]),
        (SPACE, SPACES, "healthy unfitness", []),
        (SPACE, SPACES, "home health", [("home health", "Home Health")]),
        (SPACE, SPACES, "in my travel space", []),
        (SPACE, ("Health", "health"), "my HEALTH", [("HEALTH", "Health"), ("HEALTH", "health")]),
    ],
)
def test_measurements_categories_and_spaces(
    kind: EntityType, known: tuple[str, ...], text: str, expected: list[tuple[str, str]]
) -> None:
    assert [(e.value, e.normalized) for e in of_type(kind, text, known, known)] == expected


@pytest.mark.spec("R-P19")
@given(
    st.text(),
    st.lists(st.text(max_size=8), max_size=4),
    st.lists(st.text(max_size=8), max_size=4),
    st.datetimes(datetime(1950, 1, 1), datetime(2150, 1, 1), timezones=st.just(UTC)),
)
def test_any_text(text: str, spaces: list[str], categories: list[str], now: datetime) -> None:
    found = extract_entities(text, spaces, categories, now)
    assert len(found) == len(set(found))


@pytest.mark.spec("R-P19")
@pytest.mark.parametrize(
    "text",
    ["1" * 1_000_000, "last " * 200_000, "last" + " " * 1_000_000, "120/80 " * 140_000, "May 7, 2023 " * 80_000,
     "health " * 140_000, "1.1" * 330_000, "7 of " * 200_000],
)  # fmt: skip
def test_a_megabyte(text: str) -> None:
    found = extract_entities(text, ["health", "h"], ["health h"], NOW)
    assert len(found) == len(set(found))


@pytest.mark.parametrize("unit", ["1", "last ", "120/80 ", "May 7, 2023 ", "health ", "1.1", "7 of "])
def test_work_grows_as_the_text_does(unit: str) -> None:
    assert_linear(lambda size: extract_entities(unit * size, ["health", "h"], ["health h"], NOW), 2_000)


@pytest.mark.spec("R-19")
def test_every_phrase_of_every_language_means_what_its_english_one_does() -> None:
    meant = {meaning: named_dates(meaning, NOW)[0].range for meaning in set(RELATIVE_PHRASES.values())}
    for phrase, meaning in RELATIVE_PHRASES.items():
        found = named_dates(f"7, {phrase}?", NOW)
        assert [(one.text, one.range) for one in found] == [(phrase, meant[meaning])], phrase


@pytest.mark.spec("R-19")
def test_every_month_of_every_language_is_read() -> None:
    for name, number in MONTHS.items():
        found = named_dates(f"7 {name} 2023", NOW)
        assert [iso(one.range.start)[:10] for one in found] == [f"2023-{number:02}-07"], name


RULES = Rules()


def analysed(query: str | None, history: Sequence[str] = (), rules: Rules = RULES) -> QueryAnalysis:
    return analyze(query, history, ["Health"], ["sleep"], NOW, rules)


@pytest.mark.spec("R-25")
@pytest.mark.parametrize("query", ["", "   ", None])
def test_an_empty_query(query: str | None) -> None:
    found = analysed(query, ["something said"])
    assert (found.keywords, found.entities, found.intent, found.context) == ((), (), IntentName.GREETING, None)


@pytest.mark.spec("R-25")
def test_long_queries_of_stop_words_or_without_spaces() -> None:
    assert analysed("the of " * 60).keywords == ("the", "of")
    assert len(analysed("，".join(f"词{n}" for n in range(2000))).keywords) == 10


@pytest.mark.spec("R-24")
@pytest.mark.parametrize(
    ("query", "follows_up"),
    [
        ("And what did it cost?", True),
        ("What about yesterday", True),
        ("Did they like her?", True),
        ("А вчера было больше?", True),
        ("Is this so?", True),
        ("Tell me more about that", True),
        ("Show my expenses this month", False),
        ("The book that won", False),
        ("Where is Paris", False),
    ],
)
def test_a_follow_up_takes_keywords_of_the_conversation(query: str, follows_up: bool) -> None:
    own = extract_keywords(query)
    found = analysed(query, ["Paris trip in March", "The hotel was dear"])
    if not follows_up:
        assert found.keywords == own
        assert found.context is None
        return
    assert found.context is not None
    assert found.keywords == own + found.context.keywords
    assert {"paris", "trip", "hotel", "dear"} <= set(found.keywords)
    assert len(set(found.context.keywords)) == len(found.context.keywords)
    assert not set(own) & set(found.context.keywords)


@pytest.mark.spec("R-24", "R-25")
def test_a_long_message_adds_no_more_than_the_cap() -> None:
    message = " ".join(f"word{n}" for n in range(500))
    assert analysed("What about it?", [message]).keywords[3:] == tuple(f"word{n}" for n in range(10))


@pytest.mark.spec("R-P19", "R-P20", "R-P3")
@settings(max_examples=200)
@given(st.text(st.characters()), st.lists(st.text(st.characters()), max_size=4))
def test_any_text_is_analysed_and_only_two_messages_matter(query: str, history: list[str]) -> None:
    found = analysed(query, history)
    assert found == analysed(query, history[-2:])
    assert found.keywords[: len(extract_keywords(query))] == extract_keywords(query)
