"""When a call is made again: only what has no effect or carries an idempotency key, and a bounded number of times."""

import random
from dataclasses import dataclass

import httpx

from recollect.client.answers import retry_after_seconds
from recollect.client.calls import Call

_PASSING = frozenset({429, 502, 503, 504})
_IN_FLIGHT = 409


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """`tries` counts the first. Pauses double from `first_pause_seconds`, half of each at random.

    The server's `Retry-After` stands for the pause; where it is longer than `longest_pause_seconds`, the error is
    raised at once.
    """

    tries: int = 4
    first_pause_seconds: float = 0.2
    longest_pause_seconds: float = 10.0

    def pause_after_failure(self, attempt: int) -> float | None:
        """Seconds to wait after no answer came to try number `attempt` (from 1); None: give up."""
        return self._pause(attempt) if attempt < self.tries else None

    def pause_after(self, call: Call, response: httpx.Response, attempt: int) -> float | None:
        """Seconds to wait before the next try; None where the answer stands."""
        wished = retry_after_seconds(response)
        if attempt >= self.tries or not _may_pass(call, response, wished):
            return None
        pause = self._pause(attempt) if wished is None else wished
        return pause if pause <= self.longest_pause_seconds else None

    def _pause(self, attempt: int) -> float:
        whole: float = min(self.first_pause_seconds * 2 ** (attempt - 1), self.longest_pause_seconds)
        return whole / 2 + random.uniform(0, whole / 2)  # noqa: S311 - spreads retries, guards nothing


NO_RETRIES = RetryPolicy(tries=1)
DEFAULT_RETRIES = RetryPolicy()


def _may_pass(call: Call, response: httpx.Response, wished: float | None) -> bool:
    """A conflict passes only where the server says when: then the same key is being worked on."""
    if call.not_ready_is_an_answer and response.status_code == 503:
        return False
    return response.status_code in _PASSING or (response.status_code == _IN_FLIGHT and wished is not None)
