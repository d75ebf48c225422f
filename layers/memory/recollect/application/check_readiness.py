"""Readiness: whether each part answers, and what it says of itself (A-35, A-56)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from recollect.domain.errors import RecollectError


@dataclass(frozen=True, slots=True)
class PartState:
    """One part: ready or not, and a line about it."""

    ready: bool
    detail: str
    pending: int | None = None


@dataclass(frozen=True, slots=True)
class Readiness:
    """All parts by name; ready when every one is."""

    parts: Mapping[str, PartState]

    @property
    def ready(self) -> bool:
        """Whether queries and writes are fully served."""
        return all(part.ready for part in self.parts.values())


class CheckReadiness:
    """Asks each part; one that raises is not ready, and its error's sentence says why."""

    def __init__(self, checks: Mapping[str, Callable[[], PartState]]) -> None:
        self._checks = checks

    def __call__(self) -> Readiness:
        """The state of all parts now."""
        return Readiness({name: self._state(check) for name, check in self._checks.items()})

    @staticmethod
    def _state(check: Callable[[], PartState]) -> PartState:
        try:
            return check()
        except RecollectError as error:
            return PartState(False, str(error))
