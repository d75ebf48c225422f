"""The tests of the index run on both engines: a 3.x, and 2.19, which template.yaml deploys."""

import os
from dataclasses import replace

import pytest

from conftest import Engines

NEEDS_2_19 = "needs OpenSearch 2.19: make engines"


@pytest.fixture(scope="module", params=["3.5", "2.19"])
def engines(request: pytest.FixtureRequest, engines: Engines) -> Engines:
    """The engines, `opensearch_url` that of the version asked for. Left out, or failed, as without any engine."""
    if request.param == "3.5":
        return engines
    if engines.opensearch_2_url is None:
        if os.environ.get("RECOLLECT_REQUIRE_ENGINES") == "1":
            pytest.fail("OpenSearch 2.19 is required here and is not running", pytrace=False)
        pytest.skip(NEEDS_2_19)
    return replace(engines, opensearch_url=engines.opensearch_2_url)
