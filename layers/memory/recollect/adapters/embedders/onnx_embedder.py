"""The embedder in the process itself: a sentence-embedding model on ONNX Runtime, mean-pooled and normalised.

Every text is run by itself. Dynamic int8 quantisation takes one scale for all activations of a call, so a text's vector
would depend on its neighbours in the batch (cosine down to .977, measured), and a batch of 32 is no faster on one core.
Several texts go to several threads instead, each with the one core that a text gets.
"""

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np

from recollect.adapters.embedders.model_folder import GRAPH_FILE, TOKENIZER_FILE, ModelManifest, read_manifest
from recollect.domain.embedding import Encoding, FloatArray, TextKind, TokenVectors, unit
from recollect.domain.errors import NotReady

if TYPE_CHECKING:
    from onnxruntime import InferenceSession
    from tokenizers import Encoding as Pieces
    from tokenizers import Tokenizer

_MOST_THREADS = 4
# A text is cut to this many characters a piece before it is split: a huge one then costs no more than a long one.
_CHARACTERS_PER_PIECE = 64


class OnnxEmbedder:
    """Encodes with the model of a folder (`model_folder`). Safe to share between threads.

    The first `max_tokens` word pieces of a text count (256 for MiniLM, the two marks of the model included).
    The same text gives the same vector, bit for bit, in whatever company it is encoded.
    """

    def __init__(self, folder: Path, threads: int | None = None) -> None:
        """Reads the manifest; the model is loaded on first use. Raises NotReady for a missing or damaged folder."""
        self._folder = folder
        self._manifest: ModelManifest = read_manifest(folder)
        self._threads = threads or min(_MOST_THREADS, os.cpu_count() or 1)
        self._lock = Lock()
        self._model: tuple[Tokenizer, InferenceSession] | None = None

    @property
    def generation(self) -> str:
        return self._manifest.generation

    @property
    def dimension(self) -> int:
        return self._manifest.dimension

    def load(self) -> None:
        """Load the model now rather than with the first text. Raises NotReady."""
        self._loaded()

    def encode(
        self,
        texts: Sequence[str],
        kind: TextKind,  # noqa: ARG002 (the model knows no kinds)
        *,
        with_tokens: bool = False,
    ) -> list[Encoding]:
        """One encoding a text, in order; this model takes queries and passages alike. Raises NotReady."""
        self._loaded()
        if len(texts) < 2 or self._threads < 2:
            return [self._encode(text, with_tokens) for text in texts]
        with ThreadPoolExecutor(min(self._threads, len(texts)), "embed") as pool:
            return list(pool.map(lambda text: self._encode(text, with_tokens), texts))

    def _loaded(self) -> "tuple[Tokenizer, InferenceSession]":
        with self._lock:
            if self._model is None:
                self._model = _load(self._folder, self._manifest)
            return self._model

    def _encode(self, text: str, with_tokens: bool) -> Encoding:
        tokenizer, session = self._loaded()
        pieces = tokenizer.encode(self._acceptable(text))
        ids = np.array([pieces.ids], np.int64)
        states = session.run(["last_hidden_state"], {"input_ids": ids, "attention_mask": np.ones_like(ids)})[0][0]
        return Encoding(unit(states.mean(axis=0)), _token_vectors(pieces, states) if with_tokens else None)

    def _acceptable(self, text: str) -> str:
        cut = text[: self._manifest.max_tokens * _CHARACTERS_PER_PIECE]
        # Half a surrogate pair is no Unicode; "?" takes its place, one character for one, so spans stay true.
        return cut.encode("utf-8", "replace").decode("utf-8")


def _token_vectors(pieces: "Pieces", states: FloatArray) -> TokenVectors:
    own = [index for index, special in enumerate(pieces.special_tokens_mask) if not special]
    return TokenVectors(unit(states[own]), tuple(pieces.offsets[index] for index in own))


def _load(folder: Path, manifest: ModelManifest) -> "tuple[Tokenizer, InferenceSession]":
    try:
        import onnxruntime
        from tokenizers import Tokenizer
    except ImportError as error:
        raise NotReady(f"the in-process embedder needs onnxruntime and tokenizers: {error.name} is missing") from error
    try:
        tokenizer = Tokenizer.from_file(str(folder / TOKENIZER_FILE))
        tokenizer.no_padding()
        tokenizer.enable_truncation(manifest.max_tokens)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 3
        session = onnxruntime.InferenceSession(str(folder / GRAPH_FILE), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # both libraries raise bare Exceptions of their own for a file that they cannot read
        raise NotReady(f"the embedding model in {folder} cannot be loaded ({type(error).__name__})") from error
    return tokenizer, session
