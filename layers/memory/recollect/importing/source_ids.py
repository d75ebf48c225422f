"""Ids for turns whose export gives none: the same whenever the same turn is read again."""

import hashlib
import json

_LENGTH = 32


def stable_id(*parts: str | int | None) -> str:
    """32 hex digits of what tells the turn: its conversation, its position, who said what.

    The content is in it, so that another turn at the same position of a conversation of the same name is not
    taken for this one.
    """
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:_LENGTH]
