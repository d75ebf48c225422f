"""`kill -9` at random moments of an import, then again: every turn once in the timeline and once in the index.

RECOLLECT_TEST_TURNS and RECOLLECT_TEST_KILLS make it longer: 3000 and 20 were run before the release.
"""

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from entrypoints.cli.running import ANA, Home, a_line, events_of, indexed_documents, write_turns
from recollect.core.time import utc_now
from recollect.entrypoints.worker import count_pending, drain
from recollect.projection.under_way import LONGEST

TURNS = int(os.environ.get("RECOLLECT_TEST_TURNS", "600"))
KILLS = int(os.environ.get("RECOLLECT_TEST_KILLS", "6"))


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_turns(tmp_path_factory.mktemp("turns") / "turns.jsonl", TURNS)


@pytest.mark.spec("P-20", "P-25")
def test_an_import_that_is_killed_again_and_again_ends_with_every_turn_once(tmp_path: Path, file: Path) -> None:
    home = Home(tmp_path / "home")
    chance = random.Random(20)
    for _ in range(KILLS):
        process = home.start("import", str(file), "--user", "ana")
        time.sleep(chance.uniform(0.3, 1.8))
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=30)
    ended = home.run("import", str(file), "--user", "ana")
    assert ended.returncode == 0, ended.stderr
    app = home.app()
    try:
        events = events_of(app, ANA)
        counted = Counter(str(event.metadata["source_id"]) for event in events)
        assert counted == Counter(str(a_line(number)["turn_id"]) for number in range(TURNS))
        assert [e.metadata["source_id"] for e in reversed(events)] == [a_line(n)["turn_id"] for n in range(TURNS)]
        assert indexed_documents(app, ANA) == TURNS
        assert not app.parts.projections.pending(10, None).markers
    finally:
        app.parts.close()


@pytest.fixture
def heard_interrupts() -> Iterator[None]:
    """A shell's background job ignores SIGINT, and so would every process that these tests start from there."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("heard_interrupts")
def test_ctrl_c_ends_an_import_without_a_traceback(tmp_path: Path) -> None:
    home, long = Home(tmp_path / "home"), tmp_path / "long.jsonl"
    write_turns(long, 60_000)
    with home.start("import", str(long), "--user", "ana") as process:
        while not (home.folder / "recollect.db").exists():
            time.sleep(0.01)
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in err


DIES_BEFORE_THE_MARKERS_GO = """
import os, signal, sys
from recollect.bootstrap import open_app
from recollect.entrypoints.worker import drain
app = open_app()
app.parts.projections.settle = lambda scope, refs: os.kill(os.getpid(), signal.SIGKILL)
drain(app, lambda count: None)
"""


@pytest.mark.spec("P-25")
def test_dying_between_the_index_and_the_marker_leaves_every_turn_once(tmp_path: Path, file: Path) -> None:
    home = Home(tmp_path / "home")
    home.run("import", str(file), "--user", "ana", RECOLLECT_PROJECTOR="off")
    died = subprocess.run([sys.executable, "-c", DIES_BEFORE_THE_MARKERS_GO], env=home.environment(), check=False)
    assert died.returncode == -signal.SIGKILL
    app = home.app()
    try:
        assert count_pending(app) == TURNS
        assert not drain(app, lambda count: None, lambda: utc_now() + 2 * LONGEST).failures
        assert count_pending(app) == 0
        assert app.projection.failed_events.standing().retried == 0
        assert len(events_of(app, ANA)) == indexed_documents(app, ANA) == TURNS
    finally:
        app.parts.close()
