"""Which identities the file knows, and whose they are; tombstones of events that it does not have."""

import sqlite3
from collections.abc import Sequence

from recollect.adapters.local.many import rows_among

_BURY = "INSERT OR IGNORE INTO identities (scope, identity, event_id, conversation) VALUES (?, ?, NULL, NULL)"
_KNOWN = "SELECT identity, event_id FROM identities WHERE scope = ? AND identity IN ({})"


def known_identities(
    connection: sqlite3.Connection, user_number: int, identities: Sequence[str]
) -> dict[str, str | None]:
    """Those that are known, with their events; None for a tombstone."""
    return dict(rows_among(connection, _KNOWN, identities, user_number))


def bury_identities(connection: sqlite3.Connection, user_number: int, identities: Sequence[str]) -> None:
    """From this commit on they are refused; one that is known already stays as it is."""
    connection.executemany(_BURY, [(user_number, identity) for identity in identities])
