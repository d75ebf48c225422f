"""From turns to drafts: times for what has none, and the limits."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from recollect.core.event import Role
from recollect.importing.turns import WITHOUT_DATE, BadEntry, Dating, Place, PlacedDraft, Turn, drafts_of, is_id

SAID = datetime(2024, 5, 1, 9, tzinfo=UTC)


def a_turn(**changes: Any) -> Turn:
    fields = {
        "place": Place("line 1", 10),
        "conversation_id": "c",
        "role": Role.USER,
        "speaker": None,
        "content": "hello",
        "timestamp": SAID,
        "source_id": "t1",
    }
    return Turn(**{**fields, **changes})


def test_a_turn_becomes_a_draft_with_its_source_id() -> None:
    (draft,) = drafts_of([a_turn(speaker="Ana", role=Role.BOT, derive=False)])
    assert isinstance(draft, PlacedDraft)
    assert (draft.draft.speaker, draft.draft.role, draft.draft.timestamp) == ("Ana", Role.BOT, SAID)
    assert draft.draft.derive is False
    assert draft.draft.metadata == {"source_id": "t1"}


@pytest.mark.parametrize(
    "changes",
    [
        {"content": ""},
        {"content": " \n\t"},
        {"content": "x" * (64 * 1024 + 1)},
        {"content": "é" * (32 * 1024 + 1)},
        {"content": "half \ud800"},
        {"conversation_id": "x" * 129},
        {"conversation_id": "a\nb"},
        {"conversation_id": ".."},
        {"speaker": "a\x1b[31m"},
        {"speaker": "x" * 129},
        {"source_id": "x" * 1025},
    ],
)
def test_what_breaks_a_limit_is_reported_with_its_place(changes: dict[str, str]) -> None:
    (entry,) = drafts_of([a_turn(**changes)])
    assert isinstance(entry, BadEntry)
    assert entry.place.label == "line 1"


def test_the_longest_content_fits() -> None:
    (entry,) = drafts_of([a_turn(content="x" * 64 * 1024)])
    assert isinstance(entry, PlacedDraft)


@pytest.mark.parametrize("text", ["a", "é", "🙂", "a/b#%?", "~x", "\u202eabc", "x" * 128])
def test_ids_of_any_script(text: str) -> None:
    assert is_id(text)


@pytest.mark.parametrize("text", ["", ".", "..", "x" * 129, "a\x00", "a\x85", "\udfff"])
def test_no_ids(text: str) -> None:
    assert not is_id(text)


def times(dating: Dating, *turns: Turn) -> list[datetime | None]:
    return [turn.timestamp for turn in dating(iter(turns)) if isinstance(turn, Turn)]


def test_an_undated_turn_has_the_time_of_the_one_before_in_its_conversation() -> None:
    dating = Dating()
    turns = [a_turn(), a_turn(timestamp=None), a_turn(timestamp=None, conversation_id="other")]
    assert times(dating, *turns) == [SAID, SAID, WITHOUT_DATE]
    assert dating.undated == 1


def test_a_time_may_be_given_for_all_that_have_none() -> None:
    given = SAID + timedelta(days=3)
    assert times(Dating(given), a_turn(timestamp=None), a_turn(timestamp=None)) == [given, given]
