"""The ports: every outside thing that the subjects use, on one page.

`recollect.contracts` has a suite for each port, for any adapter. Adapters raise only errors of `recollect.core.errors`:
Throttled and Unavailable where another try may help.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager
    from datetime import date, datetime, timedelta

    from recollect.context.model_call import ModelAnswer, ModelRequest
    from recollect.contradictions.pairs import EndedPiece, PairScores, StatementPair
    from recollect.core.event import Event, EventRef
    from recollect.core.idempotency import ClaimOutcome, IdempotencyClaim
    from recollect.core.items import DuePage, Item, ItemKey, ItemPage, ItemPath, ItemWrite
    from recollect.core.learned_share import LearnedShares
    from recollect.core.limited import Limited
    from recollect.core.scope import Scope
    from recollect.core.vectors import Encoding, TextKind
    from recollect.deletion.storage import ErasedPage, Exempt
    from recollect.items.item import (
        FoundItem,
        ItemListing,
        ItemPlace,
        ItemPut,
        ItemSearch,
        ListedPage,
        Namespace,
        NamespacedItem,
        OwnedPage,
    )
    from recollect.retrieval.nomination import IndexCount, IndexDocument, IndexedPage, NominationRequest, Nominations
    from recollect.retrieval.pooling import SimilarityScale
    from recollect.timeline.bus import BusEvent
    from recollect.timeline.slots import SlotEntry
    from recollect.timeline.timeline import (
        AppendOutcome,
        ConversationPage,
        EventWrite,
        PendingPage,
        PlacedEvent,
        Projection,
        RecordPage,
        Removal,
        Tail,
        WindowPage,
        WindowQuery,
    )

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True, slots=True)
class PartState:
    """Whether an outside thing is ready, and a line about it."""

    ready: bool
    detail: str
    pending: int | None = None


class Timeline(Protocol):
    """The durable record of events. Reads are consistent unless said otherwise, and reach only the scope's user.

    Persona and household of the scope narrow `window`, `newest`, `of_conversation`, `important`, `records`; `read`,
    `find` and `tail` return all records of the user, and the caller drops what the scope does not admit. `window`,
    `newest` and `of_conversation` neither return nor count carriers of memories (`EventType.MEMORY`).
    """

    def append(self, scope: Scope, writes: Sequence[EventWrite]) -> list[AppendOutcome]:
        """Makes each event durable atomically with its dedupe record and its pending marker.

        The same event id under the same identity is CREATED again and changes nothing (a retry); the identity under
        another id is a DUPLICATE; an identity with a tombstone or a rejected value is REFUSED. One outcome per write,
        in order. Raises Unavailable with some of them stored; a retry completes it.

        A write's items are written atomically with its event, where this very call stores it: not for a DUPLICATE, a
        REFUSED or a retry of a stored event. Raises VersionMismatch where an item is not at its expected version:
        nothing of that write is stored, of the others some may be. Raises InvalidInput, with nothing stored, for an
        event or an item that is too large.
        """

    def read(self, scope: Scope, refs: Sequence[EventRef]) -> dict[str, Event]:
        """The existing events, by id, in one batch, also private, expired and superseded ones."""

    def find(self, scope: Scope, event_id: str) -> Event | None:
        """One event by its id, as soon as it is durable; None where the user has no such event."""

    def identified(self, scope: Scope, identities: Sequence[str]) -> dict[str, str | None]:
        """The known ones of these identities, each with its event's id, or None for a tombstone."""

    def window(self, scope: Scope, query: WindowQuery) -> WindowPage:
        """A page of the user's events, newest first, with private and without expired ones."""

    def newest(self, scope: Scope, limit: int) -> list[Event]:
        """The newest events by timestamp, newest first, also private and expired ones."""

    def of_conversation(self, scope: Scope, conversation_id: str, limit: int) -> list[EventRef]:
        """The newest of a conversation, newest first; may lack events of the tail."""

    def important(self, scope: Scope, limit: int) -> list[EventRef]:
        """Events of importance 0.6 and more, the most important first, equal ones newest first; may lack the tail."""

    def records(self, scope: Scope, limit: int, after: EventRef | None) -> RecordPage:
        """All records of the user, oldest (timestamp, id) first, at most `limit` a page, from `after` on.

        Also private, expired and superseded ones and carriers: for export, snapshots, retention and erasure.
        """

    def tail(self, scope: Scope) -> Tail:
        """The newest 100 pending events of the user, newest arrival first, and how many wait (`Tail.waiting`)."""

    def conversations(self, scope: Scope, limit: int, after: str | None) -> ConversationPage:
        """The user's projected conversations, the last begun first."""

    def slot_history(self, scope: Scope, slot: tuple[str, str, str]) -> list[SlotEntry]:
        """All values of a slot (persona, household, key) among projected events, also deleted ones."""

    def of_slot(self, scope: Scope, slot: tuple[str, str, str]) -> list[Event]:
        """The existing events of a slot, newest first, also pending, superseded, private and expired ones.

        Events with a bound are among them, though no history has them: they suspend the slot's value for a while
        (P-24).
        """

    def remove(self, scope: Scope, event: Event, removal: Removal) -> bool:
        """Deletes the event for good, atomically; False where it is deleted already.

        Its identity becomes a tombstone, its entry in the slot's history stays as a deleted one, and a marker asks for
        the removal of derived data. `removal.also` are marked as pending, `removal.items` are written. Raises
        VersionMismatch where the event changed since it was read, or an item is not at its expected version;
        InvalidInput for an item too large.
        """

    def bury(self, scope: Scope, identities: Sequence[str]) -> None:
        """From now on an append of these identities is REFUSED, as of deleted events. Idempotent.

        For events that this timeline does not have: the identity of an existing event stays as it is.
        """

    def reject(self, scope: Scope, fingerprint: str, items: Sequence[ItemWrite], now: datetime) -> None:
        """From now on an append of this fingerprint is REFUSED; the items (at most 24) are written atomically.

        Idempotent. Raises VersionMismatch where an item is not at its expected version.
        """

    def lift(self, scope: Scope, fingerprint: str, items: Sequence[ItemWrite], now: datetime) -> None:
        """Reverts `reject`, atomically with the items. Idempotent."""


class Projections(Protocol):
    """What `project` writes beside the events, and the markers of its remaining work."""

    @property
    def most_together(self) -> int:
        """How many events are projected inside one `together`: few where other writers wait for its end."""

    @property
    def others_wait(self) -> bool:
        """Whether other writers wait for the end of a `together`: what is slow is rehearsed before it."""

    def together(self) -> AbstractContextManager[None]:
        """Makes the writes inside durable at once, the index's and the bus's too, where one store holds all.

        In other stores each write is durable by itself. A call that raises inside reverts only itself. Callers write
        inside only what can be derived again, and do nothing slow. Entering and leaving raise as writes do.
        """

    def pending(self, limit: int, after: str | None) -> PendingPage:
        """Markers of every tenant, oldest arrival first, for reconciliation."""

    def save(self, scope: Scope, projections: Sequence[Projection], known: Mapping[str, Event] | None = None) -> None:
        """Stores the vectors by event id, replacing earlier ones. `known` are events that were just read, by id.

        One without a segment leaves a stored segment as it is.
        """

    def vectors(self, scope: Scope, event_ids: Sequence[str]) -> dict[str, Projection]:
        """The stored projections, by event id; of a deleted event perhaps, until it is forgotten."""

    def place(self, scope: Scope, event: Event, segment: int) -> None:
        """Stores the segment of an event, which may have no projection yet; a stored one stays.

        Nothing of an event that is deleted.
        """

    def places(self, scope: Scope, event_ids: Sequence[str], *, consistent: bool = True) -> dict[str, PlacedEvent]:
        """The events whose segment is stored, by id; deleted ones too, until they are forgotten.

        Without `consistent` it may be as it was a second ago, at half the price.
        """

    def fill_slot(self, scope: Scope, event: Event) -> None:
        """Adds a keyed event to its slot's history; idempotent, and never after its removal.

        An event with a bound (P-24) stays out of the history; `of_slot` returns it nevertheless.
        """

    def keep_place(self, scope: Scope, event: Event, *, emptied: bool) -> None:
        """Adds a keyed event that is not stored to its slot's history as a deleted one; an existing entry stays."""

    def store_bound(self, scope: Scope, event: Event) -> None:
        """Writes the event's `holds_until`; its version stays. Raises VersionMismatch where it changed since."""

    def supersede(self, scope: Scope, event: Event, by: EventRef | None) -> Event:
        """Writes which event supersedes this one (None: it is current); returns it with its new version.

        Raises VersionMismatch where the event changed since it was read.
        """

    def enter_conversation(self, scope: Scope, conversation_id: str, started_at: datetime) -> None:
        """Lists the conversation; the first entry stays."""

    def leave_conversation(self, scope: Scope, conversation_id: str) -> None:
        """Lists it no longer, until it is entered again; ignores an unknown one."""

    def mark(self, scope: Scope, refs: Sequence[EventRef]) -> None:
        """Marks them as pending, to be projected again; ignores deleted events."""

    def settle(self, scope: Scope, refs: Sequence[EventRef]) -> None:
        """Removes the pending markers of events that the index shows now; ignores unknown ones.

        The marker of a removal stays: it may have been set since the event was read.
        """

    def forget(self, scope: Scope, refs: Sequence[EventRef], *, keeps_segment: bool = False) -> None:
        """Removes the stored projections of deleted events, and then their markers; ignores unknown ones.

        `keeps_segment`: their removal will go on, and must find what is archived of them.
        """


@dataclass(frozen=True, slots=True)
class IndexFailure:
    """A document that the index refused; `retryable` where it was throttled."""

    event_id: str
    reason: str
    retryable: bool


class SearchIndex(Protocol):
    """Nominates candidates. Every arm filters by tenant, user, persona, household and privacy.

    An index holds the vectors of one embedder generation; indexes of several generations may exist concurrently.
    """

    @property
    def generation(self) -> str:
        """The generation of its vectors; `search_index.state.NO_GENERATION` without an embedder."""

    def holds_vectors(self, tenant: str) -> bool:
        """Whether the tenant's records are searchable by vectors of `generation` now."""

    def of(self, generation: str) -> SearchIndex:
        """The index of another generation, for words alone.

        It takes no vectors, and does not change a document that it has in the same version.
        """

    def put(self, documents: Sequence[IndexDocument], *, shown: bool = True) -> list[IndexFailure]:
        """Writes documents, and returns when searches show them; an older version never replaces a newer one.

        Without `shown` it returns earlier, which is faster for many; a user's last call then shows the earlier ones
        too.
        """

    def remove(self, scope: Scope, event_ids: Sequence[str], *, shown: bool = True) -> list[IndexFailure]:
        """Removes the user's documents, ignoring unknown ones. `shown` as in `put`."""

    def nominate(self, scope: Scope, request: NominationRequest) -> Nominations:
        """One wave of all arms, with the user's statistics. Raises Unavailable where the engine is away."""

    def count(self, owner: Scope, most: int | None = None) -> IndexCount:
        """Of the user, or of the whole tenant (`items.of_tenant`).

        With `most` it may stop, once it has counted so many documents.
        """

    def listed(self, scope: Scope, limit: int, after: str | None) -> IndexedPage:
        """The user's indexed records, by id, after that one."""

    def drop(self, tenant: str, limit: int, *, whole: bool = False) -> int:
        """Deletes at most `limit` documents that only this generation has of the tenant.

        Returns how many, 0 at the end.

        `whole`: deletes the empty index itself. Ignores an unknown generation.
        """

    def pack(self, remaining_seconds: Callable[[], float]) -> int:
        """Rewrites what writes left, so that searches read less, and what was removed is gone from every copy.

        Goes on while there is time; returns how many users it was done for, 0 where an engine does so by itself.
        """

    def identity(self) -> str:
        """Changes where the index was lost and made anew. Raises NotReady without one."""

    def owns(self, identity: str) -> bool:
        """Whether an index of this identity is one of this engine, or was: another engine's has another form."""

    def check(self) -> str:
        """One line about the engine, such as its version. Raises NotReady or Unavailable."""

    def create(self) -> bool:
        """Creates missing parts (index, mapping); False where nothing was missing."""


class Embedder(Protocol):
    """Text to unit vectors. `generation` names model and precision; an index holds vectors of one generation."""

    @property
    def generation(self) -> str:
        """Lower-case name of model and precision, such as `e5-small.int8.1`."""

    @property
    def dimension(self) -> int:
        """Length of a vector."""

    @property
    def similarity_scale(self) -> SimilarityScale:
        """The scale of a query's cosines to passages; `COSINE` where nobody has measured it."""

    @property
    def question_scale(self) -> SimilarityScale:
        """The same of a question's."""

    @property
    def learned(self) -> LearnedShares:
        """What its vectors tell of questions and messages."""

    def encode(self, texts: Sequence[str], kind: TextKind, *, with_tokens: bool = False) -> list[Encoding]:
        """One encoding per text, in order. Raises NotReady, Throttled, Unavailable, OutOfTime or UpstreamFailed."""


class Publisher(Protocol):
    """The event bus. Readers recognise a repeated publication by its id."""

    def publish(self, tenant: str, events: Sequence[BusEvent]) -> list[str]:
        """Publishes; returns the ids that the bus refused."""

    def published(self, tenant: str, event_type: str | None, after: str | None) -> list[BusEvent]:
        """The tenant's last 1,000 events, oldest first, after that id."""


class IdempotencyStore(Protocol):
    """One record per idempotency key."""

    def claim(self, claim: IdempotencyClaim) -> ClaimOutcome:
        """Claims the key, or returns the first request's outcome.

        Raises InFlight, or KeyReused for another body, with what the first request was answered.
        """

    def complete(self, claim: IdempotencyClaim, status: int, body: dict[str, object]) -> None:
        """Stores the answer (without text) until the record expires."""

    def release(self, claim: IdempotencyClaim) -> None:
        """Lets a retry run at once, with the same seed, after a failure that may pass."""


class RateLimiter(Protocol):
    """Until when each tenant's writes and turns are paid for (the generic cell rate algorithm), for all processes."""

    def admit(self, tenant: str, kind: Limited, cost: timedelta, tolerance: timedelta, now: datetime) -> timedelta:
        """Zero where the tenant's debt of this kind at `now` is at most `tolerance`: then `cost` is added to it.

        Else after how long it will be, and nothing is added. A debt shrinks with time, and is never below zero.
        """


class UsageCounts(Protocol):
    """How much each tenant asked for, by day (in UTC) and kind; no user is named."""

    def add(self, tenant: str, day: date, counts: Mapping[str, int]) -> None:
        """Adds to the day's counts. Whoever adds at the same time, all are counted."""

    def days(self, tenant: str) -> dict[date, dict[str, int]]:
        """The counts of every day that has some, the oldest first."""


class SnapshotStore(Protocol):
    """Objects by name. A name is text of `/`-separated parts of any script; none is empty, `.` or `..`.

    No name may continue another one (`a` and `a/b`). A tag changes with an object's content.
    Raises InvalidInput for a name that breaks these rules or is too long to be stored (some 600 bytes of UTF-8).
    """

    def put_if_absent(self, tenant: str, name: str, data: bytes) -> str:
        """Writes a new object; returns its tag once it is durable. Raises VersionMismatch where it exists."""

    def put_if_match(self, tenant: str, name: str, data: bytes, tag: str) -> str:
        """Replaces the object with this tag; returns the new one.

        Raises VersionMismatch for another tag or no object.
        """

    def get(self, tenant: str, name: str) -> tuple[bytes, str] | None:
        """The object and its tag; None where there is none."""

    def names(self, tenant: str, prefix: str = "") -> Iterator[str]:
        """The names with that prefix, fetched page by page; plain lower-case ASCII names come sorted."""

    def delete(self, tenant: str, name: str) -> None:
        """Deletes the object; idempotent."""

    def purge(self, tenant: str, name: str) -> None:
        """Deletes earlier versions of the object, and all versions of a deleted one, where the store has them."""


class Items(Protocol):
    """Exact, versioned JSON documents at a path. The owner is a user, or the tenant (`core.items.of_tenant`).

    Reads are consistent. Raises InvalidInput for an item over 350 KB of JSON.
    """

    def get(self, owner: Scope, keys: Sequence[ItemKey]) -> dict[ItemKey, Item]:
        """The existing items, in one batch."""

    def write(self, owner: Scope, writes: Sequence[ItemWrite], now: datetime) -> list[Item | None]:
        """Writes at most 25 items atomically; returns each as stored, None for a deleted one.

        Raises VersionMismatch where an item is not at its expected version; ignores the deletion of a missing item.
        """

    def page(
        self,
        owner: Scope,
        path: ItemPath,
        limit: int,
        after: str | None,
        *,
        descending: bool = False,
        consistent: bool = True,
    ) -> ItemPage:
        """The items whose labels begin with the path's, by labels, then by key.

        What is not read consistently costs half and may be a second old.
        """

    def beside(self, owner: Scope, key: ItemKey) -> str:
        """Where a page of its path goes on beside that key, in either order, whether or not there is such an item."""

    def due(self, queue: str, now: datetime, limit: int, after: str | None) -> DuePage:
        """Due items of every tenant; the last written ones may be missing for some seconds."""


class NamespacedItems(Protocol):
    """Documents that an application keeps at a namespace and a key, with vectors of their texts, each by itself.

    The first argument is the tenant (`core.items.of_tenant`), but for `owned`. What has expired is never returned, even
    where the engine still has it. Reads are consistent; a search or a listing may miss what is written meanwhile.
    """

    def read(self, tenant: Scope, places: Sequence[ItemPlace], now: datetime) -> dict[ItemPlace, NamespacedItem]:
        """The existing items."""

    def write(self, tenant: Scope, puts: Sequence[ItemPut], now: datetime) -> list[NamespacedItem | None]:
        """Each put atomically by itself, at distinct places; each item as stored, None for a deleted one.

        Raises VersionMismatch (`ItemPut.after`) or Unavailable with some of them written; InvalidInput, with nothing
        written, for an item too large.
        """

    def refresh(self, tenant: Scope, items: Sequence[NamespacedItem]) -> None:
        """Sets the end of these items as they have it, unless they were written since."""

    def search(self, tenant: Scope, wanted: ItemSearch, now: datetime) -> list[FoundItem]:
        """The page of results, in the order of `ItemSearch`. Raises InvalidInput where too much is below the prefix."""

    def namespaces(self, tenant: Scope, prefix: Namespace, owner: str | None, now: datetime) -> list[Namespace]:
        """The namespaces at or below the prefix that have items (of that owner), each once, in any order."""

    def page(self, tenant: Scope, wanted: ItemListing, now: datetime) -> ListedPage:
        """Items of one namespace by their keys; a page may be short before the end.

        Keys of letters, digits, `-`, `.` and `_` are in the order of their bytes, others in a fixed one.
        """

    def owned(self, owner: Scope, limit: int, after: str | None) -> OwnedPage:
        """The user's items, expired ones too, in a fixed order from `after` on."""


class Eraser(Protocol):
    """Deletes all that the store has of a user, page by page; the index's documents and objects are not in it."""

    def erase(self, scope: Scope, exempt: Exempt, limit: int, after: str | None) -> ErasedPage:
        """Deletes some of it, from `after` on; idempotent. Identities leave hashes, as tombstones.

        It does not touch what `exempt` names. Concurrent writes may stay: a second walk finds them.
        """

    def left(self, scope: Scope, exempt: Exempt) -> int:
        """How many things `erase` would still delete; reads them all."""


class PairModel(Protocol):
    """What a newer statement does to an older one. Equal pairs have equal scores, alone or with others."""

    version: str

    def may_change(self, texts: Sequence[str]) -> list[bool]:
        """Whether each may change anything that was said before: a fast first look. Raises NotReady."""

    def may_pass(self, texts: Sequence[str]) -> list[bool]:
        """Whether what each says may hold for a while only ("on the sofa until Friday"). Raises NotReady."""

    def worth_keeping(self, texts: Sequence[str]) -> list[float]:
        """Of each the probability that it states something worth knowing in two months. Raises NotReady."""

    def tells_done(self, texts: Sequence[str]) -> list[float]:
        """Of each that names a day the probability that the day is past and what is told is done. Raises NotReady.

        0.0 where the model has not learnt to tell.
        """

    def relate(self, pairs: Sequence[StatementPair]) -> list[PairScores]:
        """The scores of each pair, in order. Raises NotReady."""

    def beside(self, changed: Sequence[float]) -> list[float]:
        """What probabilities of one newer statement and several older ones, the nearest first, are beside each other.

        Of one alone they stay, and so does 0.
        """

    def ended_pieces(self, pairs: Sequence[StatementPair]) -> list[tuple[EndedPiece, ...]]:
        """Of each pair which pieces of the older no longer hold, as far as the model reads it, in order of place.

        Asked of what changes something: of other pairs it says nothing. Raises NotReady.
        """


class RelevanceModel(Protocol):
    """Reads a question and a text together. Equal ones have equal logits, alone or with others."""

    version: str

    def logits(self, question: str, texts: Sequence[str]) -> list[float]:
        """How much each text is needed to answer the question, in order: the greater the more.

        Raises NotReady; where it is in another process also Throttled, Unavailable or UpstreamFailed.
        """


class Model(Protocol):
    """A language model, or a substitute for one."""

    @property
    def name(self) -> str:
        """Provider and model, such as `openai:llama3.2` or `extractive`."""

    def generate(self, request: ModelRequest) -> ModelAnswer:
        """Answers within `request.seconds`. Raises Throttled, Unavailable, OutOfTime or UpstreamFailed."""


class WebSearch(Protocol):
    """Current information from outside: the text leaves the machine."""

    def search(self, query: str, seconds: float) -> tuple[str, ...]:
        """Texts, the best first; may be empty. Raises Unavailable, OutOfTime or UpstreamFailed."""


class Pending(Protocol[T_co]):
    """The result of a call that may still be running."""

    def result(self) -> T_co:
        """Waits for it; raises what the call raised."""


class Concurrency(Protocol):
    """How calls of one wave run: concurrently against a network, one after another in process.

    Where they run `side_by_side`, reads in advance of a first wave cost no extra time.
    """

    @property
    def side_by_side(self) -> bool: ...

    def submit(self, call: Callable[[], T]) -> Pending[T]:
        """Starts a call."""

    def beside(self, call: Callable[[], T]) -> Pending[T]:
        """Starts an encoding, which leaves the interpreter to others while it computes.

        Where reads are made in process it runs beside those that the caller submits before it awaits the result. Where
        they run side by side it is over when this returns, so that they are one wave with what needs its result.
        """
