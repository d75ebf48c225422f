"""A second store beside the one in use, for a rehearsal: made empty, and taken away again.

It has a fixed place, so that the next one clears away what a killed one left. Vectors and models are those of the
deployment; its archive is read and never written; nothing of it reaches a bus, a search engine or a language model.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from recollect.adapters.local.files import FolderSnapshots
from recollect.adapters.spared_snapshots import SparedSnapshots
from recollect.app import App
from recollect.composition.deployment import Parts
from recollect.core.errors import Conflict
from recollect.ports import SnapshotStore
from recollect.settings import Settings

SUFFIX = "rehearsal"
_SHARED = ("_embedding", "_judge", "_rerank")
"""What a deployment's parts have loaded once and a second store uses too."""


@contextmanager
def scratch_app(app: App) -> Iterator[App]:
    """The app of an empty store, gone at the end. Raises NotReady without an archive, Conflict for a foreign table."""
    settings, spared = app.settings, app.parts.snapshots
    folder = settings.home / (f"{SUFFIX}-{settings.table}" if settings.engines == "aws" else SUFFIX)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True, mode=0o700)
    store = SparedSnapshots(spared, FolderSnapshots(folder / "written"))
    opened = _in_table(app, store) if settings.engines == "aws" else _in_folder(app, folder, store)
    try:
        with opened as parts:
            yield App(settings, parts, app.deployment.rules, app.ids)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _in_folder(app: App, folder: Path, store: SnapshotStore) -> Iterator[Parts]:
    from recollect.bootstrap.local_parts import LocalParts

    parts = LocalParts(replace(_quiet(app.settings), home=folder))
    _share(app.parts, parts, store)
    parts.create()
    try:
        yield parts
    finally:
        parts.close()


@contextmanager
def _in_table(app: App, store: SnapshotStore) -> Iterator[Parts]:
    from recollect.adapters.aws.scratch_table import ScratchTable
    from recollect.bootstrap.aws_parts import AwsParts

    settings = app.settings
    if settings.table.endswith(f"-{SUFFIX}"):
        raise Conflict(f"{settings.table} is a rehearsal's own table")
    own = replace(_quiet(settings), table=f"{settings.table}-{SUFFIX}", search_engine="table", opensearch_url="")
    parts = AwsParts(replace(own, snapshot_bucket="", event_bus=""))
    _share(app.parts, parts, store)
    table = ScratchTable(parts.access.client, parts.access.table)
    table.make(settings.table)
    try:
        yield parts
    finally:
        table.remove()


def _quiet(settings: Settings) -> Settings:
    return replace(settings, model=("extractive",))


def _share(of: Any, parts: Any, store: SnapshotStore) -> None:
    for name in _SHARED:
        setattr(parts, name, getattr(of, name))
    parts.__dict__["snapshots"] = store
