"""A laptop's store copied as a whole, and put where there is none: the files as they are, nothing made again.

What was deleted after the copy was made is applied to the file before anybody can read it (P-22): the archive that is
there already, or else the one that was copied with the file, tells it.
"""

from collections import Counter
from datetime import datetime
from pathlib import Path

from recollect.adapters.local import files
from recollect.adapters.local.database import FILE_NAME, Database
from recollect.app import App
from recollect.bootstrap.local_parts import LocalParts
from recollect.core.errors import InvalidInput, NotReady
from recollect.deletion.tombstone_log import seconds_from_now
from recollect.settings import Settings

_LONGEST_SECONDS = 24 * 3600.0


def back_up_store(settings: Settings, folder: Path) -> None:
    """Copies file and archive into a folder that has none, while everything goes on.

    The file first, so that the deletions that were copied are never older than it. Raises Conflict, NotFound.
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
    """Puts a copy where no store is: how many deletions were applied to it, by kind.

    An archive that is there stays. Raises NotFound, Conflict, StoredDataError for a file that is none of ours or of a
    newer release, NotReady where deletions could not be applied: then no file was put there.
    """
    _refuse_aws(settings)
    files.refuse_taken(settings.home)
    with files.aside_in(settings.home) as aside:
        files.copy_file(folder / FILE_NAME, aside / FILE_NAME)
        if not (settings.home / files.ARCHIVE).exists():
            files.copy_archive(folder / files.ARCHIVE, aside / files.ARCHIVE)
        files.show_archive(aside, settings.home)
        counts = _forgotten_again(settings, aside / FILE_NAME, now)
        files.show_database(aside, settings.home)
    return counts


def _forgotten_again(settings: Settings, file: Path, now: datetime) -> Counter[str]:
    app = App(settings, LocalParts(settings, file))
    try:
        counts = app.deletion.apply_tombstones(now, seconds_from_now(_LONGEST_SECONDS))
        if not app.deletion.apply_tombstones.check().ready:
            raise NotReady("deletions are left that could not be applied; nothing was restored")
    finally:
        app.parts.close()
    return counts


def _refuse_aws(settings: Settings) -> None:
    if settings.engines != "local":
        raise InvalidInput("only a laptop's store is one file; on AWS see docs/operations.md")
