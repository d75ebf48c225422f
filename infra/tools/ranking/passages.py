"""Messages as the package encodes them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import numpy

from infra.tools.ranking.curves import Floats
from recollect.bootstrap.providers import Embedding
from recollect.core.event import Role
from recollect.core.scope import Scope
from recollect.core.vectors import TextKind
from recollect.entrypoints.cli.console import settings_of_environment
from recollect.ports import Embedder
from recollect.rules.groups import Rules
from recollect.timeline.record import EventDraft, draft_event

_SOME_DAY = datetime(2026, 10, 1, 10, tzinfo=UTC)
_AT_ONCE = 64


def default_embedder() -> Embedder:
    """The one of the environment's settings. Ends the program where its model is not built."""
    embedder = Embedding(settings_of_environment()).embedder
    if embedder is None:
        raise SystemExit("the default embedder is not built: run `make demo` first")
    return embedder


def passage_of(text: str) -> str:
    """What is encoded of a user's message."""
    draft = EventDraft(content=text, role=Role.USER, timestamp=_SOME_DAY)
    return draft_event(Scope("fit", "user"), draft, "event", "talk", _SOME_DAY, Rules()).passage


def vectors_of(embedder: Embedder, passages: Sequence[str]) -> Floats:
    """(passages, width)."""
    pages = (passages[at : at + _AT_ONCE] for at in range(0, len(passages), _AT_ONCE))
    made = [one.vector for page in pages for one in embedder.encode(page, TextKind.PASSAGE)]
    return numpy.stack(made).astype(numpy.float64)
