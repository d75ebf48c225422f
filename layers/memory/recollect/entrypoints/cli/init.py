"""`recollect init`: makes what is missing on the engines that are set, and the in-process model."""

from recollect.entrypoints.cli.console import say
from recollect.entrypoints.cli.missing import OTHER_VECTORS
from recollect.entrypoints.cli.opening import build_model, opened, settings_of_environment
from recollect.search_index.state import OTHER_GENERATION


def init() -> None:
    """Creates table, index and bucket (or the local database) and the embedding model. Safe to run twice."""
    settings = settings_of_environment()
    if settings.embedder == "e5":
        built = build_model(settings)
        say(f"embedding model: {'built in ' + built if built else 'there'}")
    with opened(settings) as app:
        made = app.parts.create()
        say(f"created: {', '.join(made)}" if made else "engines: all there")
        if OTHER_GENERATION in app.search_index.check.lagging().values():
            say(OTHER_VECTORS)
