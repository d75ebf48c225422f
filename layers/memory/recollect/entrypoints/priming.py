"""What each function opens while it starts: then nobody waits yet, and a small function has a whole processor.

Adapters and use cases are imported and made on first use, which is right for a laptop and for tests. A function's first
request would pay for it all: the SDK, its clients, the first connection to each engine.
"""

from collections.abc import Mapping
from contextlib import suppress
from operator import attrgetter
from types import MappingProxyType

from recollect.app import App
from recollect.bootstrap import open_app
from recollect.core.errors import RecollectError
from recollect.entrypoints.snap_start import renew_in_copies

_WRITING = ("parts.timeline", "parts.idempotency", "rules", "timeline.limits", "deletion.suppression")
OPENED: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "ingest": (*_WRITING, "timeline.events"),
        "retrieval": ("retrieval.memory", "timeline.listing", "rules", "parts.idempotency"),
        "memories": (*_WRITING, "memories.store", "memories.listing", "deletion.events", "parts.publisher"),
        "context": ("context.model_call", "rules"),
        "converse": (*_WRITING, "context.turn", "parts.model"),
        "knowledge": (*_WRITING, "knowledge", "items", "logs", "retrieval.memory", "memories.store"),
        "arbitration": (*_WRITING, "arbitration.arbiter", "arbitration.given", "parts.publisher"),
        "mcp": (*_WRITING, "context.model_call", "memories.store", "knowledge"),
        "agentcore": (*_WRITING, "timeline.events", "items", "retrieval.memory", "memories.listing", "deletion.events"),
        "mem0": (*_WRITING, "timeline.events", "retrieval.memory", "memories.store", "deletion.events"),
        "summarize": (
            "summaries.conversations",
            "summaries.stored",
            "summaries.goals",
            "contradictions.doubts",
            "rules",
            "parts.idempotency",
        ),
        "project": ("projection.events", "parts.publisher", "parts.projections"),
    }
)
"""Of each function that somebody waits for: attributes of the app, opened in this order."""


def open_primed_app(function: str) -> App:
    """The app of the environment, as `primed`. Raises ConfigurationError."""
    return primed(open_app(), function)


def primed(app: App, function: str) -> App:
    """The app with everything open that this function is known to need.

    An engine that is away is no failure: the request that needs it will say so. Where Lambda keeps this start, its
    copies will differ in what must differ (`snap_start`).
    """
    for name in OPENED[function]:
        with suppress(RecollectError):
            attrgetter(name)(app)
    renew_in_copies(app)
    return app
