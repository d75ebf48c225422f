"""Zep's answers as its clients of three versions write them: messages, episodes, facts."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from importing.examples import entries_of, faults_in, json_lines, left_out_in, turns_in
from recollect.core.event import Role
from recollect.importing.turns import PlacedDraft, drafts_of

AT = "2026-03-01T10:00:00Z"
NOON = datetime(2026, 3, 1, 10, tzinfo=UTC)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "zep.json"


def message(text: str, **changes: Any) -> dict[str, Any]:
    return {"uuid": f"u-{text}", "content": text, "created_at": AT, "metadata": {"n": 1}, "processed": True, **changes}


def fact(text: str, **changes: Any) -> dict[str, Any]:
    return {
        "uuid": f"f-{text}",
        "fact": text,
        "name": "LIVES_IN",
        "source_node_uuid": "a",
        "target_node_uuid": "b",
        "created_at": "2026-04-01T00:00:00Z",
        "valid_at": AT,
        **changes,
    }


VERSION_2 = [message("Hi", role="Anna", role_type="user"), message("Hello", role="Helper", role_type="assistant")]
VERSION_3 = [message("Hi", role="user", name="Anna"), message("Hello", role="assistant", name="Helper")]
VERSION_4 = [{**one, "thread_uuid": "talk", "reference_time": AT, "created_at": "2027-01-01"} for one in VERSION_3]


@pytest.mark.parametrize(
    "document",
    [
        {"session_id": "talk", "messages": VERSION_2, "row_count": 2, "total_count": 2},
        {"thread_id": "talk", "messages": VERSION_3, "row_count": 2, "user_id": "anna"},
        {"items": VERSION_4, "total_size": 2, "next_cursor": None},
        VERSION_4,
    ],
)
@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize("wanted", ["auto", "zep"])
def test_messages_of_every_version_are_the_same_turns(
    file: Path, document: Any, indent: int | None, wanted: str
) -> None:
    turns = turns_in(entries_of(file, json.dumps(document, indent=indent), wanted))
    assert [(one.role, one.speaker, one.content) for one in turns] == [
        (Role.USER, "Anna", "Hi"),
        (Role.BOT, "Helper", "Hello"),
    ]
    assert {(one.conversation_id, one.timestamp) for one in turns} == {("talk", NOON)}
    assert [one.source_id for one in turns] == ["u-Hi", "u-Hello"]


def test_the_metadata_is_kept_beside_the_id(file: Path) -> None:
    (draft,) = drafts_of(entries_of(file, json.dumps([VERSION_3[0]])))
    assert isinstance(draft, PlacedDraft)
    assert draft.draft.metadata == {"n": 1, "source_id": "u-Hi"}


def test_one_answer_a_line_and_one_message_a_line(file: Path) -> None:
    answers = json_lines({"thread_id": "a", "messages": VERSION_3}, {"messages": VERSION_2})
    assert [one.conversation_id for one in turns_in(entries_of(file, answers))] == ["a", "a", "zep-2", "zep-2"]
    assert [one.conversation_id for one in turns_in(entries_of(file, json_lines(*VERSION_4)))] == ["talk", "talk"]


@pytest.mark.parametrize("named", ["edges", "items", None])
def test_facts_that_hold_are_turns_of_the_user_since_they_do(file: Path, named: str | None) -> None:
    facts = [
        fact("Anna lives in Lyon"),
        fact("Anna lived in Paris", invalid_at=AT),
        fact("Anna likes jam", expired_at=AT),
        fact("Anna has a dog", valid_at=None),
    ]
    entries = entries_of(file, json.dumps({named: facts} if named else facts, indent=1))
    assert [(one.role, one.content, one.timestamp) for one in turns_in(entries)] == [
        (Role.USER, "Anna lives in Lyon", NOON),
        (Role.USER, "Anna has a dog", datetime(2026, 4, 1, tzinfo=UTC)),
    ]
    assert len(left_out_in(entries)) == 2


def test_episodes_are_messages_texts_and_documents(file: Path) -> None:
    episodes = [
        message("Hi", source="message", role="Anna", role_type="user", session_id="s"),
        message("Anna is a nurse", source="text"),
        message('{"a": 1}', source="json"),
        message("You are kind", role="system"),
        message("x", role="norole"),
    ]
    entries = entries_of(file, json.dumps({"episodes": episodes}, indent=1))
    assert [(one.content, one.role, one.conversation_id) for one in turns_in(entries)] == [
        ("Hi", Role.USER, "s"),
        ("Anna is a nurse", Role.USER, "zep"),
    ]
    assert len(left_out_in(entries)) == 3


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        (5, "is no message, episode or fact of Zep's"),
        ({"uuid": "x"}, "is no message, episode or fact of Zep's"),
        (message("x", metadata=[]), "the metadata is no object"),
        (message("x", role="boss"), "the role is none of user, assistant, system, function, tool"),
        (message("x", created_at="soon"), "not a time: ISO 8601, epoch seconds or milliseconds"),
        (message("x", content=5), "the content is not text"),
    ],
)
def test_a_broken_one_is_named_and_the_others_are_read(file: Path, broken: Any, reason: str) -> None:
    entries = entries_of(file, json.dumps({"messages": [VERSION_3[0], broken, VERSION_3[1]]}, indent=1))
    assert [one.content for one in turns_in(entries)] == ["Hi", "Hello"]
    assert faults_in(entries) == [f"entry 1, message 2: {reason}"]


def test_what_is_not_zeps_is_said_where_the_format_is_named(file: Path) -> None:
    assert faults_in(entries_of(file, json.dumps({"other": 1}), "zep")) == [
        "line 1: is no conversation of an export of zep"
    ]


def test_messages_of_no_vendor_stay_messages(file: Path) -> None:
    plain = {"messages": [{"role": "user", "content": "Hi", "uuid": "u"}]}
    assert [one.source_id for one in turns_in(entries_of(file, json.dumps(plain)))] == ["u"]
