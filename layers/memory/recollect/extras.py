"""Packages that `pip install recollect` leaves out, since a client and most commands work without them."""

from importlib.util import find_spec

from recollect.core.errors import NotReady

INSTALL = "pip install 'recollect[local]'"
"""Installs everything that a laptop can use."""


def require_package(package: str, purpose: str) -> None:
    """Raises NotReady, with the command that installs it, unless the package is installed; imports nothing."""
    if find_spec(package) is None:
        raise missing_package(package, purpose)


def missing_package(package: str | None, purpose: str) -> NotReady:
    """The error that names what needs the package, and the command that installs it."""
    return NotReady(f"{purpose} needs the package {package}: {INSTALL}")
