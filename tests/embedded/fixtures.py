"""A memory for each test."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from embedded.setting import Memory, open_memory


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    """SQLite and the hashing embedder."""
    opened = open_memory(tmp_path)
    yield opened
    opened.app.parts.close()


@pytest.fixture(params=["before the index follows", "after"])
def followed(request: pytest.FixtureRequest) -> bool:
    """Whether what was derived follows before anything is read."""
    return bool(request.param == "after")
