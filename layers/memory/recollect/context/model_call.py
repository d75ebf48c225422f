"""What a language model, or what stands in for one, is asked, and what it answers."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from recollect.context.rendering import Message


class Task(StrEnum):
    """What the answer is for: a provider that only extracts goes by it, a model by the messages."""

    CONVERSE = "converse"
    SUMMARIZE = "summarize"


EARLIER_SUMMARY = "summary"
"""Role of an evidence that is a sentence of the summary before; its event is that summary."""

KEPT_GOAL = "goal"
"""Role of an evidence that is a goal which is kept already."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """A text that an extractive answer may quote, with its event; oldest first in a request.

    `role` is `user` or `bot`, or one of the two above. `speaker` is a name, where one is known. `similarity` is how
    alike it is to the input, on the embedder's scale; None where no search compared them.
    """

    event_id: str
    text: str
    role: str
    timestamp: datetime
    speaker: str | None = None
    similarity: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest:
    """`messages` are all that a model is sent; `evidence` is the same material for a provider without a model.

    `user_input` is what the user says now, alone. `seconds` is the time the whole call may take, retries included, > 0.
    `json_answer`: one JSON object is wanted.
    `max_words` bounds an extractive text.
    """

    task: Task
    messages: tuple[Message, ...]
    evidence: tuple[Evidence, ...] = ()
    user_input: str = ""
    seconds: float = 30.0
    max_tokens: int = 1024
    max_words: int = 200
    json_answer: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelAnswer:
    """The text, and which provider and model gave it, such as `openai:llama3.2` or `extractive`."""

    text: str
    model: str
    input_tokens: int | None = None
    output_tokens: int | None = None
