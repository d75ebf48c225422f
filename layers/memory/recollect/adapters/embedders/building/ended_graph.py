"""The ONNX graph of the model that tells which pieces of an older statement end: the judge's upper layers, trained on.

It reads the judge's early states of a pair. It is asked only about pairs where something changes: others cost nothing.
"""

from pathlib import Path
from typing import Final

from recollect.adapters.embedders.building import graph as graphs
from recollect.adapters.embedders.building.judge_graph import STATES
from recollect.adapters.embedders.building.pair_graph import PairEncoder, Sample, given
from recollect.adapters.embedders.building.trained_layers import read_layers, read_layers_over, write_about
from recollect.adapters.embedders.building.weights import DIMENSION, EARLY_LAYERS, LAYERS, Q4Model
from recollect.adapters.embedders.model_folder import (
    ENDED_FILE,
    ENDED_GRAPH_FILE,
    ENDED_WEIGHTS_FILE,
)

ENDED: Final = "ended"


def write_ended(layers: Path, judge: Path, embedder: Q4Model, sample: Sample, folder: Path) -> None:
    """Writes graph, constants and `ended.json` beside the judge's files."""
    begun, _ = read_layers(judge, embedder.tensors)
    trained, about = read_layers_over(layers, begun)
    weights, words = begun | trained, graphs.word_table(embedder)
    floats = graphs.FloatLayers()
    ranges = graphs.input_ranges(floats, EndedEncoder(weights, words, floats), given(sample))
    encoder = EndedEncoder(weights, words, graphs.Int8Layers(ranges))
    model = encoder.graph.finished("ended", {ENDED: (encoder.ended(STATES), 1)}, (), {STATES: DIMENSION})
    graphs.save(model, folder / ENDED_GRAPH_FILE, ENDED_WEIGHTS_FILE)
    write_about(folder / ENDED_FILE, about, layers, (ENDED_GRAPH_FILE, ENDED_WEIGHTS_FILE))


class EndedEncoder(PairEncoder):
    """A row over the state of each piece."""

    def write(self) -> str:
        """The same from the words on, to measure activations."""
        return self.ended(self.early_states())

    def ended(self, states: str) -> str:
        """(1, sequence, 1): the logit of each piece that it no longer holds."""
        return self.row("words", self.through(states, range(EARLY_LAYERS, LAYERS)))
