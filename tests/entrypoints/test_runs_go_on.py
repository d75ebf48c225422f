"""What fails for one user, one tenant or one part of a scheduled run stops nothing else of it."""

import json
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from embedded.failing import Fault, Faults, with_faults
from embedded.setting import Instead, Memory, open_memory, with_parts
from entrypoints.test_scheduled_handlers import call, start
from recollect.adapters.aws.keys import event_key
from recollect.core.errors import InvalidInput, StoredDataError, UpstreamFailed, VersionMismatch
from recollect.core.event import EventRef
from recollect.core.ids import trace_of
from recollect.core.items import Due, ItemKey, ItemWrite, of_tenant
from recollect.core.scope import Scope
from recollect.core.time import utc_now
from recollect.deletion.storage import QUEUE as TOMBSTONE_QUEUE
from recollect.deletion.storage import tombstone_outbox_key
from recollect.deletion.tombstone_log import DeletedRecord, events_tombstone
from recollect.entrypoints.lambda_handlers import jobs_handler, project_handler, retain_handler
from recollect.jobs.job import QUEUE as JOBS_QUEUE
from recollect.jobs.job import JobStatus, job_key
from recollect.memories.audit import Actor, ActorKind
from recollect.memories.save import MemoryChange
from recollect.memories.storage import TO_PROJECT
from recollect.timeline.bus import QUEUE as OUTBOX_QUEUE
from recollect.timeline.bus import episodic_warning, outbox_write
from recollect.timeline.failed_projections import FAILED
from recollect.timeline.record import EventDraft

ERRORS = (
    ValueError, KeyError, RecursionError, TypeError, AssertionError, StoredDataError, UpstreamFailed, VersionMismatch,
    InvalidInput,
)  # fmt: skip
NAMES = ("ada", "ben", "cleo", "dora")
FAULTS = st.dictionaries(st.sampled_from(NAMES), st.sampled_from(ERRORS), min_size=1, max_size=3)


def opened(folder: Path | str) -> Memory:
    memory = open_memory(Path(folder))
    memory.now = datetime.now(UTC)
    return memory


def raising_for(memory: Memory, part: str, method: str, faults: dict[str, type[Exception]]) -> Memory:
    """The memory where this method raises for the owners of these names."""

    def struck(found: Any, owner: Any, *given: Any, **named: Any) -> Any:
        tenant = owner if isinstance(owner, str) else owner.tenant
        name = tenant if tenant in NAMES else getattr(owner, "user_id", "")
        if name in faults:
            raise faults[name]("my secret words")
        return found(owner, *given, **named)

    return with_parts(memory, **{part: Instead(getattr(memory.app.parts, part), **{method: struck})})


@settings(max_examples=15, deadline=None)
@given(faults=FAULTS)
def test_whatever_one_user_s_archive_raises_all_others_are_archived(faults: dict[str, type[Exception]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        memory = opened(folder)
        for name in NAMES:
            memory.add("a sparrow", scope=Scope("acme", name))
        memory.project()
        compaction = memory.app.segments.compaction
        for name in NAMES:
            compaction.close(Scope("acme", name), memory.now)
        real = type(compaction).compact

        def compact(self: Any, scope: Scope, *given: Any) -> Any:
            if scope.user_id in faults:
                raise faults[scope.user_id]("my secret words")
            return real(self, scope, *given)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(type(compaction), "compact", compact)
            done = compaction.run(utc_now() + timedelta(days=1), lambda: 900.0)
        assert (done.segments, done.failed) == (len(NAMES) - len(faults), len(faults))
        assert compaction.run(utc_now() + timedelta(days=1), lambda: 900.0).segments == len(faults), "it stays due"
        memory.app.parts.close()


@settings(max_examples=15, deadline=None)
@given(faults=FAULTS)
def test_whatever_one_tenant_s_job_or_schedule_raises_all_others_are_run(faults: dict[str, type[Exception]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        memory = opened(folder)
        for name in NAMES:
            memory.add(EventDraft(content="a sparrow", timestamp=memory.now), scope=Scope(name, "anna"))
        memory.project()  # notes each tenant's schedule
        broken = raising_for(memory, "items", "get", faults)
        assert broken.app.archive.retention_schedule.schedule(utc_now()) == len(NAMES) - len(faults)
        assert memory.app.archive.retention_schedule.schedule(utc_now()) == len(faults), "it stays due"
        run = broken.app.job_runs.run(utc_now, lambda: 900.0)
        assert (run.done, run.errors.total(), run.complete) == (len(NAMES) - len(faults), len(faults), True)
        assert memory.app.job_runs.run(utc_now, lambda: 900.0).done == len(faults)
        memory.app.parts.close()


@settings(max_examples=15, deadline=None)
@given(faults=FAULTS)
def test_whatever_one_tenant_s_outbox_raises_all_others_are_published(faults: dict[str, type[Exception]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        memory = opened(folder)
        for name in NAMES:
            warning = episodic_warning(f"warning-{name}", "warning", None, "test", memory.now)
            memory.app.parts.items.write(of_tenant(name), [outbox_write(warning)], memory.now)
        broken = raising_for(memory, "publisher", "publish", faults)
        run = broken.app.outbox.drain(utc_now())
        assert (run.published, run.failed, run.complete) == (len(NAMES) - len(faults), len(faults), True)
        assert memory.app.outbox.drain(utc_now()).published == len(faults), "it stays due"
        memory.app.parts.close()


@settings(max_examples=15, deadline=None)
@given(faults=FAULTS)
def test_whatever_one_user_s_changed_memory_raises_all_others_are_projected(faults: dict[str, type[Exception]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        memory = opened(folder)
        for name in NAMES:
            draft = EventDraft(content="I like nuts.", importance=0.9, timestamp=memory.now)
            memory.add(draft, scope=Scope("acme", name))
        memory.project()
        for name, event_id in zip(NAMES, memory.ids, strict=True):
            change = MemoryChange({"content": "I like milk."}, Actor(ActorKind.USER, name), lambda _version: True)
            memory.app.memories.store.patch(Scope("acme", name), event_id, change, memory.now)
        for marker in memory.app.parts.projections.pending(100, None).markers:  # as if the process had ended before
            memory.app.parts.projections.settle(marker.scope, [marker.ref])
        broken = raising_for(memory, "items", "get", faults)
        assert broken.app.projection.reconciliation.run(memory.now).projected == len(NAMES) - len(faults)
        assert not_shown(memory) == faults.keys()
        memory.app.projection.reconciliation.run(memory.now)
        assert not_shown(memory) == set(), "it stays due"
        memory.app.parts.close()


def not_shown(memory: Memory) -> set[str]:
    """Whose changed memories the index does not have."""
    return {due.owner.user_id for due in memory.app.parts.items.due(TO_PROJECT, memory.now, 100, None).items}


@settings(max_examples=15, deadline=None)
@given(faults=FAULTS)
def test_whatever_one_user_s_unlogged_deletion_raises_all_others_are_logged(faults: dict[str, type[Exception]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        memory = opened(folder)
        for name in NAMES:
            left = events_tombstone([DeletedRecord(EventRef(f"event of {name}", memory.now))])
            write = ItemWrite(tombstone_outbox_key(name), left, due=Due(TOMBSTONE_QUEUE, memory.now))
            memory.app.parts.items.write(Scope("acme", name), [write], memory.now)
        broken = raising_for(memory, "items", "get", faults)
        broken.app.projection.reconciliation.run(utc_now())
        assert logged(memory) == set(NAMES) - faults.keys()
        memory.app.projection.reconciliation.run(utc_now())
        assert logged(memory) == set(NAMES), "it stays due"
        memory.app.parts.close()


def logged(memory: Memory) -> set[str]:
    """Whose deletions the log outside of the table has."""
    log = memory.app.deletion.tombstone_log
    found = [log.read(number) for number in range(1, log.applied().last + 1)]
    return {one["user_id"] for one in found if one is not None}


def test_a_note_that_cannot_be_read_keeps_no_other_event_from_its_next_try(tmp_path: Path) -> None:
    memory = opened(tmp_path)
    memory.add("a sparrow", "another")
    broken = with_faults(memory, Faults({one: Fault("steps.expiry", ValueError) for one in memory.ids}))
    assert broken.app.projection.reconciliation.run(memory.now).noted == set(memory.ids)
    real = type(memory.app.parts.items).get

    def get(_found: Any, owner: Scope, keys: Any) -> Any:
        if any(key.path == FAILED and key.key == memory.ids[0] for key in keys):
            raise StoredDataError("a packed record cannot be read")
        return real(memory.app.parts.items, owner, keys)

    unread = with_parts(memory, items=Instead(memory.app.parts.items, get=get))
    assert unread.app.projection.reconciliation.run(memory.now + timedelta(hours=1)).projected == 1
    assert memory.app.projection.reconciliation.run(memory.now + timedelta(hours=1)).projected == 1
    memory.app.parts.close()


def test_an_entry_that_cannot_be_read_holds_up_no_other(tmp_path: Path) -> None:
    memory = opened(tmp_path)
    broken = ItemWrite(ItemKey(outbox_write(_warning(memory)).key.path, "0"), {}, due=Due(OUTBOX_QUEUE, memory.now))
    unread = ItemWrite(job_key("0"), {"status": 7}, due=Due(JOBS_QUEUE, memory.now - timedelta(days=1)))
    memory.app.parts.items.write(of_tenant("acme"), [broken, outbox_write(_warning(memory)), unread], memory.now)
    job = start(memory, "reconcile")
    run = memory.app.outbox.drain(utc_now())
    assert (run.published, run.failed, run.complete) == (1, 1, True)
    assert memory.app.job_runs.run(utc_now, lambda: 900.0).done == 1
    assert memory.app.jobs.read("acme", job.id).status is JobStatus.DONE
    memory.app.parts.close()


def _warning(memory: Memory) -> Any:
    return episodic_warning("warning-1", "warning", None, "test", memory.now)


@pytest.mark.parametrize("failing", ["heal", "apply", "compact_due"])
@pytest.mark.parametrize("error", [ValueError, UpstreamFailed])
def test_a_part_of_the_function_jobs_that_fails_stops_no_job_and_is_seen(
    failing: str, error: type[Exception], tmp_path: Path, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture,
) -> None:  # fmt: skip
    monkeypatch.setenv("POWERTOOLS_SERVICE_NAME", "recollect-test")
    memory = opened(tmp_path)
    job, app = start(memory, "reconcile"), memory.app
    whose = {"heal": app.reindexing, "apply": app.deletion.tombstones, "compact_due": app.segments}[failing]

    def broken(*_: object) -> None:
        raise error("my secret words")

    monkeypatch.setattr(type(whose), failing, broken)
    with pytest.raises(error):
        call(jobs_handler(app), {"task": "jobs"})
    assert app.jobs.read("acme", job.id).status is JobStatus.DONE
    printed = capsys.readouterr().out
    assert any(json.loads(line).get("JobsDone") == [1.0] for line in printed.splitlines() if "JobsDone" in line)
    assert error.__name__ in str([record.__dict__ for record in caplog.records])
    assert "secret" not in printed + str([record.__dict__ for record in caplog.records])
    memory.app.parts.close()


def test_a_schedule_that_fails_stops_no_retention(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POWERTOOLS_SERVICE_NAME", "recollect-test")
    memory = opened(tmp_path)
    job = start(memory, "retain")

    def broken(*_: object) -> None:
        raise KeyError

    monkeypatch.setattr(type(memory.app.archive.retention_schedule), "schedule", broken)
    with pytest.raises(KeyError):
        call(retain_handler(memory.app), {"task": "retain"})
    assert memory.app.jobs.read("acme", job.id).status is JobStatus.DONE
    memory.app.parts.close()


def test_a_projection_that_fails_as_a_whole_stops_no_bridge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POWERTOOLS_SERVICE_NAME", "recollect-test")
    memory = opened(tmp_path)
    memory.app.parts.items.write(of_tenant("acme"), [outbox_write(_warning(memory))], memory.now)

    def broken(*_: object) -> None:
        raise KeyError

    monkeypatch.setattr(type(memory.app.projection.reconciliation), "page", broken)
    with pytest.raises(KeyError):
        call(project_handler(memory.app), {"task": "reconcile"})
    assert [event.id for event in memory.app.parts.publisher.published("acme", None, None)] == ["warning-1"]
    memory.app.parts.close()


class Lost:
    """An index that was lost: it has another identity once it is made."""

    def __init__(self, index: Any) -> None:
        self._index, self.there, self.made = index, True, 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._index, name)

    def identity(self) -> str:
        return f"made {self.made}"

    def create(self) -> bool:
        made, self.there = not self.there, True
        self.made += made
        return made


def test_the_function_jobs_makes_a_lost_index_and_fills_it_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("POWERTOOLS_SERVICE_NAME", "recollect-test")
    memory = opened(tmp_path)
    index = Lost(memory.app.parts.index)
    memory = with_parts(memory, index=cast(Any, index))
    memory.add(EventDraft(content="the cat sleeps", timestamp=memory.now))
    memory.project()
    handler = jobs_handler(memory.app)
    assert call(handler, {"task": "jobs"})["done"] == 0, "nothing is missing"
    index.there = False
    assert call(handler, {"task": "jobs"}) == {"done": 1, "failed": 0, "running": 0, "complete": True}
    (job,) = memory.app.jobs.newest("acme", 10)
    assert (job.kind, job.status, job.counts["rebuilt"]) == ("reindex", JobStatus.DONE, 1)
    assert memory.app.search_index.health.lagging() == {}
    assert call(handler, {"task": "jobs"})["done"] == 0
    memory.app.parts.close()


@settings(max_examples=10, deadline=None)
@given(faults=FAULTS)
def test_whatever_one_tenant_s_reindex_raises_all_others_lost_indexes_are_filled(
    faults: dict[str, type[Exception]],
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        memory = opened(folder)
        index = Lost(memory.app.parts.index)
        memory = with_parts(memory, index=cast(Any, index))
        for name in NAMES:
            memory.add(EventDraft(content="the cat sleeps", timestamp=memory.now), scope=Scope(name, "anna"))
        memory.project()
        index.there = False
        broken = raising_for(memory, "items", "page", faults)
        with pytest.raises(tuple(faults.values())):
            broken.app.reindexing.heal(utc_now())
        begun = {name for name in NAMES if memory.app.jobs.newest(name, 10)}
        assert begun == set(NAMES) - faults.keys()
        assert memory.app.reindexing.heal(utc_now()) is False, "by whoever comes next"
        assert all(memory.app.jobs.newest(name, 10) for name in NAMES)
        memory.app.parts.close()


def test_another_embedder_s_index_is_made_and_not_filled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """To encode everything costs money: an operator asks for it."""
    memory = opened(tmp_path)
    memory.add(EventDraft(content="the cat sleeps", timestamp=memory.now))
    memory.project()
    index = Lost(memory.app.parts.index)
    monkeypatch.setattr(Lost, "generation", "another", raising=False)
    index.there = False
    memory = with_parts(memory, index=cast(Any, index))
    assert memory.app.reindexing.heal(utc_now()) is True
    assert memory.app.jobs.newest("acme", 10) == []
    memory.app.parts.close()


@pytest.mark.parametrize("by", ["stream", "reconcile"])
def test_a_projection_names_the_requests_of_its_events(
    by: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("POWERTOOLS_SERVICE_NAME", "recollect-test")
    memory = opened(tmp_path)
    for text in ("a sparrow", "an owl"):
        memory.add(EventDraft(content=text, timestamp=memory.now))
    records = [
        {"dynamodb": {"SequenceNumber": str(n), "Keys": event_key(marker.scope, marker.ref).attributes}}
        for n, marker in enumerate(memory.app.parts.projections.pending(10, None).markers)
    ]
    call(project_handler(memory.app), {"Records": records} if by == "stream" else {"task": "reconcile"})
    (line,) = [record.__dict__ for record in caplog.records if "traces" in record.__dict__]
    assert line["traces"] == sorted(str(trace_of(event_id)) for event_id in memory.ids)
    assert (line["projected"], line["failed"]) == (2, 0)
    memory.app.parts.close()
