"""What fails for one user, one tenant or one part of a scheduled run stops nothing else of it."""

import json
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from embedded.setting import Instead, Memory, open_memory, with_parts
from entrypoints.test_scheduled_handlers import call, start
from recollect.core.errors import InvalidInput, StoredDataError, UpstreamFailed, VersionMismatch
from recollect.core.items import Due, ItemKey, ItemWrite, of_tenant
from recollect.core.scope import Scope
from recollect.core.time import utc_now
from recollect.entrypoints.lambda_handlers import jobs_handler, project_handler, retain_handler
from recollect.jobs.job import QUEUE as JOBS_QUEUE
from recollect.jobs.job import JobStatus, job_key
from recollect.timeline.bus import QUEUE as OUTBOX_QUEUE
from recollect.timeline.bus import episodic_warning, outbox_write
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
