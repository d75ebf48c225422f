"""A pair of statements as a model reads it, and what the model says of it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StatementPair:
    """A newer and an older statement."""

    newer: str
    older: str


@dataclass(frozen=True, slots=True)
class PairScores:
    """`changed`: the calibrated probability, within 0 and 1, that the older no longer holds as it stands.

    `replaced`, `ended` and `part` are the shares of the three ways given that it changed; they sum to 1. `retracted` is
    the probability, given that, that the newer says it never was so.
    """

    changed: float
    replaced: float = 1.0
    ended: float = 0.0
    part: float = 0.0
    retracted: float = 0.0


@dataclass(frozen=True, slots=True)
class EndedPiece:
    """A piece of the older statement, from `start` to before `end`: the probability that it no longer holds.

    Given that the newer statement changes the older one at all.
    """

    start: int
    end: int
    ended: float


STANDS = PairScores(changed=0.0)
