"""The privacy filter: what no scorer, result or log ever sees (R-39 to R-42, P-17)."""

from collections.abc import Iterable
from dataclasses import dataclass

from recollect.domain.filters import DropReason
from recollect.domain.retrieval_record import RetrievalRecord


@dataclass(frozen=True, slots=True)
class PrivacyFilter:
    """Leaves out deleted and private records, and those of spaces that are not allowed.

    `allowed_spaces` None allows all: nobody said which space is active. With any, a record without a space is left out.
    """

    allowed_spaces: frozenset[str] | None = None

    def filter(self, records: Iterable[RetrievalRecord]) -> list[RetrievalRecord]:
        """The allowed ones, in order."""
        return [record for record in records if self.is_allowed(record)]

    def is_allowed(self, record: RetrievalRecord) -> bool:
        """Whether the record may be scored and shown."""
        return self.reason(record) is None

    def reason(self, record: RetrievalRecord) -> DropReason | None:
        """Why it may not; None where it may."""
        if record.is_deleted:
            return DropReason.DELETED
        if record.is_private:
            return DropReason.PRIVATE
        other_space = self.allowed_spaces is not None and record.space_id not in self.allowed_spaces
        return DropReason.FILTER if other_space else None
