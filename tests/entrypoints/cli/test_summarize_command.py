"""`recollect summarize`, `summaries` and `goals list`, and the summaries that a server makes beside its requests."""

import json

import pytest

from adapters.embedders.local_server import Reply, running_server
from entrypoints.cli.conftest import Run
from entrypoints.cli.running import ANA, left_open, say, soon
from recollect.app import App
from recollect.core.scope import Scope
from recollect.entrypoints.worker import Projector, ProjectorPolicy
from recollect.memories.audit_log import AuditFilter

QUICK = ProjectorPolicy(poll_seconds=0.05, summary_seconds=0.05)


def test_a_summary_is_made_when_due_or_forced(run: Run, app: App) -> None:
    say(app, "I moved to Lyon in May with Rex.", "I plan to meditate every day.")
    early = run("summarize", "--user", "ana")
    assert (early.exit_code, early.stdout) == (0, "")
    assert "not due: 2 messages" in early.stderr
    made = run("summarize", "--user", "ana", "--force")
    assert made.exit_code == 0
    assert "I moved to Lyon in May with Rex." in made.stdout
    assert "2 messages until" in made.stderr
    assert "by extractive" in made.stderr
    assert json.loads(run("summarize", "--user", "ana", "--json").stdout) == {"due": False}


def test_it_is_json_where_asked_for(run: Run, app: App) -> None:
    say(app, "I moved to Lyon in May with Rex.", scope=Scope("local", "ana", "coach"))
    shown = json.loads(run("summarize", "--user", "ana", "--persona", "coach", "--force", "--json").stdout)
    assert (shown["due"], shown["summary"]["persona_id"], shown["summary"]["message_count"]) == (True, "coach", 1)


def test_a_model_that_chooses_makes_memories_and_the_command_says_how_many(
    run: Run, app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, ida = say(app, "What a day, again.", "My sister Ida lives in Bergen.")
    with running_server() as server:
        text = json.dumps({"summary": "Ida lives in Bergen.", "memories": [2]})
        server.replies = [Reply({"model": "llama", "choices": [{"message": {"role": "assistant", "content": text}}]})]
        monkeypatch.setenv("RECOLLECT_MODEL", "openai")
        monkeypatch.setenv("RECOLLECT_OPENAI_BASE_URL", f"{server.url}/v1")
        monkeypatch.setenv("RECOLLECT_OPENAI_MODEL", "llama")
        monkeypatch.setenv("RECOLLECT_EXTRACTION", "model")
        made = run("summarize", "--user", "ana", "--force")
    assert (made.exit_code, made.stdout) == (0, "Ida lives in Bergen.\n")
    assert "1 message became a memory" in made.stderr
    kept = json.loads(run("memories", "list", "--user", "ana", "--json").stdout)
    assert (kept["id"], kept["content"]) == (ida, "My sister Ida lives in Bergen.")
    (entry,) = app.memories.audit.page(ANA, 10, None, AuditFilter(event_id=ida, decisions=True)).entries
    assert (entry.outcome, entry.via, entry.rule) == ("promoted", "extraction", "openai:llama")


def test_stored_summaries_are_listed_and_what_is_in_doubt_is_marked(run: Run, app: App) -> None:
    older, newer = say(app, "I moved to Lyon in May with Rex.", "My kettle is red and old.")
    run("summarize", "--user", "ana", "--force")
    plain = run("summaries", "--user", "ana")
    left_open(app, older, newer)
    shown = run("summaries", "--user", "ana")
    assert shown.stderr == "1 summary\n"
    assert shown.stdout == plain.stdout.replace("with Rex.", "with Rex. (perhaps no longer so)")
    assert "  2 messages  User (" in shown.stdout
    (one,) = json.loads(run("summaries", "--user", "ana", "--json").stdout)["summaries"]
    assert [sentence["in_doubt"] for sentence in one["sentences"]] == [True, False]
    assert "perhaps" not in one["summary"]
    assert run("summaries", "--user", "ben").stdout == ""


def test_goals_are_shown_with_their_progress(run: Run, app: App) -> None:
    say(app, "I plan to meditate every day.")
    run("summarize", "--user", "ana", "--force")
    shown = run("goals", "list", "--user", "ana")
    assert "1 goal\n" in shown.stderr
    (goal,) = json.loads(run("goals", "list", "--user", "ana", "--json").stdout)["goals"]
    assert shown.stdout == f"{goal['id']}  active  Meditate every day, every day\n"
    assert (goal["goal"], goal["version"]) == ("Meditate every day", 1)
    assert run("goals", "list", "--user", "ana", "--persona", "coach").stdout == ""


@pytest.mark.spec("H-05", "H-10")
def test_beside_a_server_summaries_make_themselves(app: App) -> None:
    with Projector(app, QUICK):
        say(app, *(f"I counted sheep number {n} near Lyon." for n in range(50)))
        assert soon(lambda: app.summaries.stored.latest(ANA) is not None, 10)
    latest = app.summaries.stored.latest(ANA)
    assert latest is not None
    assert latest.message_count == 40
