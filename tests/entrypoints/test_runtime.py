"""Garbage is looked for seldom in a process of ours, and as before in somebody else's."""

import gc
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from recollect.app import App
from recollect.bootstrap import open_app
from recollect.entrypoints.http import server
from recollect.entrypoints.lambda_handlers import open_embedding_app, open_warm_app


@pytest.fixture(autouse=True)
def _as_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("RECOLLECT_HOME", str(tmp_path))
    monkeypatch.setenv("RECOLLECT_EMBEDDER", "none")
    before = gc.get_threshold()
    gc.set_threshold(700, 10, 10)
    yield
    gc.set_threshold(*before)


@pytest.mark.parametrize("opened", [lambda: open_warm_app("context"), open_embedding_app])
def test_a_function_looks_for_garbage_seldom(opened: Callable[[], App]) -> None:
    opened().parts.close()
    assert gc.get_threshold() == (10_000, 10, 10)


def test_a_server_looks_for_garbage_seldom(monkeypatch: pytest.MonkeyPatch) -> None:
    app, ran = open_app(), []
    monkeypatch.setattr("uvicorn.Server.run", lambda _: ran.append(gc.get_threshold()))
    server._serve_app(app, "127.0.0.1", 0)
    app.parts.close()
    assert ran == [(10_000, 10, 10)]


def test_a_process_that_uses_it_as_a_library_is_left_as_it_is() -> None:
    open_app().parts.close()
    assert gc.get_threshold() == (700, 10, 10)
