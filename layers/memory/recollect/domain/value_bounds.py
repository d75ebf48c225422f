"""Until when a keyed value holds by its own words (P-24)."""

import re
from datetime import datetime
from functools import lru_cache

from recollect.domain.bounds import read_bounds

_WITHIN = 400
"""Characters of a value in which its bound is looked for: further on it belongs to something else that is said."""
_KEPT = 512
_THEN = re.compile(r"\b(?:until|till|'til) then\b", re.IGNORECASE)


def value_bound(text: str, at: datetime) -> datetime | None:
    """Until when a value holds, exclusive, as its own words say it at that instant; None where it is open-ended."""
    return _bound_in(text[:_WITHIN], at)


@lru_cache(_KEPT)
def _bound_in(text: str, at: datetime) -> datetime | None:
    """What reads clauses is loaded where a text names a bound: not with everything that knows of slots."""
    bounds = read_bounds(text, at)
    if not bounds:
        return _until_then(text, at) if _THEN.search(text) else None
    from recollect.domain.bound_clauses import first_that_binds

    binding = first_that_binds(text, bounds)
    return binding.until if binding is not None else None


def _until_then(text: str, at: datetime) -> datetime | None:
    """An earlier sentence says when that is: so far only the whole reader sees."""
    from recollect.domain.claim_reading import read_claims
    from recollect.domain.cue_rules import default_cue_rules

    claims = read_claims(text, at, default_cue_rules())
    return max((claim.until for claim in claims if claim.until is not None), default=None)
