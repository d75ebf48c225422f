"""Copies elsewhere in the tenant go with the record that they were made of."""

from datetime import UTC, datetime

import pytest

from embedded.setting import ANNA, Memory
from recollect.archive.transfer import ImportOrder
from recollect.core.scope import Scope
from recollect.memories.audit import Actor, ActorKind

USER = Actor(ActorKind.USER, "anna")
BEN, CLEO, STRANGER = Scope("acme", "ben"), Scope("acme", "cleo"), Scope("other", "ben")


def copied(memory: Memory, to: Scope, by: Scope = ANNA) -> None:
    events = memory.app.parts.timeline.records(by, 100, None).events
    lines = memory.app.segments.record_lines.read(by, events, memory.now)
    memory.app.archive.imports.import_lines(to, lines, ImportOrder(actor=USER, via="import", now=memory.now))


def contents(memory: Memory, scope: Scope) -> list[str]:
    return [event.content for event in memory.app.parts.timeline.records(scope, 100, None).events]


@pytest.mark.spec("P-22")
def test_deleting_the_origin_reaches_copies_and_their_copies(memory: Memory) -> None:
    memory.add("the zebra sings", "the cat sleeps")
    copied(memory, BEN)
    copied(memory, CLEO, by=BEN)
    memory.project()
    assert contents(memory, CLEO) == contents(memory, BEN) == ["the zebra sings", "the cat sleeps"]
    memory.app.deletion.events.forget(ANNA, event_id=memory.ids[0], now=memory.now)
    for _ in range(3):
        memory.project()
    assert [contents(memory, scope) for scope in (ANNA, BEN, CLEO)] == [["the cat sleeps"]] * 3
    assert memory.found("zebra", scope=CLEO) == ["the cat sleeps"]


@pytest.mark.spec("P-22")
def test_deleting_a_copy_leaves_the_origin(memory: Memory) -> None:
    memory.add("the zebra sings")
    copied(memory, BEN)
    memory.project()
    memory.app.deletion.events.forget(BEN, event_id=memory.ids[0], now=memory.now)
    memory.project()
    assert contents(memory, ANNA) == ["the zebra sings"]
    assert contents(memory, BEN) == []


@pytest.mark.spec("P-22")
def test_erasing_a_user_reaches_what_others_copied(memory: Memory) -> None:
    memory.add("the zebra sings", "the cat sleeps")
    copied(memory, BEN)
    memory.add("ben's own", scope=BEN)
    memory.project()
    erasure = memory.app.deletion.users.erase(ANNA, memory.now, datetime.now(UTC), USER, lambda: 60.0)
    memory.app.job_runs.one("acme", erasure.id, lambda: datetime.now(UTC), lambda: 60.0)
    report = memory.app.deletion.users.report("acme", erasure.id)
    assert (report.verified, report.reached["copies"]) == (True, 2)
    memory.project()
    assert contents(memory, BEN) == ["ben's own"]
