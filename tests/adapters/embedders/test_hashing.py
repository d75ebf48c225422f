"""The hashing embedder of tests."""

import subprocess
import sys

import numpy as np
import pytest

from recollect.adapters.embedders.hashing import HashingEmbedder
from recollect.core.vectors import FloatArray, TextKind, cosine

TEXTS = ["The cat sat.", "", "我们 😀", "a\ud83d", "x" * 10_000, "१२ राम", " \n"]


def vector_of(text: str) -> FloatArray:
    return HashingEmbedder().encode([text], TextKind.PASSAGE)[0].vector


def test_generation_and_dimension() -> None:
    embedder = HashingEmbedder()
    assert (embedder.generation, embedder.dimension) == ("hashing.1", 384)
    assert embedder.encode([], TextKind.QUERY) == []


@pytest.mark.parametrize("text", TEXTS)
def test_every_text_has_a_unit_vector(text: str) -> None:
    vector = vector_of(text)
    assert vector.dtype == np.float32
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5)


def test_it_is_the_same_in_another_process() -> None:
    code = (
        "from recollect.adapters.embedders.hashing import HashingEmbedder as H; "
        "print(H().encode(['The cat sat.'], 'query')[0].vector.tobytes().hex())"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert told.stdout.strip() == vector_of("The cat sat.").tobytes().hex()


def test_shared_words_bring_texts_near() -> None:
    assert cosine(vector_of("Where is the blue bicycle"), vector_of("the BLUE bicycle!")) > 0.6
    assert abs(cosine(vector_of("blue bicycle"), vector_of("tax return"))) < 0.3
    assert cosine(vector_of("bicycle"), vector_of("bicycles")) > 0.3


def test_tokens_are_the_words_with_their_spans() -> None:
    text = "Zoë's cat, 北京!"
    tokens = HashingEmbedder().encode([text], TextKind.PASSAGE, with_tokens=True)[0].tokens
    assert tokens is not None
    assert [text[start:end] for start, end in tokens.spans] == ["Zoë", "s", "cat", "北京"]
    np.testing.assert_array_equal(tokens.vectors[2], vector_of("CAT"))
    np.testing.assert_allclose(np.linalg.norm(tokens.vectors, axis=1), 1, atol=1e-5)


def test_a_text_without_words_has_no_tokens() -> None:
    tokens = HashingEmbedder().encode(["?!"], TextKind.PASSAGE, with_tokens=True)[0].tokens
    assert tokens is not None
    assert tokens.vectors.shape == (0, 384)
