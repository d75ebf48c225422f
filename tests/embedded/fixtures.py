"""A memory for each test; an event loop; a cloud in which nothing answers."""

import asyncio
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


@pytest.fixture
def loop() -> Iterator[None]:
    """The event loop that Mangum takes; it would make one and leave it open."""
    made = asyncio.new_event_loop()
    asyncio.set_event_loop(made)
    yield
    asyncio.set_event_loop(None)
    made.close()


@pytest.fixture
def cloud_away(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The settings of a deployment on AWS of whose services none answers."""
    for name in ("DYNAMODB", "S3", "EVENTBRIDGE"):
        monkeypatch.setenv(f"AWS_ENDPOINT_URL_{name}", "http://127.0.0.1:9")
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "x")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    return {
        "RECOLLECT_ENGINES": "aws", "RECOLLECT_EMBEDDER": "none", "RECOLLECT_OPENSEARCH_URL": "http://127.0.0.1:9",
        "RECOLLECT_CALL_TIMEOUT_SECONDS": "0.2",
    }  # fmt: skip
