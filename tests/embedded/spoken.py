"""The conversation in the messages of a context, without the dates that `messages` put before each."""

import re
from collections.abc import Iterable, Mapping

from recollect.context.rendering import Message

_STAMP = re.compile(r"\[\w{3} \w{3} \d{1,2}(?:, \d{4})?, \d\d:\d\d\] ")


def said_in(messages: Iterable[Message]) -> list[tuple[str, str]]:
    """Role and text of each message said, the input last; joined ones are separated."""
    return sent_of({"role": message.role.value, "content": message.content} for message in messages)


def sent_of(messages: Iterable[Mapping[str, str]]) -> list[tuple[str, str]]:
    """The same of messages as they come over HTTP."""
    said = [message for message in messages if message["role"] != "system"]
    return [(m["role"], _STAMP.sub("", text, count=1)) for m in said for text in m["content"].split("\n\n")]


def dated(messages: Iterable[Message]) -> int:
    """How many of the things said have a date before them."""
    return sum(len(_STAMP.findall(message.content)) for message in messages)
