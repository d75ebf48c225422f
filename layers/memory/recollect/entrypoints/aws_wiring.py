"""The app of a Lambda function that embeds."""

from contextlib import suppress

from recollect.app import App
from recollect.bootstrap import open_app
from recollect.core.errors import NotReady, RecollectError
from recollect.core.vectors import TextKind
from recollect.entrypoints.collecting import collect_seldom


def open_warm_app() -> App:
    """The app of the environment, its in-process model loaded: while a function starts nobody waits for an answer yet.

    Raises ConfigurationError. A missing model is no failure: reads go on by words alone and say so.
    """
    collect_seldom()
    app = open_app()
    with suppress(RecollectError):
        _load_model(app)
    return app


def open_embedding_app() -> App:
    """As `open_warm_app`, for what writes vectors. Raises NotReady without the model that is set.

    Events projected without vectors would count as done; events that wait are found again.
    """
    collect_seldom()
    app = open_app()
    _load_model(app)
    if app.settings.embedder != "none" and app.parts.embedder is None:
        raise NotReady(f"no embedder {app.settings.embedder}, and nothing is projected without it")
    return app


def _load_model(app: App) -> None:
    if app.settings.embedder == "e5" and app.parts.embedder is not None:
        app.parts.embedder.encode(["warm"], TextKind.QUERY)
