"""The columns of one user in the table's own index: several parts as one, without what a newer write replaces."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recollect.adapters.aws.index_part import NAMES, NUMBERS, Part, StoredVectors
from recollect.adapters.aws.index_vectors import PackedVectors
from recollect.adapters.exact_search import NO_NAME, Mask, Places
from recollect.core.vectors import FloatArray
from recollect.retrieval.attributes import Asked

_UNKNOWN = -2


class UserColumns:
    """Columns as `exact_search` reads them; `alive` has a mask for each part.

    `stored` reads vectors as they were given, of records whose part has them packed; `prepare` names those that are
    wanted, in one read. Of one that has none any more, or whose turn does not come, the packed one is used.
    """

    def __init__(self, parts: Sequence[Part], alive: Sequence[Mask], stored: StoredVectors | None = None) -> None:
        self._stored = stored
        self._read: dict[int, FloatArray] = {}
        self._parts = [part for part in parts if len(part)]
        self._starts = np.cumsum([0, *(len(part) for part in self._parts)])
        self._bounds: list[int] = self._starts.tolist()
        self._codes: dict[str | None, int] = {None: NO_NAME}
        self._columns = {
            name: self._joined([part.numbers[name] for part in self._parts], k) for name, k in NUMBERS.items()
        }
        self._columns["alive"] = self._joined([mask for mask in alive if len(mask)], np.bool_)
        self._columns["embedded"] &= self._columns["alive"]
        self._columns["length"] = self._joined([part.terms.lengths for part in self._parts], np.int64)
        recoded = [np.array([*map(self._enter, part.strings), NO_NAME], dtype=np.int32) for part in self._parts]
        for name in NAMES:
            codes = [table[part.names[name]] for table, part in zip(recoded, self._parts, strict=True)]
            self._columns[name] = self._joined(codes, np.int32)
        self._strings = list(self._codes)[1:]

    def __len__(self) -> int:
        return int(self._starts[-1])

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self._columns[name]

    def code(self, name: str | None) -> int:
        """The code of a name; an unknown name has one that no position has."""
        return self._codes.get(name, _UNKNOWN)

    def name(self, column: str, place: int) -> str | None:
        """The name in a column at this position."""
        code = int(self._columns[column][place])
        return None if code == NO_NAME else self._strings[code]

    def id(self, place: int) -> str:
        """The record at this position."""
        part = self._part(place)
        return self._parts[part].ids[place - self._bounds[part]]

    @property
    def ids(self) -> list[str]:
        """The records of all positions, those that are not alive too."""
        return [event_id for part in self._parts for event_id in part.ids]

    def counts(self, terms: Sequence[str]) -> dict[str, tuple[Places, NDArray[np.int64]]]:
        """For each term the positions alive that have it, and how often."""
        return {term: self._having([part.terms.having(term) for part in self._parts]) for term in terms}

    @property
    def strings(self) -> Sequence[str]:
        """The names by their codes."""
        return [name or "" for name in self._strings]

    def labelled(self, asked: Asked) -> Mask:
        """The positions that have a label which is asked for."""
        mask = np.zeros(len(self), dtype=np.bool_)
        mask[self._having([part.labels.meeting(asked) for part in self._parts])[0]] = True
        return mask

    @property
    def dimension(self) -> int:
        return max((part.vectors.dimension for part in self._parts), default=0)

    @property
    def noise(self) -> float:
        return max((part.vectors.noise for part in self._parts), default=0.0)

    def prepare(self, places: Places) -> None:
        """Reads the exact vectors of these positions, where a part has packed ones."""
        embedded = self._columns["embedded"]
        packed = {self.id(p): p for p in places.tolist() if embedded[p] and p not in self._read and self._is_packed(p)}
        if packed and self._stored is not None:
            found = self._stored(list(packed))
            self._read |= {packed[i]: vector for i, vector in found.items() if vector.shape == (self.dimension,)}

    def _is_packed(self, place: int) -> bool:
        return isinstance(self._parts[self._part(place)].vectors, PackedVectors)

    def _part(self, place: int) -> int:
        return bisect_right(self._bounds, place) - 1

    def cosines(self, query: FloatArray) -> FloatArray:
        return self._joined([_cosines(part, query) for part in self._parts], np.float32)

    def exact(self, places: Places) -> FloatArray:
        found = np.zeros((len(places), self.dimension), dtype=np.float32)
        for start, part in zip(self._starts, self._parts, strict=False):
            here = (places >= start) & (places < start + len(part))
            if part.vectors.dimension:
                found[here] = part.vectors.rows(places[here] - start)
        for n in [n for n, place in enumerate(places.tolist()) if place in self._read]:
            found[n] = self._read[int(places[n])]
        return found

    def _having(self, there: Sequence[tuple[Places, NDArray[np.int64]]]) -> tuple[Places, NDArray[np.int64]]:
        """What is alive of what each part has."""
        places = self._joined([start + one[0] for start, one in zip(self._starts, there, strict=False)], np.int64)
        counts = self._joined([counts for _, counts in there], np.int64)
        alive = self._columns["alive"][places]
        return places[alive], counts[alive]

    def _enter(self, name: str) -> int:
        return self._codes.setdefault(name, len(self._codes) - 1)

    @staticmethod
    def _joined(arrays: Sequence[NDArray[Any]], kind: Any) -> NDArray[Any]:
        return np.concatenate(arrays).astype(kind, copy=False) if arrays else np.zeros(0, dtype=kind)


def _cosines(part: Part, query: FloatArray) -> FloatArray:
    return part.vectors.cosines(query) if part.vectors.dimension else np.zeros(len(part), dtype=np.float32)
