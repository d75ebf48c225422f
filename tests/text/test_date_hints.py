"""Dates that a question names, as far as it names them."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.text.dates import DateHint, date_hints


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("What did Anna do on 8 May 2023?", [(2023, 5, 8), (2023, 5, None)]),
        ("on May 8th, 2023, or so", [(2023, 5, 8), (2023, 5, None)]),
        ("the 20th of June", [(None, 6, 20), (None, 6, None)]),
        ("since 2023-05-08", [(2023, 5, 8), (2023, 5, None)]),
        ("2022年5月20日", [(2022, 5, 20), (2022, 5, None)]),
        ("他5月去了哪里", [(None, 5, None)]),
        ("2021年发生了什么", [(2021, None, None)]),
        ("in August 2023 and in 2021", [(2023, 8, None), (2021, None, None)]),
        ("in May?", [(None, 5, None)]),
        ("early March", [(None, 3, None)]),
        ("May I ask? March on!", []),
        ("at 12:30 in May", [(None, 5, None)]),
        ("version 2.2023 of the 13-month plan", []),
        ("2023-13-45", []),
        ("31 x 12", []),
        ("", []),
    ],
)
def test_what_is_named_is_found(text: str, expected: list[tuple[int | None, ...]]) -> None:
    assert date_hints(text) == tuple(DateHint(*one) for one in expected)


def test_a_hint_holds_what_lies_in_it() -> None:
    moment = datetime(2023, 5, 8, 23, tzinfo=UTC)
    assert DateHint(2023, 5, 8).holds(moment)
    assert DateHint(None, 5).holds(moment)
    assert DateHint(2023).holds(moment)
    assert not DateHint(2023, 5, 9).holds(moment)
    assert not DateHint(2022, 5).holds(moment)


@given(st.text(max_size=200))
def test_any_text_has_only_dates_that_can_be(text: str) -> None:
    for hint in date_hints(text):
        assert hint.month is None or 1 <= hint.month <= 12
        assert hint.day is None or 1 <= hint.day <= 31
        assert hint.weight in (0.25, 0.5, 1.0)
