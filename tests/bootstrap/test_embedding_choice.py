"""Which model the settings mean, and where it lies."""

from pathlib import Path

import pytest

from recollect.adapters.embedders.hashing import HashingEmbedder
from recollect.adapters.embedders.model_folder import how_to_build
from recollect.adapters.embedders.pooled import pooled
from recollect.adapters.embedders.recipes import BUILT_HERE
from recollect.bootstrap.embedding import Embedding, builds_model, model_folder, model_recipe
from recollect.core.errors import ConfigurationError
from recollect.entrypoints.aws_wiring import IN_PROCESS
from recollect.settings import Settings


def settings(**values: str) -> Settings:
    return Settings.from_environment({f"RECOLLECT_{name}": value for name, value in values.items()})


@pytest.mark.parametrize(
    ("embedder", "precision", "generation"),
    [
        ("minilm", "int8", "minilm-l6-v2.int8.1"),
        ("minilm", "fp32", "minilm-l6-v2.fp32.1"),
        ("e5-small", "int8", "e5-small.int8.1"),
    ],
)
def test_a_model_has_a_folder_of_its_generation(
    embedder: str, precision: str, generation: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    chosen = settings(EMBEDDER=embedder, EMBEDDING_PRECISION=precision)
    assert model_folder(chosen) == tmp_path / "recollect" / "models" / generation
    assert model_recipe(chosen).generation == generation
    assert how_to_build(model_folder(chosen)).endswith(f"{generation} --model {embedder}")


def test_a_folder_that_is_named_is_taken(tmp_path: Path) -> None:
    assert model_folder(settings(EMBEDDER="e5-small", MODEL_FOLDER=str(tmp_path))) == tmp_path


def test_what_is_built_here_runs_here() -> None:
    assert BUILT_HERE < IN_PROCESS
    assert [name for name in ("minilm", "e5-small", "hashing", "none") if builds_model(settings(EMBEDDER=name))] == [
        "minilm",
        "e5-small",
    ]


def test_the_multilingual_model_is_the_default() -> None:
    assert settings().embedder == "e5-small"
    assert model_recipe(settings()).generation == "e5-small.int8.1"


def test_the_multilingual_model_has_one_precision() -> None:
    for chosen in ({"EMBEDDER": "e5-small"}, {}):
        with pytest.raises(ConfigurationError, match=r"RECOLLECT_EMBEDDING_PRECISION.*RECOLLECT_EMBEDDER=minilm"):
            settings(**chosen, EMBEDDING_PRECISION="fp32")


@pytest.mark.spec("A-22")
def test_a_process_without_the_model_knows_the_generation_of_its_vectors(monkeypatch: pytest.MonkeyPatch) -> None:
    """The function `memories` saves what `project` embeds."""
    monkeypatch.setenv("XDG_CACHE_HOME", "/nowhere")
    chosen = settings(EMBEDDER="e5-small")

    class Model(HashingEmbedder):
        generation = model_recipe(chosen).generation

    assert Embedding(chosen).embedder is None
    assert Embedding(chosen).generation == pooled(Model()).generation


@pytest.mark.parametrize(("embedder", "generation"), [("none", None), ("hashing", HashingEmbedder().generation)])
def test_any_other_is_asked_for_it(embedder: str, generation: str | None) -> None:
    assert Embedding(settings(EMBEDDER=embedder)).generation == generation
