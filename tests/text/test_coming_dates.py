"""Days ahead that a text names, in many languages (P-24)."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.text.coming_dates import MOST_DAYS_AHEAD, coming_date, coming_dates, names_a_day

MONDAY = datetime(2026, 11, 16, 21, tzinfo=UTC)


@pytest.mark.spec("P-24")
@pytest.mark.parametrize(
    ("text", "day", "words"),
    [
        ("520 from 1 December", "2026-12-01", "1 December"),
        ("it is 815 from the 1st", "2026-12-01", "from the 1st"),
        ("as of January 15th we share", "2027-01-15", "January 15th"),
        ("starting 2027-01-04 it is in Leith", "2027-01-04", "2027-01-04"),
        ("20:00 from next week, the choir", "2026-11-23", "next week"),
        ("three days from Monday on", "2026-11-23", "from Monday"),
        ("520 dal primo dicembre", "2026-12-01", "primo dicembre"),
        ("ab Dezember zahle ich 720", "2026-12-01", "ab Dezember"),
        ("ab dem 1.12. sind es 720", "2026-12-01", "1.12."),
        ("ab Montag in Bremen", "2026-11-23", "ab Montag"),
        ("à partir du 15 décembre", "2026-12-15", "15 décembre"),
        ("dès lundi", "2026-11-23", "dès lundi"),
        ("a partir de diciembre son 720", "2026-12-01", "a partir de diciembre"),
        ("12月1日からは520円", "2026-12-01", "12月1日"),
        ("下个月搬到里昂", "2026-12-01", "下个月"),
        ("来月から週三日", "2026-12-01", "来月"),
        ("de l'année prochaine", "2027-01-01", "l'année prochaine"),
    ],
)
def test_a_day_ahead_is_read_with_its_place(text: str, day: str, words: str) -> None:
    found = coming_date(text, MONDAY)
    assert found is not None
    assert (found.begins.date().isoformat(), text[slice(*found.span)]) == (day, words)


@pytest.mark.parametrize(
    "text",
    [
        "since 3 March",
        "seit dem 1. Dezember",
        "I moved on May 3",
        "from 2 to 3 people",
        "from 3 pm",
        "on 5 mg now",
        "from 31 February",
        "on Mondays",
        "2020-01-01",
        "from 1 December 2030",
        "",
    ],
)
def test_what_is_past_far_away_or_no_day_is_none(text: str) -> None:
    assert coming_date(text, MONDAY) is None


@pytest.mark.spec("P-24")
@pytest.mark.parametrize(
    ("text", "is_open"),
    [
        ("We moved on Saturday", True),
        ("On the Saturday we moved", True),
        ("our lease began on the 1st, all fine", True),
        ("Desde el lunes trabajo en Bosch", True),
        ("da lunedì", True),
        ("umowa od 5.", True),
        ("周六搬到利斯了", True),
        ("on next Saturday", False),
        ("from Saturday", False),
        ("starting the 1st", False),
        ("come Monday", False),
        ("ab Montag", False),
        ("zum 1.", False),
        ("a partir del lunes", False),
        ("dès lundi", False),
        ("周六起", False),
        ("土曜日から", False),
        ("on 1 December", False),
        ("desde diciembre", False),
        ("next week", False),
    ],
)
def test_whether_the_words_say_that_the_day_is_to_come(text: str, is_open: bool) -> None:
    found = coming_date(text, MONDAY)
    assert found is not None
    assert found.open is is_open


def test_all_days_ahead_are_read_in_the_order_of_the_text() -> None:
    text = "signed on Friday, from 1 December in Leith, since Monday without a car"
    found = coming_dates(text, MONDAY)
    assert [text[slice(*one.span)] for one in found] == ["on Friday", "1 December"]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("tuesdays off", True),
        ("Choir is on Monday", True),
        ("dermatology, 10 nov at 14.10", True),
        ("每周二上课", True),
        ("she pays 480 on the 1st", False),
        ("75 in the morning", False),
        ("一个月四百八", False),
    ],
)
def test_a_statement_names_a_day_of_its_own(text: str, names: bool) -> None:
    assert names_a_day(text) is names


@given(st.text(max_size=80), st.datetimes(min_value=datetime(1, 1, 2), max_value=datetime(9998, 12, 30)))
def test_any_text_at_any_time_is_read(text: str, at: datetime) -> None:
    now = at.replace(tzinfo=UTC)
    found = coming_date(f"from 1 May {text} next week from monday 2月1日", now)
    assert found is not None
    assert 0 < (found.begins - now).total_seconds() <= MOST_DAYS_AHEAD * 86_400
