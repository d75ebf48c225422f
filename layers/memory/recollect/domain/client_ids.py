"""Ids that clients choose (api.md, *Ids*): what one may be, wherever it comes from."""

import unicodedata

LONGEST_ID = 128
_RULE = "an id has 1 to 128 characters, no control characters, and is not . or .."


def id_fault(value: object) -> str | None:
    """What is wrong with a client's id; None where nothing is. Ids are compared as they are, never normalised."""
    if not isinstance(value, str):
        return "an id is text"
    if not 1 <= len(value) <= LONGEST_ID or value in (".", ".."):
        return _RULE
    if not value.isalnum() and any(unicodedata.category(character) in ("Cc", "Cs") for character in value):
        return _RULE
    return None
