"""A part that changed is told exactly, or not at all (P-24)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.contradictions.splice import spliced


@pytest.mark.spec("P-24")
@pytest.mark.parametrize(
    ("older", "newer", "merged"),
    [
        ("Choir is Tuesdays at 19:30 in the hall", "they start at 20:00 now", "Choir is Tuesdays at 20:00 in the hall"),
        ("the flat is £850 a month", "it went up to £920", "the flat is £920 a month"),
        ("amlodipine 5 mg each morning", "she put me on 10 mg", "amlodipine 10 mg each morning"),
        ("Abgabe ist am 31.10.2026", "verschoben auf 14.11.2026", "Abgabe ist am 14.11.2026"),
        ("dentist on december 3 at 9:30", "they moved me to december 10, same time", "dentist on december 10 at 9:30"),
        ("dentist on 3 December at 9:30", "now 10 December at 14:00", "dentist on 10 December at 14:00"),
        ("Zahnarzt am 3. Dezember um 9:30", "verschoben auf den 10. Dezember", "Zahnarzt am 10. Dezember um 9:30"),
        ("Dentist is Tuesday at 10:00", "dentist moved to Thursday 11:30", "Dentist is Thursday at 11:30"),
        ("rent is 850", "from Monday it's 920", "rent is 920"),
        ("Dentist is Tuesday at 10:00", "it's Friday now, same time", "Dentist is Friday at 10:00"),
        ("KG immer montags um 15 Uhr", "ab jetzt mittwochs 14:30", "KG immer mittwochs um 14:30"),
        ("欧文课周三 19点", "改到周五 20点", "欧文课周五 20点"),
        ("歯医者は12月3日", "12月10日になった", "歯医者は12月10日"),
        ("体重是72kg", "今天早上 70kg", "体重是70kg"),
    ],
)
def test_one_value_of_one_sort_is_replaced(older: str, newer: str, merged: str) -> None:
    assert spliced(older, newer) == merged


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("I have 2 dogs and 3 cats", "make that 4"),
        ("the flat is £850", "it's 40 square metres"),
        ("5 mg in the morning", "10 ml at night"),
        ("rent is 850", "850 as ever"),
        ("we meet on Tuesday", "at 7 now"),
        ("Dentist is Tuesday at 10", "dentist moved to Thursday 11"),
        ("Tuesday 3 December at 9:30", "moved to Thursday"),
        ("3 December at 9:30", "moved to Thursday"),
        ("choir at 19:30", "Thursdays at 20:00"),
        ("december 3 at 9:30", "december 3 at 9:30 as ever"),
        ("from 3 december to 10 december", "moved to 12 december"),
        ("4 tickets for 3 december", "moved to 10 december"),
        ("at 19:30 for 45 minutes", "at 20:00"),
    ],
)
def test_what_is_unsure_is_no_splice(older: str, newer: str) -> None:
    assert spliced(older, newer) is None


@given(st.text(max_size=200), st.text(max_size=200))
def test_any_two_texts_are_read(older: str, newer: str) -> None:
    merged = spliced(older, newer)
    assert merged is None or merged != older
