"""What a record says is kept with what was found out about it, and never mixed up."""

from dataclasses import replace
from datetime import timedelta

import pytest

from recollect.domain.recognition import claims_of, said_by
from recollect.rules.groups import Rules
from samples.events import event

RULES = Rules()


def test_the_same_words_again_are_the_same_object_with_its_notes() -> None:
    one = event(content="I live in Paris.")
    first = said_by(one, one.content, claims_of(one, None, RULES), RULES)
    first.notes["found"] = 1
    again = said_by(replace(one), one.content, claims_of(one, None, RULES), RULES)
    assert again.notes == {"found": 1}


@pytest.mark.parametrize(
    "other",
    [{"content": "I live in Lyon."}, {"id": "other"}, {"speaker": "Ben"}, {"timestamp": timedelta(days=1)}],
    ids=lambda other: next(iter(other)),
)
def test_of_other_words_another_record_speaker_or_time_nothing_is_taken_over(other: dict[str, object]) -> None:
    one = event(content="I live in Paris.")
    changed = {name: one.timestamp + value if isinstance(value, timedelta) else value for name, value in other.items()}
    two = replace(one, **changed)  # type: ignore[arg-type]
    first = said_by(one, one.content, claims_of(one, None, RULES), RULES)
    first.notes["found"] = 1
    second = said_by(two, two.content, claims_of(two, None, RULES), RULES)
    assert (second.id, second.text, second.speaker, second.at) == (
        two.id,
        two.content,
        two.speaker or "",
        two.timestamp,
    )
    assert "found" not in second.notes


def test_a_long_text_is_not_kept() -> None:
    long = event(content="I live in Paris. " * 200)
    first = said_by(long, long.content, (), RULES)
    assert said_by(long, long.content, (), RULES) is not first
