"""Until which day something holds, in many languages (P-24)."""

from datetime import UTC, datetime

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from recollect.text.until_dates import days_now, last_days

SUNDAY = datetime(2026, 11, 1, 12, tzinfo=UTC)


@pytest.mark.spec("P-24")
@pytest.mark.parametrize(
    ("text", "last_day", "words"),
    [
        ("hasta el domingo 8 dormimos en casa de mi madre", "2026-11-08", "hasta el domingo 8"),
        ("hasta el domingo", "2026-11-01", "hasta el domingo"),
        ("las mellizas están en campamento hasta el 15", "2026-11-15", "hasta el 15"),
        ("bin bis freitag in linz", "2026-11-06", "bis freitag"),
        ("Albrecht ist bis zum 20. im Urlaub", "2026-11-20", "bis zum 20."),
        ("bis Freitag, den 13. November, in Rom", "2026-11-13", "bis Freitag, den 13. November"),
        ("er vertritt sie bis Ende Januar", "2027-01-31", "bis Ende Januar"),
        ("bis März in Elternzeit", "2027-02-28", "bis März"),
        ("bis nächste Woche", "2026-11-08", "bis nächste Woche"),
        ("je dors chez Luc jusqu\u2019au 15", "2026-11-15", "jusqu\u2019au 15"),
        ("jusqu'à jeudi, fuite", "2026-11-05", "jusqu'à jeudi"),
        ("fino a domenica sono dai miei", "2026-11-01", "fino a domenica"),
        ("até o dia 15 estou fora", "2026-11-15", "até o dia 15"),
        ("sem tocar até segunda", "2026-11-02", "até segunda"),
        ("Slaap tot en met zaterdag bij Joris", "2026-11-07", "tot en met zaterdag"),
        ("fram till fredag bor jag hos mamma", "2026-11-06", "fram till fredag"),
        ("Jestem w Toruniu do czwartku.", "2026-11-05", "do czwartku"),
        ("в командировке до пятницы", "2026-11-06", "до пятницы"),
        ("до 5 декабря живу у мамы", "2026-12-05", "до 5 декабря"),
        ("cumaya kadar annemdeyim", "2026-11-06", "cumaya kadar"),
        ("perjantaihin asti mökillä", "2026-11-06", "perjantaihin asti"),
        ("金曜日まで実家にいます", "2026-11-06", "金曜日まで"),
        ("来週の金曜まで出張", "2026-11-06", "来週の金曜まで"),
        ("12月5日まで休み", "2026-12-05", "12月5日まで"),
        ("3月まで東京", "2027-03-31", "3月まで"),
        ("2028년 2월까지예요", "2028-02-29", "2028년 2월까지"),
        ("금요일까지 출장", "2026-11-06", "금요일까지"),
        ("이번 달까지만", "2026-11-30", "이번 달까지"),
        ("在重庆出差到周五", "2026-11-06", "到周五"),
        ("到下周五我都在北京", "2026-11-06", "到下周五"),
        ("用到12月8号", "2026-12-08", "到12月8号"),
    ],
)
def test_the_last_day_is_read_with_its_place(text: str, last_day: str, words: str) -> None:
    (found,) = last_days(text, SUNDAY)
    assert (found.until - datetime.fromisoformat(last_day).replace(tzinfo=UTC)).days == 1
    assert text[slice(*found.span)] == words


@pytest.mark.parametrize(
    "text",
    [
        "nicht bis Freitag",
        "von Montag bis Freitag arbeite ich",
        "de lunes hasta viernes",
        "с понедельника до пятницы",
        "月曜から金曜まで働く",
        "周一到周五上班",
        "월요일부터 금요일까지 일해요",
        "Zinnowitz, 3. bis 17. August",
        "tengo hasta el viernes para pagar",
        "no empiezo en el banco hasta el lunes",
        "die Kaution muss bis Freitag auf dem Konto sein",
        "vivía en Sevilla hasta el viernes pasado",
        "hasta las 5",
        "bis 18 Uhr",
        "jusqu'à 17 h",
        "bis zu 50 Euro",
        "hasta 60 días",
        "até as 22h",
        "hasta luego, bis bald",
        "hasta en persona",
        "改到周五了",
        "金曜までに出す",
        "週3日まで",
        "we do friday and monday",
        "o salário do 15",
        "hasta el 31 de febrero de 2027",
        "bis 3. März 2020",
        "",
    ],
)
def test_hours_amounts_ranges_moves_and_what_is_past_are_none(text: str) -> None:
    assert list(last_days(text, SUNDAY)) == []


@pytest.mark.spec("P-24")
@pytest.mark.parametrize(
    ("text", "last_day", "words"),
    [
        ("diese Woche fange ich um 6 an", "2026-11-01", "diese Woche"),
        ("esta semana sin zumba", "2026-11-01", "esta semana"),
        ("今週だけ甥っ子預かってる", "2026-11-01", "今週"),
        ("这个月我住在妈妈家", "2026-11-30", "这个月"),
        ("heute bitte ausführlich", "2026-11-01", "heute"),
        ("aujourd\u2019hui je travaille chez moi", "2026-11-01", "aujourd\u2019hui"),
    ],
)
def test_what_goes_on_now_has_its_last_day(text: str, last_day: str, words: str) -> None:
    (found,) = days_now(text, SUNDAY)
    assert (found.until - datetime.fromisoformat(last_day).replace(tzinfo=UTC)).days == 1
    assert text[slice(*found.span)] == words


@pytest.mark.parametrize(
    "text",
    [
        "dieses Jahr",
        "letzte Woche",
        "seit dieser Woche",
        "从这个月起",
        "今月から",
        "这周三的取消了",
        "oggiono",
        "this week",
        "",
    ],
)
def test_a_year_a_beginning_a_day_of_the_week_and_another_word_are_not_now(text: str) -> None:
    assert list(days_now(text, SUNDAY)) == []


@example("bis Ende Januar, bis Freitag, bis nächstes Jahr", datetime(9999, 12, 31))
@example("bis Ende Dezember 9999, 下周五到周五", datetime(9998, 12, 31))
@given(st.text(max_size=80), st.datetimes(min_value=datetime(1, 1, 1), max_value=datetime(9999, 12, 31)))
def test_any_text_at_any_time_is_read(text: str, at: datetime) -> None:
    now = at.replace(tzinfo=UTC)
    assert list(last_days(text, now)) == [] or 1 < at.year < 9999
    assert all(found.until > now for found in days_now(f"{text} heute {text} 这个月", now))
    said = f"bis {text} hasta el {text} 到{text} {text}まで до {text} bis 31. bis Ende Januar 0000 bis nächstes jahr"
    for found in last_days(said, now):
        assert found.until > now
        assert 0 <= found.span[0] < found.span[1] <= len(said)
