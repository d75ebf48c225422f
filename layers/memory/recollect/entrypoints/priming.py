"""What each function opens while it starts: then nobody waits yet, and a small function has a whole processor.

Adapters and use cases are imported and made on first use, which is right for a laptop and for tests. A function's first
request would pay for it all: the SDK, its clients, the first connection to each engine.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from operator import attrgetter
from types import MappingProxyType
from typing import TypeAlias

from recollect.app import App
from recollect.bootstrap import open_app
from recollect.core.errors import RecollectError
from recollect.core.items import ItemKey, ItemPath, of_tenant
from recollect.core.scope import Scope
from recollect.core.time import utc_now

Rehearsal: TypeAlias = Callable[[App], object]

NOBODY = Scope("", "nobody")
"""No tenant's name is empty, so that nobody is this one's user."""


def read_nothing(app: App) -> None:
    """Opens a connection to the table, by a read of what is not there."""
    app.parts.items.get(of_tenant(NOBODY.tenant), [ItemKey(ItemPath("nothing"), "nothing")])


def search_nothing(app: App) -> None:
    """A whole search of a user without records: the table, the engine, and all that stands between.

    By words where the model is in another function: that one may have to start too, and would be waited for.
    """
    from recollect.retrieval.filters import SearchFilters
    from recollect.retrieval.pipeline import RecallRequest
    from recollect.retrieval.ranking import Mode

    filters = SearchFilters(now=utc_now())
    mode = Mode.LEXICAL if app.settings.model_function else Mode.HYBRID
    request = RecallRequest(text="nothing", vector=None, mode=mode, filters=filters, wanted=1)
    app.begin_rules(NOBODY.tenant).result()
    app.retrieval.memory.search(NOBODY, request)


def project_nothing(app: App) -> None:
    """Opens what a projection needs, and the table."""
    app.projection.events.project([], utc_now())
    read_nothing(app)


_WRITING = ("parts.timeline", "parts.idempotency", "rules", "timeline.write_limits", "deletion.suppression")
OPENED: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "ingest": (*_WRITING, "timeline.events"),
        "retrieval": ("retrieval.memory", "timeline.listing", "rules", "parts.idempotency"),
        "memories": (*_WRITING, "memories.store", "memories.listing", "deletion.events", "parts.publisher"),
        "context": ("context.model_call", "rules"),
        "converse": (*_WRITING, "context.turn", "parts.model"),
        "knowledge": (*_WRITING, "knowledge", "items", "retrieval.memory", "memories.store"),
        "arbitration": (*_WRITING, "arbitration.arbiter", "arbitration.given", "parts.publisher"),
        "mcp": (*_WRITING, "context.model_call", "memories.store", "knowledge"),
        "summarize": ("summaries.conversations", "summaries.stored", "summaries.goals", "rules", "parts.idempotency"),
        "project": ("parts.publisher", "parts.projections"),
    }
)
"""Of each function that somebody waits for: attributes of the app, opened in this order."""

REHEARSED: Mapping[str, Rehearsal] = MappingProxyType(
    {
        **dict.fromkeys(OPENED, read_nothing),
        **dict.fromkeys(("retrieval", "context", "converse", "knowledge", "arbitration", "mcp"), search_nothing),
        "project": project_nothing,
    }
)
"""The cheap call that each of them ends with."""


def open_primed_app(function: str) -> App:
    """The app of the environment, as `primed`. Raises ConfigurationError."""
    return primed(open_app(), function)


def primed(app: App, function: str) -> App:
    """The app with everything open that this function is known to need.

    An engine that is away is no failure: the request that needs it will say so.
    """
    for name in OPENED[function]:
        with suppress(RecollectError):
            attrgetter(name)(app)
    with suppress(RecollectError):
        REHEARSED[function](app)
    return app
