"""A laptop's store as files: the database in one piece, and the archive's objects beside it.

A copy is made while others write. Every file is on the disk before its name shows it, and a name that is taken is never
taken over: where two do the same at once, one raises Conflict.
"""

import os
import shutil
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from sqlite3 import connect
from tempfile import mkdtemp

from recollect.adapters.local.database import FILE_NAME, Database
from recollect.core.errors import Conflict, NotFound, Unavailable

ARCHIVE = "archive"
_ASIDE = ".copying-"
_COPY_BYTES = 1 << 20


@contextmanager
def aside_in(folder: Path) -> Iterator[Path]:
    """A folder for what is not whole yet, gone afterwards; those that a process left in its end go first."""
    with _translated():
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for left in folder.glob(f"{_ASIDE}*"):
            shutil.rmtree(left, ignore_errors=True)
        aside = Path(mkdtemp(prefix=_ASIDE, dir=folder))
    try:
        yield aside
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def refuse_taken(folder: Path) -> None:
    """Raises Conflict where the folder has a database."""
    if (folder / FILE_NAME).exists():
        raise Conflict(f"{folder} has a {FILE_NAME} already; nothing was changed")


def copy_database(database: Database, to: Path) -> None:
    """The file as it is at one instant, by SQLite's own backup: no writer waits for it."""
    with database.reading() as source, closing(connect(to)) as target:
        source.backup(target)
    with _translated():
        to.chmod(0o600)


def copy_file(source: Path, to: Path) -> None:
    """One file, on the disk when this returns. Raises NotFound, Unavailable."""
    if not source.is_file():
        raise NotFound(f"{source.parent} has no {source.name}")
    with _translated():
        _copy(source, to)


def copy_archive(source: Path, to: Path) -> None:
    """Every object; one that is deleted meanwhile is left out, and what is half written there is no object."""
    with _translated():
        for file in sorted(source.rglob("*")) if source.is_dir() else ():
            target = to / file.relative_to(source)
            if file.is_dir():
                target.mkdir(parents=True, exist_ok=True)
            elif not file.name.startswith("."):
                with suppress(FileNotFoundError):
                    _copy(file, target)
        for copied in [to, *to.rglob("*")]:
            if copied.is_dir():
                _flush(copied)


def show_archive(aside: Path, folder: Path) -> bool:
    """Moves an archive into its place; False where one is there, which stays: it knows of the newer deletions."""
    with _translated():
        if (folder / ARCHIVE).exists():
            return False
        if (aside / ARCHIVE).exists():
            (aside / ARCHIVE).rename(folder / ARCHIVE)
        return True


def show_database(aside: Path, folder: Path) -> None:
    """Moves a whole database into its place. Raises Conflict where one is there by then."""
    if any(aside.glob(f"{FILE_NAME}-*")):
        raise Unavailable("the copied database is still in use")
    with _translated():
        try:
            (folder / FILE_NAME).hardlink_to(aside / FILE_NAME)
        except FileExistsError as error:
            raise Conflict(f"{folder} has a {FILE_NAME} by now; it was not changed") from error
        _flush(folder)


def _copy(source: Path, to: Path) -> None:
    with source.open("rb") as given, to.open("xb") as copy:
        to.chmod(0o600)
        shutil.copyfileobj(given, copy, _COPY_BYTES)
        copy.flush()
        os.fsync(copy.fileno())


def _flush(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise Unavailable(f"a file of the store could not be copied: {error.strerror}") from error
