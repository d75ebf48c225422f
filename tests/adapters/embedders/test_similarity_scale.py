"""What the default embedder's similarities mean: 0.7 is related (A-28)."""

import pytest

from recollect.adapters.embedders.model_folder import GENERATION
from recollect.adapters.embedders.onnx_embedder import OnnxEmbedder, PooledEmbedder, pooled, scale_of
from recollect.core.vectors import TextKind
from recollect.retrieval.pooling import COSINE, RELATED

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


def similarity(embedder: PooledEmbedder, question: str, turn: str) -> float:
    (asked,), (said,) = embedder.encode([question], TextKind.QUERY), embedder.encode([turn], TextKind.PASSAGE)
    return embedder.similarity_scale.similarity(float(asked.vector @ said.vector))


@pytest.mark.spec("A-28")
@pytest.mark.parametrize(("question", "turn"), RELATED_ONES)
def test_what_answers_a_question_is_related_to_it(embedder: PooledEmbedder, question: str, turn: str) -> None:
    assert similarity(embedder, question, turn) >= RELATED


@pytest.mark.parametrize(("question", "turn"), UNRELATED_ONES)
def test_what_is_of_another_matter_is_not(embedder: PooledEmbedder, question: str, turn: str) -> None:
    assert similarity(embedder, question, turn) < RELATED


def test_the_model_has_its_scale_and_an_unknown_model_the_cosine() -> None:
    assert scale_of(GENERATION) != COSINE
    assert scale_of("somebody-elses.1") == COSINE
