"""Which embedder the settings choose, and the folder of its model."""

from pathlib import Path

import pytest

from recollect.adapters.embedders.hashing import HashingEmbedder
from recollect.adapters.embedders.model_folder import GENERATION
from recollect.adapters.embedders.onnx_embedder import pooled
from recollect.bootstrap.providers import Embedding, model_folder
from recollect.settings import Settings


def settings(**values: str) -> Settings:
    return Settings.from_environment({f"RECOLLECT_{name}": value for name, value in values.items()})


def test_the_model_has_a_folder_of_its_generation(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert model_folder(settings()) == tmp_path / "recollect" / "models" / "e5-small.int8.1"
    assert model_folder(settings(MODEL_FOLDER=str(tmp_path))) == tmp_path


def test_the_multilingual_model_is_the_default() -> None:
    assert settings() == settings(EMBEDDER="e5")


@pytest.mark.spec("A-22")
def test_a_process_without_the_model_knows_the_generation_of_its_vectors(monkeypatch: pytest.MonkeyPatch) -> None:
    """The function `memories` saves what `project` embeds."""
    monkeypatch.setenv("XDG_CACHE_HOME", "/nowhere")
    chosen = settings(EMBEDDER="e5")

    class Model(HashingEmbedder):
        generation = GENERATION

    assert Embedding(chosen).embedder is None
    assert Embedding(chosen).generation == pooled(Model()).generation


@pytest.mark.parametrize(
    ("chosen", "generation"),
    [
        ({"EMBEDDER": "hashing"}, "hashing.1"),
        (
            {"EMBEDDER": "openai", "OPENAI_BASE_URL": "http://localhost:1/v1", "OPENAI_EMBEDDING_MODEL": "small"},
            "small.384",
        ),
        ({"EMBEDDER": "none"}, None),
    ],
)
def test_each_has_a_generation_of_its_own(chosen: dict[str, str], generation: str | None) -> None:
    embedding = Embedding(settings(**chosen))
    assert embedding.generation == generation
    assert (embedding.embedder.generation if embedding.embedder else None) == generation
