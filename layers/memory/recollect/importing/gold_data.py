"""The data of `recollect eval`: questions with gold turns (JSON Lines), and conversations with questions (JSON)."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError, model_validator

from recollect.core.errors import InvalidInput
from recollect.importing.reading import json_objects
from recollect.importing.turns import BadEntry, Place, PlacedDraft, Turn, drafts_of, role_of_speaker
from recollect.retrieval.evaluation import ALL, GoldQuestion, Needs, TalkQuestion


class _GoldLine(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)

    conversation: str = Field(min_length=1)
    question: str = Field(min_length=1)
    category: str = "all questions"
    evidence: list[str] = Field(min_length=1)


def read_questions(path: Path) -> list[GoldQuestion]:
    """The questions, in the file's order. Raises InvalidInput naming the first invalid line."""
    with path.open("rb") as stream:
        return [_gold_question(place.label, value) for _, place, value in json_objects(stream)]


def _gold_question(label: str, value: dict[str, object] | BadEntry) -> GoldQuestion:
    if isinstance(value, BadEntry):
        raise InvalidInput(f"{label} {value.reason}")
    try:
        line = _GoldLine.model_validate(value)
    except ValidationError as error:
        fields = ", ".join(dict.fromkeys(str(one["loc"][0]) for one in error.errors()))
        raise InvalidInput(f"{label} is no question: {fields}") from error
    if line.category == ALL:
        raise InvalidInput(f"{label} is of the category {ALL!r}, by which the mean over all of them is told")
    return GoldQuestion(line.conversation, line.question, line.category, frozenset(line.evidence))


class _TurnLine(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)

    id: str = Field(min_length=1)
    session: int | str
    role: Literal["user", "assistant", "bot"]
    text: str = Field(min_length=1)
    at: AwareDatetime


class _QuestionLine(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)

    id: str = Field(min_length=1)
    at: AwareDatetime
    question: str = Field(min_length=1)
    evidence: frozenset[str] = frozenset()
    needs: Needs = Needs.ALL
    stale: frozenset[str] = frozenset()
    kind: str = "question"


class _File(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)

    id: str = Field(min_length=1)
    turns: tuple[_TurnLine, ...] = Field(min_length=1)
    questions: tuple[_QuestionLine, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _names_its_turns(self) -> "_File":
        known = {turn.id for turn in self.turns}
        if len(known) != len(self.turns):
            raise ValueError("two turns have one id")
        for one in self.questions:
            if unknown := (one.evidence | one.stale) - known:
                count = "1 turn that is" if len(unknown) == 1 else f"{len(unknown)} turns that are"
                raise ValueError(f"question {one.id} names {count} not there")
        return self


@dataclass(frozen=True, slots=True)
class Talk:
    """One user's conversations: `drafts` and `questions` each by time; a session is a conversation."""

    id: str
    drafts: tuple[PlacedDraft, ...]
    questions: tuple[TalkQuestion, ...]


def read_talks(folder: Path) -> list[Talk]:
    """The talks of every `*.json` file in the folder, by file name. Raises InvalidInput naming the invalid file."""
    return [_talk(file) for file in sorted(folder.glob("*.json"))]


def _talk(file: Path) -> Talk:
    try:
        read = _File.model_validate_json(file.read_bytes())
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise InvalidInput(f"{file}: {where or 'the file'}: {first['msg']}") from error
    turns = sorted(read.turns, key=lambda turn: turn.at)
    questions = sorted(read.questions, key=lambda one: one.at)
    return Talk(read.id, tuple(_drafts(file, turns)), tuple(map(_talk_question, questions)))


def _drafts(file: Path, turns: list[_TurnLine]) -> Iterator[PlacedDraft]:
    for entry in drafts_of(_talk_turn(place, turn) for place, turn in enumerate(turns, start=1)):
        if not isinstance(entry, PlacedDraft):
            why = f": {entry.reason}" if isinstance(entry, BadEntry) else ""
            raise InvalidInput(f"{file}: {entry.place.label} cannot be stored{why}")
        yield entry


def _talk_turn(place: int, turn: _TurnLine) -> Turn:
    return Turn(
        place=Place(f"turn {turn.id}", place),
        conversation_id=f"session-{turn.session}",
        role=role_of_speaker(turn.role),
        content=turn.text,
        timestamp=turn.at.astimezone(UTC),
        source_id=turn.id,
    )


def _talk_question(one: _QuestionLine) -> TalkQuestion:
    at: datetime = one.at.astimezone(UTC)
    return TalkQuestion(one.id, one.kind, one.question, at, one.evidence, one.needs, one.stale)
