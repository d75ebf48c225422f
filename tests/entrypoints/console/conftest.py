"""The console of the laptop's server, in this process."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from entrypoints.console.visiting import Visitor
from entrypoints.http.calling import Caller, Laptop
from entrypoints.http.conftest import app, laptop, opened

__all__ = ["app", "caller", "guarded", "laptop", "visitor"]
KEYS = (
    '{"key-a": {"tenant": "acme", "admin": true}, "key-b": {"tenant": "other"},'
    ' "key-c": {"tenant": "third", "admin": true}}'
)


@pytest.fixture
def caller(laptop: Laptop) -> Caller:
    return Caller(laptop)


@pytest.fixture
def visitor(laptop: Laptop) -> Visitor:
    return Visitor(laptop)


@pytest.fixture
def guarded(tmp_path: Path) -> Iterator[Laptop]:
    """A server with keys of two tenants."""
    with opened(tmp_path, RECOLLECT_API_KEYS=KEYS) as app:
        surface = Laptop(app)
        yield surface
        surface.close()
