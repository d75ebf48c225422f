"""Strands' memory store over the memories of Recollect, and its sessions over the items (extra `strands`).

| namespace                              | key        | item                                      |
|----------------------------------------|------------|-------------------------------------------|
| root, user, `sessions`                 | session id | the session                               |
| root, user, `agents`, session          | agent id   | an agent: its state, without its messages |
| root, user, `messages`, session, agent | number     | a message, with what it was redacted to   |
| root, user, `multi-agents`, session    | id         | the state of a swarm or a graph           |

The table is of `RecollectSessionManager`; `RecollectMemoryStore` keeps events and memories, as any client does.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from strands.memory.types import MemoryEntry, MemoryStore
from strands.session.repository_session_manager import RepositorySessionManager
from strands.session.session_repository import SessionRepository
from strands.types.exceptions import SessionException
from strands.types.session import Session, SessionAgent, SessionMessage

from recollect.integrations.connection import SERVER, Opened, OpenedSession
from recollect.integrations.item_batches import delete_below, items_below, label

if TYPE_CHECKING:
    from strands.memory import AddMessagesContext, ExtractionConfig, SearchOptions
    from strands.multiagent.base import MultiAgentBase
    from strands.types.content import Message

    from recollect.client.recollect import Recollect
    from recollect.client.transport import ApiKey

_MESSAGES_AT_ONCE = 100
_KINDS = _SESSIONS, _AGENTS, _MESSAGES, _MULTI_AGENTS = ("sessions", "agents", "messages", "multi-agents")


class RecollectMemoryStore(Opened, MemoryStore):
    """A store for Strands' `MemoryManager`: what one user said in all conversations, searched and added to.

    With `extraction=True` Strands hands over what was said (every five turns; `flush` hands over the rest), and the
    server makes memories of it by its rules: no model is asked. Without `conversation_id` the store is a conversation
    of its own. `search_options` are those of `Recollect.search`, `persona_id` among them. Its methods raise what
    `recollect.client.errors` has.
    """

    def __init__(
        self,
        url: str = SERVER,
        *,
        user_id: str,
        api_key: ApiKey | None = None,
        name: str = "recollect",
        description: str | None = None,
        max_search_results: int | None = None,
        writable: bool = True,
        extraction: ExtractionConfig | bool | None = None,
        conversation_id: str | None = None,
        search_options: Mapping[str, Any] | None = None,
        memory: Recollect | None = None,
    ) -> None:
        self.name, self.description = name, description
        self.max_search_results, self.writable, self.extraction = max_search_results, writable, extraction
        self._user_id = user_id
        self._conversation_id = conversation_id or uuid.uuid4().hex
        self._search_options = dict(search_options or {})
        self._said_at: dict[int, datetime] = {}
        self._connect(url, api_key, memory)

    async def search(self, query: str, options: SearchOptions | None = None) -> list[MemoryEntry]:
        """Memories and what was said, best first; `score`, `timestamp` and the like are metadata."""
        most = (options or {}).get("max_search_results") or self.max_search_results
        asked = self._search_options | ({"top_k": most} if most else {})
        found = await asyncio.to_thread(lambda: self._memory.search(query, user_id=self._user_id, **asked))
        return [_memory_entry(dict(hit)) for hit in found["results"]]

    async def add(self, content: str, metadata: dict[str, Any] | None = None) -> str:
        """Saves a memory at once, or finds the equal one that is there; answers its id."""
        saved = await asyncio.to_thread(
            lambda: self._memory.save_memory(self._user_id, content, metadata=metadata or {})
        )
        return saved["id"]

    async def add_messages(self, messages: list[Message], context: AddMessagesContext | None = None) -> None:
        """Stores what was said, a message once: a repeated sequence number is the same moment of the conversation.

        So a repetition after a failure adds nothing twice, and the same words said again are kept. Blocks without text
        are passed over.
        """
        numbers = context.sequence_numbers if context else None
        events = [
            {"role": message["role"], "content": text, "timestamp": said_at}
            for message, said_at in zip(messages, self._moments(len(messages), numbers), strict=True)
            if (text := _text(message))
        ]
        for start in range(0, len(events), _MESSAGES_AT_ONCE):
            await asyncio.to_thread(self._add, events[start : start + _MESSAGES_AT_ONCE])
        for number in numbers or ():
            self._said_at.pop(number, None)

    def _add(self, events: Sequence[Mapping[str, Any]]) -> None:
        self._memory.add(events, user_id=self._user_id, conversation_id=self._conversation_id)

    def _moments(self, count: int, numbers: Sequence[int] | None) -> list[datetime]:
        """When each message was said: at a number's first try, each a millisecond after the one before it."""
        now = datetime.now(UTC)
        moments = [now + timedelta(milliseconds=place) for place in range(count)]
        if numbers is None:
            return moments
        return [self._said_at.setdefault(number, moment) for number, moment in zip(numbers, moments, strict=True)]


class RecollectSessionManager(OpenedSession, RepositorySessionManager, SessionRepository):
    """Keeps the agents of a session with their state and messages, so that they go on in another process.

    `user_id` is the user whose data it is, so that erasing and exporting them reaches it; `root` is the first label of
    the items, `ttl_minutes` their lifetime, which a read begins anew. Its methods raise SessionException where Strands'
    own raise it, else what `recollect.client.errors` has: Unprocessable for a message of more than 256 KiB.
    """

    def __init__(
        self,
        session_id: str,
        url: str = SERVER,
        *,
        api_key: ApiKey | None = None,
        user_id: str | None = None,
        root: str = "strands",
        ttl_minutes: float | None = None,
        memory: Recollect | None = None,
    ) -> None:
        self._connect(url, api_key, memory)
        self._root = (root, label(user_id or ""))
        self._options: dict[str, Any] = {"index": False}
        self._options |= {} if user_id is None else {"user_id": user_id}
        self._options |= {} if ttl_minutes is None else {"ttl_minutes": ttl_minutes}
        super().__init__(session_id=session_id, session_repository=self)

    def create_session(self, session: Session, **_: Any) -> Session:
        """Raises SessionException where there is one."""
        if self.read_session(session.session_id) is not None:
            raise SessionException(f"Session {session.session_id} already exists")
        self._put(_SESSIONS, (), session.session_id, session.to_dict())
        return session

    def read_session(self, session_id: str, **_: Any) -> Session | None:
        """None where there is none."""
        found = self._got(_SESSIONS, (), session_id)
        return Session.from_dict(found) if found else None

    def delete_session(self, session_id: str, **_: Any) -> None:
        """Deletes a session with all that it has. Raises SessionException where there is none."""
        if self.read_session(session_id) is None:
            raise SessionException(f"Session {session_id} does not exist")
        for kind in (_MESSAGES, _MULTI_AGENTS, _AGENTS):
            delete_below(self._memory, self._labels(kind, session_id))
        self._memory.delete_item(self._labels(_SESSIONS), session_id)

    def create_agent(self, session_id: str, session_agent: SessionAgent, **_: Any) -> None:
        """Keeps an agent."""
        self._put(_AGENTS, (session_id,), session_agent.agent_id, session_agent.to_dict())

    def read_agent(self, session_id: str, agent_id: str, **_: Any) -> SessionAgent | None:
        """None where there is none."""
        found = self._got(_AGENTS, (session_id,), agent_id)
        return SessionAgent.from_dict(found) if found else None

    def update_agent(self, session_id: str, session_agent: SessionAgent, **_: Any) -> None:
        """Keeps what has changed of an agent. Raises SessionException where there is none."""
        before = self.read_agent(session_id, session_agent.agent_id)
        if before is None:
            raise SessionException(f"Agent {session_agent.agent_id} in session {session_id} does not exist")
        session_agent.created_at = before.created_at
        self.create_agent(session_id, session_agent)

    def create_message(self, session_id: str, agent_id: str, session_message: SessionMessage, **_: Any) -> None:
        """Keeps a message at its number."""
        self._put(_MESSAGES, (session_id, agent_id), str(session_message.message_id), session_message.to_dict())

    def read_message(self, session_id: str, agent_id: str, message_id: int, **_: Any) -> SessionMessage | None:
        """None where there is none."""
        found = self._got(_MESSAGES, (session_id, agent_id), str(message_id))
        return SessionMessage.from_dict(found) if found else None

    def update_message(self, session_id: str, agent_id: str, session_message: SessionMessage, **_: Any) -> None:
        """Keeps a message in the place of what was there. Raises SessionException where nothing was."""
        before = self.read_message(session_id, agent_id, session_message.message_id)
        if before is None:
            raise SessionException(f"Message {session_message.message_id} does not exist")
        session_message.created_at = before.created_at
        self.create_message(session_id, agent_id, session_message)

    def list_messages(
        self, session_id: str, agent_id: str, limit: int | None = None, offset: int = 0, **_: Any
    ) -> list[SessionMessage]:
        """At most `limit` messages in order, without the first `offset`."""
        items = items_below(self._memory, self._labels(_MESSAGES, session_id, agent_id))
        found = sorted((SessionMessage.from_dict(item["value"]) for item in items), key=lambda one: one.message_id)
        return found[offset : None if limit is None else offset + limit]

    def create_multi_agent(self, session_id: str, multi_agent: MultiAgentBase, **_: Any) -> None:
        """Keeps the state of a swarm or a graph."""
        self._put(_MULTI_AGENTS, (session_id,), multi_agent.id, multi_agent.serialize_state())

    def read_multi_agent(self, session_id: str, multi_agent_id: str, **_: Any) -> dict[str, Any] | None:
        """None where there is none."""
        return self._got(_MULTI_AGENTS, (session_id,), multi_agent_id)

    def update_multi_agent(self, session_id: str, multi_agent: MultiAgentBase, **_: Any) -> None:
        """Keeps what has changed of it. Raises SessionException where there is none."""
        if self.read_multi_agent(session_id, multi_agent.id) is None:
            raise SessionException(f"MultiAgent state {multi_agent.id} in session {session_id} does not exist")
        self.create_multi_agent(session_id, multi_agent)

    def _labels(self, kind: str, *names: str) -> tuple[str, ...]:
        return (*self._root, kind, *(label(name) for name in names))

    def _put(self, kind: str, names: Sequence[str], key: str, value: Mapping[str, Any]) -> None:
        self._memory.put_item(self._labels(kind, *names), key, value, **self._options)

    def _got(self, kind: str, names: Sequence[str], key: str) -> dict[str, Any] | None:
        item = self._memory.item(self._labels(kind, *names), key)
        return item["value"] if item else None


def _memory_entry(hit: dict[str, Any]) -> MemoryEntry:
    shown = {name: hit[name] for name in ("id", "kind", "score", "timestamp") if name in hit}
    return MemoryEntry(content=hit["content"], metadata={**(hit.get("metadata") or {}), **shown})


def _text(message: Message) -> str:
    return "\n\n".join(block["text"] for block in message["content"] if block.get("text", "").strip())
