"""Reads events beside the one that is worked on: a record that cannot be read must not stop what is about another."""

import logging
from collections.abc import Sequence

from recollect.domain.event import Event, EventRef
from recollect.domain.failed_projections import Fault, fault_of
from recollect.domain.scope import Scope
from recollect.ports import Timeline

_LOG = logging.getLogger(__name__)


def readable_events(timeline: Timeline, scope: Scope, refs: Sequence[EventRef]) -> dict[str, Event]:
    """As `Timeline.read`, without those that cannot be read; raises what it raises where an engine is away."""
    try:
        return timeline.read(scope, refs) if refs else {}
    except Exception as error:
        if fault_of(error) is not Fault.OWN:
            raise
        if len(refs) > 1:
            return {i: event for ref in refs for i, event in readable_events(timeline, scope, [ref]).items()}
        _LOG.warning("an event cannot be read", extra={"event_id": refs[0].id, "error": type(error).__name__})
        return {}
