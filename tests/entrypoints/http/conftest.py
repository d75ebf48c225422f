"""One app in a folder of its own, called in both ways."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from embedded.setting import judged
from entrypoints.http.calling import Caller, Cloud, Laptop
from recollect.app import App
from recollect.bootstrap import open_app
from recollect.settings import Settings


def settings_in(home: Path, **variables: str) -> Settings:
    """Settings for tests: hashing embedder, test clock, and whatever is given."""
    defaults = {"RECOLLECT_HOME": str(home), "RECOLLECT_EMBEDDER": "hashing", "RECOLLECT_TEST_CLOCK": "1"}
    return Settings.from_environment({**defaults, **variables})


@contextmanager
def opened(folder: Path, **variables: str) -> Iterator[App]:
    """An app over SQLite, closed at the end."""
    app = judged(open_app(settings_in(folder, **variables)))
    try:
        yield app
    finally:
        app.parts.close()


@pytest.fixture
def app(tmp_path: Path) -> Iterator[App]:
    """An app over SQLite."""
    with opened(tmp_path) as app:
        yield app


@pytest.fixture
def laptop(app: App) -> Iterator[Laptop]:
    """The laptop's server."""
    surface = Laptop(app)
    yield surface
    surface.close()


@pytest.fixture
def cloud(app: App) -> Cloud:
    """The functions of the cloud, all routes in one."""
    return Cloud(app)


@pytest.fixture(params=["cloud", "laptop"])
def caller(request: pytest.FixtureRequest) -> Caller:
    """Each way in turn."""
    return Caller(request.getfixturevalue(request.param))
