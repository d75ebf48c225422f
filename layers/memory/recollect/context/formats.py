"""`messages` in the forms that models' interfaces take: OpenAI's, Anthropic's Messages, Amazon Bedrock's Converse.

OpenAI's has the system message among the others; the other two take it beside them, Converse all text in blocks.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from recollect.context.rendering import Message, MessageRole

Blocks: TypeAlias = "list[dict[str, str]]"


class MessageFormat(StrEnum):
    """Whose form."""

    OPENAI = "openai"
    ANTHROPIC = "anthropic"
    CONVERSE = "converse"


@dataclass(frozen=True, slots=True)
class FormattedMessage:
    """One message; `content` is a text, or blocks of text."""

    role: MessageRole
    content: "str | Blocks"


@dataclass(frozen=True, slots=True)
class Formatted:
    """The messages, and what goes beside them as system prompt; None where it is among them, or there is none."""

    messages: tuple[FormattedMessage, ...]
    system: "str | Blocks | None" = None


def formatted(messages: Sequence[Message], form: MessageFormat) -> Formatted:
    """The messages in that form."""
    if form is MessageFormat.OPENAI:
        return Formatted(tuple(FormattedMessage(one.role, one.content) for one in messages))
    blocks = form is MessageFormat.CONVERSE
    said = tuple(
        FormattedMessage(one.role, _blocks(one.content) if blocks else one.content)
        for one in messages
        if one.role is not MessageRole.SYSTEM
    )
    system = "\n\n".join(one.content for one in messages if one.role is MessageRole.SYSTEM)
    return Formatted(said, (_blocks(system) if blocks else system) if system else None)


def _blocks(text: str) -> Blocks:
    return [{"text": text}]
