"""What was asked of a deployment, by tenant and day: the counts that an estimate of its cost multiplies.

Use cases count, so that it is all the same through which door a request came: HTTP, MCP, the command line, a schedule.
Counts stand in the process and are written now and then: what a process had not written when it was killed is lost. A
count says how much of what, and of a language model its name; whose words they were it never says.
"""

from __future__ import annotations

import logging
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from threading import Lock
from typing import TYPE_CHECKING, Final, TypeAlias

from recollect.core.errors import RecollectError
from recollect.core.event import QUOTING_MODEL

if TYPE_CHECKING:
    from recollect.context.model_call import ModelAnswer, ModelRequest
    from recollect.ports import Model, UsageCounts

MESSAGE, SEARCH, CONTEXT, TURN = "message", "search", "context", "turn"
KINDS: Final = (MESSAGE, SEARCH, CONTEXT, TURN)

_CALLS, _INPUT, _OUTPUT = "calls ", "input ", "output "
_MOST_KEPT = 10_000
_LOG = logging.getLogger(__name__)

Counted: TypeAlias = Callable[[str, int], None]
"""Counts so many more of its kind for a tenant."""


def uncounted(_tenant: str, _number: int) -> None:
    """Counts nothing: for what is a part of something that is counted as a whole."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelUsage:
    """What a language model was asked; tokens as far as its provider says how many there were."""

    model: str
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Used:
    """Counts by kind, all kinds, and by language model."""

    counts: Mapping[str, int]
    models: tuple[ModelUsage, ...]


@dataclass(frozen=True, slots=True)
class UsageReport:
    """`since` is the first day with a count, None before it; `month` the sum of the month that holds the day asked."""

    since: date | None
    month: Used
    whole: Used


@dataclass(eq=False)
class CountUsage:
    """Counts of this process that are not written yet, and the store of those of all.

    `clock` is the real time. `write_due` writes at most once in `pause`, unless a thread does it (`in_background`).
    """

    _store: Callable[[], UsageCounts]
    _clock: Callable[[], datetime]
    pause: timedelta = timedelta(seconds=60)
    in_background: bool = False
    _lock: Lock = field(default_factory=Lock, init=False)
    _kept: dict[tuple[str, date], Counter[str]] = field(default_factory=lambda: defaultdict(Counter), init=False)
    _written_at: datetime | None = field(default=None, init=False)

    def of(self, kind: str) -> Counted:
        """Counts things of this kind."""
        return lambda tenant, number: self._count(tenant, {kind: number})

    def answered(self, tenant: str, answer: ModelAnswer) -> None:
        """Counts a language model's answer; not the quotations of the provider without a model."""
        if answer.model != QUOTING_MODEL:
            tokens = {_INPUT: answer.input_tokens or 0, _OUTPUT: answer.output_tokens or 0}
            self._count(tenant, {f"{what}{answer.model}": count for what, count in {_CALLS: 1, **tokens}.items()})

    def write_due(self) -> None:
        """After a request: writes what waits, where nobody else does and this process has not for a while."""
        due = self._written_at is None or self._clock() - self._written_at >= self.pause
        if self._kept and due and not self.in_background:
            self.write_quietly()

    def write_quietly(self) -> None:
        """As `write`; what cannot be written now waits for the next time."""
        try:
            self.write()
        except RecollectError as error:
            _LOG.warning("usage could not be written", extra={"error": type(error).__name__})

    def write(self) -> int:
        """Writes all that waits: one write for each tenant and day; answers how many.

        Raises what `UsageCounts.add` raises, with the rest kept; a write whose answer is lost is written twice.
        """
        self._written_at = self._clock()
        written = 0
        while (taken := self._taken()) is not None:
            (tenant, day), counts = taken
            try:
                self._store().add(tenant, day, counts)
            except Exception:
                self._keep(tenant, day, counts)
                raise
            written += 1
        return written

    def report(self, tenant: str, now: datetime) -> UsageReport:
        """This tenant's alone; of other processes what they have written. Raises as `UsageCounts.days`."""
        self.write_quietly()
        days = self._store().days(tenant)
        of_month = {day: counts for day, counts in days.items() if (day.year, day.month) == (now.year, now.month)}
        return UsageReport(min(days, default=None), _used(of_month), _used(days))

    def _count(self, tenant: str, counts: Mapping[str, int]) -> None:
        some = {name: count for name, count in counts.items() if count}
        if some and tenant:  # a warm-up is nobody's, whose tenant is empty
            self._keep(tenant, self._clock().date(), some)

    def _keep(self, tenant: str, day: date, counts: Mapping[str, int]) -> None:
        with self._lock:
            if len(self._kept) < _MOST_KEPT or (tenant, day) in self._kept:
                self._kept[tenant, day].update(counts)

    def _taken(self) -> tuple[tuple[str, date], Counter[str]] | None:
        with self._lock:
            return self._kept.popitem() if self._kept else None


@dataclass(frozen=True, slots=True)
class CountedModel:
    """A language model whose answers are counted for the tenant that a request names."""

    _model: Model
    _usage: CountUsage

    @property
    def name(self) -> str:
        return self._model.name

    def generate(self, request: ModelRequest) -> ModelAnswer:
        """As the model does."""
        answer = self._model.generate(request)
        self._usage.answered(request.tenant, answer)
        return answer


def _used(days: Mapping[date, Mapping[str, int]]) -> Used:
    total: Counter[str] = Counter()
    for counts in days.values():
        total.update(counts)
    names = sorted(name.removeprefix(_CALLS) for name in total if name.startswith(_CALLS))
    models = [
        ModelUsage(
            model=name,
            calls=total[_CALLS + name],
            input_tokens=total[_INPUT + name],
            output_tokens=total[_OUTPUT + name],
        )
        for name in names
    ]
    return Used({kind: total[kind] for kind in KINDS}, tuple(models))
