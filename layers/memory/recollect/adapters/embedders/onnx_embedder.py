"""The embedder in the process itself: multilingual-e5-small on ONNX Runtime, and pooling over the tokens of a model.

Each text is one call. Dynamic int8 quantisation takes one scale for all activations of a call, so in a batch a vector
would depend on the other texts (cosine down to .977, measured), and a batch of 32 is no faster on one core. So
several texts run on several threads, one core each.

Pooling is centred, of the own part of a text, with the weak words of a question at half weight. The token vectors of a
model share a part that has no meaning: those of multilingual-e5-small have a mean of length 0.83. One fixed mean, over
neutral sentences in 25 languages (`infra/tools/embedder/neutral_sentences.txt`), is subtracted from each.
"""

import base64
import json
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib import resources
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from recollect.adapters.embedders.model_folder import (
    GRAPH_FILE,
    QUESTION_GRAPH_FILE,
    UNIGRAM_FILE,
    ModelManifest,
    pooled_generation,
    read_manifest,
)
from recollect.adapters.embedders.onnx_session import acceptable, loading, open_session
from recollect.adapters.embedders.unigram import Unigram, read_unigram
from recollect.core.learned_share import NOTHING_LEARNED, LearnedShare, LearnedShares
from recollect.core.vectors import Encoding, FloatArray, TextKind, TokenVectors, own_start, unit
from recollect.ports import Embedder
from recollect.retrieval.pooling import COSINE, SimilarityScale, passage_vector, query_vector

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from onnxruntime import InferenceSession

_STATES, _EARLY_STATES = "last_hidden_state", "early_states"
_MOST_THREADS = 4


@dataclass(frozen=True, slots=True)
class _Loaded:
    tokenizer: Unigram
    session: "InferenceSession"

    def states(self, ids: Sequence[int]) -> FloatArray:
        """(tokens, dimension) of one text."""
        states: FloatArray = self.session.run([_STATES], _inputs(ids))[0][0]
        return states

    def states_by(self, questions: "InferenceSession", ids: Sequence[int]) -> tuple[FloatArray, FloatArray]:
        """The same, and what the encoder of questions makes of the first layers' states."""
        states, early = self.session.run([_STATES, _EARLY_STATES], _inputs(ids))
        return states[0], questions.run([_STATES], {_EARLY_STATES: early})[0][0]


def _inputs(ids: Sequence[int]) -> dict[str, "NDArray[np.int64]"]:
    given = np.array([ids], np.int64)
    return {"input_ids": given, "attention_mask": np.ones_like(given)}


class OnnxEmbedder:
    """Encodes with the model of a folder (`model_folder`). Safe to share between threads.

    The first `max_tokens` word pieces of a text count (512, the model's two marks and its prefix included). A vector is
    the mean of all states, the marks' too. The same text always has the same vector, bit for bit.
    """

    similarity_scale = question_scale = COSINE
    learned = NOTHING_LEARNED

    def __init__(self, folder: Path, threads: int | None = None) -> None:
        """Reads the manifest; the model is loaded on first use.

        Raises NotReady for a missing or damaged folder.
        """
        self._folder = folder
        self._manifest = read_manifest(folder)
        self.generation, self.dimension = self._manifest.generation, self._manifest.dimension
        self._threads = threads or min(_MOST_THREADS, os.cpu_count() or 1)
        self._lock = Lock()
        self._model: _Loaded | None = None
        self._questions: InferenceSession | None = None

    def load(self) -> None:
        """Load the model now rather than with the first text. Raises NotReady."""
        self._loaded()

    def encode(self, texts: Sequence[str], kind: TextKind, *, with_tokens: bool = False) -> list[Encoding]:
        """One encoding a text, in order. Raises NotReady."""
        self._loaded()
        if len(texts) < 2 or self._threads < 2:
            return [self._encode(text, kind, with_tokens) for text in texts]
        with ThreadPoolExecutor(min(self._threads, len(texts)), "embed") as pool:
            return list(pool.map(lambda text: self._encode(text, kind, with_tokens), texts))

    def _loaded(self) -> "_Loaded":
        with self._lock:
            if self._model is None:
                self._model = _load(self._folder, self._manifest)
            return self._model

    def _loaded_questions(self) -> "InferenceSession":
        with self._lock:
            if self._questions is None:
                with loading(self._folder, "the encoder of questions", "the in-process embedder"):
                    self._questions = open_session(self._folder / QUESTION_GRAPH_FILE)
            return self._questions

    def _encode(self, text: str, kind: TextKind, with_tokens: bool) -> Encoding:
        model = self._loaded()
        prefix = self._manifest.passage_prefix if kind is TextKind.PASSAGE else self._manifest.query_prefix
        pieces = model.tokenizer.pieces(acceptable(text, self._manifest.max_tokens), prefix)
        if kind is not TextKind.QUESTION:
            return _encoding(model.states(pieces.ids), pieces.spans, with_tokens)
        plain, states = model.states_by(self._loaded_questions(), pieces.ids)
        encoding = _encoding(states, pieces.spans, with_tokens)
        return replace(encoding, as_query=_encoding(plain, pieces.spans, with_tokens))


def _encoding(states: FloatArray, spans: Mapping[int, tuple[int, int]], with_tokens: bool) -> Encoding:
    tokens = TokenVectors(unit(states[list(spans)]), tuple(spans.values())) if with_tokens else None
    return Encoding(unit(states.mean(axis=0)), tokens)


def _load(folder: Path, manifest: ModelManifest) -> "_Loaded":
    with loading(folder, "the embedding model", "the in-process embedder"):
        session = open_session(folder / GRAPH_FILE)
        tokenizer = read_unigram(folder / UNIGRAM_FILE, manifest.max_tokens)
    return _Loaded(tokenizer, session)


CENTRES_FILE = "centres.json"
SCALES_FILE = "similarity_scales.json"
OF_NOW_FILE = "of_now.json"
ASKS_FILE = "asks.json"
WISHES_FILE = "wishes.json"

_OF_QUERY = 0.5
"""How much of a query's token vector is added to a question's. Without any, BEAM's long messages lose .03 of recall@10
(docs/adr/0014)."""


class PooledEmbedder:
    """Pools an embedder's vectors from its tokens; without tokens it changes nothing.

    `centre` is the mean token vector, (dimension,), None for an unknown model; `scales` are the meanings of the cosines
    of the new vectors and of questions' to them, `learned` is what they tell of a text. The generation is a new one.
    """

    def __init__(
        self,
        embedder: Embedder,
        centre: FloatArray | None = None,
        scales: tuple[SimilarityScale, SimilarityScale] = (COSINE, COSINE),
        learned: LearnedShares = NOTHING_LEARNED,
    ) -> None:
        self._embedder, self._centre = embedder, centre
        self.generation, self.dimension = pooled_generation(embedder.generation), embedder.dimension
        self.similarity_scale, self.question_scale = scales
        self.learned = learned

    def load(self) -> None:
        """Load the model now rather than with the first text, where it can be. Raises NotReady."""
        load = getattr(self._embedder, "load", None)
        if load is not None:
            load()

    def encode(self, texts: Sequence[str], kind: TextKind, *, with_tokens: bool = False) -> list[Encoding]:
        """One encoding a text, in order; raises what the model raises."""
        made = self._embedder.encode(texts, kind, with_tokens=True)
        pooled = [self._pooled(text, encoding, kind) for text, encoding in zip(texts, made, strict=True)]
        return pooled if with_tokens else [replace(encoding, tokens=None) for encoding in pooled]

    def _pooled(self, text: str, encoding: Encoding, kind: TextKind) -> Encoding:
        centred = Encoding(encoding.vector, self._centred(encoding.tokens))
        if kind is TextKind.PASSAGE:
            return Encoding(passage_vector(centred, own_start(text)), centred.tokens)
        if encoding.as_query is None:
            return Encoding(query_vector(centred, text), centred.tokens)
        queried = self._pooled(text, encoding.as_query, TextKind.QUERY)
        both = Encoding(centred.vector, _together(centred.tokens, queried.tokens))
        return Encoding(query_vector(both, text), both.tokens, replace(queried, tokens=None))

    def _centred(self, tokens: TokenVectors | None) -> TokenVectors | None:
        if tokens is None or self._centre is None:
            return tokens
        return TokenVectors(unit(tokens.vectors - self._centre), tokens.spans)


def _together(asked: TokenVectors | None, queried: TokenVectors | None) -> TokenVectors | None:
    """A question's tokens with some of a query's in them."""
    if asked is None or queried is None:
        return asked
    return TokenVectors(unit(asked.vectors + _OF_QUERY * queried.vectors), asked.spans)


def pooled(embedder: Embedder) -> PooledEmbedder:
    """The embedder with what is stored for its model: centre, similarity scales, what is learned of its vectors."""
    generation = embedder.generation
    scales = scale_of(generation), scale_of(generation, TextKind.QUESTION)
    return PooledEmbedder(embedder, centre_of(generation), scales, learned_of(generation))


def scale_of(generation: str, kind: TextKind = TextKind.QUERY) -> SimilarityScale:
    """What the cosines of such texts to a model's passages mean; `infra/tools/embedder/scale.py` measures it."""
    stored = _stored(SCALES_FILE).get(generation.split(".")[0], {}).get(kind)
    return COSINE if stored is None else SimilarityScale(**stored)


def learned_of(generation: str) -> LearnedShares:
    """What is stored of a generation's model; `infra/tools/ranking` fits it."""
    of_now, asks, wishes = (learned_share(file, generation) for file in (OF_NOW_FILE, ASKS_FILE, WISHES_FILE))
    return LearnedShares(of_now=of_now, asks=asks, wishes=wishes)


def learned_share(file: str, generation: str) -> LearnedShare | None:
    """What a file has for a generation's model."""
    stored = _stored(file).get(generation.split(".")[0])
    return None if stored is None else LearnedShare(_unpacked(stored["weights"], "<f4"), stored["bias"])


def centre_of(generation: str) -> FloatArray | None:
    """The mean token vector of a generation's model; None for a model without one."""
    packed = _stored(CENTRES_FILE).get(generation.split(".")[0])
    return None if packed is None else _unpacked(packed, "<f2")


def _unpacked(packed: str, kind: str) -> FloatArray:
    return np.frombuffer(base64.b64decode(packed), kind).astype(np.float32)


@lru_cache(maxsize=4)
def _stored(file: str) -> dict[str, Any]:
    """What is stored beside this module for each model."""
    found: dict[str, Any] = json.loads(resources.files(__package__).joinpath(file).read_text("ascii"))
    return found
