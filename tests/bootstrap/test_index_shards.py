"""The index that a deployment makes has the shards that it asks for."""

import uuid
from dataclasses import replace

import pytest
from opensearchpy import OpenSearch

from conftest import Engines
from engines.conftest import settings_on
from recollect.bootstrap.aws_parts import AwsParts


@pytest.mark.engines
def test_an_index_has_the_shards_of_the_setting_and_keeps_them(engines: Engines) -> None:
    settings = settings_on(engines, f"shards-{uuid.uuid4().hex[:8]}")
    client = OpenSearch([engines.opensearch_url])
    name = f"{settings.index_prefix}-*"
    try:
        assert AwsParts(replace(settings, index_shards=3)).index.create() is True
        assert AwsParts(settings).index.create() is False
        (index,) = client.indices.get_settings(index=name).values()
        assert index["settings"]["index"]["number_of_shards"] == "3"
    finally:
        client.indices.delete(index=name)
