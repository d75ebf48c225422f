"""A file of another product that is dropped on the console: what is said of it first, and what is stored then."""

import json
import zipfile
from io import BytesIO

import pytest

from entrypoints.console.visiting import Visitor, visible
from entrypoints.http.calling import Caller
from importing.examples import chatgpt_conversation, chatgpt_message, json_lines
from recollect.entrypoints.console.uploads import Limits

TREE = [
    chatgpt_message("a", "root", "user", "I moved to <b>Lyon</b>\u202e"),
    chatgpt_message("b", "a", "assistant", "Lyon is lovely"),
]
CHATGPT = json.dumps([chatgpt_conversation(*TREE, current="b", conversation_id=f"talk-{n}") for n in range(2)])


def _packed(content: str) -> bytes:
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("conversations.json", content)
    return buffer.getvalue()


BOMB = _packed(CHATGPT).replace(len(CHATGPT).to_bytes(4, "little"), (200 * 1024**2).to_bytes(4, "little"))


def _said(caller: Caller, user: str = "anna") -> list[str]:
    events = caller.get(f"/v1/users/{user}/events?from=0&limit=100").json["events"]
    return [one["content"] for one in reversed(events)]


@pytest.mark.parametrize("content", [CHATGPT, _packed(CHATGPT)], ids=["json", "zip"])
def test_it_is_looked_at_then_stored_and_stored_once(caller: Caller, visitor: Visitor, content: str | bytes) -> None:
    looked = visitor.drop("anna", content)
    assert "an export of ChatGPT: 4 messages of 2 conversations, from 1 May 2024" in visible(looked)
    assert ("I moved to <b>Lyon</b> U+202E" in visible(looked), "<b>Lyon" in looked.text) == (True, False)
    assert _said(caller) == []
    assert "It is done: 4 are new." in visible(visitor.drop("anna", content, step="store"))
    assert sorted(_said(caller)) == sorted(["I moved to <b>Lyon</b>\u202e", "Lyon is lovely"] * 2)
    assert "0 are new, 4 were there already" in visible(visitor.drop("anna", content, step="store"))


def test_a_script_goes_on_from_part_to_part(caller: Caller, visitor: Visitor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recollect.entrypoints.console.views.imports._step_seconds", lambda _read: 0.0)
    monkeypatch.setattr("recollect.entrypoints.console.uploads.PART_TURNS", 2)
    lines = json_lines(*({"role": "user", "content": f"said {n}", "timestamp": 1_700_000_000} for n in range(5)))
    visitor.headers = {"hx-request": "true"}
    told = visitor.drop("anna", lines, step="store")
    assert "It is being stored: 2 so far" in visible(told)
    carried = visitor.hidden()
    told = visitor.drop("anna", lines, step="store", **{n: carried[n] for n in ("done", "created", "digest")})
    assert "It is being stored: 4 so far, 4 of them new" in visible(told)
    told = visitor.drop("anna", lines, step="store", done="4", created="4")
    assert "It is done: 5 are new" in visible(told)
    assert _said(caller) == [f"said {n}" for n in range(5)]


def test_bad_lines_and_messages_without_a_time_are_told(caller: Caller, visitor: Visitor) -> None:
    lines = json_lines({"text": "fine"}, {"text": " "}, {"nothing": 1}) + "{broken\n"
    for step in ("look", "store"):
        told = visible(visitor.drop("anna", lines, step=step))
        assert "line 2: the text is empty" in told
        assert "line 4: is no JSON" in told
    assert "1 are new" in told
    assert "3 cannot be read" in told
    assert "1 of them say no time" in visible(visitor.drop("bert", lines))
    visitor.drop("bert", lines, step="store", at="2024-05-01T09:00")
    assert caller.get("/v1/users/bert/events?from=0").json["events"][0]["timestamp"].startswith("2024-05-01T09:00")


def test_what_the_command_line_imported_is_not_stored_again(caller: Caller, visitor: Visitor) -> None:
    caller.post(
        "/v1/events",
        {
            "user_id": "anna",
            "conversation_id": "file",
            "events": [{"content": "hi", "timestamp": 5, "metadata": {"source_id": "7"}}],
        },
    )
    line = json_lines({"id": "7", "text": "hi", "timestamp": 5})
    assert "0 are new, 1 were there already" in visible(visitor.drop("anna", line, step="store"))


@pytest.mark.parametrize(
    ("content", "name", "told"),
    [
        (b"", "a.json", "The file is empty"),
        (b"Dear diary", "a.txt", "format was not recognised"),
        (BOMB, "a.zip", "larger than 128 MB unpacked"),
        (_packed(CHATGPT)[:-30], "a.zip", "damaged"),
        (b"[" * 100_000, "a.json", "begins like JSON and is none"),
    ],
)
def test_what_cannot_be_imported_is_refused(visitor: Visitor, content: bytes, name: str, told: str) -> None:
    for step in ("look", "store"):
        answer = visitor.drop("anna", content, name, step=step)
        assert (answer.status, told in visible(answer)) == (422, True), visible(answer)
    assert "Choose a file" in visible(visitor.post("/console/users/anna/import"))


def test_what_is_too_large_is_refused_with_the_command_that_takes_it(
    visitor: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recollect.entrypoints.console.views.imports.HERE", Limits(1_000_000, 1_000_000))
    answer = visitor.drop("anna's", CHATGPT + " " * 1_000_000)
    assert answer.status == 413
    assert "takes 1 MB. On the command line: recollect import FILE --user 'anna'\"'\"'s'" in visible(answer)


def test_another_file_in_the_middle_is_looked_at_first(caller: Caller, visitor: Visitor) -> None:
    assert "What it is" in visible(visitor.drop("anna", CHATGPT, step="store", digest="of-another", done="3"))
    assert _said(caller) == []
