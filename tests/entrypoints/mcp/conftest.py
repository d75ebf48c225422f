"""Apps in folders of their own, and a loop for Mangum."""

import asyncio
from collections.abc import Iterator

import pytest

from entrypoints.http.conftest import app, opened

__all__ = ["app", "opened"]


@pytest.fixture
def loop() -> Iterator[None]:
    """The current event loop of this thread, as Mangum wants one."""
    made = asyncio.new_event_loop()
    asyncio.set_event_loop(made)
    yield
    asyncio.set_event_loop(None)
    made.close()
