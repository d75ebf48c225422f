"""The conversations that the judge learns from: their labels name turns that are there, and in order."""

import json
from pathlib import Path
from typing import Any

import pytest

from infra.tools.judge.__main__ import TALKS
from infra.tools.judge.examples import LABELS, talks

FILES = sorted(TALKS.glob("*.json"))


def read(path: Path) -> Any:
    return json.loads(path.read_text("utf-8"))


def test_there_are_writers_and_languages_enough() -> None:
    raw = [read(path) for path in FILES]
    assert len({one["id"] for one in raw}) == len(raw) >= 75
    assert len({one["writer"] for one in raw}) >= 15
    assert len({one["lang"] for one in raw}) >= 15


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_labels_name_earlier_turns(path: Path) -> None:
    raw = read(path)
    assert raw["id"] == path.stem
    said = {turn["id"]: (turn["at"], turn["role"]) for turn in raw["turns"]}
    assert len(said) == len(raw["turns"])
    assert list(said.values()) == sorted(said.values())
    changes = [(change["by"], of["id"], of["relation"]) for change in raw["changes"] for of in change["of"]]
    near = {(one["by"], one["of"]) for one in raw["near"]}
    assert all(said[by][1] == "user" and said[of] < said[by] and relation in LABELS for by, of, relation in changes)
    assert all(said[of] < said[by] for by, of in near)
    assert not near & {(by, of) for by, of, _ in changes}
    for question in raw["questions"]:
        assert all(said[turn][0] < question["at"] for turn in (*question["evidence"], *question["stale"]))
        assert not set(question["evidence"]) & set(question["stale"])


def test_a_pair_carries_its_label() -> None:
    talk = next(talks(TALKS))
    (new, old), label = next(iter(talk.changes.items()))
    example = talk.example(new, old)
    assert (example.new, example.old, example.label) == (talk.turns[new][1], talk.turns[old][1], label)
