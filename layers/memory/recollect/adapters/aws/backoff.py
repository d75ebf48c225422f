"""How often and how long we wait before trying again what was throttled or in another's way."""

import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Backoff:
    """`tries` in all; before each but the first a random part of a pause that doubles from `base` to `cap` seconds."""

    tries: int = 8
    base_seconds: float = 0.02
    cap_seconds: float = 0.32
    sleep: Callable[[float], object] = time.sleep

    def attempts(self) -> Iterator[int]:
        """Counts the tries from 0 and sleeps between them."""
        for attempt in range(self.tries):
            if attempt:
                self.sleep(self._pause(attempt))
            yield attempt

    def _pause(self, attempt: int) -> float:
        longest = min(self.cap_seconds, self.base_seconds * 2 ** (attempt - 1))
        return random.uniform(longest / 4, longest)  # noqa: S311 - spreads tries, guards nothing


DEFAULT_BACKOFF = Backoff()
