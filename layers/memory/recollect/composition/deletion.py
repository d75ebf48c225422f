"""Deletion, rejection, erasure, and the tombstone log outside of the table."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from recollect.composition.deployment import TimelineUseCases, UseCases
from recollect.composition.search_index import SearchIndexUseCases
from recollect.composition.segments import SegmentUseCases
from recollect.composition.summaries import SummaryUseCases
from recollect.core.errors import NotFound, NotReady, RecollectError
from recollect.core.event import EventRef
from recollect.core.scope import Scope
from recollect.core.time import utc_now
from recollect.deletion.erase import (
    Check,
    EraseArchive,
    EraseCopies,
    EraseDocuments,
    EraseFromList,
    EraseUser,
    Reach,
)
from recollect.deletion.forget_conversation import ForgetConversation
from recollect.deletion.forget_events import ForgetCopies, ForgetEvents
from recollect.deletion.forget_items import ForgetItems
from recollect.deletion.forget_matching import ForgetMatching
from recollect.deletion.forget_memories import ForgetMemories
from recollect.deletion.reject import RejectValue
from recollect.deletion.storage import Erasure
from recollect.deletion.suppression import SuppressionList
from recollect.deletion.tombstone_log import ApplyTombstones, TombstoneLog
from recollect.memories.reading import ListMemories


@dataclass(eq=False)
class DeletionUseCases(UseCases):
    """`app.deletion`."""

    _timeline: TimelineUseCases
    _summaries: SummaryUseCases
    _search_index: SearchIndexUseCases
    _segments: SegmentUseCases
    _clear_log: Callable[[Scope, str, datetime], None]

    @cached_property
    def events(self) -> ForgetEvents:
        """`DELETE /v1/users/{user_id}/events/{event_id}` and its neighbour."""
        parts = self._parts
        return ForgetEvents(parts.timeline, parts.projections, self.memories, self.forgotten)

    @cached_property
    def memories(self) -> ForgetMemories:
        return ForgetMemories(self._parts.timeline, self._parts.items, self._deployment.ids)

    @cached_property
    def matching(self) -> ForgetMatching:
        """`POST /v1/memories/delete`."""
        return ForgetMatching(ListMemories(self._parts.timeline, self._parts.items), self.events)

    @cached_property
    def conversations(self) -> ForgetConversation:
        """`DELETE /v1/users/{user_id}/conversations/{conversation_id}`."""
        return ForgetConversation(self._parts.timeline, self._parts.projections, self.events, self._clear_log)

    @cached_property
    def copies(self) -> ForgetCopies:
        return ForgetCopies(self._parts.items, self.forget_quietly)

    @cached_property
    def suppression(self) -> SuppressionList:
        return SuppressionList(self._parts.items, self.tombstone_log.keys)

    @cached_property
    def values(self) -> RejectValue:
        """`?reject=true` and `/v1/users/{user_id}/rejections`."""
        parts, redact = self._parts, self._summaries.redaction.rejected
        ids = self._deployment.ids
        return RejectValue(parts.timeline, parts.items, ids, redact, self.suppression, self.tombstone_log)

    @cached_property
    def tombstone_log(self) -> TombstoneLog:
        return TombstoneLog(self._parts.items, lambda: self._parts.snapshots)

    @cached_property
    def tombstones(self) -> ApplyTombstones:
        """Repeats logged deletions in a restored table."""
        parts, again = self._parts, (self._forget_again, self.users.resume, self.owned_items.again)
        return ApplyTombstones(self.tombstone_log, parts.timeline, parts.items, *again)

    @cached_property
    def owned_items(self) -> ForgetItems:
        """What outlives the deletion of a user's items of applications."""
        return ForgetItems(self._parts.items, self._parts.namespaced_items, self.tombstone_log)

    @cached_property
    def users(self) -> EraseUser:
        """`DELETE /v1/users/{user_id}`, `GET /v1/erasures/{id}`, and the job that completes an erasure."""
        parts, reach, again, checks = self._parts, *self._elsewhere()
        engines = self._deployment.settings.engines
        return EraseUser(
            parts.eraser, parts.items, self._deployment.ids, reach, again, checks, self._log_erasure, engines
        )

    def forgotten(self, scope: Scope, refs: Sequence[EventRef]) -> None:
        """Logs a deletion outside of the table before any listener hears of it."""
        self.tombstone_log.events(scope, refs, utc_now())
        self._derived_forgotten(scope, refs)

    def forget_quietly(self, scope: Scope, ref: EventRef, now: datetime) -> None:
        """Deletes a record; idempotent."""
        with suppress(NotFound):
            self.events.record(scope, ref.id, now=now)

    def _derived_forgotten(self, scope: Scope, refs: Sequence[EventRef]) -> None:
        """Removes it from summaries and copies at once; where that fails, `project` does so by the marker."""
        self._summaries.redact_at_once(scope, refs, utc_now())
        with suppress(RecollectError):
            self.copies.forget(scope, refs, utc_now())
        self._deployment.announce(scope, refs)

    def _elsewhere(self) -> tuple[list[Reach], list[Reach], list[Check]]:
        """What an erasure deletes outside of the store, what of it twice, and the checks that read it back."""
        parts = self._parts
        documents, copies = EraseDocuments(self._search_index.in_use), EraseCopies(self.copies)
        again: list[Reach] = [documents.erase, copies.erase]
        checks: list[Check] = [documents.left, copies.left]
        from_list = EraseFromList(self._timeline.known_users, parts.timeline, parts.items)
        with suppress(NotReady):
            indexed = (self._search_index.erase, self._search_index.left)
            archive = EraseArchive(self._segments.rewriting, parts.snapshots, *indexed)
            return [*again, archive.erase, from_list.erase], again, [*checks, archive.left]
        return [*again, from_list.erase], again, checks

    def _log_erasure(self, scope: Scope, erasure: Erasure) -> None:
        self.tombstone_log.erasure(scope, erasure.id, erasure.at)

    @cached_property
    def _forget_logged(self) -> ForgetEvents:
        """As `forget`, for deletions that the log has already."""
        parts = self._parts
        return ForgetEvents(parts.timeline, parts.projections, self.memories, self._derived_forgotten)

    def _forget_again(self, scope: Scope, ref: EventRef, now: datetime) -> None:
        with suppress(NotFound):
            self._forget_logged.record(scope, ref.id, now=now)
