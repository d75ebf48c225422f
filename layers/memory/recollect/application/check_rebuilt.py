"""Whether an index that was just built shows what was put there: by count, and by a sample that is searched for."""

from dataclasses import dataclass
from datetime import datetime

from recollect.domain.embedding import FloatArray, cosine
from recollect.domain.event import EventRef
from recollect.domain.filters import SearchFilters
from recollect.domain.nomination import NominationRequest
from recollect.domain.scope import Scope
from recollect.ports import SearchIndex

_ALIKE = 0.99
_NEAREST = 5


@dataclass(frozen=True, slots=True)
class Sample:
    """A record whose document was put, with its vector."""

    ref: EventRef
    vector: FloatArray


@dataclass(frozen=True, slots=True)
class Checked:
    """`whole`: nothing is missing. `too_many`: there are documents of what is not, or of what came meanwhile."""

    whole: bool
    too_many: bool


class CheckRebuilt:
    """Of one user, after the last page was shown."""

    def __init__(self, index: SearchIndex) -> None:
        self._index = index

    def __call__(self, scope: Scope, documents: int, sample: Sample | None, now: datetime) -> Checked:
        """`documents` is how many were put; the sample must be among what is nearest to its own vector."""
        shown = self._index.count(scope).documents
        found = sample is None or self._is_found(scope, sample, now)
        return Checked(whole=shown >= documents and found, too_many=shown > documents)

    def _is_found(self, scope: Scope, sample: Sample, now: datetime) -> bool:
        """As near counts, too: several records may have one text."""
        filters = SearchFilters(now=now, include_superseded=True)
        nominations = self._index.nominate(
            scope, NominationRequest(filters=filters, limit=_NEAREST, vector=sample.vector)
        )
        return any(
            hit.ref == sample.ref or (hit.vector is not None and cosine(hit.vector, sample.vector) >= _ALIKE)
            for hit in nominations.hits
        )
