"""What intent-driven retrieval scores: the document's record, as it is found in ours (R-35, R-39 to R-41).

| the document  | here                                                                        |
|---------------|-----------------------------------------------------------------------------|
| title         | the event's `title`                                                         |
| category      | the event's `category`                                                      |
| notes         | the event's `notes`, and its `content` in the words of its memory           |
| created       | the event's `timestamp`: when it was said                                   |
| views         | the event's `views`, as the caller gave them; nothing here counts looks     |
| isPrivate     | the event's `is_private`                                                    |
| isDeleted     | it is deleted or rejected, or its memory is                                 |
| spaceId       | the event's `space_id`; a space's name is its id                            |

A directly saved memory has no title, category, notes or space: its content alone is read.
"""

from dataclasses import dataclass
from datetime import datetime

from recollect.domain.event import Event


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievalRecord:
    """One record. Fields may be absent (R-70); without an instant that has a zone it cannot be scored (R-71)."""

    id: str
    title: str | None = None
    category: str | None = None
    notes: str | None = None
    content: str | None = None
    created_at: datetime | None = None
    views: int = 0
    is_private: bool = False
    is_deleted: bool = False
    space_id: str | None = None

    @property
    def instant(self) -> datetime | None:
        """When it was said; None where that cannot be told."""
        return self.created_at if self.created_at is not None and self.created_at.tzinfo is not None else None

    @property
    def searched(self) -> str:
        """What keywords are looked for in: every field that there is, each on lines of its own (R-35, R-38, R-70)."""
        return "\n".join(part for part in (self.title, self.category, self.notes, self.content) if part)


def record_of(event: Event, *, is_deleted: bool = False) -> RetrievalRecord:
    """The record of an event as a reader sees it."""
    return RetrievalRecord(
        id=event.id,
        title=event.title,
        category=event.category,
        notes=event.notes,
        content=event.content,
        created_at=event.timestamp,
        views=event.views,
        is_private=event.is_private,
        is_deleted=is_deleted,
        space_id=event.space_id,
    )
