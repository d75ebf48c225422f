"""Faults for chosen events: a call of a port, or a part of what follows, raises where it is about one of them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from embedded.setting import Memory, with_parts
from recollect.timeline.failed_projections import FAILED

PORTS = ("timeline", "projections", "index", "embedder", "publisher", "items", "snapshots", "pair_model")
STEPS = (
    "rules", "bound", "memories", "contradictions", "segments", "users", "spaces", "messages", "summaries", "expiry",
    "archive", "outbox", "copies",
)  # fmt: skip
"""Of `ProjectionSteps`."""


@dataclass(frozen=True, slots=True)
class Fault:
    """Where it strikes (`index.put`, `steps.summaries`), with what, and whether the call's work is done before."""

    place: str
    error: type[Exception]
    after: bool = False


@dataclass(slots=True)
class Faults:
    """What strikes which event: by a word that its id, or its text, contains."""

    by_word: dict[str, Fault] = field(default_factory=dict)
    struck: set[str] = field(default_factory=set)
    calls: int = 0

    def made(self, place: str, call: Callable[[], Any], given: object) -> Any:
        """The call, unless it is about a chosen event."""
        self.calls += 1
        met = self._met(place, given)
        if met is not None and not met.after:
            raise met.error("my secret words")
        answer = call()
        if met is not None:
            raise met.error("my secret words")
        return answer

    def _met(self, place: str, given: object) -> Fault | None:
        if not any(fault.place == place for fault in self.by_word.values()):
            return None
        told = repr(_named(place, given))
        for word, fault in self.by_word.items():
            if fault.place == place and word in told:
                self.struck.add(word)
                return fault
        return None


def _named(place: str, given: Any) -> object:
    """What a call is about: of writes of items whose and their keys, since what an item says may be about others.

    Of reads of items all but the notes of failures, by which others know what to leave out; of segments not what else
    is counted.
    """
    if place == "items.write":
        return given[0][0], [write.key for write in given[0][1]]
    if place == "items.get":
        return given[0][0], [key for key in given[0][1] if key.path != FAILED]
    if place == "steps.segments":
        return given[0][:2]
    return given


class _Part:
    def __init__(self, name: str, part: Any, faults: Faults) -> None:
        self._name, self._part, self._faults = name, part, faults

    def __getattr__(self, method: str) -> Any:
        found = getattr(self._part, method)
        if not callable(found) or method in ("together", "of"):
            return found
        place = f"{self._name}.{method}"
        return lambda *given, **named: self._faults.made(place, lambda: found(*given, **named), (given, named))


class _Step:
    """A part of `ProjectionSteps`: `steps.memories` is what it is for, `steps.memories.read` what else it does."""

    def __init__(self, place: str, step: Any, faults: Faults) -> None:
        self._place, self._step, self._faults = place, step, faults

    def __getattr__(self, name: str) -> Any:
        place = self._place if name in ("follow", "assign") else f"{self._place}.{name}"
        return partial(self._made, place, getattr(self._step, name))

    def __call__(self, *given: Any, **named: Any) -> Any:
        return self._made(self._place, self._step, *given, **named)

    def _made(self, place: str, call: Callable[..., Any], *given: Any, **named: Any) -> Any:
        return self._faults.made(place, lambda: call(*given, **named), (given, named))


def with_faults(memory: Memory, faults: Faults) -> Memory:
    """The same memory where these strike."""
    struck = with_parts(memory, **{name: _Part(name, getattr(memory.app.parts, name), faults) for name in PORTS})
    own = struck.app.projection.steps
    steps: Mapping[str, Any] = {name: _Step(f"steps.{name}", getattr(own, name), faults) for name in STEPS}
    struck.app.projection.__dict__["steps"] = replace(own, **steps)
    return struck


def ids_of(memory: Memory, scopes: Sequence[Any]) -> set[str]:
    """The events that still have a marker, of these users."""
    markers = memory.app.parts.projections.pending(10_000, None).markers
    return {marker.ref.id for marker in markers if marker.scope.user in scopes}
