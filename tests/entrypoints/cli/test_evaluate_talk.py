"""`recollect eval` on talks: what context and search show for each question at its time."""

import json
from pathlib import Path
from typing import Any

import pytest

from entrypoints.cli.conftest import Run

TALK: dict[str, Any] = {
    "id": "d1",
    "lang": "en",
    "user": "Eva",
    "turns": [
        {"id": "t1", "session": 1, "role": "user", "text": "My flat is in Porto", "at": "2025-01-01T09:00:00Z"},
        {"id": "t2", "session": 1, "role": "assistant", "text": "A lovely town", "at": "2025-01-01T09:01:00Z"},
        {"id": "t3", "session": 2, "role": "user", "text": "My new flat is in Lisbon", "at": "2025-03-01T09:00:00Z"},
    ],
    "questions": [
        {"id": "q1", "at": "2025-02-01T09:00:00Z", "question": "Where is my flat?", "evidence": ["t1"], "kind": "fact"},
        {
            "id": "q2",
            "at": "2025-04-01T09:00:00Z",
            "question": "Where is my new flat?",
            "evidence": ["t3"],
            "stale": ["t1"],
            "kind": "changed",
        },
        {"id": "q3", "at": "2025-04-01T09:00:00Z", "question": "What is my shoe size?", "kind": "unknown"},
    ],
}


def folder(tmp_path: Path, **changes: Any) -> Path:
    data = tmp_path / "talks"
    data.mkdir()
    (data / "d1.json").write_text(json.dumps(TALK | changes))
    return data


def test_each_question_is_asked_at_its_time_in_a_new_conversation(run: Run, tmp_path: Path) -> None:
    result = run("eval", str(folder(tmp_path)), "--json")
    assert result.exit_code == 0, result.stderr
    told = json.loads(result.stdout)
    assert told["messages"]["all"]["right"] == 1.0
    assert told["messages"]["fact"]["lines"] == 1, "March was not said yet, and a lovely town is no answer"
    assert told["messages"]["changed"]["stale"] == 1.0
    assert told["messages"]["unknown"]["right"] is None
    assert told["search"]["all"]["right_at_3"] == 1.0
    assert told["prompt"]["all"]["questions"] == 2


def test_the_table_has_a_row_a_kind(run: Run, tmp_path: Path) -> None:
    lines = run("eval", str(folder(tmp_path))).stdout.splitlines()
    assert lines[0].split()[-7:] == ["questions", "right", "misled", "stale", "precise", "lines", "tokens"]
    assert [line.split()[0] for line in lines[1:6]] == ["all", "fact", "changed", "unknown", "prompt,"]


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"turns": []}, "d1.json: turns: "),
        ({"questions": [{**TALK["questions"][0], "evidence": ["t9"]}]}, "question q1 names 1 turn that is not there"),
        ({"turns": [TALK["turns"][0]] * 2}, "two turns have one id"),
        ({"turns": [{**TALK["turns"][0], "at": "yesterday"}]}, "d1.json: turns.0.at: "),
    ],
)
def test_a_file_that_is_no_talk_is_named(run: Run, tmp_path: Path, changes: dict[str, Any], complaint: str) -> None:
    result = run("eval", str(folder(tmp_path, **changes)))
    assert result.exit_code == 2
    assert complaint in result.stderr
