"""Opens the app for one command, and builds the in-process model where it is not there yet."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from recollect.app import App
from recollect.bootstrap import open_app
from recollect.bootstrap.embedding import model_folder
from recollect.core.errors import RecollectError
from recollect.entrypoints.cli.console import message_console, say
from recollect.extras import require_package
from recollect.settings import Settings

WORDS_ALONE = "search is by words alone"


@contextmanager
def opened(settings: Settings | None = None) -> Iterator[App]:
    """The app, closed at the end. Raises ConfigurationError."""
    app = open_app(settings)
    try:
        yield app
    finally:
        app.parts.close()


def settings_of_environment() -> Settings:
    """The settings. Raises ConfigurationError."""
    return Settings.from_environment(os.environ)


def ensure_model(settings: Settings, tell: Callable[[str], None] = say) -> bool:
    """Builds the in-process model where it is set and missing; whether there is one now.

    Where it cannot be built it is told why, and the rest goes on by words alone.
    """
    if settings.embedder != "e5":
        return settings.embedder != "none"
    try:
        build_model(settings, tell)
    except RecollectError as error:
        tell(f"no embedding model, so {WORDS_ALONE}: {error}")
        return False
    return True


def build_model(settings: Settings, tell: Callable[[str], None] = say) -> str | None:
    """Builds the model that is set unless it is there; the folder if it was built. Raises NotReady, UpstreamFailed.

    A terminal shows that it takes a while; elsewhere one line is told.
    """
    from recollect.adapters.embedders.building.build import DOWNLOAD_MEGABYTES
    from recollect.adapters.embedders.building.build import build_model as build
    from recollect.adapters.embedders.model_folder import read_manifest

    require_package("onnxruntime", "the embedding model")
    folder = model_folder(settings)
    try:
        read_manifest(folder)
    except RecollectError:
        fetching = f"Fetching and building the embedding model ({DOWNLOAD_MEGABYTES} MB, once) …"
        console = message_console()
        if not console.is_terminal:
            tell(fetching)
        with console.status(fetching):
            build(folder)
        return str(folder)
    return None


def without_model(settings: Settings) -> Settings:
    """The same settings, by words alone."""
    return replace(settings, embedder="none")
