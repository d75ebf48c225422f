"""The laptop's parts: everything in one SQLite file."""

from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path

from recollect.adapters.concurrency import Inline
from recollect.adapters.local.database import FILE_NAME, Database
from recollect.adapters.local.idempotency import SqliteIdempotencyStore
from recollect.adapters.local.items import SqliteItems
from recollect.adapters.local.projections import SqliteProjections
from recollect.adapters.local.publisher import SqlitePublisher
from recollect.adapters.local.timeline import SqliteTimeline
from recollect.bootstrap.embedding import Embedding
from recollect.bootstrap.models import Modelling
from recollect.ports import (
    Concurrency,
    Embedder,
    Eraser,
    IdempotencyStore,
    Items,
    Model,
    Projections,
    Publisher,
    SearchIndex,
    SnapshotStore,
    Timeline,
    WebSearch,
)
from recollect.search_index.health import PartState
from recollect.settings import Settings
from recollect.timeline.timeline import TAIL_EVENTS


class LocalParts:
    """SQLite in RECOLLECT_HOME; `file` is another database, with all else as in that folder."""

    def __init__(self, settings: Settings, file: Path | None = None) -> None:
        self._settings = settings
        self._file = file or settings.home / FILE_NAME
        self._embedding = Embedding(settings)
        self._modelling = Modelling(settings)

    @property
    def embedder(self) -> Embedder | None:
        return self._embedding.embedder

    @property
    def model(self) -> Model:
        return self._modelling.model

    @property
    def web_search(self) -> WebSearch | None:
        return self._modelling.web_search

    @cached_property
    def _database(self) -> Database:
        self._settings.home.mkdir(parents=True, exist_ok=True, mode=0o700)
        return Database(self._file)

    @cached_property
    def timeline(self) -> Timeline:
        return SqliteTimeline(self._database)

    @cached_property
    def projections(self) -> Projections:
        return SqliteProjections(self._database)

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
    def items(self) -> Items:
        return SqliteItems(self._database)

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
        """None without the model: then nothing of this process is embedded."""
        return self.embedder.generation if self.embedder else None

    def checks(self) -> Mapping[str, Callable[[], PartState]]:
        """Timeline, index, embedder, model."""
        return {
            "timeline": self._timeline_state,
            "index": lambda: PartState(True, self.index.check()),
            "embedder": self._embedding.check,
            "model": self._modelling.check,
        }

    def _timeline_state(self) -> PartState:
        self._database  # noqa: B018 - opening it is the check
        waiting = len(self.projections.pending(TAIL_EVENTS, None).markers)
        return PartState(True, f"SQLite, {self._settings.home}", waiting)

    def create(self) -> list[str]:
        """Opening the database makes it."""
        existed = self._file.exists()
        self.index.check()
        return [] if existed else ["database"]

    def close(self) -> None:
        """Closes the database."""
        if "_database" in self.__dict__:
            self._database.close()
