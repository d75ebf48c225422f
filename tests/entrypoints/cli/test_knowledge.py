"""`recollect knowledge`: list, set, delete, learn."""

import json

import pytest

from entrypoints.cli.conftest import Run


def test_an_entry_is_set_listed_and_deleted(run: Run) -> None:
    entry = json.loads(run("knowledge", "set", "vocabulary", "orders:cost", '{"target": "total"}').stdout)
    assert (entry["key"], entry["version"], entry["value"]["source"]) == ("orders:cost", 1, "user_instruction")
    assert run("knowledge", "set", "notes", "n", '["free", null]').exit_code == 0
    listed = run("knowledge", "list", "--json")
    assert [json.loads(line)["key"] for line in listed.stdout.splitlines()] == ["n", "orders:cost"]
    assert listed.stderr == "2 entries\n"
    assert run("knowledge", "list", "notes").stdout == 'notes  n  ["free", null]\n'
    assert run("knowledge", "list", "--tenant", "globex").stdout == ""
    assert run("knowledge", "delete", "notes", "n").exit_code == 0
    assert run("knowledge", "list", "notes").stdout == ""


def test_the_prompt_is_printed(run: Run) -> None:
    run("knowledge", "set", "rule", "vip_user", '{"condition": "count > 100", "applies_to": ["users"]}')
    assert run("knowledge", "list", "--prompt").stdout == '[Business Rules]\n- "vip_user": Apply filter "count > 100"\n'
    assert run("knowledge", "list", "--prompt", "--store", "orders").stdout == "\n"


@pytest.mark.spec("S-29")
def test_a_sentence_teaches(run: Run) -> None:
    said = ("knowledge", "learn", "No, by 'cost' I mean the 'total_amount' field", "--store", "orders")
    confirmed = "I have learnt that 'cost' refers to 'total_amount' for future queries.\n"
    dry = run(*said, "--dry-run")
    assert (dry.stdout, dry.stderr) == (confirmed, "would be vocabulary orders:cost\n")
    assert run("knowledge", "list").stdout == ""
    assert run(*said).stdout == confirmed
    assert "total_amount" in run("knowledge", "list", "vocabulary").stdout
    nothing = run("knowledge", "learn", "Hello there")
    assert (nothing.exit_code, nothing.stdout, nothing.stderr) == (0, "", "nothing learnt\n")


def test_what_is_stored_commands_no_terminal(run: Run) -> None:
    run("knowledge", "set", "rule", "r", json.dumps({"condition": "a \x1b[31m [bold]b[/bold]\n\x9b2J"}))
    for arguments in (("list",), ("list", "--json"), ("list", "--prompt")):
        shown = run("knowledge", *arguments).stdout
        assert "[bold]b[/bold]" in shown
        assert not {"\x1b", "\x9b"} & set(shown)
