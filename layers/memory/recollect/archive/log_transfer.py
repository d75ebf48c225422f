"""Export and import of the logs of a user's conversations: a line of JSON for each entry, after those of items.

| field                         | meaning                                                             |
|-------------------------------|---------------------------------------------------------------------|
| `v`, `kind`                   | format of the line; `log`, or `log_version` for what an entry was   |
| `conversation_id`, `sequence` | where the entry is                                                  |
| `at`                          | when it was appended                                                |
| `payload`, `blob`, `role`     | its content; `entry_key`, its key                                   |
| `version`, `edited_at`        | of an entry that was edited                                         |
| `branch`                      | unless it is `main`: `name`, `root`, and the `parent` of the root   |

Earlier versions follow the entries. An import keeps the sequences and appends what lies beyond the last one of a log:
what is there is a duplicate, and so is what was popped or cleared since. It refuses what was appended before the user
was erased.
"""

import base64
import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
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
from recollect.session_log.branches import MAIN, Branch
from recollect.session_log.entries import Draft, Role, check_drafts, entry_of
from recollect.session_log.lasting import LastingLogs, Logged, LoggedPage

FORMAT_VERSION = 1
KIND_LOG = "log"
KIND_VERSION = "log_version"
PAGE_BATCHES = 200
_LARGEST_SEQUENCE = 10**12 - 1
_LARGEST_VERSION = 10**6 - 1
_ENTRIES, _VERSIONS = "entries ", "versions "


class ExportLogs:
    """The logs behind `GET …/export`: entries, then what they were before."""

    def __init__(self, logs: LastingLogs) -> None:
        self._logs = logs

    def any(self, scope: Scope) -> bool:
        """Whether the user may have entries; the first page may be empty all the same."""
        page = self._logs.entries(scope, 1, None)
        return bool(page.entries) or page.more is not None

    def page(self, scope: Scope, after: str | None) -> LinesPage:
        """At most 200 batches or versions, fewer where they are large."""
        if after is not None and after.startswith(_VERSIONS):
            return self._page(scope, self._logs.versions, _VERSIONS, after)
        page = self._page(scope, self._logs.entries, _ENTRIES, after)
        return page if page.more is not None else replace(page, more=self._first_version(scope))

    def _first_version(self, scope: Scope) -> str | None:
        page = self._logs.versions(scope, 1, None)
        return _VERSIONS if page.entries or page.more is not None else None

    def _page(
        self, scope: Scope, logged: Callable[[Scope, int, str | None], LoggedPage], part: str, after: str | None
    ) -> LinesPage:
        place = (after or "").removeprefix(part) or None

        def read(limit: int) -> LinesPage:
            page = logged(scope, limit, place)
            text = "".join(f"{log_line_text(one)}\n" for one in page.entries)
            return LinesPage(text, len(page.entries), None if page.more is None else f"{part}{page.more}")

        return fitting_page(read, PAGE_BATCHES)


class ImportLogs:
    """Stores lines as a user's logs. `note` lists the user among those of the tenant."""

    def __init__(self, items: Items, logs: LastingLogs, note: Callable[[Scope, datetime], None]) -> None:
        self._items = items
        self._logs = logs
        self._note = note

    def import_lines(self, scope: Scope, lines: Sequence[Logged], now: datetime) -> Counter[LineOutcome]:
        """The outcomes. Raises Unavailable with some of them stored; a retry continues."""
        erased = self._erased_at(scope) if lines else None
        taken = [one for one in lines if erased is None or one.entry.at > erased]
        counts = Counter({LineOutcome.REFUSED: len(lines) - len(taken)})
        for conversation_id, group in groupby(sorted(taken, key=_order), key=lambda one: one.conversation_id):
            whole = {_order(one): one for one in group}
            created = self._logs.restore(scope, conversation_id, list(whole.values()), now)
            counts.update({LineOutcome.CREATED: created})
        if taken:
            self._note(scope, now)
        counts[LineOutcome.DUPLICATE] += len(taken) - counts[LineOutcome.CREATED]
        return counts

    def _erased_at(self, scope: Scope) -> datetime | None:
        key = erased_user_key(scope.user_id)
        item = self._items.get(of_tenant(scope.tenant), [key]).get(key)
        if item is None:
            return None
        return datetime.fromtimestamp(id_milliseconds(str(item.value["before"])) / 1000, UTC)


def _order(logged: Logged) -> tuple[str, bool, int, int]:
    version = logged.entry.version if logged.earlier else 0
    return (logged.conversation_id, logged.earlier, logged.entry.sequence, version)


def log_line_text(logged: Logged) -> str:
    """One line of JSON, without its line end."""
    entry = logged.entry
    line: dict[str, Any] = {
        "v": FORMAT_VERSION,
        "kind": KIND_VERSION if logged.earlier else KIND_LOG,
        "conversation_id": logged.conversation_id,
        "sequence": entry.sequence,
        "at": iso(entry.at),
    }
    line |= {"payload": entry.payload} if entry.blob is None else {"blob": entry.blob}
    line |= {} if entry.role is None else {"role": entry.role.value}
    line |= {} if entry.entry_key is None else {"entry_key": entry.entry_key}
    line |= {"version": entry.version} if entry.version > 1 or logged.earlier else {}
    line |= {} if entry.edited_at is None else {"edited_at": iso(entry.edited_at)}
    line |= {} if logged.branch is None else {"branch": _branch_document(logged.branch)}
    return json.dumps(line, ensure_ascii=False, separators=(",", ":"))


def read_log_line(text: str) -> Logged | None:
    """The entry of a line; None for a line of another kind. Raises StoredDataError for one that breaks a rule."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not (isinstance(document, dict) and document.get("kind") in (KIND_LOG, KIND_VERSION) and "sequence" in document):
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
    branch = _branch(document["branch"], sequence) if "branch" in document else None
    entry = entry_of(draft, sequence, from_iso(document["at"]), MAIN if branch is None else branch.name)
    earlier = document["kind"] == KIND_VERSION
    return Logged(document["conversation_id"], replace(entry, **_edition(document, earlier)), branch, earlier)


def _edition(document: Mapping[str, Any], earlier: bool) -> dict[str, Any]:
    version, edited_at = document["version"] if earlier else document.get("version", 1), document.get("edited_at")
    if type(version) is not int or not 1 <= version <= _LARGEST_VERSION:
        raise ValueError("a version that is none")
    return {"version": version, "edited_at": None if edited_at is None else from_iso(edited_at)}


def _branch_document(branch: Branch) -> dict[str, Any]:
    return {"name": branch.name, "root": branch.root, "parent": branch.parent}


def _branch(document: Mapping[str, Any], sequence: int) -> Branch:
    name, root, parent = document["name"], document["root"], document["parent"]
    if any(id_fault(one) is not None for one in (name, parent)) or name in (MAIN, parent):
        raise ValueError("a branch that is none")
    if type(root) is not int or not 1 <= root < sequence:
        raise ValueError("a root that is none")
    return Branch(name=name, root=root, parent=parent)
