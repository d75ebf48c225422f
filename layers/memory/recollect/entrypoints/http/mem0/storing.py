"""What mem0's `add` stores: messages as events of a conversation with a memory of each, or as given."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from recollect.app import App
from recollect.core.errors import Conflict, InvalidInput
from recollect.core.event import Event, Role, Source
from recollect.core.scope import Scope
from recollect.entrypoints.http.headers import new_seed
from recollect.entrypoints.http.mem0.entities import Entities, own_metadata
from recollect.entrypoints.http.mem0.memories import added_json
from recollect.entrypoints.http.messages import user_in
from recollect.memories.memory import MemoryDraft
from recollect.text.sentences import only_asks
from recollect.timeline.record import EventDraft

_ASSISTANTS = ("assistant", "bot", "ai")
_UNSAID = ("system", "developer", "tool", "function")


@dataclass(frozen=True, slots=True)
class Said:
    """One message, in words."""

    role: Role
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Addition:
    """What is added, whose it is, and since and until when it holds."""

    said: Sequence[Said]
    entities: Entities
    metadata: Mapping[str, Any]
    timestamp: datetime | None
    expires_at: datetime | None

    @property
    def kept_metadata(self) -> dict[str, Any]:
        """The caller's metadata, and the entities beside the owner."""
        return {**own_metadata(self.metadata), **self.entities.kept}


def said_in(messages: Sequence[Mapping[str, Any]]) -> list[Said]:
    """The messages that somebody said; those of system and tools are left out. Raises InvalidInput."""
    found: list[Said] = []
    for position, message in enumerate(messages):
        role = str(message.get("role", "user")).strip().casefold()
        text = _text(message.get("content"), ("messages", position, "content"))
        if role not in _UNSAID and text.strip():
            found.append(Said(Role.BOT if role in _ASSISTANTS else Role.USER, text))
    return found


def _text(content: object, loc: Sequence[str | int]) -> str:
    """Of parts those that are text: images are not read."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        raise InvalidInput("must be text, or a list of parts", loc)
    texts = (part.get("text") for part in content if isinstance(part, Mapping))
    return "\n".join(text for text in texts if isinstance(text, str))


def added_as_given(app: App, tenant: str, addition: Addition, now: datetime) -> list[dict[str, Any]]:
    """Each message saved as one memory, word for word. Raises Conflict for a rejected value, and Throttled."""
    scope, rules = Scope(tenant, addition.entities.owner), app.rules.resolved(tenant)
    app.timeline.limits.take(tenant, len(addition.said), rules)
    shown = []
    for said in addition.said:
        draft = _memory_draft(said, addition)
        saved = app.memories.store.save(scope, draft, new_seed(app), now, user_in(scope), rules)
        shown.append(added_json(saved.memory, made=saved.created))
    return shown


def _memory_draft(said: Said, addition: Addition) -> MemoryDraft:
    return MemoryDraft(
        content=said.text,
        source=Source.INFERRED if said.role is Role.BOT else Source.USER,
        timestamp=addition.timestamp,
        expires_at=addition.expires_at,
        metadata=addition.kept_metadata,
    )


def added_by_rules(app: App, tenant: str, addition: Addition, now: datetime) -> list[dict[str, Any]]:
    """Stores every message in the conversation of `run_id`; what states something becomes a memory at once.

    That is what the user said, questions excepted; without a user also what the agent said. Raises Conflict where
    everything was rejected or deleted before, and Throttled.
    """
    scope, rules = Scope(tenant, addition.entities.owner), app.rules.resolved(tenant)
    app.timeline.limits.take(tenant, len(addition.said), rules)
    drafts = [_event_draft(said, addition) for said in addition.said]
    seed = new_seed(app, len(drafts) + 1)
    answer = app.timeline.events.ingest(scope, addition.entities.run_id, drafts, seed, now, rules)
    events = [result.event for result in answer.results if result.event is not None]
    if not events:
        raise Conflict("this was rejected or deleted before, and is not stored again")
    stating = [event for event in events if _states(event, addition.entities)]
    return [one for event in stating for one in _promoted(app, scope, event, now)]


def _event_draft(said: Said, addition: Addition) -> EventDraft:
    return EventDraft(
        content=said.text,
        role=said.role,
        timestamp=addition.timestamp,
        expires_at=addition.expires_at,
        metadata=addition.kept_metadata,
    )


def _states(event: Event, entities: Entities) -> bool:
    return (event.role is Role.USER or entities.user_id is None) and not only_asks(event.content)


def _promoted(app: App, scope: Scope, event: Event, now: datetime) -> list[dict[str, Any]]:
    stored = app.memories.promoted(scope, event, now)
    if stored is None:
        return []
    return [added_json(stored.memory, made=stored.memory.id == event.id)]
