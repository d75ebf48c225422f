"""LlamaIndex's chat memory over the logs of Recollect, and a memory block over its memories (extra `llama-index`).

A memory's messages are the entries of one conversation's log: exactly, in order; nothing is derived from them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.bridge.pydantic import Field
from llama_index.core.memory.memory import BaseMemoryBlock
from llama_index.core.memory.types import BaseMemory

from recollect.integrations.connection import SERVER, Opened, OpenedSession, recalled
from recollect.integrations.session_log import SessionItem, SessionLog

if TYPE_CHECKING:
    from recollect.client.recollect import Recollect
    from recollect.client.transport import ApiKey

_ROLES = {"user": "user", "assistant": "assistant", "tool": "tool", "function": "tool", "system": "system"}
_SPEAKERS = frozenset({"user", "assistant"})
_MESSAGES_AT_ONCE = 100


class RecollectMemory(OpenedSession, BaseMemory):
    """The messages of one session, for agents and chat engines; several memories with one id are the same session.

    `user_id` is the user whose data it is, so that erasing and exporting them reaches it; without one the session is a
    user of its own. `limit` gives the newest messages alone. `delivery_id` is the id of what a run answers, as a web
    hook's delivery: of a second run for it, with a memory of its own, what the first one has put already is not put
    again. What is awaited runs in threads. Its methods raise what `recollect.client.errors` has.
    """

    session_id: str
    user_id: str | None = None
    limit: int | None = None
    delivery_id: str | None = None
    _log: SessionLog

    def __init__(
        self,
        session_id: str,
        url: str = SERVER,
        *,
        api_key: ApiKey | None = None,
        memory: Recollect | None = None,
        **fields: Any,
    ) -> None:
        super().__init__(session_id=session_id, **fields)
        self._connect(url, api_key, memory)
        self._log = SessionLog("LlamaIndex", self._memory, self.user_id or session_id, session_id, self.delivery_id)

    @classmethod
    def class_name(cls) -> str:
        """Its name where LlamaIndex writes it."""
        return "RecollectMemory"

    @classmethod
    def from_defaults(cls, **options: Any) -> RecollectMemory:
        """The same as the class."""
        return cls(**options)

    def get(self, input: str | None = None, **_: Any) -> list[ChatMessage]:  # noqa: ARG002 # LlamaIndex's name
        """The messages in the order in which they were put, or the newest `limit` of them."""
        return self._newest(self.limit)

    def get_all(self) -> list[ChatMessage]:
        """All messages."""
        return self._newest(None)

    def put(self, message: ChatMessage) -> None:
        """Adds a message."""
        self.put_messages([message])

    def put_messages(self, messages: Sequence[ChatMessage]) -> None:
        """Adds all of them or none. Raises Unprocessable for more than 1,000 messages or 2 MB at once."""
        self._log.append([_item(message) for message in messages])

    def set(self, messages: list[ChatMessage]) -> None:
        """Puts these messages in the place of what is there."""
        self.reset()
        self.put_messages(messages)

    def reset(self) -> None:
        """Removes all messages."""
        self._log.clear()

    def _newest(self, most: int | None) -> list[ChatMessage]:
        return [ChatMessage.model_validate(one) for one in self._log.newest(most)]


class RecollectMemoryBlock(Opened, BaseMemoryBlock[str]):
    """A block of LlamaIndex's `Memory`: recalls for the last message of the user, and remembers what leaves the window.

    What `Memory` hands over becomes memories by the server's rules: no model is asked. Recalled text stands in a fence
    whose name is told beside it: it is data. `options` are those of `Recollect.context`, such as `memory_tokens`. Its
    methods raise what `recollect.client.errors` has.
    """

    name: str = "recollect"
    user_id: str
    options: dict[str, Any] = Field(default_factory=dict)

    def __init__(
        self, url: str = SERVER, *, api_key: ApiKey | None = None, memory: Recollect | None = None, **fields: Any
    ) -> None:
        super().__init__(**fields)
        self._connect(url, api_key, memory)

    async def _aget(self, messages: list[ChatMessage] | None = None, **_: Any) -> str:
        asked = next((one.content for one in reversed(messages or []) if one.role == "user" and one.content), None)
        if asked is None:
            return ""
        return recalled(await asyncio.to_thread(self._context, asked))

    async def _aput(self, messages: list[ChatMessage]) -> None:
        said = [one for one in messages if one.role.value in _SPEAKERS and (one.content or "").strip()]
        for start in range(0, len(said), _MESSAGES_AT_ONCE):
            await asyncio.to_thread(self._add, said[start : start + _MESSAGES_AT_ONCE])

    def _context(self, asked: str) -> Any:
        own = {"conversation_id": "-"}  # one without turns: all that is recalled stands in the fence
        return self._memory.context(asked, user_id=self.user_id, **own | self.options)

    def _add(self, messages: Sequence[ChatMessage]) -> None:
        events = [{"role": one.role.value, "content": one.content} for one in messages]
        conversation_id = messages[0].additional_kwargs.get("session_id")
        self._memory.add(events, user_id=self.user_id, conversation_id=conversation_id)


def _item(message: ChatMessage) -> SessionItem:
    payload = message.model_dump(mode="json")
    return SessionItem(payload, _ROLES.get(message.role.value, "other"), payload)
