"""`recollect chat`: by the extractive provider and by a server that speaks OpenAI's protocol; nothing said is lost."""

import subprocess
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from adapters.embedders.local_server import Reply, Server, running_server
from embedded.setting import Memory, with_parts
from entrypoints.cli.running import COMMAND, Home, events_of, left_open, say, soon
from recollect.adapters.judges.table_pairs import TablePairModel
from recollect.app import App
from recollect.bootstrap import open_app
from recollect.contradictions.decisions import ConflictStatus, Decision, DecisionStatus, Outcome, Step
from recollect.contradictions.ledger import DecisionFilter
from recollect.contradictions.pairs import PairScores
from recollect.core.scope import Scope
from recollect.core.time import utc_now
from recollect.entrypoints.cli.chat import talk
from recollect.entrypoints.cli.chat_session import Chat
from recollect.entrypoints.cli.decisions import Numbered
from recollect.entrypoints.cli.main import program
from recollect.entrypoints.worker import count_pending
from recollect.settings import Settings

ANNA = Scope("local", "anna")
NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)


def chat(lines: str, *options: str) -> Result:
    return CliRunner().invoke(program(["chat"]), ["chat", "--user", "anna", *options], input=lines)


def said(app: App) -> list[tuple[str, str]]:
    return [(event.role.value, event.content) for event in reversed(events_of(app, ANNA))]


def completion(text: str) -> dict[str, Any]:
    return {"model": "llama", "choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}]}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """A server of OpenAI's protocol, which the settings name."""
    with running_server() as state:
        own = {"MODEL": "openai", "OPENAI_BASE_URL": f"{state.url}/v1", "OPENAI_MODEL": "llama"}
        for name, value in own.items():
            monkeypatch.setenv(f"RECOLLECT_{name}", value)
        yield state


@pytest.mark.spec("K-59", "K-60", "K-78")
def test_it_remembers_and_quotes_without_a_model(home: Home, app: App) -> None:
    told = chat("My violin teacher is Ms Okafor\n\n  \nWho is my violin teacher?\n/quit\nnever said\n")
    assert told.exit_code == 0, told.stderr
    assert "Ms Okafor" in told.stdout
    assert [role for role, _ in said(app)] == ["user", "bot", "user", "bot"]
    assert len({event.conversation_id for event in events_of(app, ANNA)}) == 1
    assert "never said" not in str(said(app))


@pytest.mark.parametrize("word", ["exit", "quit", "/exit", "/quit", " Exit "])
def test_a_word_alone_ends_it_and_is_not_remembered(home: Home, app: App, word: str) -> None:
    told = chat(f"I quit smoking\n{word}\nnever said\n")
    assert told.exit_code == 0, told.stderr
    assert [content for role, content in said(app) if role == "user"] == ["I quit smoking"]


@pytest.mark.spec("K-61", "K-62")
def test_a_conversation_goes_on_where_it_is_named(home: Home, app: App) -> None:
    chat("one\n", "--conversation", "mine")
    chat("two\n", "--conversation", "mine")
    chat("three\n")
    conversations = [event.conversation_id for event in reversed(events_of(app, ANNA))]
    assert conversations[:4] == ["mine"] * 4
    assert "mine" not in conversations[4:]


def test_what_one_agent_is_told_another_does_not_quote(home: Home, app: App) -> None:
    told = chat("My violin teacher is Ms Okafor\n", "--agent", "tutor", "--namespace", "school/music")
    assert told.exit_code == 0, told.stderr
    labels = {(event.agent_id, event.namespace) for event in events_of(app, ANNA)}
    assert labels == {("tutor", ("school", "music"))}
    asked = "Who is my violin teacher?\n"
    assert "Ms Okafor" in chat(asked, "--agent", "tutor").stdout
    assert "Ms Okafor" not in chat(asked, "--agent", "coach").stdout
    assert chat(asked, "--namespace", "school//music").exit_code == 2


def test_why_shows_what_the_answer_was_made_from(home: Home) -> None:
    told = chat("/why\nI have a dog\nWhat do I have?\n/why\n/help\n")
    assert "nothing was answered yet" in told.stderr
    assert "Current user input: What do I have?" in told.stdout
    assert "Why these lines" in told.stdout
    assert "answered by extractive" in told.stdout
    assert "/quit" in told.stderr


def test_through_a_pipe_what_was_said_is_projected_while_the_talk_goes_on(home: Home, app: App) -> None:
    command, pipe = [*COMMAND, "chat", "-u", "anna"], subprocess.PIPE
    with subprocess.Popen(command, env=home.environment(), stdin=pipe, stdout=pipe, stderr=pipe, text=True) as running:
        assert running.stdin is not None
        running.stdin.write("My sister paints sunrises\n")
        running.stdin.flush()
        assert soon(lambda: not count_pending(app) and len(said(app)) == 2, 60)
        assert running.poll() is None
        out, err = running.communicate("What does my sister paint?", timeout=60)
    assert (running.returncode, err) == (0, "")
    assert out.count("“My sister paints sunrises”") == 1, "the second answer quotes the first line"


@pytest.mark.spec("K-79")
def test_a_local_model_answers_and_calls_tools(home: Home, app: App, server: Server) -> None:
    call = '[[ABP_TOOL:track_goal]]\n{"goal": "Meditate daily"}\n[[END_ABP_TOOL]]'
    server.replies = [Reply(completion(f"A fine plan.\n{call}")), Reply(completion("You meditate."))]
    told = chat("I want to meditate daily\nWhat do I want?\n")
    assert told.exit_code == 0, told.stderr
    assert told.stdout == "A fine plan.\nYou meditate.\n"
    assert "(track_goal: done)" in told.stderr
    sent = "\n".join(one["content"] for one in server.asked[-1][2]["messages"])
    assert "Meditate daily" in sent
    assert "I want to meditate daily" in sent


@pytest.mark.spec("K-77")
def test_a_failing_model_prints_one_line_and_keeps_what_was_said(home: Home, app: App, server: Server) -> None:
    server.replies = [Reply({"error": "no"}, status=400), Reply(completion("Here again."))]
    told = chat("Remember my dog\nAre you there?\n")
    assert told.exit_code == 0
    assert told.stdout == "Here again.\n"
    (line,) = told.stderr.splitlines()
    assert line.startswith("no answer: ")
    assert "is remembered" in line
    assert said(app) == [("user", "Remember my dog"), ("user", "Are you there?"), ("bot", "Here again.")]
    assert len({event.conversation_id for event in events_of(app, ANNA)}) == 1


def test_what_is_wrong_with_one_line_costs_no_other(home: Home, app: App) -> None:
    told = chat(f"{'x' * 70_000}\nhello\n")
    assert told.exit_code == 0
    assert "not remembered: a line has at most" in told.stderr
    assert said(app)[0] == ("user", "hello")


def test_what_somebody_said_commands_no_terminal(home: Home) -> None:
    told = chat("My dog is \x1b[2JRex\nWhat is my dog?\n/why\n")
    assert "\x1b[2J" not in told.stdout


def test_the_lines_and_the_clock_are_the_callers(home: Home) -> None:
    opened = open_app(Settings.from_environment(home.environment()))
    instants = iter(NOON + timedelta(minutes=n) for n in range(9))
    talk(Chat(opened, ANNA), ["one", "two", "/quit", "three"], lambda: next(instants))
    assert [event.timestamp for event in events_of(opened, ANNA)] == [
        NOON + timedelta(minutes=1), NOON + timedelta(minutes=1), NOON, NOON,
    ]  # fmt: skip
    opened.parts.close()


def in_doubt(app: App, *after: str, talked: int = 2) -> Iterator[str]:
    """Statements, of which the last is then in doubt with the first; then more lines."""
    statements = ("The lamp glows at night", "Rivers bend beyond the hill", "Kettles boil in the attic")[:talked]
    yield from statements
    ids = [event.id for event in reversed(events_of(app, ANNA)) if event.role.value == "user"]
    for newer in ids[1:]:
        left_open(app, ids[0], newer, ANNA)
    yield from after


@pytest.mark.parametrize(
    ("answer", "winner", "said_of_it"),
    [
        ("/n", "newer", "settled: “Rivers bend beyond the hill” holds, “The lamp glows at night” does not"),
        ("/old", "older", "settled: “The lamp glows at night” holds, “Rivers bend beyond the hill” does not"),
        ("/b 1", None, "settled: both hold"),
    ],
)
@pytest.mark.spec("P-24")
def test_what_a_message_put_in_doubt_is_told_once_and_settled_by_a_short_command(
    home: Home, app: App, capsys: pytest.CaptureFixture[str], answer: str, winner: str | None, said_of_it: str
) -> None:
    talk(Chat(app, ANNA), in_doubt(app, "", "", answer, answer), lambda: NOON)
    told, settled, again = capsys.readouterr().err.splitlines()
    assert told == (
        "(1) in doubt: on 1 May 2024 you said “The lamp glows at night”, now “Rivers bend beyond the hill”. "
        "/n the new holds instead, /b both hold, /o the new was wrong."
    )
    assert settled.startswith(said_of_it)
    assert again == "that is not in doubt"
    (conflict,) = app.contradictions.conflicts.page(ANNA, 9, None, None, NOON).conflicts
    assert conflict.status is ConflictStatus.SETTLED
    assert conflict.winner == (getattr(conflict, winner) if winner else None)


@pytest.mark.spec("P-24")
def test_a_doubt_says_which_words_would_end_and_when_the_newer_was_said(
    home: Home, app: App, capsys: pytest.CaptureFixture[str]
) -> None:
    old, new = say(app, "The lamp glows at night", "Rivers bend beyond the hill", at=NOON, scope=ANNA)
    left_open(app, old, new, ANNA, ((4, 8),))
    talk(Chat(app, ANNA), ["/conflicts"], lambda: NOON + timedelta(days=2))
    assert capsys.readouterr().err.splitlines() == [
        "(1) in doubt: on 1 May 2024 you said “The lamp glows at night”, of which “…lamp…” may have ended, "
        "and on 1 May 2024 “Rivers bend beyond the hill”. /n the new holds instead, /b both hold, /o the new was wrong."
    ]


def test_of_several_doubts_the_number_says_which_is_meant(
    home: Home, app: App, capsys: pytest.CaptureFixture[str]
) -> None:
    talk(Chat(app, ANNA), in_doubt(app, "", "/o", "/o 2", "/n", "/conflicts", talked=3), lambda: NOON)
    oldest, newest, which, *settled, last = capsys.readouterr().err.splitlines()
    assert (oldest[:12], newest[:12]) == ("(1) in doubt", "(2) in doubt")
    assert "/n 2 the new holds instead" in newest
    assert which.startswith("which one?")
    assert ["Kettles" in line for line in settled] == [True, False]
    assert last == "nothing is in doubt"


def ended(app: App, *statements: str, then: Sequence[str] = ("",)) -> Iterator[str]:
    """Statements, each projected before the next line; then more lines."""
    for statement in statements:
        yield statement
        for _ in range(4):
            app.projection.reconciliation.run(utc_now())
    yield from then


@pytest.mark.spec("P-22", "P-24")
def test_what_a_message_ended_is_told_once_and_taken_back_by_its_number_however_often(
    home: Home, app: App, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = ended(app, "I live in Paris.", "I moved to Lyon.", then=["", "/u 1", "/u", "/u 7", "/undo x"])
    talk(Chat(app, ANNA), lines, lambda: NOON)
    told, first, again, none, how = capsys.readouterr().err.splitlines()
    assert told == (
        "(1) this ends: on 1 May 2024 you said “I live in Paris.”, now “I moved to Lyon.”. /u 1 takes it back."
    )
    assert first == again == "taken back: “I live in Paris.” holds again"
    assert none == "there is no such decision"
    assert "/u takes back" in how
    (decision,) = app.contradictions.decisions.page(ANNA, 9, None, DecisionFilter()).decisions
    assert decision.status is DecisionStatus.REVERTED


PETS = ("My cat is called Miso", "My dog is called Bruno", "My parrot is called Kiwi", "My tortoise is called Speedy")
GAVE = "I gave all of them away"


def test_more_than_three_are_counted_with_the_command_that_lists_them(
    home: Home, app: App, capsys: pytest.CaptureFixture[str]
) -> None:
    model = TablePairModel({(GAVE, one): PairScores(changed=0.9) for one in PETS})
    app, scope = with_parts(Memory(app), pair_model=model).app, Scope("local", "anna k")
    talk(Chat(app, scope), ended(app, *PETS, GAVE), utc_now)
    *told, more = capsys.readouterr().err.splitlines()
    assert [line[:14] for line in told] == [f"({number}) this ends:" for number in (1, 2, 3)]
    assert more == "and 1 more: `recollect decisions list --user 'anna k'`"
    talk(Chat(app, scope), ["/u", "/u 9", "/u 4"], utc_now)
    *none, taken = capsys.readouterr().err.splitlines()
    assert none == ["there is no such decision"] * 2
    assert taken.startswith("taken back: “My ")


def test_the_clause_that_ended_is_quoted_and_the_day_from_which(
    home: Home, app: App, capsys: pytest.CaptureFixture[str]
) -> None:
    said, other = "The rent of my flat is 480 a month", "the landlord Ruiz is an old friend of my uncle Bernard"
    new, whole = "From 1 June the rent is 520", f"{said}, {other}"
    model = TablePairModel({(new, one): PairScores(changed=0.9) for one in (said, whole)})
    app = with_parts(Memory(app), pair_model=model).app
    talk(Chat(app, ANNA), ended(app, whole, new), lambda: NOON)
    (told,) = capsys.readouterr().err.splitlines()
    assert told.startswith(f"(1) this ends from 1 June 2024: on 1 May 2024 you said “{said}…”, now “From 1 June")


def test_a_number_stays_the_same_decisions_for_the_session(app: App) -> None:
    session = Chat(app, ANNA)
    one, other = (decided(winner) for winner in ("new", "newer"))
    assert [session.number(Numbered(*told)) for told in ((3, one), (3, other), (2, one), (9, other))] == [3, 4, 3, 4]


def decided(winner: str) -> Decision:
    return Decision(
        winner=winner,
        loser="old",
        at=NOON,
        step=Step.JUDGE,
        rule="judge",
        outcome=Outcome.SUPERSEDED,
        reason="",
        before=1,
        after=2,
    )


def test_another_user_is_told_nothing_and_settles_nothing(
    home: Home, app: App, capsys: pytest.CaptureFixture[str]
) -> None:
    talk(Chat(app, ANNA), in_doubt(app), lambda: NOON)
    talk(Chat(app, Scope("local", "bob")), ["I like tea", "/n", "/n 1", "/u 1", "/conflicts"], lambda: NOON)
    assert "lamp" not in capsys.readouterr().err
    (conflict,) = app.contradictions.conflicts.page(ANNA, 9, None, None, NOON).conflicts
    assert conflict.status is ConflictStatus.OPEN


def test_at_the_end_nothing_of_the_talk_waits_to_be_projected(home: Home, app: App) -> None:
    assert chat("I live in Porto\n").exit_code == 0
    assert count_pending(app) == 0


def test_a_doubt_keeps_its_number_when_another_is_opened_about_an_older_message(home: Home, app: App) -> None:
    session = Chat(app, ANNA)
    talk(session, ["The lamp glows at night", "Rivers bend beyond the hill", "Kettles boil in the attic"], lambda: NOON)
    lamp, rivers, kettles = (one.id for one in reversed(events_of(app, ANNA)) if one.role.value == "user")
    left_open(app, lamp, kettles, ANNA)
    ((first, told),) = ((one.number, one.one.id) for one in session.open_doubts())
    left_open(app, lamp, rivers, ANNA)
    assert [one.one.id for one in session.meant(first)] == [told]
    assert {one.number for one in session.open_doubts()} == {1, 2}
