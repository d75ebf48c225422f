"""Ids that clients choose, and how they stand in a path (api.md, *Ids*)."""

import base64
import binascii
import re
from collections.abc import Sequence

from recollect.core.errors import InvalidInput
from recollect.core.ids import LONGEST_ID, id_fault

__all__ = ["LONGEST_ID", "id_fault", "path_id", "path_segment"]

_ENCODED = re.compile("[A-Za-z0-9_-]+")


def path_id(segment: str, loc: Sequence[str | int]) -> str:
    """The id that a segment of a path stands for, after the one percent-decoding that every server does.

    `~` and unpadded base64url of its UTF-8, or the id as it is. Raises InvalidInput (with `loc`) where that gives
    no valid id, or where the encoding is not the one that its id has.
    """
    value = _decoded(segment, loc) if segment.startswith("~") else segment
    fault = id_fault(value)
    if fault is not None:
        raise InvalidInput(fault, loc)
    return value


def path_segment(value: str) -> str:
    """The id as a client writes it in a path; the same rule as in the Python client."""
    if re.fullmatch("[A-Za-z0-9._-]+", value):
        return value
    return "~" + base64.urlsafe_b64encode(value.encode()).decode().rstrip("=")


def _decoded(segment: str, loc: Sequence[str | int]) -> str:
    encoded = segment[1:]
    try:
        if not _ENCODED.fullmatch(encoded):
            raise ValueError("not the alphabet")
        raw = base64.urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4))
        if base64.urlsafe_b64encode(raw).decode().rstrip("=") != encoded:
            raise ValueError("another text of the same bytes")
        return raw.decode("utf-8")
    except (ValueError, binascii.Error) as error:
        raise InvalidInput("after ~ an id is unpadded base64url of its UTF-8", loc) from error
