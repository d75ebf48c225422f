"""A server to speak to, and a user."""

from collections.abc import Iterator

import pytest

from adapters.embedders.local_server import Server, running_server
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
