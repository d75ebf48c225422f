"""A server to speak to."""

from collections.abc import Iterator

import pytest

from adapters.embedders.local_server import Server, running_server


@pytest.fixture
def server() -> Iterator[Server]:
    with running_server() as state:
        yield state
