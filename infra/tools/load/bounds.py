"""How much load: every number of a run has a largest value, which no option lifts."""

from dataclasses import dataclass, fields

LARGEST = {"rate_per_second": 200, "seconds": 300, "users": 100, "concurrency": 32, "patience_seconds": 600}
"""With these a run is 60,000 requests at most."""


class OutOfBounds(Exception):
    """A number of the run is too small or too large."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """Requests a second, for how long, of how many users, how many at once at most; how long the backlog may take.

    Raises OutOfBounds.
    """

    rate_per_second: int
    seconds: int
    users: int
    concurrency: int
    patience_seconds: int

    def __post_init__(self) -> None:
        for one in fields(self):
            value = getattr(self, one.name)
            if not 1 <= value <= LARGEST[one.name]:
                raise OutOfBounds(f"{one.name} is {value}; it may be 1 to {LARGEST[one.name]}")

    @property
    def requests(self) -> int:
        """How many requests the run makes."""
        return self.rate_per_second * self.seconds
