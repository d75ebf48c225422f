"""Our ids, UUIDv7 in the order of arrival and of position in a request (P-21), and the rule for clients' ids."""

import secrets
import threading
import time
import unicodedata
from dataclasses import dataclass
from uuid import UUID

COUNTER_BITS = 12
"""Of an `IdSeed.tick`, below its milliseconds."""

_COUNTERS = 1 << COUNTER_BITS
_TAIL_BITS = 62
_TAIL = (1 << _TAIL_BITS) - 1

LONGEST_ID = 128
_RULE = "an id has 1 to 128 characters, no control characters, and is not . or .."


@dataclass(frozen=True, slots=True)
class IdSeed:
    """The start of a request's ids: a retry with the same seed makes the same ids."""

    tick: int  # milliseconds since 1970, shifted left by 12, plus a counter
    tail: int  # 62 random bits

    def nth(self, position: int) -> str:
        """The id at that position of the request, 36 characters."""
        milliseconds, counter = divmod(self.tick + position, _COUNTERS)
        value = (milliseconds << 80) | (0x7 << 76) | (counter << 64) | (0b10 << 62) | self.tail
        return str(UUID(int=value))

    @property
    def trace(self) -> str:
        """What all ids of the request have in common (`trace_of`)."""
        return f"{self.tail:016x}"

    def encode(self) -> str:
        """As text, for the idempotency record."""
        return f"{self.tick:x}.{self.tail:x}"

    @classmethod
    def decode(cls, text: str) -> "IdSeed":
        tick, tail = text.split(".")
        return cls(int(tick, 16), int(tail, 16))


class IdSource:
    """Makes seeds; ids of this process always grow, even when the clock goes back."""

    def __init__(self) -> None:
        self._last_tick = 0
        self._lock = threading.Lock()

    def seed(self, clock_milliseconds: int, count: int = 1) -> IdSeed:
        """A seed for `count` ids; `clock_milliseconds` is the real time, also under a test clock."""
        with self._lock:
            tick = max(clock_milliseconds << COUNTER_BITS, self._last_tick + 1)
            self._last_tick = tick + count
        return IdSeed(tick, secrets.randbits(_TAIL_BITS))

    def fresh(self) -> str:
        """One id of this moment, where no retry has to make the same one again: for an audit entry."""
        return self.seed(time.time_ns() // 1_000_000).nth(0)


def id_milliseconds(event_id: str) -> int:
    """The real time inside one of our ids, in milliseconds since 1970. Raises ValueError for another id."""
    return UUID(event_id).int >> 80


def trace_of(event_id: str) -> str | None:
    """The trace of the request that made one of our ids: 16 hex digits, random; None for another id.

    So logs of what happens to an event later, in whatever process, name the request without storing anything for it.
    """
    try:
        return f"{UUID(event_id).int & _TAIL:016x}"
    except ValueError:
        return None


def accepted_ms(event_id: str) -> int | None:
    """When an event was accepted, in milliseconds since 1970, by its id; None for an id that is not ours."""
    try:
        return id_milliseconds(event_id)
    except ValueError:
        return None


def id_fault(value: object) -> str | None:
    """The rule that a client's id breaks; None for a valid one. Ids are compared as they are, never normalised."""
    if not isinstance(value, str):
        return "an id is text"
    if not 1 <= len(value) <= LONGEST_ID or value in (".", ".."):
        return _RULE
    if not value.isalnum() and any(unicodedata.category(character) in ("Cc", "Cs") for character in value):
        return _RULE
    return None
