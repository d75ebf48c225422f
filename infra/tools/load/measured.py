"""What came of a run, as figures and as lines."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

PERCENTILES = (50, 95, 99)


@dataclass(frozen=True, slots=True)
class Answered:
    """One request's end: a status, or the class of the error where none came; seconds since it was due."""

    kind: str
    outcome: str
    seconds: float

    @property
    def is_good(self) -> bool:
        """Whether it is a status of 2xx."""
        return self.outcome.startswith("2") and len(self.outcome) == 3


@dataclass(frozen=True, slots=True)
class Backlog:
    """What waited to be projected when the last request was answered, and for how many seconds more some of it did.

    `left` is what still waits when the patience ends.
    """

    pending: int
    seconds: float
    left: int


def percentile(values: Sequence[float], percent: int) -> float:
    """The smallest value that so many percent do not exceed (nearest rank). Raises ValueError where there is none."""
    if not values:
        raise ValueError("no values")
    rank = -(-len(values) * percent // 100)
    return sorted(values)[max(rank, 1) - 1]


def lines(answered: Iterable[Answered], seconds: float, backlog: Backlog) -> list[str]:
    """The report: by kind, then everything that was no 2xx, then the backlog."""
    known = list(answered)
    kinds = sorted({one.kind for one in known})
    rate = len(known) / seconds if seconds else 0.0
    head = f"{len(known)} requests in {seconds:.1f} s, {rate:.1f} a second"
    return [head, *(_of_kind(kind, known) for kind in kinds), *_errors(known), _of_backlog(backlog)]


def _of_kind(kind: str, answered: Sequence[Answered]) -> str:
    """Of answers of 2xx: one that fails is often a quick one."""
    good = [one.seconds for one in answered if one.kind == kind and one.is_good]
    shown = "  ".join(f"p{p} {percentile(good, p) * 1000:.0f} ms" for p in PERCENTILES) if good else "no answer"
    return f"{kind:8} {len(good):6} answered  {shown}"


def _errors(answered: Sequence[Answered]) -> list[str]:
    failed = Counter((one.outcome, one.kind) for one in answered if not one.is_good)
    return [f"error {outcome} {count} times ({kind})" for (outcome, kind), count in sorted(failed.items())] or [
        "no errors"
    ]


def _of_backlog(backlog: Backlog) -> str:
    waited = f"backlog {backlog.pending} events when the load ended"
    if backlog.left:
        return f"{waited}, {backlog.left} still not projected {backlog.seconds:.1f} s later"
    return f"{waited}, projected {backlog.seconds:.1f} s later"
