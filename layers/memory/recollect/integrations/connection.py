"""What the classes of this package have in common: a client, its own or shared, and how contexts are read."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self, cast

from recollect.client.recollect import Recollect

if TYPE_CHECKING:
    from pathlib import Path

    from recollect.client.in_process import EmbedderName
    from recollect.client.transport import ApiKey
    from recollect.client.types import ContextAnswer

SERVER = "http://127.0.0.1:8700"


class Connected:
    """A class over a client: one given, or its own for an address and a key, which `close` closes."""

    _memory: Recollect
    _own: bool

    def _connect(self, url: str, api_key: ApiKey | None, memory: Recollect | None) -> None:
        self._memory = memory or Recollect(url, api_key)
        self._own = memory is None

    @classmethod
    def _in_process(cls, path: str | Path | None, embedder: EmbedderName | None, **options: Any) -> Self:
        options["memory"] = Recollect.local(path, embedder=embedder)
        made = cast(Callable[..., Self], cls)(**options)
        made._own = True
        return made

    def close(self) -> None:
        """Closes the client, unless it was given."""
        if self._own:
            self._memory.close()


class Opened(Connected):
    """The same, with the way to open it in a folder."""

    @classmethod
    def local(cls, path: str | Path | None = None, *, embedder: EmbedderName | None = None, **options: Any) -> Self:
        """One in a folder, in this process, without a server; the other options are those of the class.

        Without `path` it is RECOLLECT_HOME. `embedder` is `e5`, `none`, … as RECOLLECT_EMBEDDER, which is asked where
        it is None. Raises CannotOpen.
        """
        return cls._in_process(path, embedder, **options)


class OpenedSession(Connected):
    """The same for what has an id and needs no embedder: logs and documents that nobody searches by meaning."""

    @classmethod
    def local(
        cls,
        session_id: str,
        path: str | Path | None = None,
        *,
        embedder: EmbedderName | None = "none",
        **options: Any,
    ) -> Self:
        """One in a folder, in this process, without a server; the other options are those of the class.

        Without `path` it is RECOLLECT_HOME. Raises CannotOpen.
        """
        return cls._in_process(path, embedder, session_id=session_id, **options)


def recalled(context: ContextAnswer) -> str:
    """What a context has from earlier conversations: its instructions with the fence, empty where nothing is recalled.

    Recalled text is data, whatever it says (P-23): the fence goes with it.
    """
    told = "\n\n".join(str(one["content"]) for one in context["messages"] if one["role"] == "system")
    return told if context["fence"]["close"] in told else ""
