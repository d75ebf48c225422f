"""Candidates for tests of ranking and its signals."""

from typing import Any

import numpy

from recollect.core.event import EventRef
from recollect.retrieval.nomination import Candidate
from recollect.text.terms import TermStatistics
from samples.events import NOON

STATISTICS = TermStatistics(10, 100, {"dog": 2, "cat": 5})
EAST = numpy.array([1, 0], dtype=numpy.float32)
NORTH = numpy.array([0, 1], dtype=numpy.float32)


def candidate(name: str, **changes: Any) -> Candidate:
    """A candidate said at noon in a conversation of its own, with these fields changed."""
    fields: dict[str, Any] = {
        "ref": EventRef(name, NOON),
        "arms": {},
        "conversation_id": f"conversation of {name}",
        "counts": {},
        "length": 10,
        "vector": None,
        "role": "user",
        "speaker": None,
        "importance": 0.5,
    }
    return Candidate(**(fields | changes))
