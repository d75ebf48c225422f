"""What stands in the headers of a request; which version of an object it is about, the request itself says.

- `X-Recollect-Now`: the time of a request, where `RECOLLECT_TEST_CLOCK` allows it (`docs/settings.md`).
- `Idempotency-Key`: the same key and body give the same answer, for a day (`docs/memories.md`, *Said twice*).
"""

import hashlib
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from recollect.app import App
from recollect.core.errors import InvalidInput, RecollectError
from recollect.core.idempotency import KEPT_FOR, IdempotencyClaim, Replay
from recollect.core.ids import IdSeed, id_fault
from recollect.core.time import parse_instant, utc_now
from recollect.entrypoints.http.messages import NO_HEADERS, Reply, Request
from recollect.entrypoints.http.models import AnswerModel
from recollect.ports import IdempotencyStore
from recollect.settings import Settings
from recollect.timeline.record import body_hash

HEADER = "X-Recollect-Now"


def now_of(headers: Mapping[str, str], settings: Settings) -> datetime:
    """The real time; the header's, where the test clock is on. Raises InvalidInput for one that is no time."""
    given = headers.get(HEADER.lower()) if settings.test_clock else None
    if given is None:
        return utc_now()
    try:
        return parse_instant(given)
    except InvalidInput as error:
        raise InvalidInput(str(error), ("header", HEADER)) from None


def countdown(seconds: float) -> Callable[[], float]:
    """A function that says how many of so many seconds, from now on, are left; below 0 when they are over."""
    over = time.monotonic() + seconds
    return lambda: over - time.monotonic()


@dataclass(frozen=True, slots=True)
class Answer:
    """A status and a body without text, and whether it is a replay of the first one.

    `made` is what the body tells of, where it was made now; no record holds it, so a replay has None, and no `trace`:
    that of the ids that were made (`core.ids.trace_of`).
    """

    status: int
    body: dict[str, Any]
    made: Any = None
    replayed: bool = False
    trace: str | None = None

    @property
    def headers(self) -> Mapping[str, str]:
        """The header of a replayed answer."""
        return REPLAYED if self.replayed else NO_HEADERS

    def reply(self, shown: AnswerModel, log: Mapping[str, Any], headers: Mapping[str, str] = NO_HEADERS) -> Reply:
        """The reply that shows this."""
        return Reply(
            self.status, shown, {**headers, **self.headers}, log={**log, "replayed": self.replayed}, trace=self.trace
        )


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


KEY = "Idempotency-Key"
REPLAYED: Mapping[str, str] = {"Idempotent-Replayed": "true"}


@dataclass(frozen=True, slots=True)
class GivenKey:
    """An idempotency key that a body has, any text, and what makes it the same request."""

    text: str
    sent: bytes


@dataclass(frozen=True, slots=True)
class Attempt:
    """One try of some work: the seed of its ids, and whether an earlier try of the same key may have done a part."""

    seed: IdSeed
    again: bool


def idempotent(
    app: App,
    request: Request,
    work: Callable[[Attempt], Answer],
    *,
    ids: int = 1,
    about: object = None,
    key: GivenKey | None = None,
) -> Answer:
    """Works once for a key: the answer of the first time, `replayed`, where the request has come before.

    The record of it holds what `work` answers, which must be ids and statuses, no text. `ids` is how many ids the work
    makes; `about` is what, besides route, key and body, makes it another request. `key` is one that stands elsewhere
    than in the header.

    Raises InvalidInput for a key that is no id, InFlight, KeyReused, and what `work` raises.
    """
    fresh = new_seed(app, ids)

    def run(seed: IdSeed) -> Answer:
        return replace(work(Attempt(seed, seed != fresh)), trace=seed.trace)

    claim = _claim_of(request, key or _key_in_header(request), about, fresh)
    return run_once(app.parts.idempotency, claim, run) if claim else run(fresh)


def new_seed(app: App, ids: int = 1) -> IdSeed:
    """A seed for so many ids of this moment."""
    return app.ids.seed(int(time.time() * 1000), ids)


def _key_in_header(request: Request) -> GivenKey | None:
    """Raises InvalidInput for one that is no id."""
    key = request.call.headers.get(KEY.lower())
    fault = None if key is None else id_fault(key)
    if fault is not None:
        raise InvalidInput(fault, ("header", KEY))
    return None if key is None else GivenKey(key, request.call.body)


def _claim_of(request: Request, key: GivenKey | None, about: object, seed: IdSeed) -> IdempotencyClaim | None:
    """The request's claim to its key; None without one.

    Key and route are hashed with the tenant; the claim lapses when this call's own time is over.
    """
    if key is None:
        return None
    named = json.dumps([request.principal.tenant, request.route, about, key.text]).encode()
    return IdempotencyClaim(
        key_hash=hashlib.sha256(named).hexdigest(),
        body_hash=body_hash(key.sent),
        seed=seed,
        now=request.now,
        lapses_at=request.now + timedelta(seconds=request.call.remaining_seconds),
        expires_at=request.now + KEPT_FOR,
    )
