"""The zip of an export, as it was downloaded."""

import json
import zipfile
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from importing.examples import chatgpt_conversation, chatgpt_message, entries_of, faults_in, turns_in
from recollect.core.errors import InvalidInput


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "export.zip"


def packed(files: dict[str, str], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def chatgpt(*texts: str, name: str = "talk-1") -> str:
    messages = [chatgpt_message(text, "root", "user", text) for text in texts]
    return json.dumps([chatgpt_conversation(*messages, current=text, conversation_id=name) for text in texts])


CLAUDE = json.dumps([{"uuid": "c-1", "chat_messages": [{"uuid": "m-1", "sender": "human", "text": "Hi"}]}])


@pytest.mark.parametrize(
    ("files", "contents"),
    [
        ({"chat.html": "<html>", "conversations.json": chatgpt("a"), "user.json": "{}"}, ["a"]),
        ({"conversations-001.json": chatgpt("b"), "conversations-000.json": chatgpt("a")}, ["a", "b"]),
        ({"users.json": "[]", "conversations.json": CLAUDE, "projects.json": "[]"}, ["Hi"]),
        ({"export/conversations.json": CLAUDE, "__MACOSX/export/._conversations.json": "x"}, ["Hi"]),
        ({"_chat.txt": "[13.03.23, 21:45:00] Ana: hello\n[13.03.23, 21:46:00] Bo: hi\n"}, ["hello", "hi"]),
    ],
)
def test_the_conversations_in_it_are_read(file: Path, files: dict[str, str], contents: list[str]) -> None:
    for method in (zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED):
        assert [turn.content for turn in turns_in(entries_of(file, packed(files, method)))] == contents


def test_a_turn_is_the_same_in_the_zip_and_beside_it(file: Path, tmp_path: Path) -> None:
    (inside,) = turns_in(entries_of(file, packed({"conversations.json": CLAUDE})))
    (beside,) = turns_in(entries_of(tmp_path / "conversations.json", CLAUDE))
    assert (inside.conversation_id, inside.source_id) == (beside.conversation_id, beside.source_id)


def test_places_are_those_of_the_zip_and_name_one_file_of_several(file: Path) -> None:
    shards = {f"conversations-00{n}.json": chatgpt("a", "b", name=f"t{n}") for n in range(3)}
    entries = entries_of(file, packed(shards | {"conversations-003.json": "[5]"}))
    assert faults_in(entries) == ["conversations-003.json, entry 1: is no JSON object"]
    done = [entry.place.offset_bytes for entry in entries]
    assert done == sorted(done)
    assert (done[0] > 0, done[-1]) == (True, file.stat().st_size)


def encrypted(content: bytes) -> bytes:
    """The same with the flag of a password, in the entry and in the directory."""
    local, central = content.index(b"PK\x03\x04") + 6, content.index(b"PK\x01\x02") + 8
    changed = bytearray(content)
    changed[local] |= 1
    changed[central] |= 1
    return bytes(changed)


def damaged(content: bytes) -> bytes:
    at = content.index(b"conversations.json") + 40
    return content[:at] + b"\0\0\0\0" + content[at + 4 :]


WHOLE = packed({"conversations.json": chatgpt(*"abcdefgh")})


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (packed({"notes.txt": "x"}), "holds no conversations.json"),
        (packed({"conversations.json": CLAUDE}, zipfile.ZIP_LZMA), "unusual way"),
        (encrypted(WHOLE), "encrypted"),
        (damaged(WHOLE), "damaged"),
        (WHOLE[:200], "damaged"),
        (packed({"conversations.json": ""}), "is empty"),
    ],
)
def test_what_cannot_be_read_is_refused(file: Path, content: bytes, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        entries_of(file, content)


def test_what_is_too_large_unpacked_is_not_unpacked(file: Path) -> None:
    bomb: Any = packed({"conversations-000.json": "[" + " " * 600_000 + "]", "conversations-001.json": " " * 600_000})
    assert len(bomb) < 5000
    with pytest.raises(InvalidInput, match="larger than 1 MB unpacked"):
        entries_of(file, bomb, unpacked_bytes=1024**2)


def test_a_size_that_is_a_lie_unpacks_no_more_than_it_says(file: Path) -> None:
    said = len(CLAUDE).to_bytes(4, "little")
    with pytest.raises(InvalidInput, match="damaged"):
        entries_of(file, packed({"conversations.json": CLAUDE}).replace(said, (20).to_bytes(4, "little")))
