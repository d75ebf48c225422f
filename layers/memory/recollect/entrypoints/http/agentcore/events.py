"""AgentCore's events: kept exactly, listed the newest first; what is said in them becomes our events too.

An event is kept under its time and an id that grows with arrival, so that those of one time have an order. A payload
that is too large for an item is kept in parts, which are stored before the event and found by it alone. Events end
after the days that the memory names; what was made of them stays.
"""

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice, pairwise
from typing import Any

from recollect.core.errors import InvalidInput, NotFound, VersionMismatch
from recollect.core.event import Role
from recollect.core.filter import EVERYTHING, AllOf, Condition, Filter, Operator, holds
from recollect.core.ids import IdSeed, id_milliseconds
from recollect.core.items import is_deeper
from recollect.core.time import iso, parse_instant
from recollect.entrypoints.http.agentcore.memories import AgentMemory
from recollect.entrypoints.http.agentcore.wire import (
    Kept,
    conversation_of,
    document,
    epoch,
    label,
    short_digest,
    user_of,
)
from recollect.entrypoints.http.headers import Attempt
from recollect.entrypoints.http.models import CONTENT_BYTES, PAGE_BYTES, json_text
from recollect.items.item import ABSENT, MOST_LEVELS_OF_VALUE, ItemPlace, Namespace, NamespacedItem
from recollect.timeline.record import EventDraft

MAIN = "main"
MOST_BYTES = 10_000_000
"""Of a payload, as AgentCore has it."""
_INLINE = 120_000
"""Characters of a payload's ASCII in one item: twice as many bytes where each is escaped."""
_AT_ONCE = 25
MOST_LOOKED_AT = 250
"""Events that one request reads to find those that it is about."""
_MOST_PARENTS = 100
_SKEW = timedelta(minutes=1)
_MILLISECOND = timedelta(milliseconds=1)
_SAID_BY = {"USER": Role.USER, "ASSISTANT": Role.BOT}


@dataclass(frozen=True, slots=True)
class Session:
    """Whose events, in which session of which memory."""

    memory: AgentMemory
    actor: str
    session: str

    @property
    def events(self) -> Namespace:
        """Where the events are."""
        return self.memory.at("events", label(self.actor), label(self.session))

    @property
    def branches(self) -> Namespace:
        """Where it is noted what the branches grew from."""
        return self.memory.at("branches", label(self.actor), label(self.session))

    def parts(self, key: str) -> Namespace:
        """Where the parts of an event's payload are: by its id alone, since another try may have another time."""
        return self.memory.at("parts", key.partition("-")[2])


@dataclass(frozen=True, slots=True, kw_only=True)
class EventFilter:
    """Which events a list shows: by metadata, and of a branch alone or with what it grew from."""

    metadata: Filter = EVERYTHING
    branch: str | None = None
    with_parents: bool = False


def create_event(kept: Kept, session: Session, given: Mapping[str, Any], attempt: Attempt) -> str:
    """Stores an event; its id. `given` is the request's body.

    A retry with the same seed stores it once, at the time of the try that has stored some of it.
    """
    if epoch(given["eventTimestamp"]) < 0:
        raise InvalidInput("must lie in 1970 or later", ("eventTimestamp",))
    seed = attempt.seed
    at = (_earlier_time(kept, session, given, seed) if attempt.again else None) or given["eventTimestamp"]
    given = {**given, "eventTimestamp": at}
    drafts = _drafts(given)
    kept.app.timeline.limits.take(kept.tenant, max(1, len(drafts)), kept.app.rules.resolved(kept.tenant))
    key = _key(at, seed)
    owner = kept.scope(session.actor).user_id
    grown = _grown(kept, session, given.get("branch") or {})
    _note(kept, session, owner, grown)
    text = json.dumps(given["payload"], separators=(",", ":"))
    if len(text) > MOST_BYTES:
        raise InvalidInput(f"at most {MOST_BYTES} bytes", ("payload",))
    value = {
        "id": _event_id(key),
        "actor": session.actor,
        "session": session.session,
        "at": iso(at),
        **{name: given[name] for name in ("branch", "metadata") if given.get(name) is not None},
        "said": _derived(kept, session, drafts, seed),
        **_payload(kept, session, key, text, owner),
    }
    ttl = timedelta(days=session.memory.expiry_days)
    kept.put(document(ItemPlace(session.events, key), value, owner=owner, ttl=ttl))
    return _event_id(key)


def _earlier_time(kept: Kept, session: Session, given: Mapping[str, Any], seed: IdSeed) -> datetime | None:
    """When the event is that an earlier try has stored, or of what it has derived from it; None for neither.

    Without anything said it is looked for as far back as the first try is: its client has dated it since.
    """
    with suppress(NotFound):
        return kept.app.timeline.listing.one(kept.scope(session.actor), _after(seed).nth(0), kept.now).timestamp
    latest: datetime = given["eventTimestamp"]
    tried = datetime.fromtimestamp(id_milliseconds(seed.nth(0)) / 1000, UTC)
    since = _key(latest - max(kept.now - tried, timedelta(0)) - _SKEW, seed)
    walk = kept.every(session.events, _key(latest + _MILLISECOND, seed), descending=True)
    for item in islice(walk, MOST_LOOKED_AT):
        if item.place.key < since:
            return None
        if item.place.key.partition("-")[2] == since.partition("-")[2]:
            return parse_instant(item.value["at"])
    return None


def _key(at: datetime, seed: IdSeed) -> str:
    return f"{round(epoch(at) * 1000):015d}-{seed.nth(0).replace('-', '')}"


def _event_id(key: str) -> str:
    return key.replace("-", "#")


def _grown(kept: Kept, session: Session, branch: Mapping[str, Any]) -> dict[ItemPlace, dict[str, Any]]:
    """What is noted of a branch that names its root. Raises NotFound for a root that is not there."""
    root = branch.get("rootEventId")
    if root is None:
        return {}
    item = _item(kept, session, root)
    return {ItemPlace(session.branches, label(branch["name"])): {"root": item.place.key, "parent": _branch(item)}}


def _note(kept: Kept, session: Session, owner: str, grown: Mapping[ItemPlace, dict[str, Any]]) -> None:
    """Lists actor and session, and from what a branch has grown; what is noted stays."""
    memory, actor = session.memory, session.actor
    places = {
        ItemPlace(memory.at("actors"), short_digest(actor)): {"actor": actor},
        ItemPlace(memory.at("sessions", label(actor)), label(session.session)): {"session": session.session},
        **grown,
    }
    for place, value in places.items():
        if kept.get(place.namespace, place.key, owner) is None:
            with suppress(VersionMismatch):  # another request was faster
                kept.put(document(place, value, owner=owner, expected=ABSENT))


def _payload(kept: Kept, session: Session, key: str, text: str, owner: str) -> dict[str, Any]:
    """The payload as it stands in the event; what is too large or too deep for an item is put beside it as text."""
    payload = json.loads(text)
    if len(text) <= _INLINE and not is_deeper(payload, MOST_LEVELS_OF_VALUE - 1):
        return {"payload": payload}
    ttl = timedelta(days=session.memory.expiry_days)
    cuts = [*range(0, len(text), _INLINE), len(text)]
    puts = [
        document(ItemPlace(session.parts(key), f"{place:04d}"), {"text": text[start:end]}, owner=owner, ttl=ttl)
        for place, (start, end) in enumerate(pairwise(cuts))
    ]
    for start in range(0, len(puts), _AT_ONCE):
        kept.put(*puts[start : start + _AT_ONCE])
    return {"parts": len(puts)}


def _drafts(given: Mapping[str, Any]) -> list[EventDraft]:
    """What user and assistant say, unless nothing is to be made of it."""
    if given.get("extractionMode") == "SKIP":
        return []
    said = [one for part in given["payload"] if (one := _said(part)) is not None]
    return [EventDraft(content=text, role=role, timestamp=given["eventTimestamp"]) for role, text in said]


def _derived(kept: Kept, session: Session, drafts: Sequence[EventDraft], seed: IdSeed) -> list[str]:
    """Stores what is said as events of ours, in the conversation of the session; their ids."""
    if not drafts:
        return []
    scope, rules = kept.scope(session.actor), kept.app.rules.resolved(kept.tenant)
    conversation = conversation_of(session.session)
    answer = kept.app.timeline.events.ingest(scope, conversation, drafts, _after(seed), kept.now, rules)
    kept.app.timeline.known_users.note(scope, kept.now)
    return [result.event.id for result in answer.results if result.event is not None]


def _after(seed: IdSeed) -> IdSeed:
    """The seed of the ids behind the first one, which is the event's."""
    return IdSeed(seed.tick + 1, seed.tail)


def _said(part: Mapping[str, Any]) -> tuple[Role, str] | None:
    """Who said what in a part of a payload; None where nobody did, or more than an event of ours holds."""
    conversational = part.get("conversational") or {}
    role = _SAID_BY.get(conversational.get("role", ""))
    text = _words(conversational.get("content", {}).get("text", ""))
    return (role, text) if role and text.strip() and len(text.encode()) <= CONTENT_BYTES else None


def _words(text: str) -> str:
    """The words; of a message of Strands', which its session manager stores as JSON, the texts in it."""
    if not text.startswith('{"message"'):
        return text
    try:
        content = json.loads(text)["message"]["content"]
        return "\n".join(one["text"] for one in content if isinstance(one.get("text"), str))
    except (ValueError, KeyError, TypeError, AttributeError):
        return text


def event_json(kept: Kept, session: Session, item: NamespacedItem, *, with_payload: bool = True) -> dict[str, Any]:
    """An event as it is shown."""
    value = item.value
    return {
        "memoryId": session.memory.id,
        "actorId": session.actor,
        "sessionId": session.session,
        "eventId": value["id"],
        "eventTimestamp": epoch(parse_instant(value["at"])),
        "payload": _whole_payload(kept, session, item) if with_payload else [],
        **{name: value[name] for name in ("branch", "metadata") if name in value},
    }


def _whole_payload(kept: Kept, session: Session, item: NamespacedItem) -> Sequence[Any]:
    if "payload" in item.value:
        inline: Sequence[Any] = item.value["payload"]
        return inline
    parts = [one for one in kept.every(session.parts(item.place.key)) if one.owner == item.owner]
    if len(parts) < item.value["parts"]:
        raise NotFound("the event is being deleted")
    whole: Sequence[Any] = json.loads("".join(one.value["text"] for one in parts))
    return whole


def _item(kept: Kept, session: Session, event_id: str) -> NamespacedItem:
    owner = kept.scope(session.actor).user_id
    return kept.found(session.events, event_id.replace("#", "-"), "event", owner)


def get_event(kept: Kept, session: Session, event_id: str) -> dict[str, Any]:
    """One event. Raises NotFound."""
    return event_json(kept, session, _item(kept, session, event_id))


def delete_event(kept: Kept, session: Session, event_id: str) -> None:
    """Deletes an event, its parts, and what was derived from it. Raises NotFound."""
    item = _item(kept, session, event_id)
    forget_derived(kept, item)
    kept.delete(item.place)
    for part in kept.every(session.parts(item.place.key)):
        kept.delete(part.place)


def forget_derived(kept: Kept, item: NamespacedItem) -> None:
    """Deletes our events that were made of an event, and what was made of them; of what another has put, nothing."""
    actor, said = item.value.get("actor"), item.value.get("said")
    if not isinstance(actor, str) or item.owner != user_of(actor) or not isinstance(said, list):
        return
    scope = kept.scope(actor)
    for event_id in (one for one in said if isinstance(one, str)):
        with suppress(NotFound, InvalidInput):
            kept.app.deletion.events.forget(scope, event_id=event_id, now=kept.now)


def list_events(
    kept: Kept, session: Session, wanted: EventFilter, limit: int, after: str | None, *, with_payloads: bool
) -> tuple[list[dict[str, Any]], str | None]:
    """The newest first: at most so many, fewer where they would not fit into an answer, or where too many others lie
    between; and where it goes on.
    """
    admitted, owner = _admitted(kept, session, wanted), kept.scope(session.actor).user_id
    shown: list[dict[str, Any]] = []
    size, last = 0, after
    for looked_at, item in enumerate(kept.every(session.events, after, descending=True)):
        if looked_at == MOST_LOOKED_AT:
            return shown, last
        if item.owner == owner and _is_admitted(item, admitted) and holds(wanted.metadata, item.value):
            one = event_json(kept, session, item, with_payload=with_payloads)
            size += len(json_text(one))
            if len(shown) == limit or (shown and size > PAGE_BYTES):
                return shown, last
            shown.append(one)
        last = item.place.key
    return shown, None


def _branch(item: NamespacedItem) -> str:
    return str(item.value["branch"]["name"]) if "branch" in item.value else MAIN


def _admitted(kept: Kept, session: Session, wanted: EventFilter) -> dict[str, str | None] | None:
    """The branches whose events are shown, each with the key of the last one; None for every branch."""
    if wanted.branch is None:
        return None
    name, owner = wanted.branch, kept.scope(session.actor).user_id
    admitted: dict[str, str | None] = {name: None}
    while wanted.with_parents and len(admitted) <= _MOST_PARENTS:
        grown = kept.get(session.branches, label(name), owner)
        if grown is None or grown.value["parent"] in admitted:
            return admitted
        name = str(grown.value["parent"])
        admitted[name] = str(grown.value["root"])
    return admitted


def _is_admitted(item: NamespacedItem, admitted: Mapping[str, str | None] | None) -> bool:
    if admitted is None:
        return True
    name = _branch(item)
    last = admitted.get(name)
    return name in admitted and (last is None or item.place.key <= last)


def metadata_filter(conditions: Sequence[Mapping[str, Any]]) -> Filter:
    """What a list of conditions on metadata asks. Raises InvalidInput."""
    return AllOf(tuple(_condition(one) for one in conditions))


def _condition(given: Mapping[str, Any]) -> Filter:
    try:
        path = ("metadata", str(given["left"]["metadataKey"]))
        if given["operator"] in ("EXISTS", "NOT_EXISTS"):
            return Condition(path, Operator.EXISTS, given["operator"] == "EXISTS")
        if given["operator"] == "EQUALS_TO":
            return Condition((*path, "stringValue"), Operator.EQ, given["right"]["metadataValue"]["stringValue"])
    except (KeyError, TypeError) as error:
        raise InvalidInput("is no condition", ("filter", "eventMetadata")) from error
    raise InvalidInput("an operator is one of EQUALS_TO, EXISTS, NOT_EXISTS", ("filter", "eventMetadata"))
