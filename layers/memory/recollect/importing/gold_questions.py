"""Questions with their gold turns, as JSON Lines: conversation, question, category, evidence (turn ids)."""

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from recollect.core.errors import InvalidInput
from recollect.importing.json_lines import json_objects
from recollect.importing.turns import BadEntry
from recollect.retrieval.evaluation import ALL, GoldQuestion


class _Line(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)

    conversation: str = Field(min_length=1)
    question: str = Field(min_length=1)
    category: str = "all questions"
    evidence: list[str] = Field(min_length=1)


def read_questions(path: Path) -> list[GoldQuestion]:
    """The questions, in the file's order. Raises InvalidInput naming the first line that is none."""
    with path.open("rb") as stream:
        return [_question(place.label, value) for _, place, value in json_objects(stream)]


def _question(label: str, value: dict[str, object] | BadEntry) -> GoldQuestion:
    if isinstance(value, BadEntry):
        raise InvalidInput(f"{label} {value.reason}")
    try:
        line = _Line.model_validate(value)
    except ValidationError as error:
        fields = ", ".join(dict.fromkeys(str(one["loc"][0]) for one in error.errors()))
        raise InvalidInput(f"{label} is no question: {fields}") from error
    if line.category == ALL:
        raise InvalidInput(f"{label} is of the category {ALL!r}, by which the mean over all of them is told")
    return GoldQuestion(line.conversation, line.question, line.category, frozenset(line.evidence))
