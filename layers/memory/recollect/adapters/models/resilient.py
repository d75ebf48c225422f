"""Providers in order: each is tried a few times, then the next, all within the time of the request.

The class of an error decides: transient ones (Throttled, Unavailable, OutOfTime, an answer that broke off) are retried;
UpstreamFailed, which would repeat, goes to the next provider at once (H-27, H-30). A provider that failed several times
in a row gets no call for a while: its circuit breaker is open. `ExtractiveModel` is the provider without a model.
"""

import json
import logging
import random
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from recollect.context.extractive_answer import answer_from
from recollect.context.model_call import ModelAnswer, ModelRequest, Task
from recollect.core.errors import CutAnswer, NotReady, OutOfTime, RecollectError, Throttled, Unavailable, UpstreamFailed
from recollect.core.event import QUOTING_MODEL
from recollect.ports import Model

_LOG = logging.getLogger(__name__)
_LEAST_SECONDS = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class BreakerPolicy:
    """Opens after `failures` in a row (≥ 1); after `cool_down_seconds` it admits one trial."""

    failures: int = 5
    cool_down_seconds: float = 30.0


class CircuitBreaker:
    """Closed: calls pass. Open: none does until the cool-down is over; then one trial, whose end decides.

    A trial begins the cool-down anew, so that one that never ends blocks the provider for another cool-down at most.
    `clock` is in monotonic seconds. Safe to share between threads.
    """

    def __init__(self, policy: BreakerPolicy, clock: Callable[[], float]) -> None:
        self._policy, self._clock = policy, clock
        self._lock = threading.Lock()
        self._failures = 0
        self._opened_at: float | None = None

    @property
    def seconds_closed_off(self) -> float:
        """Seconds until a call passes; 0 where one passes now."""
        opened_at = self._opened_at
        return 0.0 if opened_at is None else max(0.0, opened_at + self._policy.cool_down_seconds - self._clock())

    @property
    def is_open(self) -> bool:
        """Whether at most a trial passes."""
        return self._opened_at is not None

    def admits(self) -> bool:
        """Whether a call may be made now; after the cool-down this takes the trial."""
        with self._lock:
            if self._opened_at is None:
                return True
            if self.seconds_closed_off > 0:
                return False
            self._opened_at = self._clock()
            return True

    def succeeded(self) -> None:
        """The provider answered."""
        with self._lock:
            self._failures, self._opened_at = 0, None

    def failed(self) -> None:
        """The provider did not answer, or throttled."""
        with self._lock:
            self._failures += 1
            if self._failures >= self._policy.failures:
                self._opened_at = self._clock()


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """How often each provider is tried (`attempts` ≥ 1), how long one attempt may take, and the pauses between.

    A pause is a random part of one that doubles from `base_seconds` to `cap_seconds`, and at least what the provider
    asks for. Where there is another provider, a longer wait than `patience_seconds` is not made.
    """

    attempts: int = 3
    attempt_seconds: float = 30.0
    base_seconds: float = 0.25
    cap_seconds: float = 4.0
    patience_seconds: float = 3.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """Time and chance as arguments: monotonic seconds, sleeping, and a number from 0 to 1."""

    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], object] = time.sleep
    random: Callable[[], float] = random.random


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """A model with its breaker; `least_seconds` are reserved for it while earlier ones are tried."""

    model: Model
    breaker: CircuitBreaker
    least_seconds: float = 5.0


class ResilientModel:
    """The first provider that answers, answers. Safe to share between threads."""

    def __init__(self, providers: Sequence[Provider], retries: RetryPolicy, timing: Timing) -> None:
        """Raises ValueError without a provider."""
        if not providers:
            raise ValueError("no provider")
        self._providers, self._retries, self._timing = tuple(providers), retries, timing

    @property
    def name(self) -> str:
        return ", ".join(provider.model.name for provider in self._providers)

    @property
    def state(self) -> str:
        """The providers in order, with those whose breaker is open."""
        return ", ".join(_state_of(provider) for provider in self._providers)

    def generate(self, request: ModelRequest) -> ModelAnswer:
        """The first answer, by whichever provider; `model` names it.

        Raises the last provider's last error, Unavailable where all breakers are open, OutOfTime after `seconds`.
        """
        until = self._timing.clock() + request.seconds
        last: RecollectError = Unavailable("each model failed too often of late and is left alone for a while")
        for position in range(len(self._providers)):
            call = _Call(self._retries, self._timing, self._providers[position], self._until(position, until))
            answer = call.made(request, alone=position + 1 == len(self._providers))
            if answer is not None:
                return answer
            last = call.error or last
        raise last

    def _until(self, position: int, until: float) -> float:
        """The end of this provider's time: the later ones' least seconds are reserved, or a fair share for each."""
        later = self._providers[position + 1 :]
        left = until - self._timing.clock()
        reserved = sum(provider.least_seconds for provider in later)
        return self._timing.clock() + max(left - reserved, left / (len(later) + 1))


class _Call:
    """The attempts with one provider. `error` is the last one's."""

    def __init__(self, retries: RetryPolicy, timing: Timing, provider: Provider, until: float) -> None:
        self._retries, self._timing, self._provider, self._until = retries, timing, provider, until
        self.error: RecollectError | None = None

    def made(self, request: ModelRequest, *, alone: bool) -> ModelAnswer | None:
        """The answer; None where every attempt failed. `alone`: no other provider is left."""
        for attempt in range(1, self._retries.attempts + 1):
            if self._left < _LEAST_SECONDS:
                self.error = self.error or OutOfTime("no time was left for the model")
                return None
            if not self._provider.breaker.admits():
                return None
            answer = self._attempt(request, attempt)
            if answer is not None or attempt == self._retries.attempts or not self._paused(attempt, alone):
                return answer
        return None

    @property
    def _left(self) -> float:
        return self._until - self._timing.clock()

    def _attempt(self, request: ModelRequest, attempt: int) -> ModelAnswer | None:
        began = self._timing.clock()
        try:
            seconds = min(self._left, self._retries.attempt_seconds)
            answer = self._provider.model.generate(replace(request, seconds=seconds))
        except (Unavailable, UpstreamFailed) as error:
            self.error = error
            self._count(error)
            self._log(error, attempt, self._timing.clock() - began)
            return None
        self._provider.breaker.succeeded()
        return answer

    def _count(self, error: RecollectError) -> None:
        """A refusal is an answer: the provider works, and may accept the next request."""
        if _transient(error):
            self._provider.breaker.failed()
        else:
            self._provider.breaker.succeeded()

    def _log(self, error: RecollectError, attempt: int, seconds: float) -> None:
        fields = {"provider": self._provider.model.name, "kind": type(error).__name__, "attempt": attempt}
        _LOG.warning("a model failed", extra={**fields, "duration_ms": round(seconds * 1000, 1)})

    def _paused(self, attempt: int, alone: bool) -> bool:
        """Waits before the next attempt; False where none should follow: it would fail again, or there is no time."""
        if not _transient(self.error):
            return False
        asked = (self.error.retry_after_seconds or 0.0) if isinstance(self.error, Throttled) else 0.0
        doubled = self._retries.base_seconds * 2.0 ** (attempt - 1)
        pause = max(asked, self._timing.random() * min(self._retries.cap_seconds, doubled))
        if pause > self._left - _LEAST_SECONDS or (not alone and pause > self._retries.patience_seconds):
            return False
        self._timing.sleep(pause)
        return True


def _transient(error: RecollectError | None) -> bool:
    return isinstance(error, Unavailable | CutAnswer) and not isinstance(error, NotReady)


def _state_of(provider: Provider) -> str:
    if not provider.breaker.is_open:
        return provider.model.name
    seconds = provider.breaker.seconds_closed_off
    return f"{provider.model.name} (failed too often; tried again in {seconds:.0f} s)"


def resilient(
    models: Sequence[tuple[Model, float]], retries: RetryPolicy, timing: Timing | None = None
) -> ResilientModel:
    """Models in order, each with the least seconds it needs, behind breakers of the default policy."""
    chosen = timing or Timing()
    providers = [
        Provider(model=model, breaker=CircuitBreaker(BreakerPolicy(), chosen.clock), least_seconds=least)
        for model, least in models
    ]
    return ResilientModel(providers, retries, chosen)


class ExtractiveModel:
    """Deterministic and immediate; it reads the request's evidence and the user's input, no message."""

    @property
    def name(self) -> str:
        return QUOTING_MODEL

    def generate(self, request: ModelRequest) -> ModelAnswer:
        """Quotes (`converse`) or a summary (`summarize`), of at most `max_words` words; raises nothing."""
        if request.task is Task.SUMMARIZE:
            return ModelAnswer(text=_summary(request), model=self.name)
        return ModelAnswer(text=answer_from(request.evidence, request.user_input, request.max_words), model=self.name)


def _summary(request: ModelRequest) -> str:
    """The JSON that a model is asked for: summary and tracked goals; the text alone where no JSON is asked for."""
    from recollect.summaries.extractive import extract_goals, extractive_summary

    summary = extractive_summary(request.evidence, None, request.max_words)
    if not request.json_answer:
        return summary
    return json.dumps({"summary": summary, "tracked_goals": extract_goals(request.evidence)}, ensure_ascii=False)
