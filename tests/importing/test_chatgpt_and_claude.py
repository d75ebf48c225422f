"""The exports of two assistants."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from importing.examples import chatgpt_conversation, chatgpt_message, entries_of, faults_in, left_out_in, turns_in
from recollect.core.event import Role
from recollect.importing.turns import BadEntry, PlacedDraft, drafts_of


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "conversations.json"


def test_the_path_to_the_current_node_is_what_was_said(file: Path) -> None:
    talk = chatgpt_conversation(
        chatgpt_message("a", "root", "user", "Plan a trip"),
        chatgpt_message("b1", "a", "assistant", "To the moon"),
        chatgpt_message("b2", "a", "assistant", "To Ghent"),
        chatgpt_message("c", "b2", "user", "Better"),
        current="c",
    )
    turns = turns_in(entries_of(file, json.dumps([talk])))
    assert [turn.content for turn in turns] == ["Plan a trip", "To Ghent", "Better"]
    assert [turn.role for turn in turns] == [Role.USER, Role.BOT, Role.USER]
    assert {turn.conversation_id for turn in turns} == {"talk-1"}
    assert [turn.source_id for turn in turns] == ["m-a", "m-b2", "m-c"]
    assert turns[0].timestamp == datetime(2024, 5, 1, 8, 0, 0, 500_000, tzinfo=UTC)


def test_tools_hidden_context_and_thoughts_are_left_out(file: Path) -> None:
    talk = chatgpt_conversation(
        chatgpt_message("s", "root", "system", ""),
        chatgpt_message("h", "s", "user", "profile", metadata={"is_visually_hidden_from_conversation": True}),
        chatgpt_message("u", "h", "user", "How many?"),
        chatgpt_message("call", "u", "assistant", "len(x)", recipient="python"),
        chatgpt_message("out", "call", "tool", "3"),
        chatgpt_message("think", "out", "assistant", "", content={"content_type": "thoughts", "thoughts": []}),
        chatgpt_message("end", "think", "assistant", "Three."),
        current="end",
    )
    entries = entries_of(file, json.dumps([talk]))
    assert [turn.content for turn in turns_in(entries)] == ["How many?", "Three."]
    assert len(left_out_in(entries)) == 5


def test_an_image_is_left_and_its_words_stay(file: Path) -> None:
    parts = {"content_type": "multimodal_text", "parts": [{"asset_pointer": "file://x"}, "What bird is this?"]}
    talk = chatgpt_conversation(chatgpt_message("a", "root", "user", "", content=parts), current="a")
    assert [turn.content for turn in turns_in(entries_of(file, json.dumps([talk])))] == ["What bird is this?"]


def test_a_message_without_a_time_has_that_of_the_one_before(file: Path) -> None:
    talk = chatgpt_conversation(
        chatgpt_message("a", "root", "user", "one", create_time=None),
        chatgpt_message("b", "a", "assistant", "two", create_time=1_714_550_900.0),
        chatgpt_message("c", "b", "user", "three", create_time=None),
        current="c",
    )
    times = [turn.timestamp for turn in turns_in(entries_of(file, json.dumps([talk])))]
    assert [time.timestamp() if time else None for time in times] == [1_714_550_000.0, 1_714_550_900.0, 1_714_550_900.0]


def test_a_tree_in_a_circle_ends(file: Path) -> None:
    talk = chatgpt_conversation(
        chatgpt_message("a", "b", "user", "one"), chatgpt_message("b", "a", "user", "two"), current="a"
    )
    assert len(turns_in(entries_of(file, json.dumps([talk])))) == 2


def test_without_a_current_node_the_last_leaf_counts(file: Path) -> None:
    talk = chatgpt_conversation(chatgpt_message("a", "root", "user", "one"), current="a")
    del talk["current_node"]
    assert len(turns_in(entries_of(file, json.dumps([talk])))) == 1


def test_a_broken_message_is_reported_and_the_rest_is_read(file: Path) -> None:
    talk = chatgpt_conversation(
        chatgpt_message("a", "root", "user", "one"),
        {"id": "b", "parent": "a", "children": [], "message": {"author": "?"}},
        chatgpt_message("c", "b", "user", "three"),
        current="c",
    )
    entries = entries_of(file, json.dumps([talk, 5]))
    assert [turn.content for turn in turns_in(entries)] == ["one", "three"]
    assert faults_in(entries) == [
        "entry 1, message 2: is no message of ChatGPT's export",
        "entry 2: is no JSON object",
    ]


def claude_talk() -> dict[str, object]:
    return {
        "uuid": "c-1",
        "name": "Bread",
        "created_at": "2024-03-01T10:00:00Z",
        "chat_messages": [
            {
                "uuid": "m-1",
                "sender": "human",
                "text": "How wet is ciabatta dough?",
                "content": [{"type": "text", "text": "How wet is ciabatta dough?"}],
                "created_at": "2024-03-01T10:00:05.123456Z",
            },
            {
                "uuid": "m-2",
                "sender": "assistant",
                "text": "Very. This block is not supported.",
                "content": [{"type": "tool_use", "name": "x"}, {"type": "text", "text": "Very."}],
                "created_at": "2024-03-01T10:00:09Z",
            },
            {"uuid": "m-3", "sender": "human", "text": "", "content": [], "created_at": "2024-03-01T10:01:00Z"},
        ],
    }


def test_claudes_messages(file: Path) -> None:
    entries = entries_of(file, json.dumps([claude_talk()]))
    turns = turns_in(entries)
    assert [(turn.role, turn.content) for turn in turns] == [
        (Role.USER, "How wet is ciabatta dough?"),
        (Role.BOT, "Very."),
    ]
    assert [turn.source_id for turn in turns] == ["m-1", "m-2"]
    assert turns[0].timestamp == datetime(2024, 3, 1, 10, 0, 5, 123456, tzinfo=UTC)
    assert left_out_in(entries) == ["entry 1, message 3"]


def attached(*attachments: object, text: str = "Read this") -> dict[str, object]:
    message = {"uuid": "m-1", "sender": "human", "text": text, "attachments": list(attachments)}
    return {"uuid": "c-1", "created_at": "2024-03-01T10:00:00Z", "chat_messages": [message]}


NOTES = {"file_name": "notes.txt", "file_type": "text/plain", "extracted_content": "Flour, water"}


@pytest.mark.parametrize(
    ("talk", "content"),
    [
        (attached(NOTES), "Read this\n\n[attachment notes.txt]\nFlour, water"),
        (
            attached(NOTES, {"extracted_content": "Salt"}, text=""),
            "[attachment notes.txt]\nFlour, water\n\n[attachment]\nSalt",
        ),
        (attached({"file_name": "scan.pdf", "extracted_content": ""}, {"file_name": "a.png"}, None), "Read this"),
        (attached({**NOTES, "file_name": "a\nb"}), "Read this\n\n[attachment a b]\nFlour, water"),
    ],
)
def test_the_text_of_claudes_attachments_is_part_of_the_message(
    file: Path, talk: dict[str, object], content: str
) -> None:
    (turn,) = turns_in(entries_of(file, json.dumps([talk])))
    assert (turn.content, turn.source_id) == (content, "m-1")


@pytest.mark.parametrize("letter", ["x", "é", "🙂"])
def test_an_attachment_is_cut_where_a_message_holds_no_more(file: Path, letter: str) -> None:
    talk = attached({**NOTES, "extracted_content": letter * 70_000}, {"extracted_content": "Salt"})
    (draft,) = drafts_of(entries_of(file, json.dumps([talk])))
    assert isinstance(draft, PlacedDraft)
    assert draft.draft.content.startswith(f"Read this\n\n[attachment notes.txt]\n{letter}")
    assert draft.draft.content.endswith(f"{letter}\n[attachment cut]")


def test_words_that_are_too_long_are_reported_with_an_attachment_too(file: Path) -> None:
    (entry,) = drafts_of(entries_of(file, json.dumps([attached(NOTES, text="x" * 70_000)])))
    assert isinstance(entry, BadEntry)


def test_one_conversation_a_line_is_read_too(tmp_path: Path) -> None:
    lines = json.dumps(claude_talk()) + "\n" + json.dumps({**claude_talk(), "uuid": "c-2"}) + "\n"
    turns = turns_in(entries_of(tmp_path / "c.jsonl", lines))
    assert [turn.conversation_id for turn in turns] == ["c-1", "c-1", "c-2", "c-2"]


def test_the_wrong_export_is_refused_by_name(file: Path) -> None:
    entries = entries_of(file, json.dumps([claude_talk()]), "chatgpt")
    assert faults_in(entries) == ["entry 1: is no conversation of an export of chatgpt"]
