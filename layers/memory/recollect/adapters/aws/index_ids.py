"""Ids of a block of the table's own index in memory: our own in 16 bytes each, which no loop reads."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

NUMBER = "<u8"


@dataclass(frozen=True, slots=True)
class PackedIds(Sequence[str]):
    """`numbers` has two for each position, the bytes of a UUID; ids of another form are in `others`, by position."""

    numbers: NDArray[np.uint64]
    others: Mapping[int, str]

    @classmethod
    def of(cls, ids: Sequence[str]) -> PackedIds:
        """Any ids, each once."""
        codes = [_bytes(one) for one in ids]
        others = {place: ids[place] for place, code in enumerate(codes) if code is None}
        return cls(np.frombuffer(b"".join(code or bytes(16) for code in codes), dtype=NUMBER), others)

    def __len__(self) -> int:
        return len(self.numbers) // 2

    def __getitem__(self, place: int) -> str:  # type: ignore[override] # nobody cuts slices
        if not 0 <= place < len(self):
            raise IndexError(place)
        return self.others.get(place) or _written(self.numbers[2 * place : 2 * place + 2].tobytes().hex())

    def __iter__(self) -> Iterator[str]:
        digits = self.numbers.tobytes().hex()
        return (self.others.get(n) or _written(digits[32 * n : 32 * n + 32]) for n in range(len(self)))

    def places(self, wanted: Collection[str]) -> Iterator[tuple[int, str]]:
        """Positions of those that are here, with their ids."""
        tails = [int.from_bytes(code[8:], "little") for code in map(_bytes, wanted) if code is not None]
        near = np.flatnonzero(np.isin(self.numbers[1::2], np.array(tails, dtype=NUMBER)))
        found = {place: self[place] for place in (*near.tolist(), *self.others)}
        return ((place, event_id) for place, event_id in found.items() if event_id in wanted)


def places_of(ids: Sequence[str], wanted: Collection[str]) -> Iterator[tuple[int, str]]:
    """Positions of those ids that are wanted, with them."""
    if isinstance(ids, PackedIds) and wanted:
        return ids.places(wanted)
    return ((place, event_id) for place, event_id in enumerate(ids if wanted else ()) if event_id in wanted)


def _bytes(event_id: str) -> bytes | None:
    """None unless the id is written as a UUID is: only such a one comes back from its bytes."""
    try:
        found = UUID(event_id)
    except ValueError:
        return None
    return found.bytes if str(found) == event_id else None


def _written(digits: str) -> str:
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"
