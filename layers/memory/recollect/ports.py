"""Every outside thing, as the inside sees it: one page.

Each port has a contract suite in `recollect.contracts` that any adapter can be held to. Adapters raise only
errors of `recollect.core.errors`: Throttled and Unavailable where trying again may help.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager
    from datetime import datetime

    from recollect.context.model_call import ModelAnswer, ModelRequest
    from recollect.core.event import Event, EventRef
    from recollect.core.idempotency import ClaimOutcome, IdempotencyClaim
    from recollect.core.items import DuePage, Item, ItemKey, ItemPage, ItemPath, ItemWrite
    from recollect.core.scope import Scope
    from recollect.core.vectors import Encoding, TextKind
    from recollect.deletion.tombstones import ErasedPage, Exempt
    from recollect.retrieval.nomination import IndexCount, IndexDocument, IndexedPage, NominationRequest, Nominations
    from recollect.retrieval.pooling import SimilarityScale
    from recollect.timeline.bus import BusEvent
    from recollect.timeline.slots import SlotEntry
    from recollect.timeline.timeline import (
        AppendOutcome,
        ConversationPage,
        EventWrite,
        PendingPage,
        Projection,
        RecordPage,
        Removal,
        Tail,
        WindowPage,
        WindowQuery,
    )

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class Timeline(Protocol):
    """The durable record of events. Reads are consistent unless said otherwise and see the tenant's user alone.

    Persona and household of the scope narrow `window`, `newest`, `of_conversation`, `important`, `records`; `read`,
    `find` and `tail` give the user's records as they are, and the caller drops what the scope does not admit.
    Carriers of memories (`EventType.MEMORY`) are not in `window`, `newest`, `of_conversation`, nor counted there.
    """

    def append(self, scope: Scope, writes: Sequence[EventWrite]) -> list[AppendOutcome]:
        """Makes each event durable by itself, with its dedupe record and its pending marker: all three or none.

        The same event id under the same identity again is CREATED again and changes nothing (a retry); the
        identity under another id is a DUPLICATE; a tombstoned identity or a rejected value is REFUSED. One
        outcome per write, in order. Raises Unavailable with some of them stored; a retry completes it.

        A write's items stand or fall with its event: they are written where it is stored by this very call, not for
        a DUPLICATE, a REFUSED or a retry of what is stored already. Raises VersionMismatch where one is not at its
        expected version: then nothing of that write is stored, of the others some may be. Raises InvalidInput, with
        nothing stored at all, where an event or an item is too large.
        """

    def read(self, scope: Scope, refs: Sequence[EventRef]) -> dict[str, Event]:
        """The events that exist, by id, in one batch: private, expired and superseded ones too."""

    def find(self, scope: Scope, event_id: str) -> Event | None:
        """One event by its id, as soon as it is durable; None where the user has no such event."""

    def identified(self, scope: Scope, identities: Sequence[str]) -> dict[str, str | None]:
        """Of these identities those that the user's timeline knows: whose they are, None for a tombstone."""

    def window(self, scope: Scope, query: WindowQuery) -> WindowPage:
        """A page of the user's events, newest first; private ones are in it, expired ones are not."""

    def newest(self, scope: Scope, limit: int) -> list[Event]:
        """The newest events by timestamp, newest first, private and expired ones too."""

    def of_conversation(self, scope: Scope, conversation_id: str, limit: int) -> list[EventRef]:
        """The newest of a conversation, newest first; may lack what is still in the tail."""

    def important(self, scope: Scope, limit: int) -> list[EventRef]:
        """Events of importance 0.6 and more, the most important first, of equals the newer; may lack the tail."""

    def records(self, scope: Scope, limit: int, after: EventRef | None) -> RecordPage:
        """All that is stored of the user, oldest (timestamp, id) first, at most `limit` a page, from `after` on.

        Private, expired and superseded ones and carriers too: what export, snapshots, retention and erasure walk.
        """

    def tail(self, scope: Scope) -> Tail:
        """The newest 100 pending events of the user, newest arrival first, and how many wait (`Tail.waiting`)."""

    def conversations(self, scope: Scope, limit: int, after: str | None) -> ConversationPage:
        """The user's conversations that have been projected, the last begun first."""

    def slot_history(self, scope: Scope, slot: tuple[str, str, str]) -> list[SlotEntry]:
        """All values a slot (persona, household, key) has had, among projected events, and those removed since."""

    def of_slot(self, scope: Scope, slot: tuple[str, str, str]) -> list[Event]:
        """The events of a slot that are there, newest first: pending, superseded, private and expired ones too.

        Those with a bound are among them, which are in no history: they hold over the slot's value for a while (P-24).
        """

    def remove(self, scope: Scope, event: Event, removal: Removal) -> bool:
        """Takes the event away for good; False where it is gone already. All of what follows at once, or nothing.

        Its identity becomes a tombstone, its entry in the slot's history stays as a removed one, and a marker says
        that what was derived must go; `removal.also` are marked as pending, to be projected again; `removal.items` are
        written, unless it is gone already. Raises VersionMismatch where the event changed since it was read, or an
        item is not at its expected version; InvalidInput where an item is too large.
        """

    def bury(self, scope: Scope, identities: Sequence[str]) -> None:
        """From now on an append of one of these is REFUSED, as of an event that was removed; again is no harm.

        For events that this timeline does not have: an identity whose event is there stays as it is.
        """

    def reject(self, scope: Scope, fingerprint: str, items: Sequence[ItemWrite], now: datetime) -> None:
        """From now on an append of this fingerprint is REFUSED; the items (at most 24) are written in the same step.

        Rejecting it again is no error. Raises VersionMismatch where an item is not at its expected version.
        """

    def lift(self, scope: Scope, fingerprint: str, items: Sequence[ItemWrite], now: datetime) -> None:
        """Undoes `reject`, in one step with the items, as there; a fingerprint that is not rejected is no error."""


class Projections(Protocol):
    """What `project` writes beside the events, and the markers that say what it still has to do."""

    def together(self) -> AbstractContextManager[None]:
        """Around writes that may become durable at once: these, the index's and the bus's, where one store holds all.

        Elsewhere each write stands by itself. A call that raises inside takes back itself alone; only what can be
        derived again is written inside, and nothing slow is done there. Entering and leaving raise as writes do.
        """

    def pending(self, limit: int, after: str | None) -> PendingPage:
        """Markers of every tenant, oldest arrival first: what reconciliation works through."""

    def save(self, scope: Scope, projections: Sequence[Projection]) -> None:
        """Keeps the vectors by event id (an earlier one is replaced)."""

    def vectors(self, scope: Scope, event_ids: Sequence[str]) -> dict[str, Projection]:
        """The kept projections, by event id."""

    def fill_slot(self, scope: Scope, event: Event) -> None:
        """Enters a keyed event in its slot's history, unless it is there or was removed from it, or has a bound (P-24).

        Then it is in no history, and `of_slot` finds it all the same.
        """

    def keep_place(self, scope: Scope, event: Event, *, emptied: bool) -> None:
        """Enters a keyed event that is not stored in its slot's history as a removed one; what is there stays."""

    def store_bound(self, scope: Scope, event: Event) -> None:
        """Writes the event's `holds_until`; its version stays. Raises VersionMismatch where it changed since."""

    def supersede(self, scope: Scope, event: Event, by: EventRef | None) -> Event:
        """Writes which event supersedes this one (None: it is current); answers it with its new version.

        Conditional on the event's version: raises VersionMismatch where it changed since it was read.
        """

    def enter_conversation(self, scope: Scope, conversation_id: str, started_at: datetime) -> None:
        """Lists the conversation; the first entry stands."""

    def mark(self, scope: Scope, refs: Sequence[EventRef]) -> None:
        """Marks them as pending, to be projected again; those that are gone are no error."""

    def settle(self, scope: Scope, refs: Sequence[EventRef]) -> None:
        """Removes the pending markers: the index shows these events now. Unknown ones are no error.

        The marker of a removal stays: it may have been set since the event was read.
        """

    def forget(self, scope: Scope, refs: Sequence[EventRef]) -> None:
        """Removes what was kept of events that are gone, and then their markers; unknown ones are no error."""


@dataclass(frozen=True, slots=True)
class IndexFailure:
    """A document that the index did not take; `retryable` where it was throttled."""

    event_id: str
    reason: str
    retryable: bool


class SearchIndex(Protocol):
    """Nominates candidates. Tenant, user, persona, household and privacy are filtered inside every arm.

    An index holds the vectors of one embedder generation; indexes of several may stand side by side.
    """

    @property
    def generation(self) -> str:
        """Whose vectors these are; `index_state.NO_GENERATION` without an embedder."""

    def holds_vectors(self, tenant: str) -> bool:
        """Whether the tenant's records can be searched by vectors of `generation` now."""

    def of(self, generation: str) -> SearchIndex:
        """The index of another generation, by words alone.

        It takes no vectors, and leaves a document as it is where that is there in the same version.
        """

    def put(self, documents: Sequence[IndexDocument], *, shown: bool = True) -> list[IndexFailure]:
        """Writes documents and returns when searches show them; an older version never replaces a newer.

        Not `shown`: returns before, which is faster for many; the last call of a user shows those before it too.
        """

    def remove(self, scope: Scope, event_ids: Sequence[str], *, shown: bool = True) -> list[IndexFailure]:
        """Removes the user's documents; unknown ones are no error. `shown` as in `put`."""

    def nominate(self, scope: Scope, request: NominationRequest) -> Nominations:
        """One wave of all arms, with the user's statistics. Raises Unavailable where the engine is away."""

    def count(self, owner: Scope) -> IndexCount:
        """Of the user, or of the whole tenant (`items.of_tenant`)."""

    def listed(self, scope: Scope, limit: int, after: str | None) -> IndexedPage:
        """The records of the user that have a document here, by id, from after that one on."""

    def drop(self, tenant: str, limit: int, *, whole: bool = False) -> int:
        """Drops what only this generation has of the tenant: how many, `limit` at most; 0 when nothing is left.

        `whole`: the index itself goes, once it is empty. A generation that was never there is no error.
        """

    def identity(self) -> str:
        """Changes where the index was lost and made anew. Raises NotReady without one."""

    def check(self) -> str:
        """One line about the engine, such as its version. Raises NotReady or Unavailable."""

    def create(self) -> bool:
        """Creates what is missing (index, mapping); False where all was there."""


class Embedder(Protocol):
    """Text to unit vectors. `generation` names model and precision; vectors of two never meet in one index."""

    @property
    def generation(self) -> str:
        """Lower-case name of model and precision, such as `e5-small.int8.1`."""

    @property
    def dimension(self) -> int:
        """Length of a vector."""

    @property
    def similarity_scale(self) -> SimilarityScale:
        """What its cosines mean; `COSINE` where nobody has measured it."""

    def encode(self, texts: Sequence[str], kind: TextKind, *, with_tokens: bool = False) -> list[Encoding]:
        """One encoding per text, in order. Raises NotReady, Throttled, Unavailable, OutOfTime or UpstreamFailed."""


class Publisher(Protocol):
    """The event bus. Publishing the same event again is no harm: readers tell it by its id."""

    def publish(self, tenant: str, events: Sequence[BusEvent]) -> list[str]:
        """Publishes; answers the ids of those that the bus did not take."""

    def published(self, tenant: str, event_type: str | None, after: str | None) -> list[BusEvent]:
        """The tenant's last 1,000, oldest first, from after that id on."""


class IdempotencyStore(Protocol):
    """One record per idempotency key."""

    def claim(self, claim: IdempotencyClaim) -> ClaimOutcome:
        """Claims the key or says what it led to. Raises InFlight, or KeyReused where the body is another."""

    def complete(self, claim: IdempotencyClaim, status: int, body: dict[str, object]) -> None:
        """Keeps the answer (without text) until the record expires."""

    def release(self, claim: IdempotencyClaim) -> None:
        """Lets the next try go on at once, with the same seed: this one failed in a way that may pass."""


class SnapshotStore(Protocol):
    """Objects by name. A name is text of `/`-separated parts of any script; none is empty, `.` or `..`.

    No name may continue another one (`a` and `a/b`). A tag tells one content of an object from another.
    Raises InvalidInput for a name that breaks these rules or is too long to be kept (some 600 bytes of UTF-8).
    """

    def put_if_absent(self, tenant: str, name: str, data: bytes) -> str:
        """Writes a new object; answers its tag once it is durable. Raises VersionMismatch where it exists."""

    def put_if_match(self, tenant: str, name: str, data: bytes, tag: str) -> str:
        """Replaces the object that has this tag; answers the new one. Raises VersionMismatch for another or none."""

    def get(self, tenant: str, name: str) -> tuple[bytes, str] | None:
        """The object with its tag; None where there is none."""

    def names(self, tenant: str, prefix: str = "") -> Iterator[str]:
        """The names that begin with the prefix, fetched page by page; plain lower-case ASCII names come sorted."""

    def delete(self, tenant: str, name: str) -> None:
        """Removes the object; an unknown one is no error."""

    def purge(self, tenant: str, name: str) -> None:
        """Removes what the object held before, where a store keeps it: earlier versions, and all of a deleted one."""


class Items(Protocol):
    """JSON documents at a path, exact and versioned. The owner is a user, or the tenant (`domain.items.of_tenant`).

    Reads are consistent. An item over 350 KB of JSON is refused with InvalidInput.
    """

    def get(self, owner: Scope, keys: Sequence[ItemKey]) -> dict[ItemKey, Item]:
        """The items that exist, in one batch."""

    def write(self, owner: Scope, writes: Sequence[ItemWrite], now: datetime) -> list[Item | None]:
        """All or none, at most 25; each as it stands then, None where it was deleted.

        Raises VersionMismatch where one is not at its expected version; deleting what is not there is no error.
        """

    def page(
        self, owner: Scope, path: ItemPath, limit: int, after: str | None, *, descending: bool = False
    ) -> ItemPage:
        """The items whose labels begin with the path's, by labels, then by key."""

    def due(self, queue: str, now: datetime, limit: int, after: str | None) -> DuePage:
        """Items of every tenant whose time has come; what was written last may be missing for some seconds."""


class Eraser(Protocol):
    """All that the store has of a user, taken away page by page; the index's documents and objects lie elsewhere."""

    def erase(self, scope: Scope, exempt: Exempt, limit: int, after: str | None) -> ErasedPage:
        """Takes away some of it, from `after` on; again is no harm. Of identities hashes stay, as tombstones.

        Whatever `kept` leaves is untouched. What is written meanwhile may stay: a second walk finds it.
        """

    def left(self, scope: Scope, exempt: Exempt) -> int:
        """How many things are there that `erase` would take away: reads them all back."""


class Model(Protocol):
    """A language model, or what stands in for one."""

    @property
    def name(self) -> str:
        """Provider and model, such as `openai:llama3.2` or `extractive`."""

    def generate(self, request: ModelRequest) -> ModelAnswer:
        """Answers within `request.seconds`. Raises Throttled, Unavailable, OutOfTime or UpstreamFailed."""


class WebSearch(Protocol):
    """Current information from elsewhere: the text leaves the machine."""

    def search(self, query: str, seconds: float) -> tuple[str, ...]:
        """Texts, the best first; none is no error. Raises Unavailable, OutOfTime or UpstreamFailed."""


class Pending(Protocol[T_co]):
    """The result of a call that may still be under way."""

    def result(self) -> T_co:
        """Waits for it; raises what the call raised."""


class Concurrency(Protocol):
    """How calls of one wave are made: side by side against a network, one after another in process.

    `side_by_side` says which: where it holds, what a first wave reads in advance costs no time of its own.
    """

    @property
    def side_by_side(self) -> bool: ...

    def submit(self, call: Callable[[], T]) -> Pending[T]:
        """Begins a call."""
