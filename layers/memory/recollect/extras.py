"""Packages that `pip install recollect` leaves out, since a client and most commands do without them."""

from importlib.util import find_spec

from recollect.core.errors import NotReady

INSTALL = "pip install 'recollect[local]'"
"""The command that installs all that a laptop can use."""


def require_package(package: str, purpose: str) -> None:
    """Raises NotReady, in words that name the command to run, unless the package is installed; imports nothing."""
    if find_spec(package) is None:
        raise missing_package(package, purpose)


def missing_package(package: str | None, purpose: str) -> NotReady:
    """The error that says what needs the package, and which command installs it."""
    return NotReady(f"{purpose} needs the package {package}: {INSTALL}")
