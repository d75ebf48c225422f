"""All scenarios, and what is in none of them."""

from crashes import (  # noqa: F401
    archiving,
    contradicting,
    derived,
    erasing,
    evidence,
    failing,
    reading,
    rejecting,
    remembering,
    running,
    settling,
)
from crashes.scenario import SCENARIOS

__all__ = ["OMITTED", "SCENARIOS"]

OMITTED: dict[str, str] = {
    "find_contradicting.sparing": "makes another of the same",
    "job_kinds": "names: each kind has a scenario of its own",
    "write_limits.take": "counts in memory",
}
"""Use cases that do no I/O of their own, each with the reason."""
