"""Files of a local store: snapshots in a folder (the port `SnapshotStore`), and copies of the whole store.

Every file is written aside and flushed to the disk before it gets its name. A copy is made while others write; it never
takes a name that exists: of two that make the same at once, one raises Conflict.
"""

import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from sqlite3 import connect

from recollect.adapters.local.database import FILE_NAME, Database
from recollect.archive.snapshot import folder_of, name_of, path_of, tenant_part
from recollect.core.errors import Conflict, InvalidInput, NotFound, Unavailable, VersionMismatch

ARCHIVE = "archive"
_LOCK, _ASIDE, _COPY_ASIDE = ".lock", ".new-", ".copying-"
_COPY_BYTES = 1 << 20


class FolderSnapshots:
    """The port `SnapshotStore` in a folder of a POSIX file system; a lock for each tenant serializes processes.

    A crash leaves the old object or the new one, and perhaps an unfinished file, which no listing shows.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def put_if_absent(self, tenant: str, name: str, data: bytes) -> str:
        with self._turn(tenant), _translated_errors():
            path = self._path(tenant, name)
            if path.exists():
                raise VersionMismatch("the snapshot is there already")
            return _write(path, data)

    def put_if_match(self, tenant: str, name: str, data: bytes, tag: str) -> str:
        with self._turn(tenant), _translated_errors():
            path = self._path(tenant, name)
            current = _read(path)
            if current is None or _tag(current) != tag:
                raise VersionMismatch("the snapshot has changed since it was read")
            return _write(path, data)

    def get(self, tenant: str, name: str) -> tuple[bytes, str] | None:
        with _translated_errors():
            data = _read(self._path(tenant, name))
        return None if data is None else (data, _tag(data))

    def names(self, tenant: str, prefix: str = "") -> Iterator[str]:
        root = self._folder / tenant_part(tenant)
        with _translated_errors():
            files = [path for path in (root / folder_of(prefix)).rglob("*") if _is_object(path)]
        for path in sorted(path.relative_to(root).as_posix() for path in files):
            name = name_of(path)
            if name.startswith(prefix):
                yield name

    def delete(self, tenant: str, name: str) -> None:
        with self._turn(tenant), _translated_errors():
            path = self._path(tenant, name)
            if path.is_file():
                path.unlink()
                _flush_folder(path.parent)

    def purge(self, tenant: str, name: str) -> None:
        """A folder has no earlier versions."""
        self._path(tenant, name)

    def _path(self, tenant: str, name: str) -> Path:
        return self._folder / tenant_part(tenant) / path_of(name)

    @contextmanager
    def _turn(self, tenant: str) -> Iterator[None]:
        """Makes compare and write atomic against threads and processes; the system frees the lock of a dead process."""
        import fcntl

        folder = self._folder / tenant_part(tenant)
        with _translated_errors():
            folder.mkdir(parents=True, exist_ok=True)
            lock = (folder / _LOCK).open("wb")
        with lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield


@contextmanager
def aside_in(folder: Path) -> Iterator[Path]:
    """A folder for unfinished copies, deleted afterwards; first deletes those of processes that ended early."""
    with _copying():
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for left in folder.glob(f"{_COPY_ASIDE}*"):
            shutil.rmtree(left, ignore_errors=True)
        aside = Path(tempfile.mkdtemp(prefix=_COPY_ASIDE, dir=folder))
    try:
        yield aside
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def refuse_taken(folder: Path) -> None:
    """Raises Conflict where the folder has a database."""
    if (folder / FILE_NAME).exists():
        raise Conflict(f"{folder} has a {FILE_NAME} already; nothing was changed")


def copy_database(database: Database, to: Path) -> None:
    """The database at one instant, by SQLite's own backup: no writer waits for it."""
    with database.reading() as source, closing(connect(to)) as target:
        source.backup(target)
    with _copying():
        to.chmod(0o600)


def copy_file(source: Path, to: Path) -> None:
    """One file, on the disk when this returns. Raises NotFound, Unavailable."""
    if not source.is_file():
        raise NotFound(f"{source.parent} has no {source.name}")
    with _copying():
        _copy(source, to)


def copy_archive(source: Path, to: Path) -> None:
    """Every object, without those that are deleted meanwhile or half written."""
    with _copying():
        for file in sorted(source.rglob("*")) if source.is_dir() else ():
            target = to / file.relative_to(source)
            if file.is_dir():
                target.mkdir(parents=True, exist_ok=True)
            elif not file.name.startswith("."):
                with suppress(FileNotFoundError):
                    _copy(file, target)
        for copied in [to, *to.rglob("*")]:
            if copied.is_dir():
                _flush_folder(copied)


def show_archive(aside: Path, folder: Path) -> bool:
    """Moves an archive into its place; False where one is there: it stays, since it has the newer deletions."""
    with _copying():
        if (folder / ARCHIVE).exists():
            return False
        if (aside / ARCHIVE).exists():
            (aside / ARCHIVE).rename(folder / ARCHIVE)
        return True


def show_database(aside: Path, folder: Path) -> None:
    """Moves a whole database into its place. Raises Conflict where one is there by then."""
    if any(aside.glob(f"{FILE_NAME}-*")):
        raise Unavailable("the copied database is still in use")
    with _copying():
        try:
            (folder / FILE_NAME).hardlink_to(aside / FILE_NAME)
        except FileExistsError as error:
            raise Conflict(f"{folder} has a {FILE_NAME} by now; it was not changed") from error
        _flush_folder(folder)


def _write(path: Path, data: bytes) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, aside = tempfile.mkstemp(prefix=_ASIDE, dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(aside).replace(path)
    except BaseException:
        Path(aside).unlink(missing_ok=True)
        raise
    _flush_folder(path.parent)
    return _tag(data)


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
        return None


def _flush_folder(folder: Path) -> None:
    """So that the name survives a power cut as the content does."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _is_object(path: Path) -> bool:
    return not path.name.startswith(".") and path.is_file()


def _tag(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@contextmanager
def _translated_errors() -> Iterator[None]:
    try:
        yield
    except (FileExistsError, IsADirectoryError, NotADirectoryError) as error:
        raise InvalidInput("a snapshot's name continues another's") from error
    except OSError as error:
        raise Unavailable(f"the snapshot folder failed: {type(error).__name__}") from error


def _copy(source: Path, to: Path) -> None:
    with source.open("rb") as given, to.open("xb") as copy:
        to.chmod(0o600)
        shutil.copyfileobj(given, copy, _COPY_BYTES)
        copy.flush()
        os.fsync(copy.fileno())


@contextmanager
def _copying() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise Unavailable(f"a file of the store could not be copied: {error.strerror}") from error
