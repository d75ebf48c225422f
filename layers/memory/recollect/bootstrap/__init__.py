"""The composition root: the only place that chooses adapters."""

import os

from recollect.app import App
from recollect.bootstrap.deployment_rules import deployment_rules
from recollect.composition.deployment import Parts
from recollect.settings import Settings

__all__ = ["App", "Parts", "open_app"]


def open_app(settings: Settings | None = None) -> App:
    """The app that the settings name; without settings those of the environment. Raises ConfigurationError."""
    chosen = settings or Settings.from_environment(os.environ)
    return App(chosen, _parts(chosen), deployment_rules(chosen))


def _parts(settings: Settings) -> Parts:
    if settings.engines == "aws":
        from recollect.bootstrap.aws_parts import AwsParts

        return AwsParts(settings)
    from recollect.bootstrap.local_parts import LocalParts

    return LocalParts(settings)
