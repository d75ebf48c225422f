"""`recollect eval`: recall of the default search, in a folder that is gone afterwards."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

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


def test_recall_is_told_by_category_and_k(data: Path, tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    result = home.run("eval", str(ask(data, KITTEN, BOTH)), "--k", "10,1", "--json")
    assert result.returncode == 0, result.stderr
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


def test_the_table_names_the_embedder(data: Path, tmp_path: Path) -> None:
    result = Home(tmp_path / "home").run("eval", str(ask(data, KITTEN)))
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
def test_what_is_no_question_is_told(data: Path, tmp_path: Path, question: dict[str, object], complaint: str) -> None:
    result = Home(tmp_path / "home").run("eval", str(ask(data, question)))
    assert result.returncode == 2
    assert complaint in result.stderr


@pytest.mark.parametrize("name", ["turns.jsonl", "questions.jsonl"])
def test_an_empty_file_is_named(data: Path, tmp_path: Path, name: str) -> None:
    (ask(data, KITTEN) / name).write_text("")
    result = Home(tmp_path / "home").run("eval", str(data))
    assert result.returncode == 2
    assert f"{name}: the file is empty" in result.stderr


def test_gold_turns_that_are_not_there_are_told(data: Path, tmp_path: Path) -> None:
    result = Home(tmp_path / "home").run("eval", str(ask(data, KITTEN, BOTH)))
    assert result.returncode == 0
    assert "1 of 3 gold turns are in no conversation asked about" in result.stderr


@pytest.mark.parametrize("k", ["0", "5,x", "101", ""])
def test_k_is_from_1_to_100(data: Path, tmp_path: Path, k: str) -> None:
    result = Home(tmp_path / "home").run("eval", str(ask(data, KITTEN)), "--k", k)
    assert result.returncode == 2
    assert "--k" in result.stderr


def test_a_folder_without_the_files_is_told(tmp_path: Path) -> None:
    result = Home(tmp_path / "home").run("eval", str(tmp_path))
    assert result.returncode == 2
    assert "questions.jsonl" in result.stderr
