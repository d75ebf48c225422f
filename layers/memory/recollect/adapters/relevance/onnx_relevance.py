"""The port `RelevanceModel` in the process itself: an encoder reads question and text together.

Each pair is one call: dynamic int8 quantisation takes one scale for all activations of a call, so in a batch logits
would depend on the other texts.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Final

import numpy as np

from recollect.adapters.embedders.about import read_about
from recollect.adapters.embedders.model_folder import RELEVANCE_FILE, RELEVANCE_GRAPH_FILE, UNIGRAM_FILE
from recollect.adapters.embedders.onnx_session import loading, open_session
from recollect.adapters.embedders.unigram import read_unigram
from recollect.adapters.judges.pair_pieces import SplitPieces, joined, splitting

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

QUESTION_PIECES: Final = 40
"""Of a longer question the last ones are read: a dialogue ends with what is asked."""
TEXT_PIECES: Final = 72
"""Of a longer text the window is read that has most of the question's pieces."""
_MOST_READ = 2_048
_STEP = TEXT_PIECES // 2
_CACHED_TEXTS = 512


@dataclass(frozen=True, slots=True)
class _Loaded:
    split: SplitPieces
    session: "InferenceSession"


class OnnxRelevance:
    """Reads with the second stage of a model folder. Safe to share between threads."""

    def __init__(self, folder: Path) -> None:
        """Reads what the folder says; the model is loaded on first use. Raises NotReady without one in it."""
        self.version = str(read_about(folder, RELEVANCE_FILE, "second stage")["version"])
        self._folder = folder
        self._lock = Lock()
        self._model: _Loaded | None = None

    def logits(self, question: str, texts: Sequence[str]) -> list[float]:
        """One of each text, in order. Raises NotReady."""
        if not texts:
            return []
        model = self._loaded()
        asked = model.split(question)[-QUESTION_PIECES:]
        return [_logit(model.session, asked, window_of(model.split(text), asked)) for text in texts]

    def _loaded(self) -> _Loaded:
        with self._lock:
            if self._model is None:
                self._model = _load(self._folder)
            return self._model


def window_of(pieces: Sequence[int], asked: Sequence[int]) -> Sequence[int]:
    """The first of the windows with most different pieces of the question; the whole of a short text."""
    if len(pieces) <= TEXT_PIECES:
        return pieces
    wanted = set(asked)
    windows = [pieces[at : at + TEXT_PIECES] for at in range(0, len(pieces) - _STEP, _STEP)]
    return max(windows, key=lambda window: len(wanted.intersection(window)))


def _logit(session: "InferenceSession", asked: Sequence[int], text: Sequence[int]) -> float:
    pieces = joined(asked, text)
    given = {"input_ids": np.array([pieces.ids], np.int64), "segments": np.array([pieces.segments], np.int64)}
    return float(session.run(["logit"], given)[0][0, 0, 0])


def _load(folder: Path) -> _Loaded:
    with loading(folder, "the second stage", "the in-process second stage"):
        session = open_session(folder / RELEVANCE_GRAPH_FILE)
        tokenizer = read_unigram(folder / UNIGRAM_FILE, _MOST_READ)
    return _Loaded(splitting(tokenizer, _MOST_READ, _CACHED_TEXTS), session)
