"""The ONNX graph of the judge, an encoder of pairs.

The head is `hidden` and `classes`, whose last row tells a retraction, that of the first look `early_hidden` and
`early`; of the same states `passing` tells what holds for a while only, `lasting` what is worth keeping. What is said
about it are version, calibration and from which logit on each of them says yes.
"""

from pathlib import Path
from typing import Final

from recollect.adapters.embedders.building import graph as graphs
from recollect.adapters.embedders.building.pair_graph import (
    INPUTS,
    PairEncoder,
    Sample,
    given,
    save_sharing_words,
)
from recollect.adapters.embedders.building.trained_layers import read_layers, write_about
from recollect.adapters.embedders.building.weights import DIMENSION, EARLY_LAYERS, LAYERS, Q4Model
from recollect.adapters.embedders.model_folder import (
    JUDGE_EARLY_GRAPH_FILE,
    JUDGE_EARLY_WEIGHTS_FILE,
    JUDGE_FILE,
    JUDGE_GRAPH_FILE,
    JUDGE_WEIGHTS_FILE,
)

STATES: Final = "states"
EARLY, LOGITS = "early", "logits"
EARLY_LOGITS = 3
"""What the first layers say: changed or not, for a while only or not, worth keeping or not."""
CLASSES = 5
"""What the whole says: stands, replaced, ended, in part, retracted."""

_FILES = (JUDGE_EARLY_GRAPH_FILE, JUDGE_EARLY_WEIGHTS_FILE, JUDGE_GRAPH_FILE, JUDGE_WEIGHTS_FILE)


def write_judge(layers: Path, embedder: Q4Model, sample: Sample, folder: Path) -> None:
    """Writes graphs, constants and `judge.json` beside the embedder's files, whose word table they share."""
    weights, about = read_layers(layers, embedder.tensors)
    words = graphs.word_table(embedder)
    floats = graphs.FloatLayers()
    ranges = graphs.input_ranges(floats, JudgeEncoder(weights, words, floats), given(sample))
    early, late = (JudgeEncoder(weights, words, graphs.Int8Layers(ranges)) for _ in range(2))
    _write_early(early, folder)
    model = late.graph.finished("judge", {LOGITS: (late.logits(STATES), CLASSES)}, (), {STATES: DIMENSION})
    graphs.save(model, folder / JUDGE_GRAPH_FILE, JUDGE_WEIGHTS_FILE)
    write_about(folder / JUDGE_FILE, about, layers, _FILES)


def _write_early(encoder: "JudgeEncoder", folder: Path) -> None:
    """What is asked of every message and every pair; only where that says so, the rest goes on from its states."""
    states = encoder.early_states()
    outputs = {STATES: (states, DIMENSION), EARLY: (encoder.early(states), EARLY_LOGITS)}
    model = encoder.graph.finished("judge_early", outputs, INPUTS)
    save_sharing_words(model, folder, JUDGE_EARLY_GRAPH_FILE, JUDGE_EARLY_WEIGHTS_FILE)


class JudgeEncoder(PairEncoder):
    """Early logits, and those of the whole."""

    def early(self, states: str) -> str:
        """(1, 1, early logits), of the early states."""
        seen = self.pooled(states)
        changed = self.read("early_hidden", "early", seen)
        return self.graph.add("Concat", changed, self.row("passing", seen), self.row("lasting", seen), axis=2)

    def logits(self, states: str) -> str:
        """(1, 1, classes): of what the other layers make of the early states."""
        return self.read("hidden", "classes", self.pooled(self.through(states, range(EARLY_LAYERS, LAYERS))))
