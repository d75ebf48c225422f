"""Running the command line: in this process, and as a process of its own."""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from subprocess import Popen
from typing import Any

import httpx

from recollect.app import App
from recollect.bootstrap import open_app
from recollect.contradictions.decisions import (
    OpenConflict,
    Outcome,
    Step,
    Verdict,
    conflict_document,
    conflict_key,
    decision_about,
    settled,
)
from recollect.contradictions.judge import Relation, RelationKind
from recollect.contradictions.ledger import Deciding, DecisionWriter
from recollect.core.event import Event
from recollect.core.items import ItemWrite
from recollect.core.scope import Scope
from recollect.core.time import utc_now
from recollect.memories.reading import ReadMemories
from recollect.retrieval.filters import SearchFilters, TimeWindow
from recollect.retrieval.nomination import NominationRequest
from recollect.settings import Settings
from recollect.text.terms import query_terms
from recollect.timeline.record import EventDraft
from recollect.timeline.timeline import WindowQuery

ANA = Scope("local", "ana")
COMMAND = (sys.executable, "-m", "recollect.entrypoints.cli")


@dataclass(frozen=True, slots=True)
class Home:
    folder: Path

    def environment(self, **changes: str) -> dict[str, str]:
        own = {"RECOLLECT_HOME": str(self.folder), "RECOLLECT_EMBEDDER": "hashing", **changes}
        foreign = {name: value for name, value in os.environ.items() if not name.startswith("RECOLLECT_")}
        return {**foreign, **own}

    def start(self, *arguments: str, **changes: str) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [*COMMAND, *arguments],
            env=self.environment(**changes),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, *arguments: str, **changes: str) -> "subprocess.CompletedProcess[str]":
        return self.told("", *arguments, **changes)

    def told(self, typed: str, *arguments: str, **changes: str) -> "subprocess.CompletedProcess[str]":
        """Runs a command to its end, which reads what is typed."""
        return subprocess.run(
            [*COMMAND, *arguments],
            env=self.environment(**changes),
            input=typed,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    def app(self) -> App:
        return open_app(Settings.from_environment(self.environment()))


def events_of(app: App, scope: Scope) -> list[Event]:
    page = app.timeline.listing.window(scope, WindowQuery(now=utc_now(), window=TimeWindow(), limit=100_000))
    assert page.more is None
    return list(page.events)


def indexed_documents(app: App, scope: Scope) -> int:
    request = NominationRequest(
        filters=SearchFilters(now=utc_now()), limit=10, terms=query_terms("anything"), count=True
    )
    tally = app.parts.index.nominate(scope, request).tally
    assert tally is not None
    return tally.considered


def write_turns(file: Path, count: int, start: int = 0, **changes: Any) -> Path:
    """A file of so many turns, ten to a session, sessions a day apart."""
    with file.open("a", encoding="utf-8") as stream:
        for number in range(start, start + count):
            stream.write(json.dumps({**a_line(number), **changes}) + "\n")
    return file


def a_line(number: int) -> Mapping[str, Any]:
    """One turn; every tenth begins a new session."""
    day = number // 10
    return {
        "conversation": f"conv-{number // 500}",
        "session": day,
        "session_time": f"20{10 + day // 336:02d}-{1 + day // 28 % 12:02d}-{1 + day % 28:02d}T09:00:00",
        "turn_id": f"D{day}:{number}",
        "speaker": ("Ines", "Jonas")[number % 2],
        "text": f"remark{number} about topic{number % 7}?",  # a question: nothing of it is to be settled
    }


def say(app: App, *texts: str, days_ago: float = 0.1, at: datetime | None = None, scope: Scope = ANA) -> list[str]:
    """Stores texts a second apart, the first one at that time or so long ago; their ids."""
    start = at or utc_now() - timedelta(days=days_ago)
    drafts = [EventDraft(content=text, timestamp=start + timedelta(seconds=n)) for n, text in enumerate(texts)]
    seed = app.ids.seed(int(time.time() * 1000), len(texts) + 1)
    answer = app.timeline.events.ingest(scope, "c", drafts, seed, utc_now(), app.rules.resolved("local"))
    return [str(result.event_id) for result in answer.results]


def left_open(app: App, older: str, newer: str, scope: Scope = ANA, ended: Sequence[tuple[int, int]] = ()) -> str:
    """A conflict of which the judge was not sure, with the places that it doubts; its id."""
    at, spans = utc_now(), tuple(ended)
    made = OpenConflict(newer=newer, older=older, at=at, step=Step.JUDGE, rule="judge", confidence=0.412)
    conflict = replace(made, ended=spans)
    app.parts.items.write(scope, [ItemWrite(conflict_key(conflict.id), conflict_document(conflict))], at)
    return conflict.id


def ended_in_part(app: App, older: str, newer: str, words: str, scope: Scope = ANA) -> str:
    """A decision of the judge that these words of the older memory no longer hold; its id."""
    now = utc_now()
    stored = ReadMemories(app.parts.items).stored(scope, [older])[older]
    start = stored.memory.content.index(words)
    relation = Relation(kind=RelationKind.SUPERSEDES, rule="judge", ended=((start, start + len(words)),))
    after = settled(stored.memory, [Verdict(newer, now, relation)])
    made = decision_about(stored.memory, newer, now, Step.JUDGE, "judge", Outcome.SUPERSEDED, "the judge is sure")
    decision = replace(made, confidence=0.89)
    DecisionWriter(app.parts.items, app.ids).write(Deciding(scope, now), stored, after, [decision])
    return decision.id


def left(app: App) -> list[str]:
    """The contents of all records."""
    return [event.content for event in app.parts.timeline.records(ANA, 100, None).events]


def soon(holds: Callable[[], bool], seconds: float = 5.0) -> bool:
    """Whether it holds within so many seconds."""
    deadline = time.monotonic() + seconds
    while not holds() and time.monotonic() < deadline:
        time.sleep(0.02)
    return holds()


@contextmanager
def serving(environment: Mapping[str, str], stderr: int = subprocess.DEVNULL) -> "Iterator[tuple[str, Popen[str]]]":
    """`recollect serve` on a free port, once it is ready: host and port, and the process."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address = "127.0.0.1:{1}".format(*probe.getsockname())
    command = [*COMMAND, "serve", "--port", address.partition(":")[2]]
    process = Popen(command, env=environment, stderr=stderr, text=True)
    try:
        assert soon(lambda: process.poll() is not None or _is_ready(address), 120), "the server did not become ready"
        assert process.poll() is None, "the server ended"
        yield address, process
    finally:
        process.terminate()
        process.wait(20)


def _is_ready(address: str) -> bool:
    try:
        return httpx.get(f"http://{address}/v1/ready").status_code == 200
    except httpx.TransportError:
        return False
