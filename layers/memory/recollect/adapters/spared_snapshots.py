"""The port `SnapshotStore` over a store that must not change: it is read, and every write goes to another one."""

from __future__ import annotations

import heapq
from collections.abc import Iterator

from recollect.core.errors import VersionMismatch
from recollect.ports import SnapshotStore


class SparedSnapshots:
    """Shows `spared` as it would be after the writes made here, which `scratch` holds; for one process."""

    def __init__(self, spared: SnapshotStore, scratch: SnapshotStore) -> None:
        self._spared = spared
        self._scratch = scratch
        self._deleted: set[tuple[str, str]] = set()

    def put_if_absent(self, tenant: str, name: str, data: bytes) -> str:
        if self._below(tenant, name) is not None:
            raise VersionMismatch("the snapshot is there already")
        return self._scratch.put_if_absent(tenant, name, data)

    def put_if_match(self, tenant: str, name: str, data: bytes, tag: str) -> str:
        if self._scratch.get(tenant, name) is not None:
            return self._scratch.put_if_match(tenant, name, data, tag)
        found = self._below(tenant, name)
        if found is None or found[1] != tag:
            raise VersionMismatch("the snapshot has changed since it was read")
        return self._scratch.put_if_absent(tenant, name, data)

    def get(self, tenant: str, name: str) -> tuple[bytes, str] | None:
        return self._scratch.get(tenant, name) or self._below(tenant, name)

    def names(self, tenant: str, prefix: str = "") -> Iterator[str]:
        below = (name for name in self._spared.names(tenant, prefix) if (tenant, name) not in self._deleted)
        last = None
        for name in heapq.merge(below, self._scratch.names(tenant, prefix)):
            if name != last:
                yield name
            last = name

    def delete(self, tenant: str, name: str) -> None:
        self._scratch.delete(tenant, name)
        self._deleted.add((tenant, name))

    def purge(self, tenant: str, name: str) -> None:
        """What is spared keeps its versions."""
        self._scratch.purge(tenant, name)

    def _below(self, tenant: str, name: str) -> tuple[bytes, str] | None:
        return None if (tenant, name) in self._deleted else self._spared.get(tenant, name)
