"""Which existing memories a candidate may contradict: four signals and their sum (A-69 to A-75, P-11).

A signal's score is 0 to 1: `semantic` the cosine, `keyword` the overlap ratio, `time` 1 at the same instant and 0 at
the window's edge, `importance` the difference. A conflict's severity is their sum. Only a pair with a content signal is
arbitrated: two unrelated facts said within five minutes are no conflict.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

from recollect.core.errors import InvalidInput
from recollect.core.event import Source
from recollect.rules.groups import ConflictRules
from recollect.rules.values import TOLERANCE, Number, option

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector: TypeAlias = NDArray[np.float64]
else:
    Vector = Any

_TRUST: Mapping[str, float] = MappingProxyType(
    {source.value: 1 - position / len(Source) for position, source in enumerate(Source)}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """One side of a conflict: a memory, or a draft of one (`docs/arbitration.md`).

    `embedding` is (dimension,), of any length; None: unknown. `importance` lies in [0, 1]. `source` may be a word that
    no rule knows, or None. `persona_id` None is the default persona.
    """

    id: str
    user_id: str
    content: str
    embedding: Vector | None = field(default=None, compare=False)
    importance: float
    timestamp: datetime
    source: str | None = None
    keywords: tuple[str, ...] = ()
    persona_id: str | None = None


def trust(source: str | None) -> float:
    """The trust in a source: user 1, conversation 0.8, skill 0.6, system 0.4, inferred 0.2, unknown 0 (A-81)."""
    return _TRUST.get(source or "", 0.0)


def similarity(a: Vector | None, b: Vector | None) -> float | None:
    """Cosine of two vectors, -1 to 1; None where one is missing or zero (A-71).

    Each is scaled by its largest number first, so that no square underflows or overflows. Raises InvalidInput on
    vectors of different length: they are of different embedders.
    """
    if a is None or b is None:
        return None
    if a.shape != b.shape:
        raise InvalidInput("its vector and the candidate's are of unlike length", ("embedding",))
    direction_a, direction_b = _direction(a), _direction(b)
    if direction_a is None or direction_b is None:
        return None
    return min(1.0, max(-1.0, float(direction_a @ direction_b)))


def _direction(vector: Vector) -> Vector | None:
    import numpy as np

    numbers = np.asarray(vector, dtype=np.float64)
    largest = float(np.abs(numbers).max(initial=0.0))
    if largest == 0.0:
        return None
    scaled = numbers / largest
    return scaled / np.linalg.norm(scaled)


_YEAR_MS = 366 * 24 * 3600 * 1000
_MICROSECOND = timedelta(microseconds=1)


class SignalType(StrEnum):
    """What a signal compares."""

    SEMANTIC = "semantic"
    KEYWORD = "keyword"
    TIME = "time"
    IMPORTANCE = "importance"


_CONTENT = (SignalType.SEMANTIC, SignalType.KEYWORD)


@dataclass(frozen=True, slots=True)
class DetectionOptions:
    """The thresholds of the signals (A-70 to A-74), exclusive; the time window's edge is inclusive (P-11)."""

    semantic_threshold: float = option(Number(0, 1), 0.8, "Cosine above which two statements are alike")
    keyword_threshold: float = option(Number(0, 1), 0.5, "Share of common keywords above which they are")
    time_window_ms: int = option(
        Number(0, _YEAR_MS, whole=True), 300_000, "Distance in ms within which they are close, before or after"
    )
    importance_delta: float = option(Number(0, 1), 0.4, "Difference in importance above which they differ")


@dataclass(frozen=True, slots=True)
class Signal:
    """One signal: `score` 0 to 1, `details` in the names that the HTTP API gives them."""

    type: SignalType
    score: float
    details: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Conflict:
    """An existing memory with its signals, at least one."""

    existing: Statement
    signals: tuple[Signal, ...]

    @property
    def severity(self) -> float:
        """The sum of the signals' scores (A-89)."""
        return sum(signal.score for signal in self.signals)

    @property
    def is_about_content(self) -> bool:
        """Whether both are about the same thing, so that one may supersede the other (P-11)."""
        return any(signal.type in _CONTENT for signal in self.signals)


def detection_options(rules: ConflictRules) -> DetectionOptions:
    """The thresholds of a tenant's rules."""
    return DetectionOptions(
        rules.semantic_threshold, rules.keyword_threshold, rules.time_window_ms, rules.importance_delta
    )


def detect(candidate: Statement, existing: Sequence[Statement], options: DetectionOptions) -> tuple[Conflict, ...]:
    """The existing memories of the same user with a signal, in their order (A-69, A-75); never the candidate itself.

    Raises InvalidInput, with `loc` from "existing" on, where a vector's length is not the candidate's.
    """
    found = (
        Conflict(one, _signals(candidate, one, position, options))
        for position, one in enumerate(existing)
        if one.user_id == candidate.user_id and one.id != candidate.id
    )
    return tuple(conflict for conflict in found if conflict.signals)


def most_severe(conflicts: Iterable[Conflict]) -> Conflict | None:
    """The content conflict of the highest severity, of equals the first (A-89); None without any."""
    worst: Conflict | None = None
    for conflict in conflicts:
        if conflict.is_about_content and (worst is None or conflict.severity > worst.severity + TOLERANCE):
            worst = conflict
    return worst


def _signals(candidate: Statement, existing: Statement, position: int, options: DetectionOptions) -> tuple[Signal, ...]:
    signals = (
        _semantic(candidate, existing, position, options),
        _keyword(candidate, existing, options),
        _time(candidate, existing, options),
        _importance(candidate, existing, options),
    )
    return tuple(signal for signal in signals if signal is not None)


def _semantic(candidate: Statement, existing: Statement, position: int, options: DetectionOptions) -> Signal | None:
    try:
        score = similarity(candidate.embedding, existing.embedding)
    except InvalidInput as error:
        raise InvalidInput(str(error), ("existing", position, *error.loc)) from None
    if score is None or score <= options.semantic_threshold + TOLERANCE:
        return None
    return Signal(SignalType.SEMANTIC, score, {"memory_id": existing.id})


def _keyword(candidate: Statement, existing: Statement, options: DetectionOptions) -> Signal | None:
    """The ratio is size(A∩B) / min(size A, size B) of the keywords, folded and each counted once (A-72)."""
    ours, theirs = _normalised(candidate.keywords), _normalised(existing.keywords)
    common = [keyword for keyword in ours if keyword in theirs]
    ratio = len(common) / min(len(ours), len(theirs)) if common else 0.0
    if ratio <= options.keyword_threshold + TOLERANCE:
        return None
    return Signal(SignalType.KEYWORD, ratio, {"keywords": common})


def _normalised(keywords: Iterable[str]) -> dict[str, None]:
    return dict.fromkeys(keyword.casefold() for keyword in keywords)


def _time(candidate: Statement, existing: Statement, options: DetectionOptions) -> Signal | None:
    apart = abs(candidate.timestamp - existing.timestamp) // _MICROSECOND
    window = options.time_window_ms * 1000
    if apart > window:
        return None
    whole, part = divmod(apart, 1000)
    details = {"deltaMs": apart / 1000 if part else whole, "windowMs": options.time_window_ms}
    return Signal(SignalType.TIME, 1 - apart / window if window else 1.0, details)


def _importance(candidate: Statement, existing: Statement, options: DetectionOptions) -> Signal | None:
    delta = abs(candidate.importance - existing.importance)
    if delta <= options.importance_delta + TOLERANCE:
        return None
    return Signal(SignalType.IMPORTANCE, delta, {"delta": delta})
