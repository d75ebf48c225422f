"""The context truncator: what of the records a model is shown (R-45)."""

from collections.abc import Sequence
from dataclasses import dataclass

from recollect.domain.rendering import one_line
from recollect.domain.retrieval_record import RetrievalRecord
from recollect.domain.tokens import count_tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class TruncationPolicy:
    """The document's bounds: records, tokens of all of them together, characters of a record's text."""

    records: int = 20
    tokens: int = 2000
    characters: int = 100


@dataclass(frozen=True, slots=True)
class TruncatedContext:
    """One line for each record that fits, in the records' order; `tokens` of all lines."""

    lines: tuple[str, ...]
    tokens: int


def truncated(records: Sequence[RetrievalRecord], policy: TruncationPolicy | None = None) -> TruncatedContext:
    """The first records that fit; the first one that does not ends it."""
    bounds = policy or TruncationPolicy()
    lines: list[str] = []
    total = 0
    for record in records[: bounds.records]:
        line = _line(record, bounds.characters)
        total += count_tokens(line)
        if total > bounds.tokens:
            return TruncatedContext(tuple(lines), total - count_tokens(line))
        lines.append(line)
    return TruncatedContext(tuple(lines), total)


def _line(record: RetrievalRecord, characters: int) -> str:
    """Day, title and category whole, and of notes and content the first characters."""
    day = record.instant.date().isoformat() if record.instant is not None else None
    texts = (one_line(text)[:characters] for text in (record.notes, record.content) if text)
    return " ".join(part for part in (day, record.title, record.category, *texts) if part)
