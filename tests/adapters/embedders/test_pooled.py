"""The pooling over a model's tokens: what it says of itself, that it is what the domain defines, and its scale.

Of the similarities of the default embedder 0.7 is related (A-28).
"""

from collections.abc import Sequence

import numpy as np
import pytest

from recollect.adapters.embedders.hashing import HashingEmbedder
from recollect.adapters.embedders.model_folder import GENERATION
from recollect.adapters.embedders.onnx_embedder import OnnxEmbedder, PooledEmbedder, centre_of, pooled, scale_of
from recollect.core.learned_share import SURELY_ASKS, SURELY_WISHES
from recollect.core.vectors import Encoding, TextKind, cosine
from recollect.retrieval.pooling import COSINE, SimilarityScale, passage_vector, query_vector
from recollect.retrieval.reasons import RELATED

HEAD = "Anna on 8 May 2023: "
TEXT = "the blue kettle sings"


def encoded(embedder: PooledEmbedder, text: str, kind: TextKind = TextKind.PASSAGE) -> Encoding:
    return embedder.encode([text], kind, with_tokens=True)[0]


def test_it_is_a_generation_of_its_own_of_the_same_dimension() -> None:
    embedder = pooled(HashingEmbedder())
    assert (embedder.generation, embedder.dimension) == ("hashing.1.own1", HashingEmbedder().dimension)
    assert embedder.encode([], TextKind.QUERY) == []
    embedder.load()


def test_what_stands_before_the_own_text_is_not_pooled() -> None:
    embedder = pooled(HashingEmbedder())
    alone, headed = encoded(embedder, TEXT), encoded(embedder, HEAD + TEXT)
    assert headed.vector == pytest.approx(alone.vector, abs=1e-6)
    plain = HashingEmbedder().encode([HEAD + TEXT], TextKind.PASSAGE)[0].vector
    assert cosine(plain, alone.vector) < 0.95


def test_a_question_is_pooled_by_its_words_and_tokens_come_only_where_asked_for() -> None:
    embedder = pooled(HashingEmbedder())
    bare = HashingEmbedder().encode([TEXT], TextKind.QUERY, with_tokens=True)[0]
    assert encoded(embedder, TEXT, TextKind.QUERY).vector == pytest.approx(query_vector(bare, TEXT))
    assert encoded(embedder, TEXT).vector == pytest.approx(passage_vector(bare, 0))
    assert embedder.encode([TEXT], TextKind.QUERY)[0].tokens is None


def test_tokens_are_centred_and_of_length_one() -> None:
    dimension = HashingEmbedder().dimension
    centre = np.full(dimension, 0.01, np.float32)
    tokens = encoded(PooledEmbedder(HashingEmbedder(), centre), TEXT).tokens
    bare = HashingEmbedder().encode([TEXT], TextKind.PASSAGE, with_tokens=True)[0].tokens
    assert tokens is not None
    assert bare is not None
    assert tokens.spans == bare.spans
    moved = bare.vectors - centre
    assert tokens.vectors == pytest.approx(moved / np.linalg.norm(moved, axis=1, keepdims=True), abs=1e-6)


def test_an_embedder_without_tokens_stays_as_it_is() -> None:
    class Closed(HashingEmbedder):
        def encode(self, texts: Sequence[str], kind: TextKind, *, with_tokens: bool = False) -> list[Encoding]:
            return super().encode(texts, kind)

    found = encoded(PooledEmbedder(Closed(), np.ones(3, np.float32)), HEAD + TEXT)
    assert found.tokens is None
    assert found.vector.tolist() == Closed().encode([HEAD + TEXT], TextKind.PASSAGE)[0].vector.tolist()


def test_the_stored_centre_is_of_the_models_dimension() -> None:
    centre = centre_of(GENERATION)
    assert centre is not None
    assert centre.shape == (384,)
    assert 0.1 < float(np.linalg.norm(centre)) < 1
    assert centre_of("another.int8.1") is None


RELATED_ONES = [
    ("Where does Bas live?", "My friend Bas lives in Antwerp and he says Slovenia is the new Portugal."),
    ("What am I allergic to?", "And before I forget: I'm allergic to shellfish, so no paella jokes please."),
    ("what's my dog called", "Ha, it is. I have a beagle called Pixel, he's four, so at least I walk a lot."),
    ("Wann ist der Elternabend?", "Der Elternabend wurde auf Donnerstag um 19 Uhr verlegt."),
    ("C'est quand mon rendez-vous chez le dentiste ?", "Le dentiste m'a donné rendez-vous mardi à 15h30."),
]
UNRELATED_ONES = [
    ("What is my wifi password?", "My friend Bas lives in Antwerp and he says Slovenia is the new Portugal."),
    ("What is my wifi password?", "I'm allergic to shellfish, so no paella jokes please."),
    ("When is my dentist appointment?", "What a rainy day. The match was awful too, Feyenoord lost 3-0."),
    ("Wann ist der Elternabend?", "Ich trinke keinen Kaffee mehr, nur noch Tee."),
]


@pytest.fixture(scope="module")
def embedder(e5: OnnxEmbedder) -> PooledEmbedder:
    return pooled(e5)


SCALES = {TextKind.QUERY: "similarity_scale", TextKind.QUESTION: "question_scale"}


def similarity(embedder: PooledEmbedder, question: str, turn: str, kind: TextKind) -> float:
    (asked,), (said,) = embedder.encode([question], kind), embedder.encode([turn], TextKind.PASSAGE)
    scale: SimilarityScale = getattr(embedder, SCALES[kind])
    return scale.similarity(float(asked.vector @ said.vector))


@pytest.mark.spec("A-28")
@pytest.mark.parametrize("kind", SCALES)
@pytest.mark.parametrize(("question", "turn"), RELATED_ONES)
def test_what_answers_a_question_is_related_to_it(
    embedder: PooledEmbedder, question: str, turn: str, kind: TextKind
) -> None:
    assert similarity(embedder, question, turn, kind) >= RELATED


@pytest.mark.parametrize("kind", SCALES)
@pytest.mark.parametrize(("question", "turn"), UNRELATED_ONES)
def test_what_is_of_another_matter_is_not(embedder: PooledEmbedder, question: str, turn: str, kind: TextKind) -> None:
    assert similarity(embedder, question, turn, kind) < RELATED


def test_the_model_has_its_scale_and_an_unknown_model_the_cosine() -> None:
    assert COSINE != scale_of(GENERATION) != scale_of(GENERATION, TextKind.QUESTION) != COSINE
    assert scale_of("somebody-elses.1") == COSINE


OF_NOW = ["what's my dog called", "où est-ce que je travaille", "wo wohne ich", "what time is my appointment tomorrow"]
OF_THE_PAST = [
    "What did Anna say about her trip?",
    "When did I first mention the marathon?",
    "Pourquoi Paul avait-il quitté son travail ?",
    "Warum hat Anna damals gekündigt?",
]


def test_a_question_of_now_is_told_from_one_of_the_past(embedder: PooledEmbedder) -> None:
    assert embedder.learned.of_now is not None
    encoded = embedder.encode([*OF_NOW, *OF_THE_PAST], TextKind.QUERY)
    shares = [embedder.learned.of_now.of(encoding.vector) for encoding in encoded]
    assert min(shares[: len(OF_NOW)]) > max(shares[len(OF_NOW) :]), shares


WISHES = [
    "Keep your answers short, two lines at most.",
    "no pep talk please, just tell me straight",
    "Antworte mir bitte immer auf Deutsch und ohne Listen",
    "respóndeme siempre en español y sin rodeos",
    "以后回答简短一点，不要用列表",
    "これからは敬語なしで、短く答えて",
]
NO_WISHES = [
    "make this mail shorter",
    "My boss wants the numbers first",
    "I prefer the window seat",
    "no sugar for me from Monday on",
    "She told him to keep it short",
    "gib mir fünf Ideen für ein Geschenk",
    "我上周换了工作",
]


REQUESTS = ["Remind me where I work.", "write me a cover letter for the bakery", "Dime dónde vivo", "告诉我我住在哪里"]
TOLD = [
    "We moved the dentist to Tuesday.",
    "ich trinke keinen Kaffee mehr",
    "J'ai rendu les clés hier",
    "我上周换了工作",
    "mein freund heisst mehmet",
    "ik ben verpleegkundige op de kinderafdeling",
    "vivo a palermo con mia nonna",
    "血圧の薬を夜に飲む",
    "reading about the roman army at the moment",
]


@pytest.mark.parametrize(
    ("sort", "surely", "of_it", "others"),
    [("wishes", SURELY_WISHES, WISHES, NO_WISHES), ("asks", SURELY_ASKS, REQUESTS, TOLD)],
    ids=["how to be answered", "only asks"],
)
def test_what_a_message_surely_is_is_told_from_what_looks_like_it(
    embedder: PooledEmbedder, sort: str, surely: float, of_it: list[str], others: list[str]
) -> None:
    learned = getattr(embedder.learned, sort)
    shares = [learned.of(encoding.vector) for encoding in embedder.encode([*of_it, *others], TextKind.PASSAGE)]
    assert min(shares[: len(of_it)]) >= surely > max(shares[len(of_it) :]), shares
