"""The parts of a laptop, everything in one SQLite file, and the backup of that file as a whole.

Deletions that are newer than a backup are applied to the restored file before anybody can read it (P-22): from the
archive in place, else from the one in the backup.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import cached_property
from pathlib import Path

from recollect.adapters.concurrency import Inline
from recollect.adapters.local import files
from recollect.adapters.local.database import FILE_NAME, Database
from recollect.adapters.local.items import SqliteIdempotencyStore, SqliteItems
from recollect.adapters.local.projections import SqliteProjections, SqlitePublisher
from recollect.adapters.local.rate_limiter import SqliteRateLimiter
from recollect.adapters.local.timeline import SqliteTimeline
from recollect.app import App
from recollect.bootstrap.providers import ProviderParts
from recollect.core.errors import InvalidInput, NotReady
from recollect.deletion.tombstone_log import seconds_from_now
from recollect.ports import (
    Concurrency,
    Eraser,
    IdempotencyStore,
    Items,
    NamespacedItems,
    PartState,
    Projections,
    Publisher,
    RateLimiter,
    SearchIndex,
    SnapshotStore,
    Timeline,
    UsageCounts,
)
from recollect.settings import Settings
from recollect.timeline.timeline import TAIL_EVENTS

_LONGEST_SECONDS = 24 * 3600.0


class LocalParts(ProviderParts):
    """SQLite in RECOLLECT_HOME; `file` is another database, with everything else in that folder."""

    def __init__(self, settings: Settings, file: Path | None = None) -> None:
        super().__init__(settings)
        self._file = file or settings.home / FILE_NAME

    former_index = None

    @cached_property
    def _database(self) -> Database:
        self._settings.home.mkdir(parents=True, exist_ok=True, mode=0o700)
        return Database(self._file)

    @cached_property
    def timeline(self) -> Timeline:
        return SqliteTimeline(self._database)

    @cached_property
    def projections(self) -> Projections:
        return SqliteProjections(self._database, lambda: self.pair_model is not None)

    @cached_property
    def index(self) -> SearchIndex:
        from recollect.adapters.local.search_index import SqliteSearchIndex

        embedder = self.embedder
        return SqliteSearchIndex(
            self._database, embedder.generation if embedder else None, embedder.dimension if embedder else None
        )

    @cached_property
    def publisher(self) -> Publisher:
        return SqlitePublisher(self._database)

    @cached_property
    def idempotency(self) -> IdempotencyStore:
        return SqliteIdempotencyStore(self._database)

    @cached_property
    def rate_limiter(self) -> RateLimiter:
        return SqliteRateLimiter(self._database)

    @cached_property
    def usage(self) -> UsageCounts:
        from recollect.adapters.local.usage import SqliteUsageCounts

        return SqliteUsageCounts(self._database)

    @cached_property
    def items(self) -> Items:
        return SqliteItems(self._database)

    @cached_property
    def namespaced_items(self) -> NamespacedItems:
        from recollect.adapters.local.namespaced_items import SqliteNamespacedItems

        return SqliteNamespacedItems(self._database)

    @cached_property
    def eraser(self) -> Eraser:
        from recollect.adapters.local.removal import SqliteEraser

        return SqliteEraser(self._database)

    @cached_property
    def concurrency(self) -> Concurrency:
        return Inline()

    @cached_property
    def snapshots(self) -> SnapshotStore:
        from recollect.adapters.local.files import FolderSnapshots

        return FolderSnapshots(self._settings.home / "archive")

    def embedding_generation(self) -> str | None:
        """None without the model: then this process embeds nothing."""
        return self.embedder.generation if self.embedder else None

    def checks(self) -> Mapping[str, Callable[[], PartState]]:
        """Timeline, index, embedder, judge, model."""
        return {
            "timeline": self._timeline_state,
            "index": lambda: PartState(True, self.index.check()),
            "embedder": self._embedding.check,
            "judge": self._judge.check,
            "rerank": self._rerank.check,
            "model": self.model_state,
        }

    def _timeline_state(self) -> PartState:
        self._database  # noqa: B018 - opening it is the check
        waiting = len(self.projections.pending(TAIL_EVENTS, None).markers)
        return PartState(True, f"SQLite, {self._settings.home}", waiting)

    def dry_run(self, work: Callable[[], object]) -> None:
        """Does nothing: a process on a laptop has nobody waiting for its first answer."""

    def disconnect(self) -> None:
        """Does nothing: nobody copies the memory of a laptop's process."""

    def create(self) -> list[str]:
        """Opens the database, which creates it; answers what is new."""
        existed = self._file.exists()
        self.index.check()
        return [] if existed else ["database"]

    def close(self) -> None:
        """Closes the database."""
        if "_database" in self.__dict__:
            self._database.close()


def back_up_store(settings: Settings, folder: Path) -> None:
    """Copies file and archive into a folder that has no store, while reads and writes go on.

    The file first, so that the copied deletions are never older than it. Raises Conflict, NotFound.
    """
    _refuse_aws(settings)
    files.refuse_taken(folder)
    file = settings.home / FILE_NAME
    if not file.is_file():
        raise InvalidInput(f"{settings.home} has no {FILE_NAME}")
    with files.aside_in(folder) as aside:
        database = Database(file)
        try:
            files.copy_database(database, aside / FILE_NAME)
        finally:
            database.close()
        files.copy_archive(settings.home / files.ARCHIVE, aside / files.ARCHIVE)
        files.show_archive(aside, folder)
        files.show_database(aside, folder)


def restore_store(settings: Settings, folder: Path, now: datetime) -> Counter[str]:
    """Copies a backup to where no store is; answers the number of deletions applied to it, by kind.

    An existing archive stays. Raises NotFound, Conflict, StoredDataError for a foreign file or one of a newer release,
    and NotReady where deletions could not be applied: then no file was restored.
    """
    _refuse_aws(settings)
    files.refuse_taken(settings.home)
    with files.aside_in(settings.home) as aside:
        files.copy_file(folder / FILE_NAME, aside / FILE_NAME)
        if not (settings.home / files.ARCHIVE).exists():
            files.copy_archive(folder / files.ARCHIVE, aside / files.ARCHIVE)
        files.show_archive(aside, settings.home)
        counts = _apply_tombstones(settings, aside / FILE_NAME, now)
        files.show_database(aside, settings.home)
    return counts


def _apply_tombstones(settings: Settings, file: Path, now: datetime) -> Counter[str]:
    app = App(settings, LocalParts(settings, file))
    try:
        counts = app.deletion.tombstones.apply(now, seconds_from_now(_LONGEST_SECONDS))
        if not app.deletion.tombstones.check().ready:
            raise NotReady("deletions are left that could not be applied; nothing was restored")
    finally:
        app.parts.close()
    return counts


def _refuse_aws(settings: Settings) -> None:
    if settings.engines != "local":
        raise InvalidInput("only a laptop's store is one file; on AWS see docs/operations.md")
