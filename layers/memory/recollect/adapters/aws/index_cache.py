"""Blocks that this process has read, kept for its next searches: a block never changes under its name."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import NamedTuple

from recollect.adapters.aws.index_part import Part

KEPT_SECONDS = 900.0
_STRING_BYTES = 90
"""About what an id or a term takes in memory."""


class _Kept(NamedTuple):
    part: Part
    bytes: int
    since: float


class BlockCache:
    """Parts by tenant and name of their block, at most `most_bytes` of them: the longest unused go first.

    A search asks only for blocks that the user's list of that moment names, and hides what waiting items hide: what is
    kept shows nothing that the store would not. What a list no longer names is dropped when its user is next read, all
    after `KEPT_SECONDS` at the next use. `clock` in seconds.
    """

    def __init__(self, most_bytes: int, clock: Callable[[], float]) -> None:
        self._most_bytes = most_bytes
        self._clock = clock
        self._kept: OrderedDict[tuple[str, str], _Kept] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    def get(self, tenant: str, name: str) -> Part | None:
        """The block, where it is kept."""
        with self._lock:
            self._drop_old()
            found = self._kept.get((tenant, name))
            if found is None:
                return None
            self._kept.move_to_end((tenant, name))
            return found.part

    def put(self, tenant: str, name: str, part: Part, stored_bytes: int) -> None:
        """Keeps a block, where it has room at all; `stored_bytes` is its length as an object."""
        size = stored_bytes + _STRING_BYTES * (len(part.ids) + len(part.terms.vocabulary))
        if size > self._most_bytes:
            return
        with self._lock:
            self._drop((tenant, name))
            self._kept[tenant, name] = _Kept(part, size, self._clock())
            self._bytes += size
            while self._bytes > self._most_bytes:
                self._drop(next(iter(self._kept)))

    def keep(self, tenant: str, folder: str, names: Sequence[str]) -> None:
        """Drops all of this folder (a user's) but those names."""
        with self._lock:
            for key in [k for k in self._kept if k[0] == tenant and k[1].startswith(folder) and k[1] not in names]:
                self._drop(key)

    def _drop_old(self) -> None:
        earliest = self._clock() - KEPT_SECONDS
        for key in [key for key, one in self._kept.items() if one.since < earliest]:
            self._drop(key)

    def _drop(self, key: tuple[str, str]) -> None:
        gone = self._kept.pop(key, None)
        self._bytes -= gone.bytes if gone is not None else 0
