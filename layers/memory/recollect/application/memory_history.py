"""The history of a memory: its versions, each with the change that made it, as far as the audit tells."""

from dataclasses import dataclass

from recollect.application.list_audit import AuditFilter, ListAudit
from recollect.application.list_memories import ListMemories
from recollect.domain.audit import AuditEntry
from recollect.domain.memory import Memory
from recollect.domain.scope import Scope

_PAGE = 200
_MOST_PAGES = 5


@dataclass(frozen=True, slots=True)
class MemoryVersion:
    """The memory as it was in one version; `change` made it, None where no entry of the audit is found."""

    memory: Memory
    change: AuditEntry | None


class MemoryHistory:
    """The use case behind `GET …/memories/{id}/history`."""

    def __init__(self, memories: ListMemories, audit: ListAudit) -> None:
        self._memories = memories
        self._audit = audit

    def __call__(self, scope: Scope, memory: Memory) -> list[MemoryVersion]:
        """Every version, oldest first, the present one last."""
        versions = [*self._memories.history(scope, memory), memory]
        changes = self._changes(scope, memory.id, {version.version for version in versions})
        return [MemoryVersion(version, changes.get(version.version)) for version in versions]

    def _changes(self, scope: Scope, memory_id: str, wanted: set[int]) -> dict[int, AuditEntry]:
        """The entries that made these versions; of a user's newest 10,000 at most."""
        found: dict[int, AuditEntry] = {}
        after: str | None = None
        for _ in range(_MOST_PAGES):
            page = self._audit(scope, _PAGE, after, AuditFilter(target_id=memory_id))
            found |= {version: entry for entry in page.entries if (version := _made(entry, memory_id)) is not None}
            after = page.more
            if after is None or wanted <= found.keys():
                break
        return found


def _made(entry: AuditEntry, memory_id: str) -> int | None:
    """The version of the memory that the change made; None where it made another one's, or none."""
    after = entry.after or {}
    return after.get("version") if after.get("id") == memory_id else None
