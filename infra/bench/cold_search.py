"""The first vector search of a user in a process of its own: time, memory, and the exact scan by itself. Prints JSON.

.venv/bin/python infra/bench/cold_search.py FILE TENANT USER GENERATION
"""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from bench_scores import quantiles

from recollect.adapters.local.database import Database
from recollect.adapters.local.nominate import VectorArm
from recollect.adapters.local.rows import find_user
from recollect.adapters.local.search_index import SqliteSearchIndex
from recollect.core.scope import Scope
from recollect.core.vectors import FloatArray, unpack_vector
from recollect.retrieval.filters import SearchFilters
from recollect.retrieval.nomination import NominationRequest

NOMINATED = 80  # as many as the default search asks of each arm
SCANS = 21
_LATER = datetime(2100, 1, 1, tzinfo=UTC)
_SAMPLE_SECONDS = 0.005
_ONE_OF_THEM = """SELECT v.vector FROM document_vectors v JOIN documents d ON d.row = v.row
    JOIN scopes s ON s.id = d.scope WHERE s.tenant = ? AND s.user_id = ? AND v.generation = ? LIMIT 1"""


def cold_search(file: Path, scope: Scope, generation: str) -> dict[str, float]:
    """Milliseconds, and megabytes of memory that belong to no file.

    `added_mb` is what stays for the columns, `peak_mb` the most while they were read, `matrix_mb` the vectors as
    bare float32, `scan` the cosine to all vectors and the choice of the leading 80.
    """
    database = Database(file)
    index = SqliteSearchIndex(database, generation)
    with database.reading() as connection:
        query = unpack_vector(connection.execute(_ONE_OF_THEM, (scope.tenant, scope.user_id, generation)).fetchone()[0])
    request = NominationRequest(filters=SearchFilters(now=_LATER), limit=NOMINATED, vector=query)
    before = _anonymous_mb()
    with _peak() as peak:
        first = _milliseconds(lambda: index.nominate(scope, request))
    added, again = _anonymous_mb() - before, _milliseconds(lambda: index.nominate(scope, request))
    scan, size = _scans(database, index, scope, query)
    figures = {"first_ms": first, "again_ms": again, "added_mb": added, "peak_mb": peak[0] - before}
    return figures | {
        "matrix_mb": size * len(query) * 4 / 1e6,
        "scan_p50_ms": scan["p50_ms"],
        "scan_p95_ms": scan["p95_ms"],
    }


def _scans(
    database: Database, index: SqliteSearchIndex, scope: Scope, query: FloatArray
) -> tuple[dict[str, float], int]:
    seconds = []
    with database.reading() as connection:
        user = find_user(connection, scope)
        assert user is not None
        with index._cache.columns(connection, user) as columns:
            everything = columns["alive"]
            for _ in range(SCANS):
                scan = _milliseconds(lambda: VectorArm(columns, query).leading(everything, NOMINATED))
                seconds.append(scan / 1000)
            return quantiles(seconds), len(columns)


def _milliseconds(call: Callable[[], object]) -> float:
    began = time.perf_counter()
    call()
    return 1000 * (time.perf_counter() - began)


@contextmanager
def _peak() -> Iterator[list[float]]:
    """The most seen while the block ran."""
    most, ended = [_anonymous_mb()], threading.Event()

    def watch() -> None:
        while not ended.wait(_SAMPLE_SECONDS):
            most[0] = max(most[0], _anonymous_mb())

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield most
    finally:
        ended.set()
        watcher.join()
        most[0] = max(most[0], _anonymous_mb())


def _anonymous_mb() -> float:
    """Without the pages of files, which the system takes back when it needs them."""
    lines = Path("/proc/self/status").read_text("ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("RssAnon")) * 1024 / 1e6


def main() -> None:
    """The command line."""
    file, tenant, user, generation = sys.argv[1:]
    print(json.dumps(cold_search(Path(file), Scope(tenant, user), generation)))


if __name__ == "__main__":
    main()
