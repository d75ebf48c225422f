"""Apps in folders of their own, and a loop for Mangum."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from entrypoints.http.conftest import settings_in
from recollect.app import App
from recollect.bootstrap import open_app


@contextmanager
def opened(folder: Path, **variables: str) -> Iterator[App]:
    """An app over SQLite, closed at the end."""
    app = open_app(settings_in(folder, **variables))
    try:
        yield app
    finally:
        app.parts.close()


@pytest.fixture
def app(tmp_path: Path) -> Iterator[App]:
    with opened(tmp_path) as app:
        yield app


@pytest.fixture
def loop() -> Iterator[None]:
    """The current event loop of this thread, as Mangum wants one."""
    made = asyncio.new_event_loop()
    asyncio.set_event_loop(made)
    yield
    asyncio.set_event_loop(None)
    made.close()
