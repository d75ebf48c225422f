"""The examples of which words end as pieces, in one file, so that training needs neither the data nor the tokenizer."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from infra.tools.judge.ended_examples import Marked
from recollect.adapters.embedders.unigram import Unigram
from recollect.adapters.judges.pair_pieces import MOST_PIECES, pieces_of, places_of, splitting
from recollect.contradictions.pairs import StatementPair
from recollect.contradictions.parts import Span
from recollect.core.vectors import FloatArray

_BETWEEN = 3
"""The marks before the older's first piece: of the beginning, and two between the statements."""
_NO_SPAN = (0, 0)


@dataclass(frozen=True, slots=True)
class EndedRows:
    """Of each example the ids of its pieces, the place of the older's first, and for each of those whether it ends."""

    ids: Sequence[NDArray[np.int32]]
    older: NDArray[np.int16]
    ended: Sequence[NDArray[np.bool_]]
    weights: FloatArray
    kinds: NDArray[np.str_]
    groups: NDArray[np.str_]

    def __len__(self) -> int:
        return len(self.ids)


def rows_of(examples: Sequence[Marked], tokenizer: Unigram) -> EndedRows:
    """In order."""
    split = splitting(tokenizer, max(MOST_PIECES), len(examples))
    pairs = [StatementPair(one.newer, one.older) for one in examples]
    ids = [np.array(pieces_of(pair, split).ids, np.int32) for pair in pairs]
    first = [min(len(split(one.newer)), MOST_PIECES[0]) + _BETWEEN for one in examples]
    ended = []
    for one, pair, own, start in zip(examples, pairs, ids, first, strict=True):
        places = places_of(pair, tokenizer)
        spans = (places.get(place, _NO_SPAN) for place in range(start, len(own) - 1))
        ended.append(np.array([_touches(span, one.ended) for span in spans], np.bool_))
    return EndedRows(
        ids=ids,
        older=np.array(first, np.int16),
        ended=ended,
        weights=np.array([one.weight for one in examples], np.float32),
        kinds=np.array([one.kind for one in examples], np.str_),
        groups=np.array([one.group for one in examples], np.str_),
    )


def _touches(piece: Span, ended: Iterable[Span]) -> bool:
    return any(piece[0] < end and start < piece[1] for start, end in ended)


def write(rows: EndedRows, path: Path) -> None:
    """As one compressed file."""
    found: dict[str, NDArray[Any]] = {name: getattr(rows, name) for name in ("older", "weights", "kinds", "groups")}
    for name in ("ids", "ended"):
        told = getattr(rows, name)
        found[name], found[f"{name}_ends"] = np.concatenate(told), np.cumsum([len(one) for one in told])
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(path, allow_pickle=False, **found)


def read(path: Path) -> EndedRows:
    """What `write` wrote."""
    with np.load(path, allow_pickle=False) as saved:
        parts = {name: saved[name] for name in saved.files}
    for name in ("ids", "ended"):
        parts[name] = np.split(parts[name], parts.pop(f"{name}_ends")[:-1])
    return EndedRows(**parts)
