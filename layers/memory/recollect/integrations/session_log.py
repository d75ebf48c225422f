"""The log of a conversation for the sessions of frameworks: what has an id and is handed over twice is stored once."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal

from recollect.client.errors import ForeignSession

if TYPE_CHECKING:
    from recollect.client.recollect import Recollect

_READ_AT_ONCE = 1_000
_MOST_KEYED, _MOST_KEYED_BYTES = 20, 256 * 1024
"""So many entries with a key fit into one transaction whatever they are (docs/logs.md)."""
Framework = Literal["LangChain", "LlamaIndex", "OpenAI Agents"]
_FIELDS: dict[Framework, frozenset[str]] = {
    "LangChain": frozenset({"type", "data"}),
    "LlamaIndex": frozenset({"role", "additional_kwargs", "blocks"}),
}
"""What each has in all its payloads."""
_ANY_JSON: Framework = "OpenAI Agents"
"""Whose items may be any other JSON."""


@dataclass(frozen=True, slots=True)
class SessionItem:
    """What a framework hands over: its payload and role, the id that it is the same by, and the words that it has.

    `words` are what of the payload is the same where the id comes again. Another text of the same id is another item.
    """

    payload: Any
    role: str | None
    words: Any
    id: str | None = None


class SessionLog:
    """One conversation's log, of one framework; its methods raise what `recollect.client.errors` has.

    What another framework wrote under the same id is not this one's to read, and nothing is mixed into it.
    `delivery_id` is the id of what a run answers, for all that this object appends: of it, what another object has
    appended by the same id already is passed over. Equal words that one object appends twice are two entries.
    """

    def __init__(
        self,
        framework: Framework,
        memory: Recollect,
        user_id: str,
        conversation_id: str,
        delivery_id: str | None = None,
    ) -> None:
        self._framework = framework
        self._memory = memory
        self._place = (user_id, conversation_id)
        self._delivery_id = delivery_id
        self._is_ours = False
        self._said: Counter[str | None] = Counter()

    def append(self, items: Sequence[SessionItem]) -> None:
        """All of them or none; those that are known by an id and its words are passed over.

        More than 20 items or 256 KiB at once have no keys. Raises Unprocessable for over 1,000 items or 2 MB, and
        ForeignSession.
        """
        if not items:
            return
        self._check_whose()
        names = self._names(items)
        keys = self._numbered(names)
        try:
            self._memory.append_log(*self._place, [_entry(item, key) for item, key in zip(items, keys, strict=True)])
        except BaseException:
            self._said.subtract(names)  # a second try has the same keys
            raise

    def newest(self, most: int | None) -> list[Any]:
        """The payloads of the newest `most` entries, of all for None, in the order in which they were added.

        Raises ForeignSession.
        """
        if most is None:
            return [self._own(one) for one in self._memory.log(*self._place, limit=_READ_AT_ONCE)]
        if most <= 0:
            return []
        at_once = min(most, _READ_AT_ONCE)
        newest = islice(self._memory.log(*self._place, newest_first=True, limit=at_once), most)
        return [self._own(one) for one in newest][::-1]

    def pop(self) -> Any | None:
        """Removes the newest entry and returns its payload; None where there is none. Raises ForeignSession."""
        self._check_whose()
        popped = self._memory.pop_log(*self._place)
        return None if popped is None else popped["payload"]

    def clear(self) -> None:
        """Removes all entries; what comes again afterwards is stored again."""
        self._memory.clear_log(*self._place)

    def _check_whose(self) -> None:
        """Reads an entry, unless one has been read already."""
        if not self._is_ours:
            self.newest(1)

    def _own(self, entry: Any) -> Any:
        """The payload of an entry."""
        writer = _writer_of(entry["payload"])
        if writer != self._framework:
            user_id, conversation_id = self._place
            whose = f"{writer} or of a program" if writer == _ANY_JSON else writer
            raise ForeignSession(
                f"the session {conversation_id!r} of {user_id!r} has entries of {whose}, not of {self._framework}: "
                "take another session id, or clear that session"
            )
        self._is_ours = True
        return entry["payload"]

    def _names(self, items: Sequence[SessionItem]) -> list[str | None]:
        """The digest of the id and words of each, None for those without an id and where they are too many for keys."""
        if len(items) > _MOST_KEYED or sum(len(_json(item.payload)) for item in items) > _MOST_KEYED_BYTES:
            return [None] * len(items)
        owners = [self._delivery_id or item.id for item in items]
        return [
            None if owner is None else hashlib.sha256(_json([owner, item.words])).hexdigest()
            for owner, item in zip(owners, items, strict=True)
        ]

    def _numbered(self, names: Sequence[str | None]) -> list[str | None]:
        """The keys: each name with which of its equals it is, of this append or of all that the object has appended."""
        equals = self._said if self._delivery_id else Counter[str | None]()
        keys: list[str | None] = []
        for name in names:
            equals[name] += 1
            keys.append(None if name is None else f"{name}.{equals[name]}")
        return keys


def _writer_of(payload: Any) -> Framework:
    named = payload.keys() if isinstance(payload, dict) else frozenset[str]()
    return next((framework for framework, fields in _FIELDS.items() if fields <= named), _ANY_JSON)


def _entry(item: SessionItem, key: str | None) -> dict[str, Any]:
    entry = {"payload": item.payload}
    entry |= {} if item.role is None else {"role": item.role}
    return entry if key is None else entry | {"entry_key": key}


def _json(value: Any) -> bytes:
    return json.dumps(value, default=repr).encode()
