"""All scenarios."""

from crashes import (  # noqa: F401
    archiving,
    contradicting,
    derived,
    erasing,
    evidence,
    failing,
    reading,
    remembering,
    running,
)
from crashes.scenario import SCENARIOS

__all__ = ["SCENARIOS"]
