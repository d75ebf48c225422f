"""Which identities the file knows, and whose they are."""

import sqlite3
from collections.abc import Sequence

_AT_ONCE = 500
_KNOWN = "SELECT identity, event_id FROM identities WHERE scope = ? AND identity IN ({})"


def known_identities(
    connection: sqlite3.Connection, user_number: int, identities: Sequence[str]
) -> dict[str, str | None]:
    """Those that are known, with their events; None for a tombstone."""
    found: dict[str, str | None] = {}
    for start in range(0, len(identities), _AT_ONCE):
        chunk = identities[start : start + _AT_ONCE]
        found |= connection.execute(_KNOWN.format(", ".join("?" * len(chunk))), (user_number, *chunk)).fetchall()
    return found
