"""Requests to a language model, or to a provider that stands in for one, and their answers."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from recollect.context.rendering import Message
from recollect.contradictions.doubts import OtherSide
from recollect.memories.representation import EndedWords


class Task(StrEnum):
    """What the answer is for: a provider without a model goes by it, a model by the messages."""

    CONVERSE = "converse"
    SUMMARIZE = "summarize"
    JUDGE = "judge"


EARLIER_SUMMARY = "summary"
"""Role of a sentence of the summary before; its event is that summary."""

STORED_GOAL = "goal"
"""Role of a goal that is stored already."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """A text that an extractive answer may quote, with its event; oldest first in a request.

    `role` is `user` or `bot`, or one of the two above. `speaker` is a name, where one is known. `similarity` to the
    input is on the embedder's scale; None where no search compared them. `relevance`, in [0, 1], is how much a model
    that read both finds it needed; None where none did. `against` is something newer that may have changed it, and that
    nobody has decided, or that is announced to take its place (P-24). `score` is that of the search with its second
    stage, higher is better; None where it did not find it. `ended` are words that the text had, which hold no more,
    `in_doubt` words of it that open conflicts would end, where these are known.
    """

    event_id: str
    text: str
    role: str
    timestamp: datetime
    speaker: str | None = None
    similarity: float | None = None
    relevance: float | None = None
    against: OtherSide | None = None
    score: float | None = None
    ended: tuple[EndedWords, ...] = ()
    in_doubt: tuple[EndedWords, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest:
    """`messages` are all that a model reads; `evidence` is the same material for a provider without a model.

    `user_input` is the user's line alone. `seconds` is the time of the whole call, retries included, > 0.
    `json_answer`: one JSON object is wanted. `max_words` bounds an extractive text. `tenant` is whose call it is, for
    the count alone: it is sent to nobody.
    """

    task: Task
    messages: tuple[Message, ...]
    evidence: tuple[Evidence, ...] = ()
    user_input: str = ""
    seconds: float = 30.0
    max_tokens: int = 1024
    max_words: int = 200
    json_answer: bool = False
    tenant: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelAnswer:
    """The text, and the provider and model that gave it, such as `openai:llama3.2` or `extractive`."""

    text: str
    model: str
    input_tokens: int | None = None
    output_tokens: int | None = None
