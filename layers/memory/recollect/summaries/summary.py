"""Summaries per user and persona: sentences with their source events (H-22 to H-25), and when one is due.

A place in a timeline is an event's (timestamp, id); a summary covers what lies up to its own place, and strictly after
the place of the summary before it (H-04 to H-11, H-15, P-5).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from recollect.core.errors import StoredDataError
from recollect.core.event import EventRef
from recollect.core.time import from_iso, iso
from recollect.rules.groups import SummaryRules
from recollect.summaries.goals import TrackedGoal, tracked_document, tracked_from
from recollect.text.sentences import split_said_by

FORMAT_VERSION = 1
IN_DOUBT = "(perhaps no longer so)"
"""Stands behind a sentence whose words an open conflict puts in doubt."""


class Reason(StrEnum):
    """Why a summary was made (H-04, P-5)."""

    MESSAGES = "messages"
    AGE = "age"
    FORCED = "forced"


@dataclass(frozen=True, slots=True)
class SummarySentence:
    """A sentence and its source events, the oldest first, at least one.

    `supported` is False where no covered text holds enough of its words: the sources are then the nearest guess, and it
    is deleted with anything that the summary covers. `in_doubt`, never stored: an open conflict is about a source of it
    now, and nobody knows whether that still holds.
    """

    text: str
    source_event_ids: tuple[str, ...]
    supported: bool = True
    in_doubt: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """A summary as stored. `persona_id` None is the default persona; `conversation_id` None: all conversations.

    `message_count` messages from `covered_from` to (`covered_until`, `covered_until_id`), both inclusive, were new to
    it, those among them that came late too; the summary before it is merged into its text. `tracked_goals` are the
    goals as of then.
    """

    id: str
    text: str
    sentences: tuple[SummarySentence, ...]
    tracked_goals: tuple[TrackedGoal, ...]
    message_count: int
    covered_from: datetime
    covered_until: datetime
    covered_until_id: str
    created_at: datetime
    reason: Reason
    model: str
    persona_id: str | None = None
    conversation_id: str | None = None

    @property
    def source_event_ids(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(source for one in self.sentences for source in one.source_event_ids))

    @property
    def covered(self) -> EventRef:
        return EventRef(self.covered_until_id, self.covered_until)

    def covers(self, ref: EventRef) -> bool:
        """Whether this summary or one before it covers the event."""
        return place(ref) <= (self.covered_until, self.covered_until_id)

    def without(self, event_ids: frozenset[str], places: Sequence[EventRef] = ()) -> "Summary":
        """The same without every sentence that comes from one of these events; itself where there is none.

        Where an event of `places` is covered, or one of the ids is a source, unsupported sentences are deleted too.
        """
        touched = any(self.covers(ref) for ref in places) or not event_ids.isdisjoint(self.source_event_ids)
        kept = tuple(
            one
            for one in self._each_attributed()
            if event_ids.isdisjoint(one.source_event_ids) and (one.supported or not touched)
        )
        if len(kept) == len(self.sentences):
            return self
        return replace(self, sentences=kept, text=" ".join(one.text for one in kept))

    def doubted(self, doubted: frozenset[str]) -> "Summary":
        """The same with each sentence in doubt that comes from one of these events; the words stay."""
        if doubted.isdisjoint(self.source_event_ids):
            return self
        sentences = (replace(one, in_doubt=not doubted.isdisjoint(one.source_event_ids)) for one in self.sentences)
        return replace(self, sentences=tuple(sentences))

    @property
    def marked(self) -> "Summary":
        """The same with words that say so behind each sentence that is in doubt; itself where none is."""
        if not any(one.in_doubt for one in self.sentences):
            return self
        sentences = tuple(
            replace(one, text=f"{one.text} {IN_DOUBT}") if one.in_doubt else one for one in self.sentences
        )
        return replace(self, sentences=sentences, text=" ".join(one.text for one in sentences))

    def said_without(self, redacted: Callable[[str], str | None]) -> "Summary":
        """The same without sentences and goals that `redacted` changes."""
        said = [split_said_by(one.text) for one in self.sentences]
        texts = [found[1] if found else one.text for found, one in zip(said, self.sentences, strict=True)]
        kept = tuple(one for one, text in zip(self._each_attributed(), texts, strict=True) if redacted(text) == text)
        tracked = tuple(goal for goal in self.tracked_goals if redacted(goal.goal) == goal.goal)
        text = self.text if len(kept) == len(self.sentences) else " ".join(one.text for one in kept)
        return replace(self, sentences=kept, tracked_goals=tracked, text=redacted(text) or "")

    def _each_attributed(self) -> Iterator[SummarySentence]:
        """Each with the last speaker and day before it: a sentence must not become another's word by a deletion."""
        said_by = ""
        for one in self.sentences:
            own = split_said_by(one.text)
            said_by = own[0] if own else said_by
            yield one if own else replace(one, text=said_by + one.text)


@dataclass(frozen=True, slots=True)
class Backlog:
    """What no summary covers yet.

    `uncovered`: messages strictly after the last summary's place, oldest first; `late`: those that arrived with an
    earlier one, oldest first. `messages_since`: how many are newer than the newest message that the last run saw, and
    the late ones; before the first summary, all of them. `since`: the last summary's time, else the first message's;
    None without either.
    """

    uncovered: tuple[EventRef, ...]
    messages_since: int
    since: datetime | None
    late: tuple[EventRef, ...] = ()

    @property
    def all(self) -> tuple[EventRef, ...]:
        """Oldest first."""
        return (*self.late, *self.uncovered)

    def days_since(self, now: datetime) -> float:
        """Days of 24 hours, ≥ 0."""
        return max(0.0, (now - self.since) / timedelta(days=1)) if self.since else 0.0


@dataclass(frozen=True, slots=True)
class Trigger:
    """A summary is due: why, and of which messages, oldest first, at least one."""

    reason: Reason
    covers: tuple[EventRef, ...]


def trigger(backlog: Backlog, rules: SummaryRules, now: datetime, *, force: bool = False) -> Trigger | None:
    """Whether a summary is due (P-5).

    By messages: `rules.messages` or more since the last; by age: `rules.days` of 24 hours or more since the last, and
    a new message; forced: anything uncovered. It covers all but the newest `raw_window` (those that came late are in no
    raw window); where that leaves nothing, an aged or a forced one covers everything.
    """
    whole = backlog.all
    older = whole[: max(len(backlog.late), len(whole) - rules.raw_window)]
    if older and backlog.messages_since >= rules.messages:
        return Trigger(Reason.MESSAGES, older)
    if whole and backlog.messages_since and _aged(backlog, rules, now):
        return Trigger(Reason.AGE, older or whole)
    return Trigger(Reason.FORCED, older or whole) if whole and force else None


def _aged(backlog: Backlog, rules: SummaryRules, now: datetime) -> bool:
    return backlog.since is not None and now - backlog.since >= timedelta(days=rules.days)


def place(ref: EventRef) -> tuple[datetime, str]:
    """The order of a timeline: by timestamp, then by id."""
    return ref.timestamp, ref.id


def summary_document(summary: Summary) -> dict[str, Any]:
    """A summary as JSON; what is None is left out."""
    known: dict[str, Any] = {
        "format": FORMAT_VERSION,
        "id": summary.id,
        "text": summary.text,
        "sentences": [_sentence_document(one) for one in summary.sentences],
        "tracked_goals": [tracked_document(goal) for goal in summary.tracked_goals],
        "message_count": summary.message_count,
        "covered_from": iso(summary.covered_from),
        "covered_until": iso(summary.covered_until),
        "covered_until_id": summary.covered_until_id,
        "created_at": iso(summary.created_at),
        "reason": summary.reason.value,
        "model": summary.model,
        "persona_id": summary.persona_id,
        "conversation_id": summary.conversation_id,
    }
    return {name: value for name, value in known.items() if value is not None}


def summary_from(document: Mapping[str, Any]) -> Summary:
    """Reads what `summary_document` wrote. Raises StoredDataError where it cannot."""
    try:
        if document["format"] > FORMAT_VERSION:
            raise StoredDataError(f"a summary of format {document['format']}, this release reads {FORMAT_VERSION}")
        return Summary(
            id=document["id"],
            text=document["text"],
            sentences=tuple(_sentence_from(one) for one in document["sentences"]),
            tracked_goals=tuple(tracked_from(one) for one in document["tracked_goals"]),
            message_count=document["message_count"],
            covered_from=from_iso(document["covered_from"]),
            covered_until=from_iso(document["covered_until"]),
            covered_until_id=document["covered_until_id"],
            created_at=from_iso(document["created_at"]),
            reason=Reason(document["reason"]),
            model=document["model"],
            persona_id=document.get("persona_id"),
            conversation_id=document.get("conversation_id"),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise StoredDataError(f"a summary cannot be read: {type(error).__name__}") from error


def _sentence_document(sentence: SummarySentence) -> dict[str, Any]:
    known: dict[str, Any] = {"text": sentence.text, "sources": list(sentence.source_event_ids)}
    return known if sentence.supported else {**known, "supported": False}


def _sentence_from(document: Mapping[str, Any]) -> SummarySentence:
    return SummarySentence(document["text"], tuple(document["sources"]), document.get("supported", True))
