"""The privacy filter (R-39 to R-42, R-80, R-P11, R-P12, P-17)."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.intent.scoring import PrivacyFilter
from recollect.retrieval.filters import DropReason
from samples.retrieval_records import record

HEALTH = PrivacyFilter(frozenset({"Health"}))


@pytest.mark.spec("R-39", "R-40", "R-41", "R-80")
@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"space_id": "Health"}, None),
        ({"space_id": "Health", "is_deleted": True}, DropReason.DELETED),
        ({"space_id": "Health", "is_private": True}, DropReason.PRIVATE),
        ({"space_id": "Fitness"}, DropReason.FILTER),
        ({"space_id": None}, DropReason.FILTER),
        ({"space_id": "health"}, DropReason.FILTER),
        ({"space_id": "Fitness", "is_private": True, "is_deleted": True}, DropReason.DELETED),
    ],
)
def test_deleted_private_and_other_spaces(changes: dict[str, Any], reason: DropReason | None) -> None:
    assert HEALTH.reason(record(**changes)) is reason


@pytest.mark.spec("R-41")
def test_without_allowed_spaces_every_space_is_allowed() -> None:
    assert all(PrivacyFilter().is_allowed(record(space_id=space)) for space in ("Health", None))


@pytest.mark.spec("R-42", "R-P11", "R-P12", "R-81", "R-82")
@settings(max_examples=300)
@given(st.lists(st.tuples(st.booleans(), st.booleans(), st.sampled_from(["Health", "Fitness", None])), max_size=12))
def test_the_filter_is_what_it_says_of_each_record(marks: list[tuple[bool, bool, str | None]]) -> None:
    records = [
        record(id=str(place), is_private=private, is_deleted=deleted, space_id=space)
        for place, (private, deleted, space) in enumerate(marks)
    ]
    kept = HEALTH.filter(records)
    assert kept == [one for one in records if HEALTH.is_allowed(one)]
    assert not any(one.is_private or one.is_deleted or one.space_id != "Health" for one in kept)
    assert HEALTH.filter(kept) == kept
