"""JSON Lines of turns, and OpenAI-style messages."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from importing.examples import entries_of, faults_in, json_lines, left_out_in, turns_in
from recollect.core.event import Role
from recollect.importing.turns import TIME_FIELDS, Turn


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "talk.jsonl"


def test_a_turn_of_the_documented_form(file: Path) -> None:
    line = {
        "conversation": "conv-1",
        "session": 2,
        "session_time": "2023-05-08T13:56:00",
        "turn_id": "D2:1",
        "speaker": "Ines",
        "text": "Guess who is back",
    }
    (turn,) = turns_in(entries_of(file, json_lines(line)))
    assert turn.conversation_id == "conv-1"
    assert turn.timestamp == datetime(2023, 5, 8, 13, 56, tzinfo=UTC)
    assert (turn.source_id, turn.speaker, turn.role, turn.content) == ("D2:1", "Ines", Role.USER, "Guess who is back")


@pytest.mark.parametrize("name", TIME_FIELDS)
def test_a_time_is_read_from_each_name_of_the_field(file: Path, name: str) -> None:
    (turn,) = turns_in(entries_of(file, json_lines({name: "2023-05-08T13:56:00", "text": "x"})))
    assert turn.timestamp == datetime(2023, 5, 8, 13, 56, tzinfo=UTC)


@pytest.mark.parametrize(
    ("speaker", "role"),
    [
        *((name, Role.BOT) for name in ("assistant", "Assistant", "bot", "AI", "model", "ChatGPT", "claude")),
        *((name, Role.USER) for name in ("user", "Ines", "Claudette", "Mr. Botha", "aide", "")),
    ],
)
def test_an_assistant_is_a_bot_and_everybody_else_a_user(file: Path, speaker: str, role: Role) -> None:
    (turn,) = turns_in(entries_of(file, json_lines({"speaker": speaker, "text": "x"})))
    assert (turn.role, turn.speaker) == (role, speaker or None)


def test_a_role_that_is_given_stands_over_the_name(file: Path) -> None:
    lines = json_lines({"role": "user", "name": "Claude", "content": "My parents liked the name."})
    assert turns_in(entries_of(file, lines))[0].role is Role.USER


def test_messages_with_and_without_times(file: Path) -> None:
    lines = json_lines(
        {"role": "user", "content": "Hi", "timestamp": 1_714_550_400},
        {"role": "assistant", "content": [{"type": "text", "text": "Hello"}, {"type": "image_url", "image_url": {}}]},
    )
    first, second = turns_in(entries_of(file, lines))
    assert first.timestamp == datetime(2024, 5, 1, 8, tzinfo=UTC)
    assert (second.timestamp, second.content, second.role) == (None, "Hello", Role.BOT)
    assert first.conversation_id == second.conversation_id == "talk"


def test_a_document_of_messages(tmp_path: Path) -> None:
    document = {"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]}
    entries = entries_of(tmp_path / "chat-may.json", json.dumps(document, indent=2))
    assert [turn.content for turn in turns_in(entries)] == ["Hi", "Hello"]
    assert {turn.conversation_id for turn in turns_in(entries)} == {"chat-may"}


def test_messages_are_of_their_conversation_before_they_have_an_id_of_their_own(tmp_path: Path) -> None:
    record = {"id": "c-9", "messages": [{"role": "user", "content": "Hi"}]}
    for named, expected in ((record, "c-9"), (record | {"conversation_id": "may"}, "may")):
        (turn,) = turns_in(entries_of(tmp_path / "chat.json", json.dumps(named)))
        assert turn.conversation_id == expected


def test_each_line_of_messages_is_a_conversation_of_its_own(file: Path) -> None:
    lines = json_lines(*({"messages": [{"role": "user", "content": f"Hi {n}"}]} for n in range(3)))
    assert len({turn.conversation_id for turn in turns_in(entries_of(file, lines))}) == 3


def test_what_nobody_said_is_left_out(file: Path) -> None:
    lines = json_lines(
        {"role": "system", "content": "You are helpful"},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "c"}]},
        {"role": "tool", "content": "42"},
        {"role": "user", "content": "Thanks"},
    )
    entries = entries_of(file, lines)
    assert left_out_in(entries) == ["line 1", "line 2", "line 3"]
    assert len(turns_in(entries)) == 1


def test_bad_lines_are_reported_by_their_numbers_and_the_others_are_read(file: Path) -> None:
    good = '{"text": "fine", "speaker": "Ines"}\n'
    bad = ['{"text": "cut of', "[1, 2]", '{"speaker": "Ines"}', '{"text": 5}', '{"text": "x", "timestamp": "soon"}']
    bad += ['{"text": "x", "role": "king"}', '{"text": "x", "conversation": {}}']
    entries = entries_of(file, good + "\n".join(bad) + "\n\n" + good)
    assert [turn.place.label for turn in turns_in(entries)] == ["line 1", "line 10"]
    assert [fault.split(":")[0] for fault in faults_in(entries)] == [f"line {n}" for n in range(2, 9)]


def test_a_line_that_is_not_utf8(file: Path) -> None:
    entries = entries_of(file, b'{"text": "fine"}\n{"text": "caf\xe9"}\n')
    assert faults_in(entries) == ["line 2: is not UTF-8"]


def test_an_endless_line_is_skipped(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recollect.importing.reading.LONGEST_LINE_BYTES", 100)
    entries = entries_of(file, '{"text": "a"}\n' + '{"text": "' + "x" * 5000 + '"}\n' + '{"text": "b"}\n', "turns")
    assert [turn.content for turn in turns_in(entries)] == ["a", "b"]
    assert len(faults_in(entries)) == 1


def test_ids_are_the_same_in_every_reading_and_differ_for_every_turn(file: Path) -> None:
    lines = json_lines(*({"role": "user", "content": "ok"} for _ in range(5)))
    first, second = (turns_in(entries_of(file, lines)) for _ in range(2))
    assert [turn.source_id for turn in first] == [turn.source_id for turn in second]
    assert len({turn.source_id for turn in first}) == 5


def test_another_file_of_the_same_name_is_not_taken_for_this_one(file: Path) -> None:
    ids = [turns_in(entries_of(file, json_lines({"content": text, "role": "user"})))[0].source_id for text in "ab"]
    assert ids[0] != ids[1]


def test_places_say_how_far_the_file_is_read(file: Path) -> None:
    lines = json_lines(*({"text": f"turn {n}"} for n in range(10)))
    entries = entries_of(file, lines)
    assert isinstance(entries[-1], Turn)
    assert entries[-1].place.offset_bytes == len(lines.encode())
    assert 0 < entries[0].place.offset_bytes < entries[4].place.offset_bytes
