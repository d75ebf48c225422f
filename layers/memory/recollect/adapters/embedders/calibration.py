"""Largest magnitudes of the activations that enter each dense layer, measured on a few sentences of our own."""

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np
import onnxruntime

from recollect.adapters.embedders.bert_graph import BertEncoder
from recollect.adapters.embedders.dense_layers import DenseLayers, FloatLayers
from recollect.core.vectors import FloatArray

# What comes out of attention has no channels that stand out; smoothing it costs a multiplication and brings nothing.
_NOT_SMOOTHED = "attention.output.dense"

SENTENCES: Final = (
    "I adopted a puppy last Saturday and named her Luna.",
    "What did the doctor say about your knee?",
    "Reminder: dentist appointment on 14 March at 9:30.",
    "My sister moved to Lisbon in 2019 because of her job at the bank.",
    "That's amazing! Congratulations on the promotion, you deserve it.",
    "for i in range(10): print(items[i]['price'] * 1.19)",
    "The train was late again, so we missed the first half of the concert.",
    "ok",
    "Can you recommend a vegetarian restaurant near the harbour?",
    "We painted the kitchen yellow; Tom would have preferred a light grey.",
    "He is allergic to peanuts and shellfish, please keep that in mind.",
    "https://example.org/orders?id=4711&lang=en",
    "Yesterday I ran 12 km in 1:05:33, my best time so far this year!",
    "Honestly, I feel tired and a bit lonely since the children left for college.",
    "Please summarise the meeting notes and send them to the whole team by Friday evening.",
    "Je voudrais réserver une table pour quatre personnes demain soir.",
    "¿Dónde está la estación de autobuses más cercana?",
    "我明天要去北京出差。",
    "The quarterly revenue rose by 8 % to 3.2 million euros, mostly thanks to new customers in Poland and Spain.",
    "She is learning to play the violin and practises every morning before school.",
)


def input_ranges(
    encoder_of: Callable[[DenseLayers], BertEncoder], width: int, token_ids: Sequence[Sequence[int]]
) -> dict[str, FloatArray]:
    """{dense layer: largest magnitude of each channel that enters it}, of the encoder in floats; states are `width`."""
    layers = FloatLayers()
    encoder = encoder_of(layers)
    encoder.write()
    observed = {name: tensor for name, tensor in layers.inputs.items() if not name.endswith(_NOT_SMOOTHED)}
    widths = {name: 4 * width if name.endswith(".output.dense") else width for name in observed}
    model = encoder.graph.finished("observed", {name: (tensor, widths[name]) for name, tensor in observed.items()})
    return activation_ranges(bytes(model.SerializeToString()), list(observed), token_ids)


def activation_ranges(
    model: bytes, outputs: Sequence[str], token_ids: Sequence[Sequence[int]]
) -> dict[str, FloatArray]:
    """{output: largest magnitude of each channel} of a model's outputs, over texts given as token ids."""
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    ranges: dict[str, FloatArray] = {}
    for ids in token_ids:
        batch = np.array([ids], np.int64)
        states = session.run(list(outputs), {"input_ids": batch, "attention_mask": np.ones_like(batch)})
        for layer, state in zip(outputs, states, strict=True):
            seen = np.abs(state[0]).max(axis=0)
            ranges[layer] = np.maximum(ranges.get(layer, seen), seen)
    return ranges
