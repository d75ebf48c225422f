"""`recollect import`: what is in memory afterwards, and what is said about it."""

import json
from pathlib import Path

import pytest

from entrypoints.cli.conftest import Run
from entrypoints.cli.running import ANA, a_line, events_of, indexed_documents, write_turns
from recollect.app import App
from recollect.core.event import Role
from recollect.core.scope import Scope


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "turns.jsonl"


def test_turns_are_stored_as_documented(run: Run, app: App, file: Path) -> None:
    write_turns(file, 2)
    write_turns(file, 1, start=2, speaker="assistant")
    result = run("import", file, "--user", "ana")
    assert result.exit_code == 0, result.stderr
    assert result.stdout == "3 created, 0 duplicate, 0 refused, 0 invalid\n"
    newest, _, oldest = events_of(app, ANA)
    assert (oldest.conversation_id, oldest.speaker, oldest.role) == ("conv-0", "Ines", Role.USER)
    assert oldest.timestamp.isoformat() == "2010-01-01T09:00:00+00:00"
    assert oldest.metadata == {"source_id": "D0:0"}
    assert (newest.speaker, newest.role) == ("assistant", Role.BOT)


@pytest.mark.spec("P-20")
def test_twice_is_once(run: Run, app: App, file: Path) -> None:
    write_turns(file, 230)
    run("import", file, "--user", "ana")
    assert run("import", file, "--user", "ana").stdout == "0 created, 230 duplicate, 0 refused, 0 invalid\n"
    write_turns(file, 20, start=230)
    assert run("import", file, "--user", "ana").stdout == "20 created, 230 duplicate, 0 refused, 0 invalid\n"
    assert len(events_of(app, ANA)) == 250
    assert indexed_documents(app, ANA) == 250


def test_users_and_personas_are_kept_apart(run: Run, app: App, file: Path) -> None:
    write_turns(file, 5)
    run("import", file, "--user", "ana")
    run("import", file, "--user", "ana", "--persona", "coach", "--household", "home")
    run("import", file, "--user", "bo")
    assert len(events_of(app, ANA)) == 10
    assert len(events_of(app, Scope("local", "ana", "coach", "home"))) == 5
    assert len(events_of(app, Scope("local", "bo"))) == 5


def test_bad_lines_are_told_and_the_others_imported(run: Run, app: App, file: Path) -> None:
    write_turns(file, 30)
    with file.open("a") as stream:
        stream.write("{broken\n" * 12 + json.dumps({"text": " "}) + "\n")
    write_turns(file, 3, start=30)
    result = run("import", file, "--user", "ana")
    assert result.exit_code == 1
    assert result.stdout == "33 created, 0 duplicate, 0 refused, 13 invalid\n"
    assert "invalid: line 31: is no JSON" in result.stderr
    assert "line 40" in result.stderr
    assert "line 41" not in result.stderr
    assert "invalid: 3 more" in result.stderr
    assert len(events_of(app, ANA)) == 33


def test_nothing_of_a_bad_line_is_told(run: Run, file: Path) -> None:
    file.write_text('{"text": "fine"}\n{"text": "my secret", "timestamp": "my secret"}\n')
    assert "secret" not in run("import", file, "--user", "ana").stderr


@pytest.mark.spec("P-21")
def test_turns_of_one_time_keep_their_order_in_each_of_interleaved_conversations(
    run: Run, app: App, file: Path
) -> None:
    for number in range(450):
        write_turns(file, 1, start=number, conversation=f"c{number % 3}", session_time="2020-02-02T10:00:00")
    run("import", file, "--user", "ana")
    for rest in range(3):
        said = [e.metadata["source_id"] for e in reversed(events_of(app, ANA)) if e.conversation_id == f"c{rest}"]
        assert said == [a_line(number)["turn_id"] for number in range(rest, 450, 3)]


def test_undated_turns_stand_before_all_others_and_twice_is_once(run: Run, app: App, file: Path) -> None:
    file.write_text("".join(json.dumps({"role": "user", "content": f"turn {n}"}) + "\n" for n in range(5)))
    first = run("import", file, "--user", "ana")
    assert "5 turns without a time" in first.stderr
    assert run("import", file, "--user", "ana").stdout.startswith("0 created, 5 duplicate")
    events = events_of(app, ANA)
    assert {event.timestamp.year for event in events} == {1970}
    assert [event.content for event in reversed(events)] == [f"turn {n}" for n in range(5)]


def test_a_time_for_undated_turns(run: Run, app: App, file: Path) -> None:
    file.write_text(json.dumps({"role": "user", "content": "turn"}) + "\n")
    result = run("import", file, "--user", "ana", "--at", "2024-05-01T09:00")
    assert "without a time" not in result.stderr
    assert events_of(app, ANA)[0].timestamp.isoformat() == "2024-05-01T09:00:00+00:00"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("talk.json", json.dumps([{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}])),
        ("table.csv", "role,text\nuser,hi\nassistant,hello\n"),
        ("mem0.json", json.dumps([{"id": "1", "memory": "hi"}, {"id": "2", "memory": "hello"}])),
        ("_chat.txt", "13/03/2023, 21:45 - Ana: hi\n13/03/2023, 21:46 - Bo: hello\n"),
    ],
)
def test_exports_are_known_by_their_looks_and_imported_once(
    run: Run, app: App, tmp_path: Path, name: str, content: str
) -> None:
    file = tmp_path / name
    file.write_text(content)
    for _ in range(2):
        assert run("import", file, "--user", "ana").exit_code == 0
    assert [event.content for event in reversed(events_of(app, ANA))] == ["hi", "hello"]


def test_without_the_projector_it_does_not_wait(
    run: Run, app: App, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RECOLLECT_PROJECTOR", "off")
    write_turns(file, 120)
    result = run("import", file, "--user", "ana")
    assert result.exit_code == 0
    assert "120 events wait for their vector (RECOLLECT_PROJECTOR=off); words find them already" in result.stderr
    assert len(app.parts.projections.pending(1000, None).markers) == 120
    monkeypatch.setenv("RECOLLECT_PROJECTOR", "on")
    run("import", file, "--user", "ana")
    assert not app.parts.projections.pending(1000, None).markers


@pytest.mark.parametrize("mode", ["hybrid", "semantic", "lexical"])
def test_with_the_projector_stopped_each_mode_finds_the_last_turn_and_the_first(
    run: Run, file: Path, monkeypatch: pytest.MonkeyPatch, mode: str
) -> None:
    monkeypatch.setenv("RECOLLECT_PROJECTOR", "off")
    write_turns(file, 350)
    run("import", file, "--user", "ana")
    least = ("--min-similarity", "0") if mode == "semantic" else ()
    found = json.loads(run("search", "remark349", "--user", "ana", "--mode", mode, *least, "--json").stdout)
    assert found["results"][0]["content"].startswith("remark349 ")
    first = json.loads(run("search", "remark0", "--user", "ana", "--mode", mode, *least, "--json").stdout)
    assert first["results"][0]["content"].startswith("remark0 ")
    assert first["diagnostics"]["pending"] == 350


WAITING = "1,002 events still wait for their vector; words find them already: `recollect jobs run reconcile`"


@pytest.mark.parametrize("command", ["search", "context"])
def test_a_person_is_told_how_many_wait_until_they_are_projected(
    run: Run, app: App, file: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.setenv("RECOLLECT_PROJECTOR", "off")
    write_turns(file, 1002)
    run("import", file, "--user", "ana")
    asked = run(command, "remark0", "--user", "ana")
    assert "remark0 " in asked.stdout
    assert WAITING in asked.stderr
    assert json.loads(run(command, "remark0", "--user", "ana", "--json").stdout)
    assert "wait" not in run(command, "remark0", "--user", "ben").stderr
    page = app.parts.projections.pending(1000, None)
    app.parts.projections.settle(ANA, [marker.ref for marker in page.markers[:902]])
    assert "still wait" not in run(command, "remark0", "--user", "ana").stderr
