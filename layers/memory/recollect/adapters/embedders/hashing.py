"""The embedder of tests: signed feature hashing of words and character trigrams, by spelling alone."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from hashlib import blake2b

import numpy as np

from recollect.core.learned_share import NOTHING_LEARNED
from recollect.core.vectors import Encoding, FloatArray, TextKind, TokenVectors, unit
from recollect.retrieval.pooling import COSINE

DIMENSION = 384
_WORD = re.compile(r"\w+")
_WORD_WEIGHT, _TRIGRAM_WEIGHT = 1.0, 0.35


class HashingEmbedder:
    """Same text, same vector, in every process and on every machine; never a zero vector."""

    similarity_scale = question_scale = COSINE
    learned = NOTHING_LEARNED

    @property
    def generation(self) -> str:
        return "hashing.1"

    @property
    def dimension(self) -> int:
        return DIMENSION

    def encode(
        self,
        texts: Sequence[str],
        kind: TextKind,  # noqa: ARG002 (the model knows no kinds)
        *,
        with_tokens: bool = False,
    ) -> list[Encoding]:
        """One encoding a text, in order; queries and passages alike."""
        return [_encode(text, with_tokens) for text in texts]


def _encode(text: str, with_tokens: bool) -> Encoding:
    words = list(_WORD.finditer(text))
    rows = np.array([_word_vector(word.group().lower()) for word in words], np.float32).reshape(-1, DIMENSION)
    spans = tuple(word.span() for word in words)
    return Encoding(_pooled(rows), TokenVectors(rows, spans) if with_tokens else None)


def _pooled(rows: FloatArray) -> FloatArray:
    total = rows.sum(axis=0, dtype=np.float32)
    # Words can cancel each other, and a text can have none: both get the same fixed direction.
    return unit(total) if float(np.linalg.norm(total)) > 1e-6 else _word_vector("")


@lru_cache(maxsize=4096)
def _word_vector(word: str) -> FloatArray:
    vector = np.zeros(DIMENSION, np.float32)
    for feature, weight in _features(word):
        digest = int.from_bytes(blake2b(feature.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")
        vector[(digest >> 1) % DIMENSION] += weight if digest & 1 else -weight
    vector = unit(vector)
    vector.setflags(write=False)
    return vector


def _features(word: str) -> Iterator[tuple[str, float]]:
    yield f"w:{word}", _WORD_WEIGHT
    framed = f" {word} "
    for start in range(len(framed) - 2):
        yield f"t:{framed[start : start + 3]}", _TRIGRAM_WEIGHT
