"""The job `retain` is resumed wherever it broke off, runs by itself once a day, and costs what is due."""

from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from embedded.keeping import DAY, NOW, STRANGER, Keeping, counted
from embedded.setting import ANNA, open_memory, with_parts
from embedded.standing import Before
from recollect.adapters.local.files import FolderSnapshots
from recollect.core.event import Event
from recollect.core.scope import Scope
from recollect.jobs.job import JobStatus
from recollect.memories.audit import AUDIT


class Crash(BaseException):
    """The process ends here."""


def fill(keeping: Keeping, users: int = 3, each: int = 7) -> None:
    """Users with events of which all but one are let go."""
    for number in range(users):
        for one in range(each):
            keeping.say(f"thing {one} of {number}", 40 - one, Scope("acme", f"user{number}"))
        keeping.say("a new thing", 1, Scope("acme", f"user{number}"))


def running_out() -> Callable[[], float]:
    """Time for a step, and for no second one."""
    left = [6.0]

    def remaining_seconds() -> float:
        left[0] -= 0.6
        return left[0]

    return remaining_seconds


def test_it_stops_between_pages_and_continues(keeping: Keeping, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recollect.archive.retain._PAGE", 2)
    keeping.rules({"older_than_days": 30})
    fill(keeping)
    keeping.memory.project()
    keeping.memory.now = NOW
    job, rounds = keeping.start(), 0
    while not (job := keeping.run(job, left=running_out())).finished:
        rounds += 1
        assert rounds < 50
    assert rounds > 10
    assert (job.status, counted(job)) == (JobStatus.DONE, {"users": 3, "pruned": 21})
    assert all(keeping.left(Scope("acme", f"user{number}")) == ["a new thing"] for number in range(3))


@pytest.mark.spec("A-57", "A-62")
def test_a_crash_before_or_after_any_call_loses_nothing_and_takes_no_more(keeping: Keeping, tmp_path: Path) -> None:
    """Every call that writes, once before and once after it; then another process continues."""
    points = 0
    for after in (False, True):
        for number in range(1, 100):
            fresh = _fresh(tmp_path / f"{after}{number}")
            crashed = _crashing(fresh, number, after)
            ended = fresh.memory.app.jobs.newest("acme", 1)[0]
            fresh.memory.now += timedelta(minutes=10)
            fresh.run(ended)
            _nothing_is_half_done(fresh)
            fresh.memory.app.parts.close()
            if not crashed:
                break
            points += 1
    assert points > 20


def _fresh(home: Path) -> Keeping:
    keeping = Keeping(with_parts(open_memory(home), snapshots=FolderSnapshots(home / "snapshots")), home)
    keeping.rules({"older_than_days": 30, "archive": True})
    keeping.say("thing one", 40, importance=0.9)
    keeping.say("thing two", 39)
    keeping.say("thing three", 5, expires_at=NOW - DAY)
    keeping.say("a new thing", 1)
    keeping.memory.project()
    keeping.memory.now = NOW
    return keeping


def _crashing(keeping: Keeping, number: int, after: bool) -> bool:
    """Whether the job, run over parts that crash at that call, came that far."""
    calls = 0

    class Crashing(Before):
        def __getattr__(self, name: str) -> Any:
            found = super().__getattr__(name)
            if name not in ("write", "remove", "publish", "put_if_absent"):
                return found

            def call(*given: Any, **named: Any) -> Any:
                nonlocal calls
                calls += 1
                if calls == number and not after:
                    raise Crash
                answer = found(*given, **named)
                if calls == number:
                    raise Crash
                return answer

            return call

    job = keeping.start()
    parts = {
        name: Crashing(getattr(keeping.memory.app.parts, name))
        for name in ("items", "timeline", "publisher", "snapshots")
    }
    try:
        Keeping(with_parts(keeping.memory, **parts), keeping.home).run(job)
    except Crash:
        return True
    return False


def _nothing_is_half_done(keeping: Keeping) -> None:
    keeping.memory.project()
    keeping.memory.app.outbox.drain(NOW + DAY, "acme")
    (job,) = keeping.memory.app.jobs.newest("acme", 10)
    assert (job.status, job.errors) == (JobStatus.DONE, {})
    assert keeping.left() == ["a new thing"]
    gone = {keeping.ids[text] for text in ("thing one", "thing two", "thing three")}
    assert sorted(one for told in keeping.told() for one in told["ids"]) == sorted(gone)
    rows = keeping.memory.app.parts.items.page(ANNA, AUDIT, 100, None).items
    pruned = [row.value["event_ids"][0] for row in rows if row.value.get("outcome") == "pruned"]
    assert sorted(pruned) == sorted(gone)
    assert {"thing one", "thing two"} == {record["content"] for record in keeping.archived()}
    assert keeping.memory.found("thing one") == ["a new thing"]


def test_once_a_day_each_tenant_has_a_job_by_itself(keeping: Keeping) -> None:
    keeping.rules({"older_than_days": 30})
    keeping.say("the zebra sings", 40)
    keeping.say("the owl hoots", 40, STRANGER)
    keeping.memory.project()
    app = keeping.memory.app
    assert (app.archive.retention_schedule.schedule(NOW), app.archive.retention_schedule.schedule(NOW)) == (2, 0)
    assert app.job_runs.run(lambda: NOW, lambda: 900.0, "retain").done == 2
    assert (keeping.left(), keeping.left(STRANGER)) == ([], ["the owl hoots"])
    assert app.archive.retention_schedule.schedule(NOW + timedelta(hours=23)) == 0
    assert app.archive.retention_schedule.schedule(NOW + DAY) == 2


def test_its_cost_follows_what_is_due(keeping: Keeping) -> None:
    """Records that are new are not read, however many: one page for each user."""
    keeping.rules({"older_than_days": 30})
    for number in range(150):
        keeping.say(f"thing {number}", 20 - number / 10)
    keeping.memory.project()
    read: list[int] = []

    class Counting(Before):
        def records(self, *given: Any) -> Any:
            page = self.part.records(*given)
            read.append(len(page.events))
            return page

        def window(self, *given: Any) -> Sequence[Event]:
            raise AssertionError("not a walk over all")

    counting = Keeping(with_parts(keeping.memory, timeline=Counting(keeping.memory.app.parts.timeline)), keeping.home)
    counting.memory.now = NOW
    assert counting.run(counting.start()).status is JobStatus.DONE
    assert read == [100]
