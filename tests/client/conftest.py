"""One suite for the client, over HTTP to a real server in a thread and by `local`, over an empty folder each."""

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from uuid import uuid4

import pytest
import uvicorn

from embedded.setting import judged
from recollect.bootstrap import open_app
from recollect.client import AsyncRecollect, Recollect
from recollect.client.types import Json
from recollect.entrypoints import in_process
from recollect.entrypoints.http.server import build_asgi
from recollect.entrypoints.worker import Projector
from recollect.settings import Settings

KEY = "key-a"
HARD_IDS = (
    "ana", "a/b", "#", "?q=1", "50%", "~ana", "..ana", "🙂", "देवनागरी", "\u202eabc\u200f", " ", "a+b", "x" * 128,
)  # fmt: skip


@pytest.fixture(scope="session")
def server_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where it answers; `KEY` is the key of the tenant `acme`, an administrator's."""
    settings = Settings.from_environment(
        {
            "RECOLLECT_HOME": str(Path(tmp_path_factory.mktemp("home"))),
            "RECOLLECT_EMBEDDER": "hashing",
            "RECOLLECT_API_KEYS": f'{{"{KEY}": {{"tenant": "acme", "admin": true}}}}',
        }
    )
    app = judged(open_app(settings))
    config = uvicorn.Config(build_asgi(app), port=0, log_config=None, access_log=False, lifespan="off", ws="none")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    with Projector(app):
        thread.start()
        while not server.started:
            time.sleep(0.01)
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
        server.should_exit = True
        thread.join(10)
    app.parts.close()


@pytest.fixture(scope="session")
def in_this_process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Recollect]:
    """The client of tenant `acme` without a server."""
    folder = tmp_path_factory.mktemp("local")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(in_process, "open_app", lambda settings: judged(open_app(settings)))
        client = Recollect.local(folder, tenant="acme", embedder="hashing")
        with client:
            yield client


@pytest.fixture(params=["over HTTP", "in this process"])
def memory(request: pytest.FixtureRequest) -> Iterator[Recollect]:
    """The client, either way."""
    if request.param == "in this process":
        yield request.getfixturevalue("in_this_process")
        return
    with Recollect(request.getfixturevalue("server_url"), KEY) as client:
        yield client


@pytest.fixture(params=["over HTTP", "in this process"])
def for_asyncio(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], AsyncRecollect]:
    """Makes the client for asyncio, either way; over a folder of its own in the process."""
    if request.param == "in this process":
        return lambda: AsyncRecollect.local(tmp_path, embedder="hashing")
    url = request.getfixturevalue("server_url")
    return lambda: AsyncRecollect(url, KEY)


@pytest.fixture
def user() -> str:
    """Somebody of whom nothing is stored."""
    return f"user {uuid4().hex}"


def until(read: Callable[[], list[Json]], count: int = 1) -> list[Json]:
    """What is read, once there are so many; the projector works in the background."""
    for _ in range(200):
        found = read()
        if len(found) >= count:
            return found
        time.sleep(0.05)
    raise AssertionError("the events were never projected")
