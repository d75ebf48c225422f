"""The parts of one scheduled run, one after another: a part that fails stops none of the others."""

import logging
from collections.abc import Callable
from typing import TypeVar

from recollect.projection.attempt import raised_at

T = TypeVar("T")

_LOG = logging.getLogger(__name__)


class InTurn:
    """Runs parts, and keeps the first error until all have had their turn: then the run counts as failed."""

    def __init__(self) -> None:
        self._first: Exception | None = None
        self.failed = 0

    def part(self, name: str, call: Callable[[], T]) -> T | None:
        """What the call returns; None where it raised, which is logged by class and place: a message may quote."""
        try:
            return call()
        except Exception as error:  # noqa: BLE001 - a defect of one part must not end the run of the others
            self._first = self._first or error
            self.failed += 1
            fields = {"part": name, "error": type(error).__name__, "at": raised_at(error)}
            _LOG.error("a part of a scheduled run failed", extra=fields)
            return None

    def end(self) -> None:
        """Raises the first error, where a part failed."""
        if self._first is not None:
            raise self._first
