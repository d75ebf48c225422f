"""Sessions of the OpenAI Agents SDK over the logs of Recollect (extra `openai-agents`; docs/integrations).

A session's items are the entries of one conversation's log: any JSON, exactly, in order; nothing is derived from them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from itertools import islice
from typing import TYPE_CHECKING, Any, Self, TypeVar

from agents.memory.session_settings import SessionSettings, coerce_session_settings, resolve_session_limit

from recollect.client.recollect import Recollect

if TYPE_CHECKING:
    from pathlib import Path

    from agents.items import TResponseInputItem

    from recollect.client.in_process import EmbedderName

_T = TypeVar("_T")
_ROLES = frozenset({"user", "assistant", "tool", "system"})
_MOST_AT_ONCE = 1_000


class RecollectSession:
    """A session of `Runner.run(..., session=…)`; several with one id are the same session.

    `user_id` is the user whose data it is, so that erasing and exporting them reaches it; without one the session is a
    user of its own. `memory` is a client to share; without it one is made for `url` and `api_key`. Works in any event
    loop: what waits does so in threads. Its methods raise what `recollect.client.errors` has.
    """

    session_settings: SessionSettings | None

    def __init__(
        self,
        session_id: str,
        url: str = "http://127.0.0.1:8700",
        *,
        api_key: str | None = None,
        user_id: str | None = None,
        session_settings: SessionSettings | dict[str, Any] | None = None,
        memory: Recollect | None = None,
    ) -> None:
        self.session_id = session_id
        self.session_settings = coerce_session_settings(session_settings or {})
        self._memory = memory or Recollect(url, api_key=api_key)
        self._own = memory is None
        self._closed = False
        self._place = (user_id or session_id, session_id)

    @classmethod
    def local(
        cls,
        session_id: str,
        path: str | Path | None = None,
        *,
        embedder: EmbedderName | None = "none",
        **options: Any,
    ) -> Self:
        """A session in a folder, in this process, without a server; the other options are those of the class.

        Without `path` it is RECOLLECT_HOME. A log needs no embedder.
        """
        session = cls(session_id, memory=Recollect.local(path, embedder=embedder), **options)
        session._own = True
        return session

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """The newest `limit` items, all of them for None, in the order in which they were added."""
        most = resolve_session_limit(limit, self.session_settings)
        return await self._finished(lambda: self._newest(most))

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
        if self._own:
            self._memory.close()

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

    def _newest(self, most: int | None) -> list[TResponseInputItem]:
        if most is None:
            return [one["payload"] for one in self._memory.log(*self._place, limit=_MOST_AT_ONCE)]
        if most <= 0:
            return []
        at_once = min(most, _MOST_AT_ONCE)
        newest = islice(self._memory.log(*self._place, newest_first=True, limit=at_once), most)
        return [one["payload"] for one in newest][::-1]


def _entry(item: Any) -> dict[str, Any]:
    role = item.get("role") if isinstance(item, dict) else None
    return {"payload": item, "role": role} if role in _ROLES else {"payload": item}
