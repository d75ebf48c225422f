"""Fixtures of the OpenSearch adapter's own tests."""

from collections.abc import Iterator

import pytest

from adapters.aws.opensearch.scripted_engine import ScriptedEngine, running_engine


@pytest.fixture
def scripted() -> Iterator[ScriptedEngine]:
    """An engine that answers as it is told."""
    with running_engine() as engine:
        yield engine
