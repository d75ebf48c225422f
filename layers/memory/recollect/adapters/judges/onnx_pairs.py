"""The port `PairModel` in the process itself: the trained encoder of pairs on ONNX Runtime, beside the embedder.

A first look at a message, and at each pair, takes half of the layers; most need no more. Each pair is one call:
dynamic int8 quantisation takes one scale for all activations of a call, so in a batch scores would depend on the other
pairs.
"""

import base64
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np

from recollect.adapters.embedders.about import numbers_in, read_about
from recollect.adapters.embedders.model_folder import (
    ENDED_FILE,
    ENDED_GRAPH_FILE,
    JUDGE_EARLY_GRAPH_FILE,
    JUDGE_FILE,
    JUDGE_GRAPH_FILE,
    UNIGRAM_FILE,
)
from recollect.adapters.embedders.onnx_session import loading, open_session
from recollect.adapters.embedders.unigram import Unigram, read_unigram
from recollect.adapters.judges.pair_pieces import MARKS, MOST_PIECES, SplitPieces, pieces_of, places_of, splitting
from recollect.contradictions.beside import BesideOthers
from recollect.contradictions.pairs import STANDS, EndedPiece, PairScores, StatementPair
from recollect.core.learned_share import LearnedShare, logistic
from recollect.core.vectors import FloatArray

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

_NUMBERS = ("scale", "shift", "message_from", "pair_from", "passing_from")
WORTH_FILE = Path(__file__).with_name("worth_keeping.json")
"""The row over early states that `infra/tools/judge/worth.py` fitted, and the version of the judge that it is for."""
DONE_FILE = Path(__file__).with_name("tells_done.json")
"""The same of what tells of something done, by `infra/tools/judge/tenses.py`."""
BESIDE_FILE = Path(__file__).with_name("beside_others.json")
"""What `infra/tools/judge/beside.py` fitted, and the version of the judge that it is for."""

_MANY_PIECES, _OF_MANY_FROM = 30, -1.4
"""A message of more pieces changes nothing below this early logit, a little above a short one's bar.

The bar of judge.json is so low for plain statements ("I'm in Leeds now"), whose logits are low. Of longer ones it lets
pass what people say without changing anything (docs/adr/0011); with another judge it is fitted anew.
"""

_CHATTING_BELOW, _LESS_SURE = 0.25, 1.75
"""Of a message of many pieces that by itself hardly sounds like a change a pair's logit is so much less.

People chat in long messages, and tell a wish again in them (docs/adr/0011); with another judge it is fitted anew.
"""

_CACHED_TEXTS = 256
_MOST_READ = 512
"""Pieces of one text before it is cut to what the model reads."""


@dataclass(frozen=True, slots=True)
class _FirstLook:
    """The states after the first layers, and the logits that are read from them."""

    states: FloatArray
    changed: float
    passing: float
    lasting: float

    @property
    def pieces(self) -> int:
        """Of both texts, without marks."""
        read: int = self.states.shape[1]
        return read - MARKS

    @property
    def pooled(self) -> FloatArray:
        """The state of `<s>` beside the mean state, (2 width): what the logits are read from."""
        pieces: FloatArray = self.states[0]
        return np.concatenate([pieces[0], pieces.mean(axis=0)])


@dataclass(frozen=True, slots=True)
class _Message:
    """What is kept of the first look at a message alone: a logit, `passing`, probabilities, and how much less sure, as
    a logit, whatever it changes is."""

    may_change: bool
    passing: float
    worth: float
    done: float
    less_sure: float


@dataclass(frozen=True, slots=True)
class _Loaded:
    tokenizer: Unigram
    split: SplitPieces
    early: "InferenceSession"
    late: "InferenceSession"

    def first_look(self, pair: StatementPair) -> "_FirstLook":
        """What the first layers make of a pair, or of a message with nothing older."""
        pieces = pieces_of(pair, self.split)
        given = {"input_ids": np.array([pieces.ids], np.int64), "segments": np.array([pieces.segments], np.int64)}
        states, early = self.early.run(["states", "early"], given)
        return _FirstLook(states, *map(float, early[0, 0]))


@dataclass(frozen=True, slots=True)
class _About:
    """What the folder says of its judge: p(changed) = sigmoid(scale * logit + shift).

    A message alone, and a pair, whose early logit is less than `message_from` and `pair_from` change nothing; a message
    whose logit of passing is less than `passing_from` holds for good.
    """

    version: str
    scale: float
    shift: float
    message_from: float
    pair_from: float
    passing_from: float


class OnnxPairModel:
    """Scores with the judge of a model folder. Safe to share between threads; equal pairs have equal scores."""

    def __init__(self, folder: Path) -> None:
        """Reads what the folder says; the model is loaded on first use. Raises NotReady without a judge in it."""
        self._folder = folder
        self._about = _read(folder)
        self.version = self._about.version
        self._lock = Lock()
        self._model: _Loaded | None = None
        self._ending: InferenceSession | None = None
        self._worth, self._done = (_row_for(file, self.version) for file in (WORTH_FILE, DONE_FILE))
        self._beside = _beside_for(self.version)
        self._looked = lru_cache(_CACHED_TEXTS)(self._look)

    def may_change(self, texts: Sequence[str]) -> list[bool]:
        """Whether each may change anything that was said before, by the first layers alone. Raises NotReady."""
        return [self._looked(text).may_change for text in texts]

    def may_pass(self, texts: Sequence[str]) -> list[bool]:
        """Whether what each says may hold for a while only, by the first layers alone. Raises NotReady."""
        return [self._looked(text).passing >= self._about.passing_from for text in texts]

    def worth_keeping(self, texts: Sequence[str]) -> list[float]:
        """The probability of each that it is worth keeping, by the first layers alone. Raises NotReady."""
        return [self._looked(text).worth for text in texts]

    def tells_done(self, texts: Sequence[str]) -> list[float]:
        """The probability of each that what it tells is done, by the first layers alone. Raises NotReady.

        0.0 where no row was fitted to this judge.
        """
        return [self._looked(text).done for text in texts]

    def early_states(self, text: str) -> FloatArray:
        """What the first layers make of a message alone, (2 width). Raises NotReady."""
        return self._loaded().first_look(StatementPair(text, "")).pooled

    def _look(self, text: str) -> _Message:
        seen, least = self._loaded().first_look(StatementPair(text, "")), self._about.message_from
        is_long = seen.pieces > _MANY_PIECES
        return _Message(
            may_change=seen.changed >= (max(least, _OF_MANY_FROM) if is_long else least),
            passing=seen.passing,
            worth=self._worth.of(seen.pooled) if self._worth is not None else logistic(seen.lasting),
            done=self._done.of(seen.pooled) if self._done is not None else 0.0,
            less_sure=_LESS_SURE if is_long and seen.changed < _CHATTING_BELOW else 0.0,
        )

    def relate(self, pairs: Sequence[StatementPair]) -> list[PairScores]:
        """The scores of each pair, in order. Raises NotReady."""
        model = self._loaded() if pairs else None
        return [self._scores(model, pair) for pair in pairs if model is not None]

    def beside(self, changed: Sequence[float]) -> list[float]:
        """By the curve that was fitted to this judge; another's probabilities stay as they are."""
        return self._beside.of(changed) if self._beside is not None else list(changed)

    def ended_pieces(self, pairs: Sequence[StatementPair]) -> list[tuple[EndedPiece, ...]]:
        """Of each pair which pieces of the older no longer hold, by a model that is loaded on first use.

        Raises NotReady.
        """
        return [self._ended_pieces(self._loaded(), pair) for pair in pairs]

    def _ended_pieces(self, model: _Loaded, pair: StatementPair) -> tuple[EndedPiece, ...]:
        logits = self._loaded_ending().run(["ended"], {"states": model.first_look(pair).states})[0][0, :, 0].tolist()
        places = places_of(pair, model.tokenizer)
        return tuple(EndedPiece(*span, logistic(logits[place])) for place, span in places.items())

    def _loaded_ending(self) -> "InferenceSession":
        with self._lock:
            if self._ending is None:
                with loading(self._folder, "the judge's words", "the in-process judge"):
                    self._ending = open_session(self._folder / ENDED_GRAPH_FILE)
            return self._ending

    def _scores(self, model: _Loaded, pair: StatementPair) -> PairScores:
        seen = model.first_look(pair)
        if seen.changed < self._about.pair_from:
            return STANDS
        stands, *kinds, retracted = model.late.run(["logits"], {"states": seen.states})[0][0, 0].tolist()
        most = max(kinds)
        shares = [math.exp(one - most) for one in kinds]
        changed = most + math.log(sum(shares)) - stands
        replaced, ended, part = (one / sum(shares) for one in shares)
        sure = self._about.scale * changed + self._about.shift - self._looked(pair.newer).less_sure
        return PairScores(logistic(sure), replaced, ended, part, logistic(retracted))

    def _loaded(self) -> _Loaded:
        with self._lock:
            if self._model is None:
                self._model = _load(self._folder)
            return self._model


def _read(folder: Path) -> _About:
    read_about(folder, ENDED_FILE, "model of what ends")
    about = read_about(folder, JUDGE_FILE, "judge")
    return _About(str(about["version"]), *numbers_in(about, _NUMBERS, folder, "judge"))


def _row_for(file: Path, version: str) -> LearnedShare | None:
    """The row that was fitted to the states of this judge; None of another's."""
    stored = json.loads(file.read_text("ascii"))
    if stored["judge"] != version:
        return None
    return LearnedShare(np.frombuffer(base64.b64decode(stored["weights"]), "<f4"), stored["bias"])


def _beside_for(version: str) -> BesideOthers | None:
    """The curve that was fitted to this judge; None of another's."""
    stored = json.loads(BESIDE_FILE.read_text("ascii"))
    return BesideOthers(**stored["weights"]) if stored["judge"] == version else None


def _load(folder: Path) -> _Loaded:
    with loading(folder, "the judge", "the in-process judge"):
        early, late = (open_session(folder / name) for name in (JUDGE_EARLY_GRAPH_FILE, JUDGE_GRAPH_FILE))
        tokenizer = read_unigram(folder / UNIGRAM_FILE, _MOST_READ)
    return _Loaded(tokenizer, splitting(tokenizer, max(MOST_PIECES), _CACHED_TEXTS), early, late)
