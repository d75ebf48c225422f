"""What stands before a record's own text when it is embedded: who said it, and on which day."""

import re
from datetime import datetime
from typing import Final

_MONTHS: Final = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
_DAY: Final = rf"[0-9]{{1,2}} (?:{'|'.join(_MONTHS)}) [0-9]{{4}}"
_HEAD: Final = re.compile(rf"[^\n]{{1,400}}? (?:on {_DAY}|\({_DAY}\)): ")


def passage_head(speaker: str, said_at: datetime) -> str:
    """`Anna on 8 May 2023: `."""
    return f"{speaker} on {said_at.day} {_MONTHS[said_at.month - 1]} {said_at.year}: "


def own_start(passage: str) -> int:
    """Where a passage's own text begins: after its head, at 0 where it has none or nothing else.

    `Anna (8 May 2023): ` is one too: so stands a sentence quoted in a summary.
    A text that itself begins as a head does is taken for one: it stands in no record's vector then, and alone has one.
    """
    found = _HEAD.match(passage)
    return found.end() if found and found.end() < len(passage) else 0
