"""`recollect eval`: recall of the default search, in a folder that is gone afterwards."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from entrypoints.cli.conftest import Run
from entrypoints.cli.running import Home

TURNS = [("t1", "Anna", "We adopted a grey kitten called Pixel"), ("t2", "Ben", "The invoice is due on Friday")]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    folder.mkdir()
    turns = [
        {"conversation": "c", "session_time": "2024-05-01T09:00:00", "turn_id": i, "speaker": s, "text": t}
        for i, s, t in TURNS
    ]
    (folder / "turns.jsonl").write_text("".join(json.dumps(turn) + "\n" for turn in turns))
    return folder


def ask(data: Path, *questions: Mapping[str, object]) -> Path:
    (data / "questions.jsonl").write_text("".join(json.dumps(one) + "\n" for one in questions))
    return data


KITTEN = {"conversation": "c", "question": "Which kitten did Anna adopt?", "category": "who", "evidence": ["t1"]}
BOTH = {"conversation": "c", "question": "What about the invoice?", "category": "what", "evidence": ["t2", "t9"]}


def test_recall_is_told_by_category_and_k(run: Run, home: Home, data: Path) -> None:
    result = run("eval", str(ask(data, KITTEN, BOTH)), "--k", "10,1", "--json")
    assert result.exit_code == 0, result.stderr
    assert "1 of 3 gold turns are in no conversation asked about" in result.stderr
    told = json.loads(result.stdout)
    assert told["questions"] == 2
    assert told["recall"] == {
        "all": {"1": 0.75, "10": 0.75},
        "who": {"1": 1.0, "10": 1.0},
        "what": {"1": 0.5, "10": 0.5},
    }
    assert told["times"]["search"]["p95_ms"] >= told["times"]["search"]["p50_ms"] > 0
    assert told["times"]["encoding alone"]["p50_ms"] > 0
    assert not home.folder.exists() or not list(home.folder.glob("*.db"))


def test_the_table_names_the_embedder(run: Run, data: Path) -> None:
    result = run("eval", str(ask(data, KITTEN)))
    lines = result.stdout.splitlines()
    assert lines[0].split() == ["evidence", "recall", "questions", "@5", "@10", "@25", "@50"]
    assert lines[1].split() == ["all", "1", "1.000", "1.000", "1.000", "1.000"]
    assert lines[-1] == "embedder: hashing.1"


@pytest.mark.parametrize(
    ("question", "complaint"),
    [
        ({**KITTEN, "evidence": []}, "line 1 is no question: evidence"),
        ({"question": "Who?"}, "line 1 is no question: conversation, evidence"),
        ({**KITTEN, "conversation": "other"}, "no turn belongs to the conversation 'other'"),
        ({**KITTEN, "category": "all"}, "line 1 is of the category 'all'"),
        ({**KITTEN, "evidence": ["t7"]}, "`evidence` names no `turn_id` of turns.jsonl"),
    ],
)
def test_what_is_no_question_is_told(run: Run, data: Path, question: dict[str, object], complaint: str) -> None:
    result = run("eval", str(ask(data, question)))
    assert result.exit_code == 2
    assert complaint in result.stderr


@pytest.mark.parametrize(
    ("files", "options", "complaint"),
    [
        ({"turns.jsonl": ""}, (), "turns.jsonl: the file is empty"),
        ({"questions.jsonl": ""}, (), "questions.jsonl: the file is empty"),
        ({"questions.jsonl": None}, (), "questions.jsonl"),
        *(({}, ("--k", k), "--k") for k in ("0", "5,x", "101", "")),
    ],
)
def test_a_missing_or_empty_file_and_a_k_beyond_1_to_100_are_named(
    run: Run, data: Path, files: dict[str, str | None], options: tuple[str, ...], complaint: str
) -> None:
    ask(data, KITTEN)
    for name, content in files.items():
        (data / name).unlink() if content is None else (data / name).write_text(content)
    result = run("eval", str(data), *options)
    assert result.exit_code == 2
    assert complaint in result.stderr
