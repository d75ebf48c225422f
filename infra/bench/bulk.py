"""Loading a SQLite store with millions of events: the rows that ingest and projection leave, in large transactions."""

from __future__ import annotations

import itertools
import sqlite3
import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import groupby
from typing import Any

from bench_data import Turn
from bench_ours import TENANT, draft_of
from bench_vectors import KeptVectors

from recollect.adapters.local.documents import DocumentWriter
from recollect.adapters.local.rows import enter_user, insert_event
from recollect.app import App
from recollect.core.event import Event
from recollect.core.scope import Scope
from recollect.core.vectors import FloatArray, TextKind
from recollect.retrieval.nomination import IndexDocument
from recollect.search_index.page import index_document
from recollect.timeline.record import draft_event, event_identity
from recollect.timeline.timeline import Projection

AT_ONCE = 2_000
_NOBODY = Scope(TENANT, "nobody")
_IDENTITY = "INSERT INTO identities (scope, identity, event_id, conversation) VALUES (?, ?, ?, ?)"


@dataclass(frozen=True, slots=True)
class Said:
    """A turn as one user said it."""

    user: str
    turn: Turn
    conversation: str
    said_at: datetime


@dataclass(frozen=True, slots=True)
class _First:
    """What is the same whenever a turn is repeated: score, tags, terms, vector."""

    event: Event
    document: IndexDocument
    vector: FloatArray | None


class BulkLoader:
    """As `scale.Loader`, four times as fast: a document is written with its vector at once, nothing waits for the disk.

    What is stored is the same, row by row, but for revisions of the index (tests/tools/test_bench_growth.py).
    """

    def __init__(self, app: App, kept: KeptVectors) -> None:
        parts: Any = app.parts
        self._database = parts.timeline._database  # nobody else writes around the port
        self._projections = parts.projections
        self._generation = parts.embedder.generation
        self._ids = app.ids
        self._kept = kept
        self._rules = app.rules.resolved(TENANT)
        self._known: dict[Turn, _First] = {}

    def load(self, said: Iterable[Said]) -> float:
        """Stores all, what one user said next to each other; answers the seconds it took."""
        began = time.monotonic()
        rest = iter(said)
        while some := list(itertools.islice(rest, AT_ONCE)):
            seed = self._ids.seed(time.time_ns() // 1_000_000, len(some))
            numbered = [(one, seed.nth(number)) for number, one in enumerate(some)]
            with self._projections.together():
                for user, group in groupby(numbered, key=lambda pair: pair[0].user):
                    self._write(Scope(TENANT, user), list(group))
        return time.monotonic() - began

    def _write(self, scope: Scope, numbered: list[tuple[Said, str]]) -> None:
        events = [self._event(scope, one, event_id) for one, event_id in numbered]
        firsts = [self._first(one.turn) for one, _ in numbered]
        with self._database.writing(durable=False) as connection:
            user = enter_user(connection, scope)
            documents = DocumentWriter(connection, user, self._generation)
            for event, first in zip(events, firsts, strict=True):
                _insert(connection, scope, user.number, event)
                documents.put(_document(scope, event, first))
            documents.finish()
        vectors = zip(events, firsts, strict=True)
        self._projections.save(scope, [Projection(e.ref, first.vector, self._generation) for e, first in vectors])
        for conversation, said_at in {event.conversation_id: event.timestamp for event in events}.items():
            self._projections.enter_conversation(scope, conversation, said_at)

    def _event(self, scope: Scope, one: Said, event_id: str) -> Event:
        return replace(
            self._first(one.turn).event,
            id=event_id,
            user_id=scope.user_id,
            conversation_id=one.conversation,
            timestamp=one.said_at,
            recorded_at=one.said_at,
        )

    def _first(self, turn: Turn) -> _First:
        if turn not in self._known:
            event = draft_event(_NOBODY, draft_of(turn), "", turn.conversation, turn.said_at, self._rules)
            vector = self._kept.get(event.passage, TextKind.PASSAGE)
            self._known[turn] = _First(event, index_document(_NOBODY, event, vector), vector)
        return self._known[turn]


def _insert(connection: sqlite3.Connection, scope: Scope, user: int, event: Event) -> None:
    insert_event(connection, user, event)
    identity = event_identity(scope, event, event.conversation_id, given_timestamp=True)
    connection.execute(_IDENTITY, (user, identity, event.id, event.conversation_id))


def _document(scope: Scope, event: Event, first: _First) -> IndexDocument:
    return replace(
        first.document,
        user_id=scope.user_id,
        conversation_id=event.conversation_id,
        ref=event.ref,
        recorded_at=event.recorded_at,
    )
