"""Pooling over a model's tokens: centred, of the text's own part, with the weak words of a question at half weight.

A model's token vectors share a part that has no meaning: multilingual-e5-small's have a mean of length 0.83. One fixed
mean, over neutral sentences in 25 languages (`infra/tools/embedder/neutral_sentences.txt`), is subtracted from each.
"""

import base64
import json
from collections.abc import Sequence
from functools import lru_cache
from importlib import resources

import numpy as np

from recollect.adapters.embedders.model_folder import pooled_generation
from recollect.core.vectors import Encoding, FloatArray, TextKind, TokenVectors, own_start, unit
from recollect.ports import Embedder
from recollect.retrieval.pooling import COSINE, SimilarityScale, passage_vector, query_vector

CENTRES_FILE = "centres.json"
SCALES_FILE = "similarity_scales.json"


class PooledEmbedder:
    """Pools an embedder's vectors from its tokens; without tokens it changes nothing.

    `centre` is the mean token vector, (dimension,), None for an unknown model; `scale` is the meaning of the cosines of
    the new vectors. The generation is a new one.
    """

    def __init__(self, embedder: Embedder, centre: FloatArray | None = None, scale: SimilarityScale = COSINE) -> None:
        self._embedder = embedder
        self._centre = centre
        self._similarity_scale = scale

    @property
    def generation(self) -> str:
        return pooled_generation(self._embedder.generation)

    @property
    def dimension(self) -> int:
        return self._embedder.dimension

    @property
    def similarity_scale(self) -> SimilarityScale:
        """That of its model; the plain cosine without a centre."""
        return self._similarity_scale

    def load(self) -> None:
        """Load the model now rather than with the first text, where it can be. Raises NotReady."""
        load = getattr(self._embedder, "load", None)
        if load is not None:
            load()

    def encode(self, texts: Sequence[str], kind: TextKind, *, with_tokens: bool = False) -> list[Encoding]:
        """One encoding a text, in order; raises what the model raises."""
        made = self._embedder.encode(texts, kind, with_tokens=True)
        pooled = [self._pooled(text, encoding, kind) for text, encoding in zip(texts, made, strict=True)]
        return pooled if with_tokens else [Encoding(encoding.vector, None) for encoding in pooled]

    def _pooled(self, text: str, encoding: Encoding, kind: TextKind) -> Encoding:
        centred = Encoding(encoding.vector, self._centred(encoding.tokens))
        if kind is TextKind.QUERY:
            return Encoding(query_vector(centred, text), centred.tokens)
        return Encoding(passage_vector(centred, own_start(text)), centred.tokens)

    def _centred(self, tokens: TokenVectors | None) -> TokenVectors | None:
        if tokens is None or self._centre is None:
            return tokens
        return TokenVectors(unit(tokens.vectors - self._centre), tokens.spans)


def pooled(embedder: Embedder) -> PooledEmbedder:
    """The embedder with the centre and the similarity scale that are stored for its model."""
    return PooledEmbedder(embedder, centre_of(embedder.generation), scale_of(embedder.generation))


def scale_of(generation: str) -> SimilarityScale:
    """What the cosines of a generation's model mean; `infra/tools/embedder/scale.py` measures it."""
    stored = _scales().get(generation.split(".")[0])
    return COSINE if stored is None else SimilarityScale(**stored)


def centre_of(generation: str) -> FloatArray | None:
    """The mean token vector of a generation's model; None for a model without one."""
    family = generation.split(".")[0]
    packed = _centres().get(family)
    return None if packed is None else np.frombuffer(base64.b64decode(packed), "<f2").astype(np.float32)


@lru_cache(maxsize=1)
def _scales() -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = json.loads(
        resources.files(__package__).joinpath(SCALES_FILE).read_text("ascii")
    )
    return found


@lru_cache(maxsize=1)
def _centres() -> dict[str, str]:
    found: dict[str, str] = json.loads(resources.files(__package__).joinpath(CENTRES_FILE).read_text("ascii"))
    return found
