"""The laptop's rounds of the bridge: what waits is promoted, whatever fails, until told to stop."""

import threading
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from embedded.setting import ANNA, NOON, Memory, open_memory
from entrypoints.cli.running import soon
from recollect.entrypoints.worker import BRIDGE, Projector, ProjectorPolicy, Rounds
from recollect.memories.deferred_promotion import Signal, SignalType
from recollect.memories.storage import memory_key
from recollect.timeline.record import EventDraft


@pytest.fixture
def waiting(tmp_path: Path) -> Iterator[Memory]:
    """A memory with one event that was deferred, and a bridge that is healthy again."""
    memory = open_memory(tmp_path)
    memory.app.memories.signals.receive("acme", Signal("w", SignalType.WARNING, "test"), NOON)
    memory.add(EventDraft(content="late", importance=0.9, timestamp=NOON - timedelta(minutes=5)))
    memory.project()
    memory.app.memories.signals.receive("acme", Signal("h", SignalType.HEALTHY, "test"), NOON)
    yield memory
    memory.app.parts.close()


def promoted(memory: Memory) -> bool:
    """Whether the event has become a memory."""
    key = memory_key(memory.ids[0])
    return key in memory.app.parts.items.get(ANNA, [key])


def test_told_to_stop_nothing_is_begun(waiting: Memory) -> None:
    stop = threading.Event()
    stop.set()
    assert Rounds(BRIDGE, waiting.app, lambda: NOON, stop, 0.01).round() is not None
    assert not promoted(waiting)


@pytest.mark.spec("P-10", "A-67")
def test_the_laptops_server_promotes_what_waits(waiting: Memory) -> None:
    assert not promoted(waiting)
    with Projector(waiting.app, ProjectorPolicy(bridge_seconds=0.05), lambda: NOON):
        assert soon(lambda: promoted(waiting))
