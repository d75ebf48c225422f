"""Conversations with questions whose evidence is known: what every quality figure is measured on."""

from __future__ import annotations

import json
import statistics
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Turn:
    """One thing said; `said_at` is the session's time, which is all the data knows."""

    conversation: str
    turn_id: str
    speaker: str
    text: str
    said_at: datetime

    @property
    def dated_text(self) -> str:
        """The text for a store without fields for speaker and date.

        Of six ways to write them before the text this one gave the rivals their highest recall on LoCoMo.
        """
        return f"{self.speaker} ({self.said_at.day} {self.said_at:%B %Y}): {self.text}"


@dataclass(frozen=True, slots=True)
class Question:
    """A question to one conversation, asked at `asked_at`; `evidence` names the turns that answer it."""

    conversation: str
    text: str
    category: str
    evidence: frozenset[str]
    asked_at: datetime


@dataclass(frozen=True, slots=True)
class DataSet:
    """Turns in the order said, and questions about them."""

    name: str
    turns: tuple[Turn, ...]
    questions: tuple[Question, ...]

    def shortened(self, conversations: int, questions: int) -> DataSet:
        """A part for a quick look: the first conversations, and a few questions spread over them."""
        kept = list(dict.fromkeys(turn.conversation for turn in self.turns))[:conversations]
        about = [question for question in self.questions if question.conversation in kept]
        step = max(1, len(about) // questions)
        turns = tuple(turn for turn in self.turns if turn.conversation in kept)
        return replace(self, turns=turns, questions=tuple(about[::step][:questions]))


def load(folder: Path) -> DataSet:
    """The data set of a folder with `turns.jsonl` and `questions.jsonl`; its name is the folder's."""
    turns = tuple(_turn(line) for line in _lines(folder / "turns.jsonl"))
    last = _last_said(turns)
    questions = tuple(_question(line, last) for line in _lines(folder / "questions.jsonl"))
    return DataSet(folder.name, turns, questions)


def _lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text("utf-8").splitlines() if line.strip()]


def _turn(line: dict[str, Any]) -> Turn:
    said_at = datetime.fromisoformat(line["session_time"]).replace(tzinfo=UTC)
    return Turn(line["conversation"], line["turn_id"], line["speaker"], line["text"], said_at)


def _question(line: dict[str, Any], last: dict[str, datetime]) -> Question:
    conversation = line["conversation"]
    return Question(conversation, line["question"], line["category"], frozenset(line["evidence"]), last[conversation])


def _last_said(turns: Sequence[Turn]) -> dict[str, datetime]:
    times: defaultdict[str, list[datetime]] = defaultdict(list)
    for turn in turns:
        times[turn.conversation].append(turn.said_at)
    return {conversation: max(said) for conversation, said in times.items()}


RecallTable = dict[str, dict[str, float]]


def recall(found: Sequence[str], evidence: frozenset[str], k: int) -> float:
    """Gold turns among the first k, over gold turns."""
    return len(evidence & set(found[:k])) / len(evidence)


def recall_table(questions: Sequence[Question], found: Mapping[int, Sequence[Sequence[str]]]) -> RecallTable:
    """Mean recall by category, and over all questions as `all`; `found` has the answers to each question by k."""
    groups: defaultdict[str, list[int]] = defaultdict(list)
    for position, question in enumerate(questions):
        groups["all"].append(position)
        groups[question.category].append(position)
    return {
        group: {
            str(k): statistics.fmean(recall(answers[p], questions[p].evidence, k) for p in positions)
            for k, answers in sorted(found.items())
        }
        for group, positions in groups.items()
    }
