"""Export and import of the logs of a user's conversations: a line of JSON for each entry, after those of items.

| field                         | meaning                                    |
|-------------------------------|--------------------------------------------|
| `v`, `kind`                   | format of the line; `log`                  |
| `conversation_id`, `sequence` | where the entry is                         |
| `at`                          | when it was appended                       |
| `payload`, `blob`, `role`, `entry_key` | as it was appended, where it has them |

An import keeps the sequences and appends what lies beyond the last one of a log: what is there is a duplicate, and so
is what was popped or cleared since. It refuses what was appended before the user was erased.
"""

import base64
import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from itertools import groupby
from typing import Any

from recollect.archive.transfer import LineOutcome, LinesPage, fitting_page
from recollect.core.errors import InvalidInput, StoredDataError
from recollect.core.ids import id_fault, id_milliseconds
from recollect.core.items import of_tenant
from recollect.core.scope import Scope
from recollect.core.time import from_iso, iso
from recollect.deletion.storage import erased_user_key
from recollect.ports import Items
from recollect.session_log.entries import Draft, Entry, Role, check_drafts, entry_of
from recollect.session_log.use_cases import Logged, LoggedPage

FORMAT_VERSION = 1
KIND_LOG = "log"
PAGE_BATCHES = 200
_LARGEST_SEQUENCE = 10**12 - 1

ReadLasting = Callable[[Scope, int, str | None], LoggedPage]
Restore = Callable[[Scope, str, Sequence[Entry], datetime], int]


class ExportLogs:
    """The logs behind `GET …/export`. `lasting` reads a page of a user's entries."""

    def __init__(self, lasting: ReadLasting) -> None:
        self._lasting = lasting

    def any(self, scope: Scope) -> bool:
        """Whether the user may have entries; the first page may be empty all the same."""
        page = self._lasting(scope, 1, None)
        return bool(page.entries) or page.more is not None

    def page(self, scope: Scope, after: str | None) -> LinesPage:
        """At most 200 batches, fewer where they are large."""

        def read(limit: int) -> LinesPage:
            page = self._lasting(scope, limit, after)
            text = "".join(f"{log_line_text(one)}\n" for one in page.entries)
            return LinesPage(text, len(page.entries), page.more)

        return fitting_page(read, PAGE_BATCHES)


class ImportLogs:
    """Stores lines as a user's logs. `restore` is the use case's."""

    def __init__(self, items: Items, restore: Restore) -> None:
        self._items = items
        self._restore = restore

    def import_lines(self, scope: Scope, lines: Sequence[Logged], now: datetime) -> Counter[LineOutcome]:
        """The outcomes. Raises Unavailable with some of them stored; a retry continues."""
        erased = self._erased_at(scope) if lines else None
        taken = [one for one in lines if erased is None or one.entry.at > erased]
        counts = Counter({LineOutcome.REFUSED: len(lines) - len(taken)})
        ordered = sorted(taken, key=lambda one: (one.conversation_id, one.entry.sequence))
        for conversation_id, group in groupby(ordered, key=lambda one: one.conversation_id):
            entries = list({one.entry.sequence: one.entry for one in group}.values())
            created = self._restore(scope, conversation_id, entries, now)
            counts.update({LineOutcome.CREATED: created})
        counts[LineOutcome.DUPLICATE] += len(taken) - counts[LineOutcome.CREATED]
        return counts

    def _erased_at(self, scope: Scope) -> datetime | None:
        key = erased_user_key(scope.user_id)
        item = self._items.get(of_tenant(scope.tenant), [key]).get(key)
        if item is None:
            return None
        return datetime.fromtimestamp(id_milliseconds(str(item.value["before"])) / 1000, UTC)


def log_line_text(logged: Logged) -> str:
    """One line of JSON, without its line end."""
    entry = logged.entry
    line: dict[str, Any] = {
        "v": FORMAT_VERSION,
        "kind": KIND_LOG,
        "conversation_id": logged.conversation_id,
        "sequence": entry.sequence,
        "at": iso(entry.at),
    }
    line |= {"payload": entry.payload} if entry.blob is None else {"blob": entry.blob}
    line |= {} if entry.role is None else {"role": entry.role.value}
    line |= {} if entry.entry_key is None else {"entry_key": entry.entry_key}
    return json.dumps(line, ensure_ascii=False, separators=(",", ":"))


def read_log_line(text: str) -> Logged | None:
    """The entry of a line; None for a line of another kind. Raises StoredDataError for one that breaks a rule."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not (isinstance(document, dict) and document.get("kind") == KIND_LOG and "sequence" in document):
        return None
    try:
        return _logged(document)
    except (KeyError, TypeError, ValueError, InvalidInput, RecursionError) as error:
        raise StoredDataError(f"a log's line cannot be read: {type(error).__name__}") from error


def _logged(document: Mapping[str, Any]) -> Logged:
    sequence, key, role, blob = (document.get(name) for name in ("sequence", "entry_key", "role", "blob"))
    if document["v"] != FORMAT_VERSION or id_fault(document["conversation_id"]) is not None:
        raise ValueError("another format, or no id")
    if type(sequence) is not int or not 1 <= sequence <= _LARGEST_SEQUENCE:
        raise ValueError("a sequence that is none")
    if (key is not None and id_fault(key) is not None) or ("payload" in document) == (blob is not None):
        raise ValueError("a key or a content that is none")
    if blob is not None:
        base64.b64decode(blob, validate=True)
    draft = Draft(payload=document.get("payload"), blob=blob, role=None if role is None else Role(role), entry_key=key)
    check_drafts([draft])
    return Logged(document["conversation_id"], entry_of(draft, sequence, from_iso(document["at"])))
