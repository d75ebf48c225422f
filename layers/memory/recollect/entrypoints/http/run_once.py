"""Idempotency: the same key and body give the same answer, also after a crash half-way."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from recollect.core.errors import RecollectError
from recollect.core.idempotency import IdempotencyClaim, Replay
from recollect.core.ids import IdSeed
from recollect.ports import IdempotencyStore


@dataclass(frozen=True, slots=True)
class Answer:
    """A status and a body without text, and whether it is a replay of the first one."""

    status: int
    body: dict[str, Any]
    replayed: bool = False


def run_once(store: IdempotencyStore, claim: IdempotencyClaim, work: Callable[[IdSeed], Answer]) -> Answer:
    """Claims the key, works, keeps the answer. A failure is not kept: the retry goes on with the same ids.

    Raises InFlight, KeyReused, and what `work` raises.
    """
    outcome = store.claim(claim)
    if isinstance(outcome, Replay):
        return Answer(outcome.status, dict(outcome.body), replayed=True)
    try:
        answer = work(outcome.seed)
    except RecollectError:
        store.release(claim)
        raise
    store.complete(claim, answer.status, answer.body)
    return answer
