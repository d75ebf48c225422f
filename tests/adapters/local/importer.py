"""A process for tests to kill: appends a fixed list of turns to a file and projects them, batch by batch.

Run with the file, the number of turns and the size of a batch. A line per acknowledged batch, then `done`.
"""

import sys
from datetime import timedelta
from pathlib import Path
from types import MappingProxyType

from recollect.adapters.local.database import Database
from recollect.adapters.local.projections import SqliteProjections
from recollect.adapters.local.search_index import SqliteSearchIndex
from recollect.adapters.local.timeline import SqliteTimeline
from recollect.contracts.examples import DIMENSION, NOW, a_document, a_random_vector, a_seed, a_write, an_event
from recollect.core.event import Event
from recollect.core.ids import IdSource
from recollect.core.scope import Scope
from recollect.timeline.timeline import Projection

SCOPE = Scope("local", "ann")
GENERATION = "test.1"


def turn(number: int, event_id: str) -> Event:
    """The turn of this number; its identity is its source_id, whatever its id."""
    moment = NOW + timedelta(seconds=number)
    return an_event(
        SCOPE,
        id=event_id,
        content=f"turn number{number} of a story about lighthouses",
        timestamp=moment,
        key="mood" if number % 7 == 0 else None,
        tags=("story",),
        is_private=number % 11 == 0,
        metadata=MappingProxyType({"source_id": f"D{number}"}),
    )


def project(database: Database) -> None:
    """Everything that is pending, as the use case does it."""
    timeline, projections = SqliteTimeline(database), SqliteProjections(database)
    index = SqliteSearchIndex(database, GENERATION, DIMENSION)
    while markers := projections.pending(50, None).markers:
        events = list(timeline.read(SCOPE, [marker.ref for marker in markers]).values())
        vectors = [a_random_vector(int(event.content.split("number")[1].split()[0])) for event in events]
        with projections.together():
            projections.save(SCOPE, [Projection(e.ref, v, GENERATION) for e, v in zip(events, vectors, strict=True)])
            for event in events:
                projections.fill_slot(SCOPE, event)
                projections.enter_conversation(SCOPE, event.conversation_id, event.recorded_at)
            index.put([a_document(SCOPE, e, v) for e, v in zip(events, vectors, strict=True)])
            projections.settle(SCOPE, [event.ref for event in events])


def main(path: str, count: int, batch: int) -> None:
    """Imports all of it from the beginning; what is there already is a duplicate."""
    database, ids = Database(Path(path)), IdSource()
    timeline = SqliteTimeline(database)
    for start in range(0, count, batch):
        seed = ids.seed(a_seed().tick >> 12, batch)
        turns = [turn(start + n, seed.nth(n)) for n in range(min(batch, count - start))]
        timeline.append(SCOPE, [a_write(SCOPE, event) for event in turns])
        print(start + len(turns), flush=True)  # noqa: T201
        project(database)
    database.close()
    print("done", flush=True)  # noqa: T201


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
