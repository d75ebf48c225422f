"""Until when the value of a key holds by its own words: "in Rome until Friday" (P-24). `project` reads it, once."""

import re
from datetime import datetime
from functools import lru_cache

from recollect.contradictions.bounds import read_bounds

_WITHIN = 400
"""Characters of a value in which its bound is looked for: further on it belongs to something else that is said."""
_CACHED = 512
_THEN = re.compile(r"\b(?:until|till|'til) then\b", re.IGNORECASE)


def holds_until(text: str, at: datetime) -> datetime | None:
    """The exclusive end, as the words say it at that instant; None where they set none."""
    return _holds_until(text[:_WITHIN], at)


@lru_cache(_CACHED)
def _holds_until(text: str, at: datetime) -> datetime | None:
    bounds = read_bounds(text, at)
    if not bounds and not _THEN.search(text):
        return None
    # Imported here: only a text that names a bound needs the reader of clauses.
    from recollect.contradictions.cues import CueJudge

    return CueJudge().holds_until(text, at, bounds)
