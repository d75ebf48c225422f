"""A text is parsed once, and what was found in it is never taken for another's."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from recollect.contradictions.cues.judge import parse
from recollect.contradictions.relation import Said

AT = datetime(2026, 3, 3, 9, 0, tzinfo=UTC)
PARIS = Said(id="one", text="I live in Paris.", at=AT)


def test_the_same_words_again_are_the_same_object_with_its_notes() -> None:
    parse(PARIS).notes["found"] = 1
    assert parse(replace(PARIS)).notes["found"] == 1
    assert parse(replace(PARIS, follows="another")) is parse(PARIS)


@pytest.mark.parametrize(
    "other",
    [{"text": "I live in Lyon."}, {"id": "other"}, {"speaker": "Ben"}, {"at": datetime(2026, 3, 4, tzinfo=UTC)}],
    ids=lambda other: next(iter(other)),
)
def test_of_other_words_another_record_speaker_or_time_nothing_is_taken_over(other: dict[str, object]) -> None:
    said = replace(PARIS, **other)  # type: ignore[arg-type]
    parse(PARIS).notes["found"] = 1
    second = parse(said)
    assert (second.id, second.text, second.speaker, second.at) == (said.id, said.text, said.speaker, said.at)
    assert "found" not in second.notes


def test_a_long_text_is_parsed_anew() -> None:
    long = replace(PARIS, text="I live in Paris. " * 200)
    assert parse(long) is not parse(long)
