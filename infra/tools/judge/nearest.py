"""The nearest older statements by the embedder's own vectors, as the product finds its candidates."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from recollect.adapters.embedders.onnx_embedder import OnnxEmbedder
from recollect.core.vectors import FloatArray, TextKind

_AT_ONCE = 64
_WORTH_KEEPING = 200


class Nearest:
    """Vectors are kept in a file, since encoding all texts takes minutes."""

    def __init__(self, model: Path, cache: Path) -> None:
        self._embedder = OnnxEmbedder(model)
        self._cache = cache
        self._known: dict[str, FloatArray] = {}
        self._matrix: tuple[Sequence[str], FloatArray] | None = None
        if cache.exists():
            with np.load(cache, allow_pickle=True) as saved:
                self._known = dict(zip(saved["texts"], saved["vectors"], strict=True))

    def of(self, text: str, among: Sequence[str], most: int) -> list[int]:
        """Places of the nearest, nearest first."""
        if not among:
            return []
        likeness = self._rows(among) @ self._vectors([text])[0]
        return [int(place) for place in np.argsort(-likeness, kind="stable")[:most]]

    def save(self) -> None:
        """Writes the vectors that are known by now."""
        self._cache.parent.mkdir(parents=True, exist_ok=True)
        texts = np.array(list(self._known), dtype=object)
        np.savez(self._cache, texts=texts, vectors=np.stack(list(self._known.values())))

    def _rows(self, texts: Sequence[str]) -> FloatArray:
        if self._matrix is None or self._matrix[0] is not texts:
            rows = self._vectors(texts)
            if len(texts) < _WORTH_KEEPING:
                return rows
            self._matrix = (texts, rows)
        return self._matrix[1]

    def _vectors(self, texts: Sequence[str]) -> FloatArray:
        missing = [one for one in dict.fromkeys(texts) if one not in self._known]
        for at in range(0, len(missing), _AT_ONCE):
            part = missing[at : at + _AT_ONCE]
            for text, encoding in zip(part, self._embedder.encode(part, TextKind.PASSAGE), strict=True):
                self._known[text] = np.asarray(encoding.vector, np.float32)
        return np.stack([self._known[one] for one in texts])
