"""mem0's memories: lists, and the answers of `get_all`."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from importing.examples import entries_of, faults_in, turns_in
from recollect.core.errors import InvalidInput
from recollect.core.event import Role
from recollect.importing.turns import BadEntry, PlacedDraft, drafts_of


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "mem0.json"


def a_memory(number: int = 1, **changes: Any) -> dict[str, Any]:
    return {
        "id": f"m-{number}",
        "memory": f"Likes tea number {number}",
        "hash": "x",
        "user_id": "anna",
        "created_at": "2024-07-20T01:30:36.275141-07:00",
        "updated_at": None,
        "metadata": {"category": "drinks"},
        **changes,
    }


TWO = [a_memory(1), a_memory(2)]


@pytest.mark.parametrize(
    ("document", "labels"),
    [
        (json.dumps(TWO), ["entry 1", "entry 2"]),
        (json.dumps(TWO, indent=2), ["entry 1", "entry 2"]),
        (json.dumps({"results": TWO}), ["line 1, memory 1", "line 1, memory 2"]),
        (json.dumps({"results": TWO, "relations": []}, indent=2), ["entry 1, memory 1", "entry 1, memory 2"]),
    ],
)
@pytest.mark.parametrize("wanted", ["auto", "mem0"])
def test_each_memory_is_a_turn_of_the_user(file: Path, document: str, labels: list[str], wanted: str) -> None:
    first, second = turns_in(entries_of(file, document, wanted))
    assert (first.content, first.role, first.source_id) == ("Likes tea number 1", Role.USER, "m-1")
    assert first.timestamp == datetime(2024, 7, 20, 8, 30, 36, 275141, tzinfo=UTC)
    assert {first.conversation_id, second.conversation_id} == {"mem0"}
    assert wanted == "mem0" or [first.place.label, second.place.label] == labels


def test_the_metadata_is_kept_beside_the_id(file: Path) -> None:
    (draft,) = drafts_of(entries_of(file, json.dumps([a_memory(metadata={"category": "drinks", "source_id": "x"})])))
    assert isinstance(draft, PlacedDraft)
    assert draft.draft.metadata == {"category": "drinks", "source_id": "m-1"}


def test_a_run_is_a_conversation(file: Path) -> None:
    entries = entries_of(file, json.dumps([a_memory(run_id="trip"), a_memory(2, run_id=None, metadata=None)]))
    assert [turn.conversation_id for turn in turns_in(entries)] == ["trip", "mem0"]


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        (5, "is no memory of mem0's export"),
        ({"id": "m"}, "is no memory of mem0's export"),
        (a_memory(created_at="soon"), "not a time: ISO 8601, epoch seconds or milliseconds"),
        (a_memory(metadata=[]), "the metadata is no object"),
        (a_memory(memory=" "), "the text is empty"),
        (a_memory(metadata={"a": "x" * 16_384}), "the metadata is larger than 16 KiB, or deeper than 8 levels"),
        (a_memory(metadata={"a": 10**400}), "the metadata is larger than 16 KiB, or deeper than 8 levels"),
    ],
)
def test_a_broken_one_is_named_by_its_number_and_the_others_are_read(file: Path, broken: object, reason: str) -> None:
    drafts = list(drafts_of(entries_of(file, json.dumps([a_memory(1), broken, a_memory(3)]))))
    assert [type(draft) for draft in drafts] == [PlacedDraft, BadEntry, PlacedDraft]
    assert faults_in([draft for draft in drafts if isinstance(draft, BadEntry)]) == [f"entry 2: {reason}"]


def test_several_users_do_not_become_one(file: Path) -> None:
    with pytest.raises(InvalidInput, match="memories of 2 users"):
        entries_of(file, json.dumps([a_memory(1), a_memory(2, user_id="ben")]))


def test_messages_that_have_a_memory_beside_their_text_are_messages(file: Path) -> None:
    messages = [{"role": "assistant", "content": "Noted", "memory": "Likes tea"}]
    assert [turn.content for turn in turns_in(entries_of(file, json.dumps(messages)))] == ["Noted"]


def test_a_table_of_memories_is_read_by_its_own_names(file: Path) -> None:
    table = "id,memory,user_id,run_id,created_at\nm-1,Likes tea,anna,trip,2024-07-20\nm-2,Likes jam,,,2024-07-21\n"
    turns = turns_in(entries_of(file, table))
    assert [(one.source_id, one.content, one.conversation_id) for one in turns] == [
        ("m-1", "Likes tea", "trip"),
        ("m-2", "Likes jam", "mem0"),
    ]
    assert turns[0].timestamp == datetime(2024, 7, 20, tzinfo=UTC)


def test_a_table_of_several_users_does_not_become_one(file: Path) -> None:
    entries = entries_of(file, "memory,user_id\nLikes tea,anna\nLikes jam,ben\nHas a dog,anna\n")
    assert [one.content for one in turns_in(entries)] == ["Likes tea", "Has a dog"]
    assert faults_in(entries) == ["row 3: is a memory of another user: import a file for each of them"]


def test_a_table_of_turns_with_a_memory_beside_is_one_of_turns(file: Path) -> None:
    entries = entries_of(file, "text,memory,user_id\nHello,Likes tea,anna\nBye,,ben\n")
    assert [one.content for one in turns_in(entries)] == ["Hello", "Bye"]
