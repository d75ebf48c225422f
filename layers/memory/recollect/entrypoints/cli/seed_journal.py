"""Remembers the ids that a batch was given, so that a batch cut short gets the same ones when it is sent again.

Exactly once needs none of this: the store tells a turn by its source id. But turns of one instant stand in the order
of their ids, and an engine may have kept the later half of a batch before the process was killed.
"""

import hashlib
import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from recollect.core.ids import IdSeed, id_milliseconds
from recollect.core.scope import Scope

_KEPT_FOR = timedelta(hours=24)


@dataclass(slots=True)
class SeedJournal:
    """A file with the batches that were begun and not finished, and their seeds: the one under way, and for each
    time that the import was killed the one it was killed in. A file that cannot be read or written is no harm.
    """

    path: Path
    _begun: dict[str, str] | None = None

    def begin(self, batch: str, now: datetime, fresh: Callable[[], IdSeed]) -> IdSeed:
        """The seed that this batch had when it was cut short within a day, or a new one."""
        begun = self._read() if self._begun is None else self._begun
        seed = _recent(begun.get(batch), now) or fresh()
        self._begun = {**begun, batch: seed.encode()}
        self._write(self._begun)
        return seed

    def finish(self, batch: str) -> None:
        """The batch is stored; its seed leaves the file with the next write."""
        (self._begun or {}).pop(batch, None)

    def close(self) -> None:
        """Everything is stored: nothing is under way."""
        with suppress(OSError):
            self.path.unlink(missing_ok=True)

    def _read(self) -> dict[str, str]:
        try:
            known = json.loads(self.path.read_bytes())
        except (OSError, ValueError):
            return {}
        return {str(batch): str(seed) for batch, seed in known.items()} if isinstance(known, dict) else {}

    def _write(self, begun: dict[str, str]) -> None:
        with suppress(OSError):
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            scratch = self.path.with_suffix(".new")
            scratch.write_text(json.dumps(begun), encoding="utf-8")
            scratch.replace(self.path)


def _recent(encoded: str | None, now: datetime) -> IdSeed | None:
    if encoded is None:
        return None
    try:
        seed = IdSeed.decode(encoded)
        age = timedelta(milliseconds=now.timestamp() * 1000 - id_milliseconds(seed.nth(0)))
    except (ValueError, OverflowError):
        return None
    return seed if age < _KEPT_FOR else None


def journal_for(home: Path, scope: Scope, file: Path) -> SeedJournal:
    """The journal of the import of one file into one scope."""
    whose = (scope.tenant, scope.user_id, scope.persona_id, scope.household_id, str(file.resolve()))
    name = hashlib.sha256(json.dumps(whose).encode("utf-8", "surrogatepass")).hexdigest()[:32]
    return SeedJournal(home / "imports" / f"{name}.json")
