"""Parts whose n-th call ends the process, or meets a part that is away: before it does anything, or after it did.

Every attribute of a part that can be called is a call of a port; `together` is two, where it begins and where it
commits. After a kill no call reaches a part any more, so that no `finally` does what a dead process cannot; where it
was a call of another thread, the main one learns of it by its next call.
"""

import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from typing import Any

from recollect.core.errors import Unavailable
from samples.wrapped import Wrapped

NOT_PORTS = frozenset({"concurrency"})
"""Parts that do no I/O of their own: what runs in them is calls of the others."""


class Crash(BaseException):
    """The process ends here."""


class Side(StrEnum):
    """Whether the call's work was done when it failed."""

    BEFORE = "before"
    AFTER = "after"


class Kind(StrEnum):
    """What happens: the process is killed; the part is away this once; it stays away until the restart."""

    KILLED = "killed"
    AWAY = "away"
    STAYS_AWAY = "stays-away"


@dataclass(frozen=True, slots=True)
class Fault:
    """What goes wrong at which call: the name of a part and its method, and the how-manieth of that name (from 1)."""

    call: str
    nth: int
    side: Side
    kind: Kind


@dataclass(slots=True)
class Ticket:
    """Counts the calls of all parts by name; `fault` None: nothing goes wrong. Calls may come from several threads.

    With `meanwhile` nothing fails at the call: somebody else does that, in the time before it, or after it. `inside` is
    where no other writer can come in between: within a group of writes that is one transaction. `open` are the calls
    before which one can.
    With `store`, which tells what state the store is in, `idle` are the calls that left it as it was.
    """

    fault: Fault | None = None
    meanwhile: Callable[[], None] | None = None
    inside: bool = False
    store: Callable[[], object] | None = None
    idle: set[tuple[str, int]] = field(default_factory=set)
    calls: Counter[str] = field(default_factory=Counter)
    made_so_far: list[tuple[str, int]] = field(default_factory=list)
    open: list[tuple[str, int]] = field(default_factory=list)
    armed: bool = True
    fired: bool = False
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def made(self, name: str, call: Callable[[], Any]) -> Any:
        if not self.armed:
            return call()
        with self._lock:
            self.calls[name] += 1
            number = self.calls[name]
            self.made_so_far.append((name, number))
            if not self.inside:
                self.open.append((name, number))
        self._strike(name, number, Side.BEFORE)
        try:
            return call() if self.store is None else self._watched((name, number), call, self.store)
        finally:
            self._strike(name, number, Side.AFTER)

    def _watched(self, own: tuple[str, int], call: Callable[[], Any], store: Callable[[], object]) -> Any:
        before = store()
        answer = call()
        if store() == before:
            self.idle.add(own)
        return answer

    def _strike(self, name: str, number: int, side: Side) -> None:
        fault = self.fault
        if fault is None:
            return
        away = self.fired and fault.kind is not Kind.AWAY
        if not away and (name, number, side) != (fault.call, fault.nth, fault.side):
            return
        if self.meanwhile is not None:
            self._overtake(self.meanwhile)
            return
        self.fired = True
        if fault.kind is Kind.KILLED and threading.current_thread() is threading.main_thread():
            raise Crash(name)
        raise Unavailable("the part is away")

    def _overtake(self, meanwhile: Callable[[], None]) -> None:
        if not self.fired and not self.inside:
            self.fired = True
            meanwhile()


class WrappedPart:
    """A part whose calls go past the ticket; what is no call is the part's own."""

    def __init__(self, name: str, part: object, ticket: Ticket) -> None:
        self._name, self._part, self._ticket = name, part, ticket

    def __getattr__(self, method: str) -> Any:
        found = getattr(self._part, method)
        if not callable(found) or method.startswith("_"):
            return found
        name = f"{self._name}.{method}"

        def call(*given: Any, **named: Any) -> Any:
            if method == "together":
                return _Group(name, found(*given, **named), self._ticket)
            if method == "of" and self._name == "index":
                return WrappedPart(name, found(*given, **named), self._ticket)
            return self._ticket.made(name, lambda: _read_out(found(*given, **named)))

        return call


class WrappedParts:
    """The parts of an app, each wrapped; what checks them is wrapped too."""

    def __init__(self, parts: Any, ticket: Ticket) -> None:
        self._parts, self._ticket = parts, ticket
        self._wrapped: dict[str, object] = {}

    def __getattr__(self, name: str) -> Any:
        if name in self._wrapped:
            return self._wrapped[name]
        part = getattr(self._parts, name)
        if part is None or callable(part) or name.startswith("_") or name in NOT_PORTS:
            return part
        return self._wrapped.setdefault(name, WrappedPart(name, part, self._ticket))

    def checks(self) -> Mapping[str, Callable[[], Any]]:
        found = self._parts.checks()
        return {name: partial(self._ticket.made, f"checks.{name}", check) for name, check in found.items()}


class Apart(Wrapped):
    """Parts whose groups of writes are single writes, as on a store that commits each by itself."""

    @property
    def projections(self) -> object:
        return _Single(self.part.projections)


class _Single(Wrapped):
    def together(self) -> AbstractContextManager[None]:
        return nullcontext()


class _Group:
    """A group of writes. What goes wrong before its commit takes all of it back, what goes wrong after it nothing."""

    def __init__(self, name: str, group: AbstractContextManager[None], ticket: Ticket) -> None:
        self._name, self._group, self._ticket = name, group, ticket
        self._open = False

    def __enter__(self) -> None:
        with self._undone():
            self._ticket.made(f"{self._name}.begin", self._begin)

    def __exit__(self, *raised: Any) -> bool | None:
        if raised[0] is not None:
            self._ticket.inside = False
            return self._group.__exit__(*raised)
        with self._undone():
            self._ticket.made(f"{self._name}.commit", self._commit)
        return None

    def _begin(self) -> None:
        self._group.__enter__()
        self._open = self._ticket.inside = True

    def _commit(self) -> None:
        self._open = self._ticket.inside = False
        self._group.__exit__(None, None, None)

    @contextmanager
    def _undone(self) -> Iterator[None]:
        try:
            yield
        except BaseException as error:
            if self._open:
                self._group.__exit__(type(error), error, error.__traceback__)
            raise


def _read_out(value: Any) -> Any:
    """An iterator that a port hands out is read to its end within the call."""
    return iter(list(value)) if isinstance(value, Iterator) else value
