"""Signals of what holds now: a question in the present asks for the newest word on a matter, one of the past does not.

How far a question asks of the present is learned from its vector (`LearnedShares.of_now`), so that no language needs
words of its own. All three signals are multiplied by it: where it is 0, nothing here moves, and numpy is not needed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, TypeAlias

from recollect.retrieval.nomination import ASKING, Candidate, rank_order
from recollect.retrieval.signals import numbered_voices

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[numpy.float64]
else:
    Floats = Any

AMONG = 60
"""How many of the best are compared; what ranks below them is neither lifted nor lowered."""

RECENT = timedelta(days=10)
"""The age at which `recent` has fallen to 1/e."""

_ENOUGH_TO_COMPARE = 6
"""The fewest candidates worth comparing: all of a few are shown, and a few vectors have no mean worth taking out."""

SIGNALS = ("recent", "outdone", "renewed")
"""See `timely`."""


def timely(
    candidates: Sequence[Candidate], scores: Sequence[float], asked_at: datetime, of_now: float
) -> Mapping[str, list[float]]:
    """The three signals, each in [0, 1], times `of_now`; a weight of a signal is a share of the best score.

    - `recent`: the candidate's share of the best score, falling with its age at `asked_at`.
    - `outdone`: how alike and how good the best newer candidate of the same speaker is, so that what was said of a
      matter last stands above what was said before.
    - `renewed`: the same of the best older one. What was said once more, or anew, is what the talk is about.

    Candidates are alike by the cosine of their vectors without the mean of all. One without a vector is neither
    outdone nor renewed. A record in which a user only asks says nothing new: it has no signal and gives none. Of a few
    candidates none has any.
    """
    found = {name: [0.0] * len(candidates) for name in SIGNALS}
    best = max(scores, default=0.0)
    if of_now <= 0 or best <= 0:
        return found
    import numpy

    told = [place for place, candidate in enumerate(candidates) if candidate.role != ASKING]
    if len(told) < _ENOUGH_TO_COMPARE:
        return found
    told.sort(key=lambda place: rank_order(candidates[place], scores[place]), reverse=True)
    places = told[:AMONG]
    shares = numpy.array([max(scores[place], 0.0) / best for place in places])
    chosen = [candidates[place] for place in places]
    outdone, renewed = _by_age(chosen, shares)
    values = {"recent": _recent(chosen, asked_at) * shares, "outdone": outdone, "renewed": renewed}
    for name, column in values.items():
        for place, value in zip(places, (of_now * column).tolist(), strict=True):
            found[name][place] = value
    return found


def _recent(candidates: Sequence[Candidate], asked_at: datetime) -> Floats:
    import numpy

    ages = [max((asked_at - candidate.timestamp) / RECENT, 0.0) for candidate in candidates]
    falling: Floats = numpy.exp(-numpy.array(ages))
    return falling


def _by_age(candidates: Sequence[Candidate], shares: Floats) -> tuple[Floats, Floats]:
    """For each candidate the greatest product of likeness and share among the newer ones, and among the older."""
    import numpy

    places = [place for place, candidate in enumerate(candidates) if candidate.vector is not None]
    outdone, renewed = numpy.zeros(len(candidates)), numpy.zeros(len(candidates))
    if len(places) < _ENOUGH_TO_COMPARE:
        return outdone, renewed
    known = [candidates[place] for place in places]
    alike = _likeness(known) * shares[places][None, :]
    said = numpy.array([candidate.timestamp.timestamp() for candidate in known])
    newer = said[None, :] > said[:, None]
    outdone[places] = numpy.where(newer, alike, 0.0).max(axis=1)
    renewed[places] = numpy.where(newer.T, alike, 0.0).max(axis=1)
    return outdone, renewed


def _likeness(candidates: Sequence[Candidate]) -> Floats:
    """(n, n) cosines without the mean, 0 where negative or of two speakers."""
    import numpy

    matrix = numpy.array([candidate.vector for candidate in candidates if candidate.vector is not None])
    rest = numpy.subtract(matrix, matrix.mean(axis=0), dtype=numpy.float64)
    lengths = numpy.linalg.norm(rest, axis=1)
    rest /= numpy.where(lengths == 0, 1, lengths)[:, None]
    said_by = numpy.array(numbered_voices(candidates))
    alike: Floats = numpy.where(said_by[:, None] == said_by, numpy.clip(rest @ rest.T, 0.0, 1.0), 0.0)
    return alike
