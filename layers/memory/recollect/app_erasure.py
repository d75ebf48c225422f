"""The use cases of deletion that lasts: rejected values, erasures, tombstones outside of the table. A part of `App`."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING

from recollect.core.errors import NotFound, NotReady

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from recollect.app import Parts
    from recollect.archive.compact import RewriteSegments
    from recollect.core.event import EventRef
    from recollect.core.ids import IdSource
    from recollect.core.scope import Scope
    from recollect.deletion.erase import Check, EraseUser, Reach
    from recollect.deletion.forget_events import ForgetCopies, ForgetEvents
    from recollect.deletion.forget_memories import ForgetMemories
    from recollect.deletion.reject import RejectValue
    from recollect.deletion.suppression import ValueGate
    from recollect.deletion.tombstone_log import ApplyTombstones, OutsideTombstones
    from recollect.deletion.tombstones import Erasure
    from recollect.search_index.generations import IndexInUse
    from recollect.settings import Settings
    from recollect.summaries.reading import RedactSummaries
    from recollect.timeline.listing import KnownUsers


class ErasureUseCases:
    """Mixed into `App`; each use case is imported and made when first used."""

    settings: Settings
    parts: Parts
    ids: IdSource

    if TYPE_CHECKING:

        @cached_property
        def forget(self) -> ForgetEvents: ...
        @cached_property
        def index(self) -> IndexInUse: ...
        @cached_property
        def known_users(self) -> KnownUsers: ...
        @cached_property
        def redact_summaries(self) -> RedactSummaries: ...
        @cached_property
        def rewrite_segments(self) -> RewriteSegments: ...
        @cached_property
        def forget_memories(self) -> ForgetMemories: ...
        def erase_indexed(self, scope: Scope) -> int: ...
        def left_indexed(self, scope: Scope, keeps: Callable[[str], bool]) -> int: ...
        def _derived_forgotten(self, scope: Scope, refs: Sequence[EventRef]) -> None: ...

    @cached_property
    def value_gate(self) -> ValueGate:
        """Which values were rejected."""
        from recollect.deletion.suppression import ValueGate

        return ValueGate(self.parts.items, self.outside_tombstones.keys)

    @cached_property
    def reject_value(self) -> RejectValue:
        """`?reject=true` and `/v1/users/{user_id}/rejections`."""
        from recollect.deletion.reject import RejectValue

        parts, redact = self.parts, self.redact_summaries.rejected
        return RejectValue(parts.timeline, parts.items, self.ids, redact, self.value_gate, self.outside_tombstones)

    @cached_property
    def outside_tombstones(self) -> OutsideTombstones:
        """Deletions as they are kept outside of the table."""
        from recollect.deletion.tombstone_log import OutsideTombstones

        return OutsideTombstones(self.parts.items, lambda: self.parts.snapshots)

    @cached_property
    def forget_copies(self) -> ForgetCopies:
        """What was imported from a record goes with it."""
        from recollect.deletion.forget_events import ForgetCopies

        return ForgetCopies(self.parts.items, self._forget_one)

    @cached_property
    def erase_user(self) -> EraseUser:
        """`DELETE /v1/users/{user_id}`, `GET /v1/erasures/{id}` and the job that does the rest."""
        from recollect.deletion.erase import EraseUser

        parts, reach, again, checks = self.parts, *self._elsewhere()
        return EraseUser(
            parts.eraser, parts.items, self.ids, reach, again, checks, self._note_erasure, self.settings.engines
        )

    @cached_property
    def apply_tombstones(self) -> ApplyTombstones:
        """What makes a restored table forget again."""
        from recollect.deletion.tombstone_log import ApplyTombstones

        parts = self.parts
        return ApplyTombstones(
            self.outside_tombstones, parts.timeline, parts.items, self._forget_again, self.erase_user.resume
        )

    def _elsewhere(self) -> tuple[list[Reach], list[Reach], list[Check]]:
        """What an erasure reaches outside of the store; what of it once more at the end; how it is read back."""
        from recollect.deletion.erase import EraseArchive, EraseCopies, EraseDocuments, EraseFromList, Indexed

        parts = self.parts
        documents, copies = EraseDocuments(self.index), EraseCopies(self.forget_copies)
        again: list[Reach] = [documents, copies]
        checks: list[Check] = [documents.left, copies.left]
        with suppress(NotReady):
            indexed = Indexed(self.erase_indexed, self.left_indexed)
            archive = EraseArchive(self.rewrite_segments, parts.snapshots, indexed)
            return [*again, archive, EraseFromList(self.known_users, parts.timeline)], again, [*checks, archive.left]
        return [*again, EraseFromList(self.known_users, parts.timeline)], again, checks

    def _note_erasure(self, scope: Scope, erasure: Erasure) -> None:
        self.outside_tombstones.erasure(scope, erasure.id, erasure.at)

    def _forget_one(self, scope: Scope, ref: EventRef, now: datetime) -> None:
        with suppress(NotFound):
            self.forget.record(scope, ref.id, now=now)

    @cached_property
    def _forget_quietly(self) -> ForgetEvents:
        """As `forget`, by orders that are kept outside already."""
        from recollect.deletion.forget_events import ForgetEvents

        parts = self.parts
        return ForgetEvents(parts.timeline, parts.projections, self.forget_memories, self._derived_forgotten)

    def _forget_again(self, scope: Scope, ref: EventRef, now: datetime) -> None:
        with suppress(NotFound):
            self._forget_quietly.record(scope, ref.id, now=now)

    def _keep_outside(self, scope: Scope, refs: Sequence[EventRef]) -> None:
        """Before anybody is told of a deletion."""
        self.outside_tombstones.events(scope, refs, datetime.now(UTC))
