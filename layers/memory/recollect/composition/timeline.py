"""The timeline: ingest, lists of events, users and spaces."""

from dataclasses import dataclass
from functools import cached_property

from recollect.composition.deployment import UseCases
from recollect.timeline.ingest import IngestEvents, WriteLimits
from recollect.timeline.listing import KnownSpaces, KnownUsers, ListEvents


@dataclass(eq=False)
class TimelineUseCases(UseCases):
    """`app.timeline`."""

    @cached_property
    def events(self) -> IngestEvents:
        """`POST /v1/events`."""
        return IngestEvents(self._parts.timeline, self._parts.items, self._deployment.announce)

    @cached_property
    def listing(self) -> ListEvents:
        """`GET /v1/users/{user_id}/events` and its neighbours."""
        return ListEvents(self._parts.timeline)

    @cached_property
    def write_limits(self) -> WriteLimits:
        """Throttles ingest and saved memories."""
        return WriteLimits()

    @cached_property
    def known_users(self) -> KnownUsers:
        """The users of a tenant."""
        return KnownUsers(self._parts.items)

    @cached_property
    def known_spaces(self) -> KnownSpaces:
        """The spaces of a user."""
        return KnownSpaces(self._parts.items)
