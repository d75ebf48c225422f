"""Lists of strings of the table's own index, turned round: for each string the positions that have it, how often."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recollect.adapters.exact_search import Mask, Places
from recollect.retrieval.attributes import Asked, Span

_LAST = "\U0010ffff"
_NONE = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, slots=True)
class Lists:
    """A list of strings for each position, without its order.

    `vocabulary` is sorted; of its string n the positions are `places[starts[n] : starts[n + 1]]`, and `counts` beside
    them says how often. `lengths` has how many strings each position has.
    """

    vocabulary: Sequence[str]
    starts: NDArray[Any]
    places: NDArray[Any]
    counts: NDArray[Any]
    lengths: NDArray[Any]

    @classmethod
    def of(cls, lists: Iterable[Sequence[str]]) -> Lists:
        known: dict[str, int] = {}
        codes: list[int] = []
        lengths: list[int] = []
        for strings in lists:
            codes += [known.setdefault(one, len(known)) for one in strings]
            lengths.append(len(strings))
        vocabulary = sorted(known)
        rank = np.empty(len(known), dtype=np.int64)
        rank[[known[one] for one in vocabulary]] = np.arange(len(known))
        owners = np.repeat(np.arange(len(lengths)), lengths)
        pairs, counts = np.unique(rank[codes] * max(len(lengths), 1) + owners, return_counts=True)
        having, places = np.divmod(pairs, max(len(lengths), 1))
        return cls(vocabulary, _starts(having, len(known)), places, counts, np.array(lengths, dtype=np.int64))

    def selected(self, mask: Mask) -> Lists:
        """Those of some positions; no string stays in the vocabulary that none of them has."""
        kept = mask[self.places]
        having, places = self._having[kept], (np.cumsum(mask) - 1)[self.places[kept]]
        used, codes = np.unique(having, return_inverse=True)
        vocabulary = [self.vocabulary[code] for code in used.tolist()]
        return Lists(vocabulary, _starts(codes, len(used)), places, self.counts[kept], self.lengths[mask])

    @classmethod
    def joined(cls, parts: Sequence[Lists]) -> Lists:
        """The lists of all parts, one after another."""
        vocabulary = sorted({one for part in parts for one in part.vocabulary})
        code = {one: n for n, one in enumerate(vocabulary)}
        tables = [np.array([code[one] for one in part.vocabulary], dtype=np.int64) for part in parts]
        having = np.concatenate([table[part._having] for table, part in zip(tables, parts, strict=True)])
        before = np.cumsum([0, *(len(part.lengths) for part in parts)])
        places = np.concatenate([start + part.places for start, part in zip(before, parts, strict=False)])
        order = np.lexsort((places, having))
        counts = np.concatenate([part.counts for part in parts])[order]
        lengths = np.concatenate([part.lengths for part in parts])
        return cls(vocabulary, _starts(having[order], len(vocabulary)), places[order], counts, lengths)

    def having(self, wanted: str) -> tuple[Places, NDArray[np.int64]]:
        """The positions that have this string, and how often."""
        code = bisect_left(self.vocabulary, wanted)
        found = code < len(self.vocabulary) and self.vocabulary[code] == wanted
        here = slice(int(self.starts[code]), int(self.starts[code + 1])) if found else slice(0)
        return self.places[here].astype(np.int64), self.counts[here].astype(np.int64)

    def meeting(self, asked: Asked) -> tuple[Places, NDArray[np.int64]]:
        """The positions that have a string which is asked for, some perhaps several times, and how often."""
        near = [*(Span(one, one + "\0") for one in asked.exact), *asked.spans]
        near += [Span(one.start, one.start + _LAST) for one in asked.parts]
        found = [n for span in near for n in range(*(bisect_left(self.vocabulary, end) for end in span))]
        wanted = [n for n in dict.fromkeys(found) if asked.met_by(self.vocabulary[n])]
        here = np.concatenate([np.arange(self.starts[n], self.starts[n + 1]) for n in wanted] or [_NONE]).astype(int)
        return self.places[here].astype(np.int64), self.counts[here].astype(np.int64)

    @property
    def _having(self) -> NDArray[np.int64]:
        """The code of the string beside each of `places`."""
        return np.repeat(np.arange(len(self.vocabulary)), np.diff(self.starts))


def _starts(codes: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """Where each code begins among sorted ones, and where the last ends."""
    return np.searchsorted(codes, np.arange(count + 1)).astype(np.int64)
