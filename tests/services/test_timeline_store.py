"""The store of the timeline: segments, compaction, recovery, readiness, retention (A-52 to A-57)."""

import gzip
import threading
import uuid
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest

from recollect.archive import segments
from recollect.archive.segments import segment_name
from recollect.timeline.bus import EPISODIC_PRUNED, EPISODIC_WARNING
from samples.wrapped import Wrapped
from services.serving import LAPTOP, USER, Service, ago, now

SEGMENT_EVENTS, ROLL_EVENTS = 6, 3


@pytest.fixture
def small_segments(monkeypatch: pytest.MonkeyPatch) -> None:
    """Six events a segment, that a test need not wait for 500."""
    assert segments.SEGMENT_EVENTS == 500
    monkeypatch.setattr(segments, "SEGMENT_EVENTS", SEGMENT_EVENTS)
    monkeypatch.setattr(segments, "ROLL_EVENTS", ROLL_EVENTS)


class SlowStore(Wrapped):
    def __init__(self, part: object) -> None:
        super().__init__(part)
        self.writing, self.go_on = threading.Event(), threading.Event()

    def put_if_absent(self, tenant: str, name: str, data: bytes) -> str:
        self.writing.set()
        assert self.go_on.wait(30)
        return str(self.part.put_if_absent(tenant, name, data))


def remarks(service: Service, count: int) -> list[str]:
    """The ids of that many events, a minute apart, projected."""
    said = [{"content": f"remark {n}", "timestamp": f"2026-01-02T00:{n:02}:00Z"} for n in range(count)]
    ids = [result["event_id"] for result in service.told(*said)]
    service.settle()
    return ids


def archived(service: Service) -> list[str]:
    return [line.event.content for line in service.app.segments.contents.read(service.scope())]


def stored(service: Service) -> list[str]:
    return [event.content for event in service.app.parts.timeline.records(service.scope(), 100, None).events]


def said(*numbers: int) -> list[str]:
    return [f"remark {n}" for n in numbers]


@pytest.mark.spec("A-52")
def test_a_snapshot_recovers_the_timeline_in_a_new_store(own_service: Service, tmp_path: Path) -> None:
    remarks(own_service, 4)
    own_service.say("Paris", key="city", timestamp="2026-01-02T01:00:00Z")
    own_service.saved("saved directly")
    own_service.settle()
    snapshot_id = own_service.job("snapshot")["job_id"]
    listed = own_service.caller.get("/v1/snapshots").json["snapshots"]
    assert [one["id"] for one in listed] == [snapshot_id]
    new = emptied(own_service, tmp_path)
    assert stored(new) == []
    assert new.job("restore", snapshot_id=snapshot_id)["counts"]["created"] == 6
    new.settle()
    assert stored(new) == stored(own_service)
    ranged = {"from": "2026-01-01T00:00:00Z"}
    assert new.window(**ranged)["events"] == own_service.window(**ranged)["events"]
    assert new.memories().keys() == {"saved directly", "Paris"}
    assert new.found(query="remark 3", mode="semantic", min_similarity=0.99) == ["remark 3"]


@pytest.mark.spec("A-53")
def test_a_full_segment_becomes_an_object_and_the_open_one_waits(service: Service, small_segments: None) -> None:
    remarks(service, 2 * SEGMENT_EVENTS)
    service.say("the first of the next one")
    service.settle()
    assert service.app.segments.compact_due(now(), lambda: 900.0) is not None
    names = list(service.app.parts.snapshots.names(service.tenant, "timeline/"))
    assert [name for name in names if name.endswith(".segment")] == [
        segment_name(USER, "00000001"), segment_name(USER, "00000002"),
    ]  # fmt: skip
    manifest = service.app.segments.contents.manifest(service.scope())
    assert [(one.id, one.events) for one in manifest.segments] == [("00000001", 6), ("00000002", 6)]
    for entry in manifest.segments:
        found = service.app.parts.snapshots.get(service.tenant, segment_name(USER, entry.id))
        assert found is not None
        assert (len(found[0]), len(found[0]) < entry.raw_bytes) == (entry.bytes, True)
    assert sorted(archived(service)) == sorted(said(*range(2 * SEGMENT_EVENTS)))
    assert service.app.segments.compaction.compact(service.scope(), now()).segments == 0, "each once"


@pytest.mark.spec("A-54")
def test_writes_and_reads_go_on_while_a_segment_is_written(service: Service, small_segments: None) -> None:
    ids = remarks(service, SEGMENT_EVENTS)
    store = SlowStore(service.app.parts.snapshots)
    slow = service.with_parts(snapshots=store)
    worker = threading.Thread(target=slow.app.segments.compaction.compact, args=(service.scope(), now()))
    worker.start()
    assert store.writing.wait(30)
    service.say("said meanwhile")
    service.delete(f"events/{ids[2]}")
    service.settle()
    assert service.listed() == ["said meanwhile"]
    assert "said meanwhile" in service.found(query="said meanwhile")
    store.go_on.set()
    worker.join(30)
    assert archived(service) == said(0, 1, 3, 4, 5)


@pytest.mark.spec("A-55", "A-52")
def test_a_timeline_is_rebuilt_from_its_segments_and_a_corrupt_line_is_skipped_with_a_warning(
    own_service: Service, small_segments: None, tmp_path: Path
) -> None:
    ids = remarks(own_service, 2 * SEGMENT_EVENTS)
    own_service.app.segments.compaction.compact(own_service.scope(), now())
    assert sorted(archived(own_service.restarted())) == sorted(said(*range(2 * SEGMENT_EVENTS)))
    new = emptied(own_service, tmp_path)
    places = own_service.app.projection.steps.segments.known(own_service.scope(), ids)
    name = segment_name(USER, places[ids[2]])
    found = new.app.parts.snapshots.get(new.tenant, name)
    assert found is not None
    damaged = gzip.compress(gzip.decompress(found[0]).replace(b'"remark 2"', b'"remark X"'))
    new.app.parts.snapshots.put_if_match(new.tenant, name, damaged, found[1])
    assert new.job("restore", snapshot_id="timeline")["counts"]["created"] == 2 * SEGMENT_EVENTS - 1
    new.settle()
    assert stored(new) == said(0, 1, *range(3, 2 * SEGMENT_EVENTS))
    assert new.found(query="remark 11", mode="semantic", min_similarity=0.99) == ["remark 11"]
    warnings = new.bus(EPISODIC_WARNING)
    assert {(one["severity"], one["source"]) for one in warnings} == {("warning", name)}
    assert all(one["reason"] and one["hints"] for one in warnings)


@pytest.mark.spec("A-56")
def test_readiness_is_shown_part_by_part(service: Service, tmp_path: Path) -> None:
    answer = service.ready()
    assert (answer.status, answer.json["ready"]) == (200, True)
    assert {"timeline", "index", "embedder"} <= answer.json["parts"].keys()
    service.say("not projected yet")
    assert service.ready().json["parts"]["timeline"]["pending"] >= 1
    away = without_timeline(service, tmp_path).ready()
    assert (away.status, away.json["ready"], away.json["parts"]["timeline"]["ready"]) == (503, False, False)
    assert away.json["parts"]["embedder"]["ready"]


@pytest.mark.spec("A-57")
def test_what_is_too_old_goes_out_of_a_mixed_segment_too_and_is_counted(
    service: Service, small_segments: None, caplog: pytest.LogCaptureFixture
) -> None:
    assert service.job("retain")["counts"]["pruned"] == 0, "nothing goes without a rule"
    for days in (100, 95, 91, 89, 5, 1):
        service.say(f"{days} days ago", timestamp=ago(days=days))
    service.settle()
    kept = service.say("keyed, and old", key="city", timestamp=ago(days=200))
    service.settle()
    assert service.app.segments.compaction.compact(service.scope(), now()).segments == 1
    service.rules(retention=[{"older_than_days": 90}])
    caplog.set_level("INFO", logger="recollect")
    assert service.job("retain")["counts"]["pruned"] == 3
    service.settle()
    left = ["89 days ago", "5 days ago", "1 days ago"]
    assert stored(service) == ["keyed, and old", *left]
    assert archived(service) == left
    assert set(service.found(query="days ago")) == {*left, "keyed, and old"}
    (pruned,) = service.bus(EPISODIC_PRUNED)
    (line,) = [record.__dict__ for record in caplog.records if record.getMessage() == "pruned"]
    assert (line["events"], sorted(line["event_ids"])) == (3, sorted(pruned["ids"]))
    assert kept not in pruned["ids"]


def emptied(service: Service, tmp_path: Path) -> Service:
    """A new store that has nothing but the archive of this one."""
    if service.kind == LAPTOP:
        home = tmp_path / "new"
        copytree(service.app.settings.home / "archive", home / "archive")
        return service.elsewhere(home=home)
    name = f"svc-{uuid.uuid4().hex[:12]}"
    new = service.elsewhere(table=name, index_prefix=name)
    parts: Any = new.app.parts
    assert parts.create() == ["table", "index"]
    service.stack.callback(parts.access.client.delete_table, TableName=name)
    service.stack.callback(parts.index._client.indices.delete, index=f"{name}-*")
    return new


def without_timeline(service: Service, tmp_path: Path) -> Service:
    """A process whose database cannot be read, or is not there."""
    if service.kind != LAPTOP:
        return service.elsewhere(table="never-made")
    home = tmp_path / "broken"
    home.mkdir()
    (home / "recollect.db").write_bytes(b"this is no database" * 100)
    return service.elsewhere(home=home)
