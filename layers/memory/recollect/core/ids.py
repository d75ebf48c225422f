"""Ids that we make: UUIDv7, monotonic by arrival and by position in a request (P-21).

Ids that clients choose (api.md, *Ids*): what one may be, wherever it comes from.
"""

import secrets
import threading
import time
import unicodedata
from dataclasses import dataclass
from uuid import UUID

_COUNTER_BITS = 12
_COUNTERS = 1 << _COUNTER_BITS


@dataclass(frozen=True, slots=True)
class IdSeed:
    """Where a request's ids begin: a retry with the same seed makes the same ids again."""

    tick: int  # milliseconds since 1970, shifted left by 12, plus a counter
    tail: int  # 62 random bits

    def nth(self, position: int) -> str:
        """The id at that position of the request, as the usual 36 characters."""
        milliseconds, counter = divmod(self.tick + position, _COUNTERS)
        value = (milliseconds << 80) | (0x7 << 76) | (counter << 64) | (0b10 << 62) | self.tail
        return str(UUID(int=value))

    def encode(self) -> str:
        """As text, for the idempotency record."""
        return f"{self.tick:x}.{self.tail:x}"

    @classmethod
    def decode(cls, text: str) -> "IdSeed":
        """Reads what `encode` wrote."""
        tick, tail = text.split(".")
        return cls(int(tick, 16), int(tail, 16))


class IdSource:
    """Hands out seeds so that ids of this process never go back, whatever the clock does."""

    def __init__(self) -> None:
        self._last_tick = 0
        self._lock = threading.Lock()

    def seed(self, clock_milliseconds: int, count: int = 1) -> IdSeed:
        """A seed for `count` ids; `clock_milliseconds` is the real time, also under a test clock."""
        with self._lock:
            tick = max(clock_milliseconds << _COUNTER_BITS, self._last_tick + 1)
            self._last_tick = tick + count
        return IdSeed(tick, secrets.randbits(62))

    def fresh(self) -> str:
        """One id of this moment, for what no retry makes again: an entry of the audit."""
        return self.seed(time.time_ns() // 1_000_000).nth(0)


def id_milliseconds(event_id: str) -> int:
    """The real time inside one of our ids, in milliseconds since 1970."""
    return UUID(event_id).int >> 80


LONGEST_ID = 128
_RULE = "an id has 1 to 128 characters, no control characters, and is not . or .."


def id_fault(value: object) -> str | None:
    """What is wrong with a client's id; None where nothing is. Ids are compared as they are, never normalised."""
    if not isinstance(value, str):
        return "an id is text"
    if not 1 <= len(value) <= LONGEST_ID or value in (".", ".."):
        return _RULE
    if not value.isalnum() and any(unicodedata.category(character) in ("Cc", "Cs") for character in value):
        return _RULE
    return None
