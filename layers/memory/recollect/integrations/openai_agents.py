"""Sessions of the OpenAI Agents SDK over the logs of Recollect (extra `openai-agents`; docs/integrations).

A session's items are the entries of one conversation's log: any JSON, exactly, in order; nothing is derived from them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from agents.memory.session_settings import SessionSettings, coerce_session_settings, resolve_session_limit

from recollect.integrations.connection import SERVER, OpenedSession, newest_payloads

if TYPE_CHECKING:
    from agents.items import TResponseInputItem

    from recollect.client.recollect import Recollect
    from recollect.client.transport import ApiKey

_T = TypeVar("_T")
_ROLES = frozenset({"user", "assistant", "tool", "system"})


class RecollectSession(OpenedSession):
    """A session of `Runner.run(..., session=…)`; several with one id are the same session.

    `user_id` is the user whose data it is, so that erasing and exporting them reaches it; without one the session is a
    user of its own. `memory` is a client to share; without it one is made for `url` and `api_key`. Works in any event
    loop: what waits does so in threads. Its methods raise what `recollect.client.errors` has.
    """

    session_settings: SessionSettings | None

    def __init__(
        self,
        session_id: str,
        url: str = SERVER,
        *,
        api_key: ApiKey | None = None,
        user_id: str | None = None,
        session_settings: SessionSettings | dict[str, Any] | None = None,
        memory: Recollect | None = None,
    ) -> None:
        self.session_id = session_id
        self.session_settings = coerce_session_settings(session_settings or {})
        self._connect(url, api_key, memory)
        self._closed = False
        self._place = (user_id or session_id, session_id)

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """The newest `limit` items, all of them for None, in the order in which they were added."""
        most = resolve_session_limit(limit, self.session_settings)
        return await self._finished(lambda: newest_payloads(self._memory, *self._place, most))

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Adds all of them or none. Raises Unprocessable for more than 1,000 items or 2 MB at once."""
        self._check_open()
        entries = [_entry(item) for item in items]
        if entries:
            await self._finished(lambda: self._memory.append_log(*self._place, entries))

    async def pop_item(self) -> TResponseInputItem | None:
        """Removes the newest item and returns it; None where there is none."""
        popped = await self._finished(lambda: self._memory.pop_log(*self._place))
        return None if popped is None else popped["payload"]

    async def clear_session(self) -> None:
        """Removes all items."""
        await self._finished(lambda: self._memory.clear_log(*self._place))

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


def _entry(item: Any) -> dict[str, Any]:
    role = item.get("role") if isinstance(item, dict) else None
    return {"payload": item, "role": role} if role in _ROLES else {"payload": item}
