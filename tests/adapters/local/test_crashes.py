"""Killed at any moment, with two processes at once: every event once, with all its rows, and nothing lost."""

import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from recollect.adapters.local.database import FILE_NAME, Database
from recollect.adapters.local.search_index import SqliteSearchIndex
from recollect.adapters.local.timeline import SqliteTimeline
from recollect.contracts.examples import DIMENSION, a_random_vector, a_request
from recollect.retrieval.nomination import Arm

from .importer import GENERATION, SCOPE, project

IMPORTER = Path(__file__).with_name("importer.py")
TURNS = 400
BATCH = 10
KILLS = 6


def start(path: Path) -> subprocess.Popen[str]:
    command = [sys.executable, str(IMPORTER), str(path), str(TURNS), str(BATCH)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def acknowledged(process: subprocess.Popen[str], lines: int) -> int:
    """Reads that many acknowledgements; the last number that was acknowledged."""
    assert process.stdout is not None
    read = [process.stdout.readline().strip() for _ in range(lines)]
    return max((int(line) for line in read if line.isdigit()), default=0)


def counts(database: Database, statement: str) -> list[tuple[object, ...]]:
    with database.reading() as connection:
        return connection.execute(statement).fetchall()


def assert_whole(database: Database, at_least: int) -> None:
    """Each event has its record, identity, document, words if it is not private; counters are what they count."""
    with database.writing(durable=True) as connection:
        connection.execute("INSERT INTO words (words) VALUES ('integrity-check')")
    assert counts(database, "PRAGMA integrity_check") == [("ok",)]
    assert counts(database, "PRAGMA foreign_key_check") == []
    [(events,)] = counts(database, "SELECT count(*) FROM events")
    assert isinstance(events, int)
    assert events >= at_least
    assert counts(database, "SELECT count(DISTINCT event_id), count(*) FROM identities") == [(events, events)]
    whole = """SELECT count(*) FROM events e JOIN records r ON r.row = e.row
        JOIN identities i ON i.scope = e.scope AND i.event_id = e.id
        JOIN documents d ON d.scope = e.scope AND d.id = e.id
        LEFT JOIN words_content w ON w.id = d.row WHERE d.private = (w.id IS NULL)"""
    assert counts(database, whole) == [(events,)]
    settled = """SELECT count(*) FROM events e JOIN documents d ON d.scope = e.scope AND d.id = e.id
        LEFT JOIN document_vectors v ON v.row = d.row WHERE NOT d.private AND v.row IS NULL
        AND e.row NOT IN (SELECT row FROM outbox)"""
    assert counts(database, settled) == [(0,)]
    assert counts(database, "SELECT documents, terms FROM scopes") == counts(
        database, "SELECT count(*), sum(length) FROM documents WHERE NOT private"
    )


def assert_complete(database: Database) -> None:
    project(database)
    assert_whole(database, TURNS)
    newest = SqliteTimeline(database).newest(SCOPE, TURNS + 1)
    assert [event.metadata["source_id"] for event in newest] == [f"D{n}" for n in reversed(range(TURNS))]
    index = SqliteSearchIndex(database, GENERATION, DIMENSION)
    for number in (1, TURNS // 2, TURNS - 1):
        found = index.nominate(SCOPE, a_request(f"number{number}", vector=a_random_vector(number), limit=1))
        assert {arm for hit in found.hits for arm in hit.arms} == {Arm.LEXICAL, Arm.VECTOR}
        assert f"number{number}" in {term for hit in found.hits for term in hit.counts}


def test_killed_at_any_moment_and_resumed_each_event_is_there_once(tmp_path: Path) -> None:
    path, chance = tmp_path / FILE_NAME, random.Random(20250301)
    safe = 0
    for _ in range(KILLS):
        process = start(path)
        try:
            safe = max(safe, acknowledged(process, chance.randrange(1, TURNS // BATCH)))
            time.sleep(chance.random() * 0.02)
        finally:
            process.kill()
            process.communicate()
        database = Database(path)
        assert_whole(database, safe)
        database.close()
    process = start(path)
    output, _ = process.communicate(timeout=120)
    assert output.splitlines()[-1] == "done"
    database = Database(path)
    assert_complete(database)
    database.close()


def test_two_processes_import_the_same_turns_at_once(tmp_path: Path) -> None:
    path = tmp_path / FILE_NAME
    processes = [start(path), start(path)]
    try:
        outputs = [process.communicate(timeout=120)[0] for process in processes]
    finally:
        for process in processes:
            process.kill()
    assert [output.splitlines()[-1] for output in outputs] == ["done", "done"]
    database = Database(path)
    assert_complete(database)
    database.close()


def test_the_check_can_fail(tmp_path: Path) -> None:
    database = Database(tmp_path / FILE_NAME)
    with database.writing(durable=True) as connection:
        connection.execute("INSERT INTO scopes (tenant, user_id, documents) VALUES ('t', 'u', 1)")
    with pytest.raises(AssertionError):
        assert_whole(database, 0)
    database.close()
