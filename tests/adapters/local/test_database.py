"""The file: what opens it, what is refused, how SQLite's errors arrive, and that threads and connections share it."""

import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from recollect.adapters.local import database as database_module
from recollect.adapters.local.database import FILE_NAME, FORMAT_VERSION, Database
from recollect.adapters.local.projections import SqliteProjections
from recollect.adapters.local.timeline import SqliteTimeline
from recollect.contracts.examples import a_scope, a_write, an_event, append_event
from recollect.core.errors import NotReady, StoredDataError, Throttled, Unavailable
from recollect.core.scope import Scope
from recollect.timeline.timeline import Projection


def test_a_file_of_a_newer_release_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / FILE_NAME
    Database(path).close()
    with sqlite3.connect(path) as connection:
        connection.execute(f"PRAGMA user_version = {FORMAT_VERSION + 1}")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(StoredDataError, match=f"format {FORMAT_VERSION + 1}"):
        Database(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize(("content", "said"), [(None, "another program"), (b"not a database, but long" * 200, None)])
def test_a_file_that_is_not_ours_is_refused(tmp_path: Path, content: bytes | None, said: str | None) -> None:
    path = tmp_path / FILE_NAME
    if content is not None:
        path.write_bytes(content)
    else:
        with sqlite3.connect(path) as connection:
            connection.execute("CREATE TABLE theirs (a)")
        connection.close()
    with pytest.raises(StoredDataError, match=said):
        Database(path)


def test_a_folder_that_cannot_be_made_is_unavailable(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(Unavailable):
        Database(tmp_path / "file" / FILE_NAME)


def test_without_fts5_it_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Bare(database_module._Connection):
        def execute(self, sql: str, *parameters: object) -> sqlite3.Cursor:
            return super().execute(sql.replace("'fts5'", "'no such module'"), *parameters)  # type: ignore[arg-type]

    monkeypatch.setattr(database_module, "_Connection", Bare)
    with pytest.raises(NotReady, match="FTS5"):
        Database(tmp_path / FILE_NAME)


def test_many_open_a_new_file_at_once(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        databases = list(pool.map(lambda _: Database(tmp_path / FILE_NAME), range(8)))
    for database in databases:
        with database.reading() as connection:
            assert connection.execute("PRAGMA user_version").fetchone() == (FORMAT_VERSION,)
        database.close()


def test_a_file_that_another_process_makes_meanwhile_is_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between any two statements of the first look at the file, the other process may have made it."""
    seen: list[str] = []

    class Slow(database_module._Connection):
        def execute(self, statement: str, *given: Any) -> sqlite3.Cursor:
            found = super().execute(statement, *given)
            if not seen and statement in ("PRAGMA application_id", "SELECT 1 FROM sqlite_master"):
                seen.append(statement)
                rows = found.fetchall()
                Database(tmp_path / FILE_NAME).close()
                return super().execute("SELECT ?" if rows else "SELECT ? WHERE 0", rows[0] if rows else (0,))
            return found

    monkeypatch.setattr(database_module, "_Connection", Slow)
    Database(tmp_path / FILE_NAME).close()
    assert seen


def test_the_file_is_in_wal_mode_and_evidence_waits_for_the_disk(database: Database) -> None:
    with database.writing(durable=True) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert connection.execute("PRAGMA synchronous").fetchone() == (2,)
        assert connection.execute("PRAGMA foreign_keys").fetchone() == (1,)
    for durable in (False, True, True, False, False, True):
        with database.writing(durable=durable) as connection:
            assert connection.execute("PRAGMA synchronous").fetchone() == (2 if durable else 1,)


def test_another_process_that_writes_too_long_is_throttling(tmp_path: Path, scope: Scope) -> None:
    ours, theirs = Database(tmp_path / FILE_NAME, busy_seconds=0.05), Database(tmp_path / FILE_NAME)
    with theirs.writing(durable=False), pytest.raises(Throttled) as raised:
        SqliteTimeline(ours).append(scope, [a_write(scope, an_event(scope))])
    assert raised.value.retry_after_seconds
    assert SqliteTimeline(ours).newest(scope, 1) == []
    ours.close()
    theirs.close()


def test_another_thread_that_writes_too_long_is_throttling(tmp_path: Path) -> None:
    database = Database(tmp_path / FILE_NAME, busy_seconds=0.05)
    entered, leave = threading.Event(), threading.Event()

    def write() -> None:
        with database.writing(durable=False):
            entered.set()
            leave.wait(5)

    with ThreadPoolExecutor(1) as pool:
        writer = pool.submit(write)
        entered.wait(5)
        with pytest.raises(Throttled), database.writing(durable=False):
            pass
        leave.set()
        writer.result()
    database.close()


def test_readers_do_not_wait_for_a_writer(tmp_path: Path) -> None:
    database = Database(tmp_path / FILE_NAME, busy_seconds=0.05)
    timeline, scope = SqliteTimeline(database), a_scope()
    event = append_event(timeline, scope)
    with database.writing(durable=False) as connection:
        connection.execute("DELETE FROM records")
        assert timeline.newest(scope, 1) == [event]
    assert timeline.find(scope, event.id) is None
    database.close()


def test_so_many_threads_read_at_once_and_the_others_wait_for_their_turn(tmp_path: Path) -> None:
    database, both = Database(tmp_path / FILE_NAME, readers=2), threading.Barrier(2, timeout=20)
    inside: list[int] = []
    most: list[int] = []

    def read(thread: int) -> int:
        with database.reading() as connection:
            inside.append(thread)
            both.wait()
            most.append(len(inside))
            both.wait()
            inside.remove(thread)
            return int(connection.execute("SELECT 1").fetchone()[0])

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(read, range(8))) == [1] * 8
    assert most == [2] * 8, "two at once, and never three"
    assert len(database._idle) == 2, "what no thread reads with is not held open"
    database.close()


def test_a_read_that_fails_makes_room_for_the_next(tmp_path: Path) -> None:
    database = Database(tmp_path / FILE_NAME, readers=1)
    for _ in range(2):
        with pytest.raises(KeyError), database.reading():
            raise KeyError
    with database.reading() as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)
    database.close()


def test_what_fails_inside_a_transaction_leaves_nothing(database: Database) -> None:
    def fail_half_way() -> None:
        with database.writing(durable=True) as connection:
            connection.execute("INSERT INTO scopes (tenant, user_id) VALUES ('t', 'u')")
            raise KeyError

    with pytest.raises(KeyError):
        fail_half_way()
    with database.reading() as connection:
        assert connection.execute("SELECT count(*) FROM scopes").fetchone() == (0,)


ENTER = "INSERT INTO scopes (tenant, user_id) VALUES ('t', ?)"


def users(database: Database) -> list[str]:
    with database.reading() as connection:
        return [user for (user,) in connection.execute("SELECT user_id FROM scopes ORDER BY user_id")]


def enter(database: Database, user: str) -> None:
    with database.writing(durable=False) as connection:
        connection.execute(ENTER, (user,))


def test_what_is_written_together_is_one_transaction(tmp_path: Path, database: Database) -> None:
    other = Database(tmp_path / FILE_NAME)
    with database.together():
        enter(database, "a")
        with database.together():
            enter(database, "b")
        assert (users(database), users(other)) == (["a", "b"], [])
        with ThreadPoolExecutor(1) as pool:
            assert pool.submit(users, database).result() == []
    assert users(other) == ["a", "b"]
    other.close()


def test_a_part_that_fails_takes_back_itself_alone(database: Database) -> None:
    def fail() -> None:
        with database.writing(durable=False) as connection:
            connection.execute(ENTER, ("b",))
            raise KeyError

    with database.together():
        enter(database, "a")
        with pytest.raises(KeyError):
            fail()
        enter(database, "c")
    assert users(database) == ["a", "c"]


def test_what_fails_outside_its_parts_takes_back_all(database: Database) -> None:
    def fail() -> None:
        with database.together():
            enter(database, "a")
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert users(database) == []
    enter(database, "b")
    assert users(database) == ["b"]


def test_after_sqlite_ended_the_whole_no_part_is_written(database: Database) -> None:
    """As a full disk does: SQLite rolls back by itself, and what comes later must not stand without what was before."""

    def end() -> None:
        with database.writing(durable=False) as connection:
            connection.execute("ROLLBACK")

    def write() -> None:
        with database.together():
            enter(database, "a")
            with pytest.raises(sqlite3.OperationalError):
                end()
            with pytest.raises(Unavailable):
                enter(database, "b")

    with pytest.raises(Unavailable):
        write()
    assert users(database) == []


def test_what_must_be_on_the_disk_joins_no_others(database: Database) -> None:
    with pytest.raises(RuntimeError), database.together(), database.writing(durable=True):
        pass


def test_a_defect_of_ours_is_not_disguised(database: Database) -> None:
    with pytest.raises(sqlite3.OperationalError), database.reading() as connection:
        connection.execute("SELECT nonsense FROM nowhere")


def test_a_closed_database_says_so(database: Database) -> None:
    database.close()
    with pytest.raises(NotReady), database.reading():
        pass
    database.close()


def test_a_file_of_before_segments_stood_with_the_vectors_is_read_as_it_is(tmp_path: Path, scope: Scope) -> None:
    database = Database(tmp_path / FILE_NAME)
    event = append_event(SqliteTimeline(database), scope)
    SqliteProjections(database).save(scope, [Projection(event.ref, None, None)])
    with database.writing(durable=True) as connection:
        connection.execute("DROP TABLE segment_places")
    database.close()
    for _ in range(2):
        database = Database(tmp_path / FILE_NAME)
        projections = SqliteProjections(database)
        assert projections.vectors(scope, [event.id]).keys() == {event.id}
        projections.place(scope, event, 3)
        assert projections.places(scope, [event.id])[event.id].segment == 3
        database.close()


def test_nothing_is_left_of_the_log_after_closing(tmp_path: Path, scope: Scope) -> None:
    database = Database(tmp_path / FILE_NAME)
    SqliteTimeline(database).append(scope, [a_write(scope, an_event(scope))])
    database.close()
    assert [path.name for path in tmp_path.iterdir()] == [FILE_NAME]


def test_an_interrupt_after_the_tables_are_committed_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Interrupted(database_module._Connection):
        def execute(self, sql: str, *parameters: Any) -> sqlite3.Cursor:
            cursor = super().execute(sql, *parameters)
            if sql == "COMMIT":
                raise KeyboardInterrupt
            return cursor

    with monkeypatch.context() as patched:
        patched.setattr(database_module, "_Connection", Interrupted)
        with pytest.raises(KeyboardInterrupt):
            Database(tmp_path / FILE_NAME)
    Database(tmp_path / FILE_NAME).close()
