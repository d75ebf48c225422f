"""The pairs of a run as tensors that lie on the device, so that a step copies nothing to it."""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from infra.tools.judge.bundle import Bundle, Pairs
from recollect.adapters.judges.pair_pieces import MOST_LENGTH, MOST_PIECES, joined
from recollect.core.vectors import FloatArray

_PADDING = 1
_MULTIPLE = 16


@dataclass(frozen=True, slots=True)
class Rows:
    """`ids` and `segments` (rows, longest), the segment of padding is -1; what is wanted of each row; its length."""

    ids: Tensor
    segments: Tensor
    wanted: Tensor
    lengths: Tensor

    @classmethod
    def of(cls, bundle: Bundle, told: Pairs, wanted: FloatArray) -> "Rows":
        """Each text is cut where the judge's reading ends."""
        ids = np.full((len(told), rounded(MOST_LENGTH)), _PADDING, np.int32)
        segments = np.full(ids.shape, -1, np.int8)
        lengths = np.zeros(len(told), np.int64)
        for at, (new, old) in enumerate(told.texts.tolist()):
            texts = (bundle.pieces[new], bundle.older(old))
            one = joined(*(text[:most].tolist() for text, most in zip(texts, MOST_PIECES, strict=True)))
            lengths[at] = len(one.ids)
            ids[at, : len(one.ids)], segments[at, : len(one.ids)] = one.ids, one.segments
        return cls(*map(torch.from_numpy, (ids, segments, wanted, lengths)))

    @property
    def device(self) -> torch.device:
        return self.ids.device

    @property
    def on_gpu(self) -> bool:
        return self.device.type == "cuda"

    def to(self, device: str | torch.device) -> "Rows":
        """There; the lengths stay here."""
        return Rows(self.ids.to(device), self.segments.to(device), self.wanted.to(device), self.lengths)

    def batch(self, chosen: Tensor, length: int) -> tuple[Tensor, Tensor, Tensor]:
        """Ids, segments and what is wanted of some rows, as long as the longest needs."""
        most = rounded(length)
        return self.ids[chosen, :most].int(), self.segments[chosen, :most].long(), self.wanted[chosen]


def rounded(length: int) -> int:
    """So that few lengths occur."""
    return -(-length // _MULTIPLE) * _MULTIPLE
