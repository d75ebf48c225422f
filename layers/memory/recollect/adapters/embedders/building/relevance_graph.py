"""The ONNX graph of the model that reads a question and a text together: an encoder of pairs with one logit."""

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
from recollect.adapters.embedders.building.weights import Q4Model
from recollect.adapters.embedders.model_folder import (
    RELEVANCE_FILE,
    RELEVANCE_GRAPH_FILE,
    RELEVANCE_WEIGHTS_FILE,
)

LOGIT: Final = "logit"


def write_relevance(layers: Path, embedder: Q4Model, sample: Sample, folder: Path) -> None:
    """Writes graph, constants and `relevance.json` beside the embedder's files, whose word table they share."""
    weights, about = read_layers(layers, embedder.tensors)
    words = graphs.word_table(embedder)
    floats = graphs.FloatLayers()
    ranges = graphs.input_ranges(floats, RelevanceEncoder(weights, words, floats), given(sample))
    encoder = RelevanceEncoder(weights, words, graphs.Int8Layers(ranges))
    model = encoder.graph.finished("relevance", {LOGIT: (encoder.write(), 1)}, INPUTS)
    save_sharing_words(model, folder, RELEVANCE_GRAPH_FILE, RELEVANCE_WEIGHTS_FILE)
    write_about(folder / RELEVANCE_FILE, about, layers, (RELEVANCE_GRAPH_FILE, RELEVANCE_WEIGHTS_FILE))


class RelevanceEncoder(PairEncoder):
    """The layers that are there, and a head over them."""

    def write(self) -> str:
        """(1, 1, 1): the logit that the text is needed for the answer."""
        layers = range(sum(name.endswith(".q.b") for name in self.weights))
        return self.read("early_hidden", "early", self.pooled(self.through(self.embedded(), layers)))
