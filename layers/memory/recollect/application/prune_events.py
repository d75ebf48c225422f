"""Prune: takes events away for their age or their expiry, archived before where a rule says so (A-57, A-62 to A-65)."""

import gzip
import json
import logging
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from hashlib import sha256

from recollect.application.bus_outbox import QUEUE, BusOutbox, outbox_write
from recollect.application.forget_events import ForgetEvents
from recollect.application.forget_memories import Order
from recollect.domain.audit import Actor, ActorKind
from recollect.domain.bus import EPISODIC_PRUNED, BusEvent, episodic_pruned, pruned_ids
from recollect.domain.errors import RecollectError, VersionMismatch
from recollect.domain.event import Event, EventRef
from recollect.domain.items import MOST_WRITES, Due
from recollect.domain.record import to_record
from recollect.domain.retention import archive_folder
from recollect.domain.scope import Scope
from recollect.domain.segments import user_hash
from recollect.ports import Items, SnapshotStore

RETAIN = Actor(ActorKind.JOB, "retain")
OUTCOME = "pruned"
_UNTIL_SOMEBODY_ELSE_PUBLISHES = timedelta(hours=1)
"""By then the job was tried again, and has published it with what went meanwhile."""
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class PruneOrder:
    """By which job, when, and why: `retention[n]` for a rule, or `expired`."""

    job_id: str
    now: datetime
    reason: str


class PruneEvents:
    """Everything may be done twice: what is gone is passed over, an archive has the name of its content.

    That they are pruned stands in the outbox before the first of them goes, so that it is published whatever happens,
    and once: what an earlier try has put there is not told again.
    """

    def __init__(
        self,
        items: Items,
        forget: ForgetEvents,
        outbox: BusOutbox,
        archives: Callable[[], SnapshotStore],
        announce: Callable[[Scope, Sequence[EventRef]], None],
    ) -> None:
        self._items = items
        self._forget = forget
        self._outbox = outbox
        self._archives = archives
        self._announce = announce

    def __call__(self, scope: Scope, events: Sequence[Event], order: PruneOrder) -> int:
        """Takes events of one user away, with the memories that nothing else speaks for; answers how many went.

        Each goes in one step with the tombstone of its identity and with its entry in the audit. Raises what the
        timeline and the items raise; then some may be gone, and the next call takes the rest.
        """
        if not events:
            return 0
        entries = self._told_before(scope, events, order)
        told = {event_id for entry in entries for event_id in pruned_ids(entry)}
        new = episodic_pruned(scope, [e for e in events if e.id not in told], order.reason, order.now)
        waiting = Due(QUEUE, order.now + _UNTIL_SOMEBODY_ELSE_PUBLISHES)
        writes = [replace(outbox_write(entry), due=waiting) for entry in new]
        for start in range(0, len(writes), MOST_WRITES):
            self._items.write(scope.user, writes[start : start + MOST_WRITES], order.now)
        asked = Order(now=order.now, actor=RETAIN, via=RETAIN.id, reason=order.reason, outcome=OUTCOME)
        gone = [event for event in events if self._forget.one(scope, event, asked)]
        with suppress(RecollectError):  # it stays in the outbox
            self._outbox.deliver(scope.user, [*entries, *new], order.now)
        self._announce(scope, [event.ref for event in gone])
        _log(scope, gone, order)
        return len(gone)

    def _told_before(self, scope: Scope, events: Sequence[Event], order: PruneOrder) -> list[BusEvent]:
        """What a try that ended half-way has left in the outbox of these events."""
        ids = {event.id for event in events}
        waiting = self._outbox.waiting(scope.user, EPISODIC_PRUNED, order.now)
        return [entry for entry in waiting if ids & pruned_ids(entry)]

    def archive(self, scope: Scope, events: Sequence[Event], order: PruneOrder) -> None:
        """Keeps them as gzipped NDJSON; durable on return. Raises what the store raises."""
        if not events:
            return
        data = gzip.compress("".join(_lines(events)).encode("utf-8", "surrogatepass"), mtime=0)
        name = f"{order.now:%Y-%m-%d}-{order.job_id}-{sha256(data).hexdigest()[:16]}.ndjson.gz"
        with suppress(VersionMismatch):  # the same content, by an earlier try
            self._archives().put_if_absent(scope.tenant, f"{archive_folder(scope.user_id)}/{name}", data)


def _lines(events: Iterable[Event]) -> Iterable[str]:
    return (json.dumps(to_record(event), ensure_ascii=False) + "\n" for event in events)


def _log(scope: Scope, events: Sequence[Event], order: PruneOrder) -> None:
    """The security log (A-65): whose, which, why; no content. Names of people and of personas as hashes."""
    whose = {"user": user_hash(scope.user_id), "reason": order.reason, "job_id": order.job_id}
    for persona_id, count in Counter(event.persona_id for event in events).items():
        ids = [event.id for event in events if event.persona_id == persona_id]
        persona = None if persona_id is None else user_hash(persona_id)
        _LOG.info("pruned", extra=whose | {"persona": persona, "events": count, "event_ids": ids})
