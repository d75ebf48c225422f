"""A statement that arbitration weighs: a memory, or what would become one (api.md, *Arbitration*: `M`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

from recollect.domain.errors import InvalidInput
from recollect.domain.event import Source

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
    """One side of a conflict.

    `embedding` is (dimension,), of any length; None: no vector is known. `importance` lies in [0, 1]. `source` may be
    a word that no rule knows; None is such a one too. `persona_id` None is the default persona.
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
    """How far a source is trusted, 0 to 1: user 1, conversation 0.8, skill 0.6, system 0.4, inferred 0.2 (A-81).

    An unknown one ranks last, at 0.
    """
    return _TRUST.get(source or "", 0.0)


def similarity(a: Vector | None, b: Vector | None) -> float | None:
    """Cosine of two vectors, -1 to 1; None where one is missing or has no length (A-71).

    Each is scaled by its largest number first, so that no square is lost or overflows. Raises InvalidInput on vectors
    of unlike length, which cannot be of one embedder.
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
