"""Each test twice: on the laptop's SQLite and folder, and on DynamoDB, OpenSearch and S3 behind the table's stream."""

import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from conftest import Engines
from embedded.setting import judged
from engines.conftest import OwnDatabase, settings_on, shown_at_once
from recollect.adapters.aws.stream import StreamPump
from recollect.app import App
from recollect.bootstrap import open_app
from recollect.composition import search_index
from recollect.settings import Settings
from services.serving import ENGINES, LAPTOP, Service, pump_of, service_of

BOTH = [LAPTOP, pytest.param(ENGINES, marks=pytest.mark.engines)]
ON_THE_LAPTOP = pytest.mark.parametrize("service", [LAPTOP], indirect=True)
"""For rules that no engine has a part in."""


@dataclass(frozen=True, slots=True)
class Deployed:
    app: App
    pump: StreamPump

    def service(self, stack: ExitStack) -> Service:
        """A tenant of its own."""
        return service_of(self.app, f"t-{uuid.uuid4().hex[:12]}", stack, self.pump)


@contextmanager
def deployed(engines: Engines) -> Iterator[Deployed]:
    """A fresh deployment that nobody waits for long: pointers are kept for a moment, the index shows writes at once."""
    name = f"svc-{uuid.uuid4().hex[:12]}"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ENDPOINT_URL_DYNAMODB_STREAMS", engines.dynamodb_url)
        patch.setenv("POWERTOOLS_SERVICE_NAME", "recollect-test")
        OwnDatabase.use(patch, name)
        patch.setattr(search_index, "POINTER_SECONDS", 0.2)
        app = judged(open_app(settings_on(engines, name)))
        app.parts.create()
        parts: Any = app.parts
        shown_at_once(parts, name)
        pump = pump_of(app)
        assert pump
        yield Deployed(app, pump)
        parts.index._client.indices.delete(index=f"{name}-*")
        parts.access.client.delete_table(TableName=name)


def on_laptop(home: Path, stack: ExitStack) -> Service:
    app = judged(open_app(Settings.from_environment({"RECOLLECT_HOME": str(home), "RECOLLECT_EMBEDDER": "hashing"})))
    stack.callback(app.parts.close)
    return service_of(app, "local", stack)


@pytest.fixture(scope="module")
def shared(engines: Engines) -> Iterator[Deployed]:
    """One for all tests of a module."""
    with deployed(engines) as one:
        yield one


@pytest.fixture(scope="module", params=BOTH)
def one_for_all(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A tenant for all tests of a module, on either."""
    with ExitStack() as stack:
        if request.param == ENGINES:
            yield request.getfixturevalue("shared").service(stack)
        else:
            yield on_laptop(tmp_path_factory.mktemp("service"), stack)


@pytest.fixture(params=BOTH)
def service(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Service]:
    """A tenant of its own, on either."""
    with ExitStack() as stack:
        on_engines = request.param == ENGINES
        yield request.getfixturevalue("shared").service(stack) if on_engines else on_laptop(tmp_path, stack)


@pytest.fixture(params=BOTH)
def own_service(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Service]:
    """The same, with nobody else beside: its index may be lost."""
    with ExitStack() as stack:
        if request.param == ENGINES:
            yield stack.enter_context(deployed(request.getfixturevalue("engines"))).service(stack)
        else:
            yield on_laptop(tmp_path, stack)
