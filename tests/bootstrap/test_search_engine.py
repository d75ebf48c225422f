"""Where the index of a deployment on AWS is."""

import pytest

from recollect.adapters.aws.opensearch import OpenSearchIndex
from recollect.adapters.aws.table_index import TableIndex
from recollect.bootstrap.aws_parts import AwsParts
from recollect.core.errors import ConfigurationError
from recollect.settings import Settings

AWS = {"RECOLLECT_ENGINES": "aws", "RECOLLECT_EMBEDDER": "hashing"}
URL = "http://127.0.0.1:9200"


def parts_of(**variables: str) -> AwsParts:
    return AwsParts(Settings.from_environment({**AWS, **variables}))


def test_a_domain_is_asked_for_by_default_and_needs_an_address() -> None:
    assert isinstance(parts_of(RECOLLECT_OPENSEARCH_URL=URL).index, OpenSearchIndex)
    with pytest.raises(ConfigurationError, match="RECOLLECT_OPENSEARCH_URL"):
        parts_of()


def test_a_table_needs_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    parts = parts_of(RECOLLECT_SEARCH_ENGINE="table")
    assert isinstance(parts.index, TableIndex)
    assert parts.embedder is not None
    assert parts.index.generation == parts.embedder.generation


def test_another_engine_is_refused_at_start() -> None:
    with pytest.raises(ConfigurationError, match="RECOLLECT_SEARCH_ENGINE"):
        parts_of(RECOLLECT_SEARCH_ENGINE="aoss")
