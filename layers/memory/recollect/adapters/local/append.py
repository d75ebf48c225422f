"""Making events durable: each with its dedupe record, its pending marker, its document and its words."""

import sqlite3
from collections.abc import Sequence

from recollect.adapters.local.documents import DocumentWriter
from recollect.adapters.local.event_rows import insert_event
from recollect.adapters.local.items import write_items
from recollect.adapters.local.users import User
from recollect.domain.documents import index_document
from recollect.domain.errors import Conflict
from recollect.domain.items import checked
from recollect.domain.scope import Scope
from recollect.domain.timeline import AppendOutcome, AppendStatus, EventWrite

DELETED = "deleted"
REJECTED = "rejected"


class Append:
    """The writes of one request, inside one transaction: all of them or none."""

    def __init__(self, connection: sqlite3.Connection, scope: Scope, user: User) -> None:
        self._connection = connection
        self._scope = scope
        self._user = user
        self._documents = DocumentWriter(connection, user, None)

    def __call__(self, writes: Sequence[EventWrite]) -> list[AppendOutcome]:
        """One outcome per write, in order. Raises Conflict, VersionMismatch, InvalidInput."""
        outcomes = [self._outcome(write, checked(write.items)) for write in writes]
        self._documents.finish()
        return outcomes

    def _outcome(self, write: EventWrite, texts: Sequence[str | None]) -> AppendOutcome:
        known = self._connection.execute(
            "SELECT event_id, conversation FROM identities WHERE scope = ? AND identity = ?",
            (self._user.number, write.identity),
        ).fetchone()
        if known is not None:
            return _of_known(write, *known)
        if self._rejected(write.fingerprint):
            return AppendOutcome(AppendStatus.REFUSED, None, reason=REJECTED)
        self._store(write)
        write_items(self._connection, self._user.number, write.items, texts, write.event.recorded_at)
        return AppendOutcome(AppendStatus.CREATED, write.event.id, write.event.conversation_id)

    def _rejected(self, fingerprint: str) -> bool:
        query = "SELECT 1 FROM rejections WHERE scope = ? AND fingerprint = ?"
        return self._connection.execute(query, (self._user.number, fingerprint)).fetchone() is not None

    def _store(self, write: EventWrite) -> None:
        event, user = write.event, self._user.number
        if self._connection.execute("SELECT 1 FROM events WHERE scope = ? AND id = ?", (user, event.id)).fetchone():
            raise Conflict("another event has this id")
        row = insert_event(self._connection, user, event)
        self._connection.execute(
            "INSERT INTO identities (scope, identity, event_id, conversation) VALUES (?, ?, ?, ?)",
            (user, write.identity, event.id, event.conversation_id),
        )
        self._connection.execute("INSERT INTO outbox (row, scope) VALUES (?, ?)", (row, user))
        self._documents.put(index_document(self._scope, event, None))


def _of_known(write: EventWrite, event_id: str | None, conversation: str | None) -> AppendOutcome:
    if event_id is None:
        return AppendOutcome(AppendStatus.REFUSED, None, reason=DELETED)
    status = AppendStatus.CREATED if event_id == write.event.id else AppendStatus.DUPLICATE
    return AppendOutcome(status, event_id, conversation)
