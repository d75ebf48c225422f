"""Sessions of the OpenAI Agents SDK over the logs of Recollect (extra `openai-agents`; docs/integrations).

A session's items are the entries of one conversation's log: any JSON, exactly, in order; nothing is derived from them.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from agents.memory.session_settings import SessionSettings, coerce_session_settings, resolve_session_limit

from recollect.integrations.connection import SERVER, OpenedSession
from recollect.integrations.session_log import SessionItem, SessionLog

if TYPE_CHECKING:
    from agents.items import TResponseInputItem

    from recollect.client.recollect import Recollect
    from recollect.client.transport import ApiKey

_T = TypeVar("_T")
_ROLES = frozenset({"user", "assistant", "tool", "system"})
_LASTING = re.compile(r"(?=.*\d).{16,}")
"""An id that no other item has. Scripted and some local models call all that they say `1` or `call_0`."""


class RecollectSession(OpenedSession):
    """A session of `Runner.run(..., session=…)`; several with one id are the same session.

    `user_id` is the user whose data it is, so that erasing and exporting them reaches it; without one the session is a
    user of its own. `delivery_id` is the id of what a run answers, as a web hook's delivery: of a second run for it, in
    a session of its own, what the first one has added already is not added again. `memory` is a client to share;
    without it one is made for `url` and `api_key`. Works in any event loop: what waits does so in threads. Its methods
    raise what `recollect.client.errors` has.
    """

    session_settings: SessionSettings | None

    def __init__(
        self,
        session_id: str,
        url: str = SERVER,
        *,
        api_key: ApiKey | None = None,
        user_id: str | None = None,
        delivery_id: str | None = None,
        session_settings: SessionSettings | dict[str, Any] | None = None,
        memory: Recollect | None = None,
    ) -> None:
        self.session_id = session_id
        self.session_settings = coerce_session_settings(session_settings or {})
        self._connect(url, api_key, memory)
        self._closed = False
        self._log = SessionLog("OpenAI Agents", self._memory, user_id or session_id, session_id, delivery_id)

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """The newest `limit` items, all of them for None, in the order in which they were added."""
        most = resolve_session_limit(limit, self.session_settings)
        return await self._finished(lambda: self._log.newest(most))

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Adds all of them or none; one that is there, with its id and content, is passed over.

        Raises Unprocessable for more than 1,000 items or 2 MB at once.
        """
        self._check_open()
        if items:
            await self._finished(lambda: self._log.append([_item(item) for item in items]))

    async def pop_item(self) -> TResponseInputItem | None:
        """Removes the newest item and returns it; None where there is none."""
        return await self._finished(self._log.pop)

    async def clear_session(self) -> None:
        """Removes all items."""
        await self._finished(self._log.clear)

    def close(self) -> None:
        """Closes the client, unless it was given; whatever is asked afterwards raises RuntimeError."""
        self._closed = True
        super().close()

    async def _finished(self, work: Callable[[], _T]) -> _T:
        """What the work in a thread gives; who is cancelled meanwhile is so when it has ended, not before."""
        self._check_open()
        task = asyncio.ensure_future(asyncio.to_thread(work))
        cancelled: asyncio.CancelledError | None = None
        while not task.done():
            try:
                await asyncio.wait({task})
            except asyncio.CancelledError as error:
                cancelled = cancelled or error
        if cancelled is not None:
            raise cancelled
        return task.result()

    def _check_open(self) -> None:
        if self._closed:
            raise RuntimeError(f"{type(self).__name__} is closed")


def _item(item: Any) -> SessionItem:
    """A call and its output are known by `call_id`, as in the SDK, all else by `id`, which is none of its words."""
    if not isinstance(item, dict):
        return SessionItem(item, None, item)
    role, id_ = item.get("role"), item.get("call_id") or item.get("id")
    words = item if "call_id" in item else {name: value for name, value in item.items() if name != "id"}
    known = id_ if isinstance(id_, str) and _LASTING.fullmatch(id_) else None
    return SessionItem(item, role if role in _ROLES else None, words, known)
