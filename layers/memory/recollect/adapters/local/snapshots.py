"""Snapshots in a folder: each object one file, written aside, flushed to the disk and moved into place."""

import hashlib
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from recollect.archive.snapshot_names import folder_of, name_of, path_of, tenant_part
from recollect.core.errors import InvalidInput, Unavailable, VersionMismatch

_LOCK, _ASIDE = ".lock", ".new-"


class FolderSnapshots:
    """`SnapshotStore` in a folder of a POSIX file system; processes take turns by a lock for each tenant.

    A crash leaves the old object or the new one, and perhaps a file aside, which no listing shows.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def put_if_absent(self, tenant: str, name: str, data: bytes) -> str:
        """See `SnapshotStore`."""
        with self._turn(tenant), _translated_errors():
            path = self._path(tenant, name)
            if path.exists():
                raise VersionMismatch("the snapshot is there already")
            return _write(path, data)

    def put_if_match(self, tenant: str, name: str, data: bytes, tag: str) -> str:
        """See `SnapshotStore`."""
        with self._turn(tenant), _translated_errors():
            path = self._path(tenant, name)
            current = _read(path)
            if current is None or _tag(current) != tag:
                raise VersionMismatch("the snapshot has changed since it was read")
            return _write(path, data)

    def get(self, tenant: str, name: str) -> tuple[bytes, str] | None:
        """See `SnapshotStore`."""
        with _translated_errors():
            data = _read(self._path(tenant, name))
        return None if data is None else (data, _tag(data))

    def names(self, tenant: str, prefix: str = "") -> Iterator[str]:
        """See `SnapshotStore`."""
        root = self._folder / tenant_part(tenant)
        with _translated_errors():
            files = [path for path in (root / folder_of(prefix)).rglob("*") if _is_object(path)]
        for path in sorted(path.relative_to(root).as_posix() for path in files):
            name = name_of(path)
            if name.startswith(prefix):
                yield name

    def delete(self, tenant: str, name: str) -> None:
        """See `SnapshotStore`."""
        with self._turn(tenant), _translated_errors():
            path = self._path(tenant, name)
            if path.is_file():
                path.unlink()
                _flush_folder(path.parent)

    def purge(self, tenant: str, name: str) -> None:
        """See `SnapshotStore`: a folder keeps nothing of before."""
        self._path(tenant, name)

    def _path(self, tenant: str, name: str) -> Path:
        return self._folder / tenant_part(tenant) / path_of(name)

    @contextmanager
    def _turn(self, tenant: str) -> Iterator[None]:
        """Compare and write as one step, against threads and processes; the system frees the lock of the dead."""
        import fcntl

        folder = self._folder / tenant_part(tenant)
        with _translated_errors():
            folder.mkdir(parents=True, exist_ok=True)
            lock = (folder / _LOCK).open("wb")
        with lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield


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
