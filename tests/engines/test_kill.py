"""`kill -9` during an import on the AWS engines, then again: every turn once in the timeline and once in the index.

With each search engine; the table's own index has no bucket here, and packs nothing. RECOLLECT_TEST_TURNS and
RECOLLECT_TEST_KILLS make it longer: 3000 and 20 were run before the release.
"""

import os
import random
import signal
import time
import uuid
from collections import Counter
from pathlib import Path

import pytest

from conftest import Engines
from engines.conftest import SEARCH_ENGINES, OwnDatabase
from entrypoints.cli.running import Home, a_line, indexed_documents, write_turns
from recollect.bootstrap import open_app
from recollect.core.scope import Scope
from recollect.entrypoints.cli.search import walk
from recollect.settings import Settings

TURNS = int(os.environ.get("RECOLLECT_TEST_TURNS", "200"))
KILLS = int(os.environ.get("RECOLLECT_TEST_KILLS", "3"))
ANA = Scope("local", "ana")

pytestmark = pytest.mark.engines


@pytest.mark.parametrize("search_engine", SEARCH_ENGINES)
def test_an_import_that_is_killed_again_and_again_ends_with_every_turn_once(
    engines: Engines, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, search_engine: str
) -> None:
    name = f"kill{uuid.uuid4().hex[:8]}"
    own = {
        "RECOLLECT_ENGINES": "aws",
        "RECOLLECT_TABLE": name,
        "RECOLLECT_INDEX_PREFIX": name,
        "RECOLLECT_SEARCH_ENGINE": search_engine,
        "RECOLLECT_OPENSEARCH_URL": engines.opensearch_url if search_engine == "domain" else "",
        "RECOLLECT_CALL_TIMEOUT_SECONDS": "30",
        "AWS_ACCESS_KEY_ID": OwnDatabase.key(name),
    }
    OwnDatabase.use(monkeypatch, name)
    home, chance = Home(tmp_path / "home"), random.Random(20)
    file = write_turns(tmp_path / "turns.jsonl", TURNS)
    assert home.run("init", **own).returncode == 0
    for _ in range(KILLS):
        process = home.start("import", str(file), "--user", "ana", **own)
        time.sleep(chance.uniform(1.0, 2.5))
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=30)
    ended = home.start("import", str(file), "--user", "ana", **own)
    _, err = ended.communicate(timeout=540)
    assert ended.returncode == 0, err
    app = open_app(Settings.from_environment(home.environment(**own)))
    events = list(walk(app, ANA))
    assert Counter(e.metadata["source_id"] for e in events) == Counter(a_line(n)["turn_id"] for n in range(TURNS))
    assert [e.metadata["source_id"] for e in reversed(events)] == [a_line(n)["turn_id"] for n in range(TURNS)]
    assert indexed_documents(app, ANA) == TURNS
    assert not app.parts.projections.pending(10, None).markers
