"""The port `IdempotencyStore` in the file."""

import json
import sqlite3

from recollect.adapters.local.database import Database
from recollect.core.errors import InFlight, KeyReused
from recollect.core.idempotency import Claimed, ClaimOutcome, IdempotencyClaim, Replay
from recollect.core.ids import IdSeed
from recollect.core.time import microseconds

_DELETED_AT_ONCE = 20


class SqliteIdempotencyStore:
    """One row per key. A claim does not wait for the disk: the commit of its events brings it there."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def claim(self, claim: IdempotencyClaim) -> ClaimOutcome:
        with self._database.writing(durable=False) as connection:
            _delete_expired(connection, claim)
            found = connection.execute(
                "SELECT body_hash, seed, lapses_at, status, body FROM idempotency WHERE key_hash = ?", (claim.key_hash,)
            ).fetchone()
            if found is None:
                _insert(connection, claim)
                return Claimed(claim.seed)
            return _outcome(connection, claim, *found)

    def complete(self, claim: IdempotencyClaim, status: int, body: dict[str, object]) -> None:
        with self._database.writing(durable=False) as connection:
            connection.execute(
                "UPDATE idempotency SET status = ?, body = ? WHERE key_hash = ? AND body_hash = ? AND status IS NULL",
                (status, json.dumps(body, ensure_ascii=False), claim.key_hash, claim.body_hash),
            )

    def release(self, claim: IdempotencyClaim) -> None:
        """Frees the key for the next try, with the same seed."""
        with self._database.writing(durable=False) as connection:
            connection.execute(
                "UPDATE idempotency SET lapses_at = 0 WHERE key_hash = ? AND body_hash = ? AND status IS NULL",
                (claim.key_hash, claim.body_hash),
            )


def _delete_expired(connection: sqlite3.Connection, claim: IdempotencyClaim) -> None:
    now = microseconds(claim.now)
    connection.execute("DELETE FROM idempotency WHERE key_hash = ? AND expires_at <= ?", (claim.key_hash, now))
    connection.execute(
        "DELETE FROM idempotency WHERE key_hash IN (SELECT key_hash FROM idempotency WHERE expires_at <= ? LIMIT ?)",
        (now, _DELETED_AT_ONCE),
    )


def _insert(connection: sqlite3.Connection, claim: IdempotencyClaim) -> None:
    connection.execute(
        "INSERT INTO idempotency (key_hash, body_hash, seed, lapses_at, expires_at) VALUES (?, ?, ?, ?, ?)",
        (
            claim.key_hash,
            claim.body_hash,
            claim.seed.encode(),
            microseconds(claim.lapses_at),
            microseconds(claim.expires_at),
        ),
    )


def _outcome(
    connection: sqlite3.Connection,
    claim: IdempotencyClaim,
    body_hash: str,
    seed: str,
    lapses_at: int,
    status: int | None,
    body: str | None,
) -> ClaimOutcome:
    if body_hash != claim.body_hash:
        raise KeyReused("the idempotency key was used with another body")
    if status is not None:
        return Replay(status, json.loads(body or "{}"))
    if lapses_at > microseconds(claim.now):
        raise InFlight("a request with this idempotency key is under way")
    connection.execute(
        "UPDATE idempotency SET lapses_at = ? WHERE key_hash = ?", (microseconds(claim.lapses_at), claim.key_hash)
    )
    return Claimed(IdSeed.decode(seed))
