"""Wrong input of any command: exit code 2, an error that names the part, no output, nothing stored."""

from pathlib import Path

import pytest

from entrypoints.cli.conftest import Run
from entrypoints.cli.running import write_turns

ANA = ("--user", "ana")
NONE = "018f0000-0000-7000-8000-000000000000"


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (("search", " ", *ANA), "error"),
        (("search", "x", "--user", "x" * 129), "error"),
        (("search", "x", *ANA, "--top-k", "0"), "--top-k"),
        (("search", "x", *ANA, "--mode", "magic"), "--mode"),
        (("search", "x"), "--user"),
        (("context", "", *ANA), "error"),
        (("context", "a very long question", *ANA, "--token-budget", "1"), "error"),
        (("import", "nowhere.jsonl", *ANA), "there is no file"),
        (("import", "FILE", "--user", ""), "--user"),
        (("import", "FILE", "--user", "a\nb"), "--user"),
        (("import", "FILE", *ANA, "--at", "yesterday"), "--at"),
        (("import", "FILE", *ANA, "--format", "whatsapp"), "WhatsApp"),
        *(
            (("chat", *ANA, option, "a\x00b"), f"error: {option}: an id has")
            for option in ("--user", "--conversation", "--persona")
        ),
        *(
            wrong
            for command in ("search", "context")
            for wrong in (
                ((command, "x", *ANA, "--filter", "{"), "--filter: is no JSON"),
                ((command, "x", *ANA, "--filter", '{"colour": 1}'), "--filter: "),
                ((command, "x", *ANA, "--since", "soon"), "--since: not a time"),
                ((command, "x", *ANA, "--until", "soon"), "--until: not a time"),
                ((command, "x", *ANA, "--since", "2024-05-02", "--until", "2024-05-01"), "--until lies before --since"),
                ((command, "x", *ANA, "--min-similarity", "2"), "--min-similarity"),
            )
        ),
        (("memories", "save", " ", *ANA), "error"),
        (("memories", "save", "x", *ANA, "--importance", "2"), "importance"),
        (("memories", "save", "x", *ANA, "--key", ".."), "key"),
        (("memories", "save", "x", *ANA, "--expires", "some day"), "not a time"),
        (("memories", "save", "x", "--user", ""), "error"),
        (("memories", "edit", "none", *ANA), "error"),
        (("memories", "edit", "none", *ANA, "--importance", "1"), "no such memory"),
        (("memories", "edit", "none", *ANA, "--metadata", "[]"), "metadata"),
        (("memories", "edit", "none", *ANA, "--metadata", "{"), "metadata"),
        (("memories", "list", *ANA, "--status", "x"), "--status"),
        (("knowledge", "set", "vocabulary", "cost", '{"target": "t"}'), "key: "),
        (("knowledge", "set", "vocabulary", "a:b", "{}"), "value.target: is required"),
        (("knowledge", "set", "rule", "r", "not JSON"), "value: "),
        (("knowledge", "set", "notes", "n", "not JSON"), "value: is no JSON"),
        (("knowledge", "set", "notes", "n", "NaN"), "value: "),
        (("knowledge", "set", "notes", "n", "[" * 9_999), "value: "),
        (("knowledge", "delete", "notes", "n"), "there is no such knowledge"),
        (("knowledge", "learn", " "), "the text is empty"),
        (("knowledge", "learn", "by 'a' I mean 'b'", "--store", "a:b"), "store: "),
        (("knowledge", "list", "--tenant", "x" * 129), "--tenant: "),
        (("rules", "--tenant", "x" * 129), "--tenant: "),
        (("merge-rules", "set", "mine", "not JSON"), "error: is no JSON\n"),
        (("merge-rules", "set", "mine", '{"extends": "a"}'), "extends: there is no rule of this name"),
        (("merge-rules", "set", "mine", '{"merge": {"boostAmount": 7}}'), "merge.boostAmount: must be a number, 0 to"),
        (("jobs", "run", "dance"), "error: "),
        (("jobs", "run", "retain", "--replay"), "error: "),
        (("jobs", "run", "restore"), "error: "),
        (("jobs", "run", "reindex", "--from", "nowhere"), "error: "),
        (("jobs", "run", "retain", *ANA), "error: "),
        (("jobs", "run", "retain", "--tenant", "\x01"), "error: "),
        (("jobs", "watch", NONE), "error: "),
        (("summarize", "--user", ""), "error"),
        (("goals", "list", "--user", ""), "error"),
        (("goals", "add", " ", *ANA), "the goal is empty"),
        (("goals", "add", "x" * 501, *ANA), "the goal: at most 500 characters"),
        (("goals", "add", "Run", *ANA, "--check-in-frequency", "x" * 101), "--check-in-frequency: at most 100"),
        (("goals", "edit", "none", *ANA), "nothing to change"),
        (("goals", "edit", "none", *ANA, "--goal", "Run"), "no such goal"),
        (("goals", "edit", "none", *ANA, "--status", "over"), "--status"),
        (("goals", "end", "none", *ANA), "no such goal"),
        (("goals", "check-in", "none", *ANA), "no such goal"),
        (("goals", "check-in", "none", *ANA, "--date", "soon"), "error: "),
        (("erasure", "nothing"), "error"),
        (("reject", "nothing", *ANA, "--yes"), "error"),
        (("serve", "--host", "0.0.0.0"), "RECOLLECT_API_KEYS"),
    ],
)
def test_wrong_input_is_an_error_that_names_the_part(
    run: Run, tmp_path: Path, arguments: tuple[str, ...], error: str
) -> None:
    file = write_turns(tmp_path / "turns.jsonl", 1)
    result = run(*(file if one == "FILE" else one for one in arguments))
    assert (result.exit_code, result.stdout) == (2, "")
    assert error in result.stderr
    assert "Traceback" not in result.stderr
    assert run("memories", "list", *ANA).stdout + run("knowledge", "list").stdout == ""
