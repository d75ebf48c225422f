"""LangChain's chat history over the logs of Recollect, and a retriever over its memories (extra `langchain`).

A history's messages are the entries of one conversation's log: exactly, in order; nothing is derived from them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from langchain_core.chat_history import BaseChatMessageHistory
from langchain_core.documents import Document
from langchain_core.messages import BaseMessage, message_to_dict, messages_from_dict
from langchain_core.retrievers import BaseRetriever
from pydantic import Field

from recollect.integrations.connection import SERVER, Opened, OpenedSession
from recollect.integrations.session_log import SessionItem, SessionLog

if TYPE_CHECKING:
    from langchain_core.callbacks import CallbackManagerForRetrieverRun

    from recollect.client.recollect import Recollect
    from recollect.client.transport import ApiKey

_ROLES = {"human": "user", "ai": "assistant", "tool": "tool", "function": "tool", "system": "system"}
_OF_A_RUN = frozenset({"id", "response_metadata", "usage_metadata"})
"""What differs where the same is said by another run."""


class RecollectChatHistory(OpenedSession, BaseChatMessageHistory):
    """The messages of one session; several histories with one id are the same session.

    `user_id` is the user whose data it is, so that erasing and exporting them reaches it; without one the session is a
    user of its own. `limit` gives the newest messages alone. What is awaited runs in threads. Its methods raise what
    `recollect.client.errors` has.
    """

    def __init__(
        self,
        session_id: str,
        url: str = SERVER,
        *,
        api_key: ApiKey | None = None,
        user_id: str | None = None,
        limit: int | None = None,
        memory: Recollect | None = None,
    ) -> None:
        self.session_id = session_id
        self._limit = limit
        self._connect(url, api_key, memory)
        self._log = SessionLog("LangChain", self._memory, user_id or session_id, session_id)

    @property
    def messages(self) -> list[BaseMessage]:  # type: ignore[override]
        """The messages in the order in which they were added, or the newest `limit` of them."""
        return messages_from_dict(self._log.newest(self._limit))

    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        """Adds all of them or none.

        A user's message with an `id` that is there already is passed over, and so is what follows it in equal words.
        Raises Unprocessable for more than 1,000 messages or 2 MB at once.
        """
        self._log.append(_items(messages))

    def clear(self) -> None:
        """Removes all messages."""
        self._log.clear()


class RecollectRetriever(Opened, BaseRetriever):
    """The user's memories and what they said, as documents, best first.

    `options` are those of `Recollect.search`, such as `top_k`, `mode`, `time_window`, `persona_id`. Raises what
    `recollect.client.errors` has.
    """

    user_id: str
    options: dict[str, Any] = Field(default_factory=dict)

    def __init__(
        self, url: str = SERVER, *, api_key: ApiKey | None = None, memory: Recollect | None = None, **fields: Any
    ) -> None:
        super().__init__(**fields)
        self._connect(url, api_key, memory)

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,  # noqa: ARG002 # LangChain's
    ) -> list[Document]:
        found = self._memory.search(query, user_id=self.user_id, **self.options)
        return [_document(dict(hit)) for hit in found["results"]]


def _items(messages: Sequence[BaseMessage]) -> list[SessionItem]:
    """A message is known by the user's, itself or the last before it, where a program has given that one an `id`.

    The ids of answers are of a run, and a cache of models gives the same answer with its id to many questions.
    """
    known: str | None = None
    items = []
    for message in messages:
        payload = message_to_dict(message)
        if message.type == "human":
            known = f"{message.id} {message.content}" if message.id else None
        words = [message.type, {name: value for name, value in payload["data"].items() if name not in _OF_A_RUN}]
        items.append(SessionItem(payload, _ROLES.get(message.type, "other"), words, known))
    return items


def _document(hit: dict[str, Any]) -> Document:
    shown = {name: hit[name] for name in ("kind", "score", "timestamp", "role", "metadata") if name in hit}
    return Document(id=hit["id"], page_content=hit["content"], metadata=shown)
