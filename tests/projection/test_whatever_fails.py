"""Any port and any rule may raise anything, for an event, for a deleted one, for a user: all others are projected."""

import tempfile
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from embedded.failing import Fault, Faults, ids_of, with_faults
from embedded.setting import Memory, open_memory
from projection.test_failed_events import EVE, USERS, Defect, notes, projected, run_job
from recollect.core.errors import StoredDataError, Throttled, Unavailable, UpstreamFailed, VersionMismatch
from recollect.core.event import EventRef
from recollect.core.scope import Scope
from recollect.jobs.job import JobStatus
from recollect.timeline.record import EventDraft

SECOND = timedelta(seconds=1)
OUTAGES = (Unavailable, Throttled, UpstreamFailed, VersionMismatch)
ERRORS = (
    ValueError, KeyError, RecursionError, RuntimeError, TypeError, AssertionError, ZeroDivisionError, UnicodeError,
    Defect, StoredDataError, *OUTAGES,
)  # fmt: skip
BY_TEXT = ("embedder.encode", "index.nominate", "pair_model.may_change", "timeline.of_slot", "timeline.slot_history")
BY_ID = (
    "index.put", "items.get", "items.write", "projections.fill_slot", "projections.save", "projections.settle",
    "projections.store_bound", "projections.vectors", "publisher.publish", "steps.bound", "steps.contradictions",
    "steps.expiry", "steps.memories", "steps.memories.changed", "steps.memories.read", "steps.memories.shown",
    "steps.messages", "steps.segments", "steps.spaces.note", "timeline.read",
)  # fmt: skip
OF_DELETED = (
    "index.remove", "items.get", "items.page", "items.write", "projections.forget", "projections.places",
    "publisher.publish",
    "steps.archive", "steps.copies", "steps.expiry", "steps.memories.forget", "steps.summaries", "timeline.read",
)  # fmt: skip
OF_USER = (
    *BY_ID, *OF_DELETED, "index.nominate", "projections.enter_conversation", "steps.outbox",
    "steps.segments.counting", "steps.users.note", "timeline.of_slot", "timeline.slot_history", "timeline.tail",
)  # fmt: skip
OF_TENANT = (
    "index.holds_vectors", "publisher.publish", "snapshots.get", "snapshots.names", "snapshots.purge", "steps.rules",
)  # fmt: skip
OF_OTHERS_TOO = ("timeline.read", "items.get", "steps.memories.read", "pair_model.may_change")
"""Asked about an event for others too, to see what it contradicts: while that cannot be had for now, they wait."""

EVENTS = 9
NUMBERS = ("alpha", "bravo", "charlie", "delta", "echo", "foxtrot", "golf", "hotel", "india")
WHOSE = [USERS[number % 3] for number in range(EVENTS)]


def faults(*places: str) -> st.SearchStrategy[Fault]:
    return st.builds(Fault, place=st.sampled_from(places), error=st.sampled_from(ERRORS), after=st.booleans())


def is_possible(fault: Fault) -> bool:
    return fault.place not in OF_OTHERS_TOO or fault.error not in OUTAGES


@contextmanager
def told() -> Iterator[Memory]:
    """Nine events of three users, every second one with a key; nothing is projected."""
    with tempfile.TemporaryDirectory() as folder:
        memory = open_memory(Path(folder))
        for number, scope in enumerate(WHOSE):
            memory.now += SECOND
            key = f"bird {NUMBERS[number]}" if number % 2 else None
            memory.add(EventDraft(content=f"a sparrow, {NUMBERS[number]}", timestamp=memory.now, key=key), scope=scope)
        yield memory
        memory.app.parts.close()


def delete(memory: Memory, numbers: Collection[int]) -> None:
    for number in numbers:
        memory.app.deletion.events.forget(WHOSE[number], event_id=memory.ids[number], now=memory.now)


@dataclass(slots=True)
class Calls(Faults):
    """Where something was asked with each of these words in it."""

    words: Collection[str] = ()
    places: set[str] = field(default_factory=set)

    def made(self, place: str, call: Callable[[], Any], given: object) -> Any:
        self.by_word = {word: Fault(place, ValueError) for word in self.words}
        if self._met(place, given):
            self.places.add(place)
        return call()


@pytest.mark.parametrize(
    ("words", "places"),
    [
        (lambda _memory: NUMBERS, {*BY_TEXT, *BY_ID}),
        (lambda memory: memory.ids, {*BY_ID, *OF_DELETED}),
        (lambda _memory: [f"user_id='{scope.user_id}'" for scope in USERS], {*OF_USER}),
        (lambda _memory: [f"'{scope.tenant}'" for scope in USERS], {*OF_USER, *OF_TENANT}),
    ],
    ids=["texts", "ids", "users", "tenants"],
)
def test_no_call_is_left_out(words: Callable[[Memory], Collection[str]], places: set[str]) -> None:
    with told() as memory:
        calls = Calls(words=words(memory))
        watched = with_faults(memory, calls)
        watched.app.projection.reconciliation.run(memory.now)
        delete(memory, range(EVENTS))
        watched.app.projection.reconciliation.run(memory.now)
        assert calls.places <= places
        assert places - calls.places <= {*BY_ID}, "of texts: what is asked by the id alone"


def reconcile(memory: Memory, broken: Memory, others: Collection[int]) -> None:
    """For minutes, or until the others wait for nothing: what failed beside another one is tried again by itself."""
    waiting = {memory.ids[number] for number in others}
    for number in range(60):
        memory.now += timedelta(milliseconds=37) if number % 4 else 31 * SECOND
        broken.app.projection.reconciliation.run(memory.now)
        if not waiting & (ids_of(memory, USERS) | noted(memory)):
            break


def is_gone(memory: Memory, number: int) -> bool:
    """Whether nothing is left of a deleted event: no marker, no vector, no document.

    In which segment it was stays known while its removal is tried again.
    """
    scope, event_id = WHOSE[number], memory.ids[number]
    listed = memory.app.parts.index.listed(scope, 100, None)
    kept = memory.app.parts.projections.vectors(scope, [event_id])
    vectors = {event_id for event_id, one in kept.items() if one.vector is not None}
    return event_id not in {ref.id for ref in listed.refs} | vectors | ids_of(memory, USERS)


def is_done(memory: Memory, number: int, deleted: Collection[int]) -> bool:
    return is_gone(memory, number) if number in deleted else projected(memory, WHOSE[number], memory.ids[number])


def unfinished(memory: Memory, numbers: Collection[int], deleted: Collection[int] = ()) -> list[int]:
    return [number for number in numbers if not is_done(memory, number, deleted)]


def noted(memory: Memory) -> set[str]:
    return notes(memory).keys() | notes(memory, "other").keys()


def none_is_lost(memory: Memory, chosen: Collection[int], deleted: Collection[int] = ()) -> None:
    """What failed is known as such, and done when the faults are lifted."""
    left = ids_of(memory, USERS) | noted(memory)
    assert [n for n in unfinished(memory, chosen, deleted) if memory.ids[n] not in left] == []
    for tenant in ("acme", "other"):
        assert run_job(memory, tenant, replay=True).status is JobStatus.DONE
    assert unfinished(memory, range(EVENTS), deleted) == []
    assert (ids_of(memory, USERS), noted(memory)) == (set(), set())
    assert [n for n in deleted if memory.app.parts.projections.vectors(WHOSE[n], [memory.ids[n]])] == []


NEW = faults(*BY_TEXT, *BY_ID).filter(is_possible)


@pytest.mark.spec("P-25")
@settings(max_examples=30)
@given(chosen=st.dictionaries(st.integers(0, EVENTS - 1), NEW, min_size=1, max_size=5))
def test_whatever_is_raised_for_whichever_event_all_others_are_projected(chosen: dict[int, Fault]) -> None:
    with told() as memory:
        words = {(NUMBERS[n] if one.place in BY_TEXT else memory.ids[n]): one for n, one in chosen.items()}
        others = [number for number in range(EVENTS) if number not in chosen]
        reconcile(memory, with_faults(memory, Faults(words)), others)
        assert unfinished(memory, others) == []
        none_is_lost(memory, chosen)


DELETED = range(0, EVENTS, 2)


@pytest.mark.spec("P-22", "P-25")
@settings(max_examples=20)
@given(chosen=st.dictionaries(st.sampled_from(DELETED), faults(*OF_DELETED), min_size=1, max_size=3))
def test_whatever_is_raised_for_a_deleted_event_all_others_are_projected_and_taken_away(
    chosen: dict[int, Fault],
) -> None:
    with told() as memory:
        memory.project()
        delete(memory, DELETED)
        for number in set(range(EVENTS)) - set(DELETED):
            memory.app.parts.projections.mark(WHOSE[number], [_ref(memory, number)])
        others = [number for number in range(EVENTS) if number not in chosen]
        reconcile(memory, with_faults(memory, Faults({memory.ids[n]: one for n, one in chosen.items()})), others)
        assert unfinished(memory, others, DELETED) == []
        none_is_lost(memory, chosen, DELETED)


def _ref(memory: Memory, number: int) -> EventRef:
    found = memory.app.parts.timeline.find(WHOSE[number], memory.ids[number])
    assert found is not None
    return found.ref


@settings(max_examples=20)
@given(
    users=st.dictionaries(st.sampled_from(USERS), faults(*OF_USER), max_size=2),
    tenant=st.none() | faults(*OF_TENANT),
)
def test_whatever_is_raised_for_a_user_or_a_tenant_all_others_are_projected_and_taken_away(
    users: dict[Scope, Fault], tenant: Fault | None
) -> None:
    """Outages of reads too: a user's records lie in one partition of the table, which may be away by itself."""
    with told() as memory:
        memory.project()
        delete(memory, range(3))
        for number in range(3, 6):
            memory.app.parts.projections.mark(WHOSE[number], [_ref(memory, number)])
        words = {f"user_id='{scope.user_id}'": one for scope, one in users.items()}
        words |= {f"'{EVE.tenant}'": tenant} if tenant else {}
        struck = {*users, *([EVE] if tenant else [])}
        others = [number for number in range(EVENTS) if WHOSE[number] not in struck]
        reconcile(memory, with_faults(memory, Faults(words)), others)
        assert unfinished(memory, others, range(3)) == []
        none_is_lost(memory, range(EVENTS), range(3))
