"""Quality and speed against LangGraph's InMemoryStore and mem0, all in one process and in turns (A B C, B C A …).

Runs in the bench's own environment (`rivals.py`), where they are; every system has the same embedder.
"""

from __future__ import annotations

import argparse
import json
import logging
import sqlite3
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

from infra.tools.bench.data import DataSet, Question, Turn, load, recall_table
from infra.tools.bench.ours import OurMemory, local_variables, open_watched, passage_of
from infra.tools.bench.rivals import MEM0, MEM0_PLAIN, LangGraphMemory, Mem0Memory
from infra.tools.bench.vectors import BenchEmbedder, StoredVectors, Times, quantiles, ratio
from recollect.adapters.embedders.onnx_embedder import OnnxEmbedder, PooledEmbedder, pooled
from recollect.core.vectors import TextKind

DATA_SETS = ("locomo-dev", "beam-dev")
TIMED_ADDS = 300
WARM_UP = 10
SHORT, LONG = 10, 50
CUTS = {5: SHORT, 10: SHORT, 25: LONG, 50: LONG}


class Memory(Protocol):
    """What the systems have in common here."""

    name: str

    def add(self, turn: Turn) -> None: ...
    def search(self, question: Question, k: int) -> list[str]: ...
    def close(self) -> None: ...


def main() -> None:
    """Writes the figures of all data sets as JSON."""
    options = _options()
    logging.disable(logging.WARNING)
    embedder = pooled(OnnxEmbedder(options.model))
    kept = StoredVectors(options.vectors, embedder)
    figures = {name: _duel(_data(options, name), embedder, kept, options) for name in DATA_SETS}
    options.out.write_text(json.dumps(figures, indent=1), "utf-8")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of the data sets")
    parser.add_argument("--model", type=Path, required=True, help="folder of the embedding model")
    parser.add_argument("--vectors", type=Path, required=True, help="folder in which vectors are kept between runs")
    parser.add_argument("--out", type=Path, required=True, help="the JSON file to write")
    parser.add_argument("--quick", action="store_true", help="a small part, to see that it runs")
    return parser.parse_args()


def _data(options: argparse.Namespace, name: str) -> DataSet:
    data = load(options.data / name)
    return data.shortened(1, 12) if options.quick else data


def _duel(data: DataSet, embedder: PooledEmbedder, kept: StoredVectors, options: argparse.Namespace) -> dict[str, Any]:
    """One data set: what is loaded ahead uses kept vectors, what is timed encodes as in life."""
    _prepare(data, kept)
    watched = BenchEmbedder(embedder, kept)
    with tempfile.TemporaryDirectory(prefix="recollect-bench-") as name:
        memories = _open(Path(name), options.model, watched)
        timed = _timed_turns(data, 20 if options.quick else TIMED_ADDS)
        _load(memories, [turn for turn in data.turns if turn not in timed], watched)
        adds = _time_adds(memories, timed, watched)
        searches, found = _ask(memories, data.questions, watched)
        commit = _commit_times(Path(name))
        for memory in memories:
            memory.close()
    return _figures(data, memories, adds, searches, found) | {"durable_commit": commit}


def _prepare(data: DataSet, kept: StoredVectors) -> None:
    passages = [text for turn in data.turns for text in (turn.dated_text, passage_of(turn))]
    began = time.monotonic()
    made = kept.prepare(passages, TextKind.PASSAGE) + kept.prepare([q.text for q in data.questions], TextKind.QUERY)
    print(f"{data.name}: {made} texts encoded in {time.monotonic() - began:.0f} s", flush=True)


def _open(folder: Path, model: Path, embedder: BenchEmbedder) -> list[Memory]:
    ours = OurMemory(open_watched(local_variables(folder / "ours", model), embedder))
    with_bm25 = Mem0Memory(embedder, folder / "mem0", bm25=True)
    plain = Mem0Memory(embedder, folder / "mem0-plain", bm25=False)
    return [ours, LangGraphMemory(embedder), with_bm25, plain]


def _timed_turns(data: DataSet, count: int) -> list[Turn]:
    """The last turns of each conversation, which users of all of them would add last too."""
    conversations = list(dict.fromkeys(turn.conversation for turn in data.turns))
    share = count // len(conversations)
    return [turn for name in conversations for turn in [t for t in data.turns if t.conversation == name][-share:]]


def _load(memories: Sequence[Memory], turns: Sequence[Turn], embedder: BenchEmbedder) -> None:
    embedder.live = False
    for memory in memories:
        began = time.monotonic()
        if isinstance(memory, OurMemory):
            memory.load(turns)
        else:
            for turn in turns:
                memory.add(turn)
        print(f"{memory.name}: {len(turns)} turns loaded in {time.monotonic() - began:.0f} s", flush=True)
    embedder.live = True


def _in_turns(memories: Sequence[Memory], rounds: int) -> Iterator[tuple[int, Memory]]:
    """Every memory once a round, each round begun by the next one: drift of the machine meets all alike."""
    for number in range(rounds):
        first = number % len(memories)
        for memory in (*memories[first:], *memories[:first]):
            yield number, memory


def _time_adds(memories: Sequence[Memory], turns: Sequence[Turn], embedder: BenchEmbedder) -> dict[str, Times]:
    times = {memory.name: Times() for memory in memories}
    for number, memory in _in_turns(memories, len(turns)):
        turn = turns[number]
        clock = times[memory.name] if number >= WARM_UP else Times()
        clock.measure(embedder, lambda m=memory, t=turn: m.add(t))  # type: ignore[misc]
    return times


Found = dict[str, dict[int, list[list[str]]]]


def _ask(
    memories: Sequence[Memory], questions: Sequence[Question], embedder: BenchEmbedder
) -> tuple[dict[str, Times], Found]:
    """The ten best, timed; then the fifty best with the kept vector, for what recall is at larger k."""
    times = {memory.name: Times() for memory in memories}
    found: Found = {memory.name: {SHORT: [], LONG: []} for memory in memories}
    for number, memory in _in_turns(memories, len(questions)):
        question = questions[number]
        clock = times[memory.name] if number >= WARM_UP else Times()
        embedder.live = True
        short = clock.measure(embedder, lambda m=memory, q=question: m.search(q, SHORT))  # type: ignore[misc]
        embedder.live = False
        found[memory.name][SHORT].append(short)
        found[memory.name][LONG].append(memory.search(question, LONG))
    return times, found


def _commit_times(folder: Path, commits: int = 100) -> dict[str, float]:
    """What one durable commit of SQLite costs on this disk: the floor under every durable add."""
    connection = sqlite3.connect(folder / "commit.db", isolation_level=None)
    connection.executescript("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; CREATE TABLE t (x TEXT);")
    seconds = []
    for _ in range(commits):
        began = time.perf_counter()
        connection.execute("INSERT INTO t VALUES (?)", ("x" * 500,))
        seconds.append(time.perf_counter() - began)
    connection.close()
    return quantiles(seconds)


def _figures(
    data: DataSet, memories: Sequence[Memory], adds: dict[str, Times], searches: dict[str, Times], found: Found
) -> dict[str, Any]:
    users = {turn.conversation for turn in data.turns}
    sizes = {"turns": len(data.turns), "questions": len(data.questions), "users": len(users)}
    figures: dict[str, Any] = {**sizes, "systems": {}}
    for memory in memories:
        answers = {k: found[memory.name][asked] for k, asked in CUTS.items()}
        figures["systems"][memory.name] = {
            "recall": recall_table(data.questions, answers),
            "add": adds[memory.name].figures(),
            "search": searches[memory.name].figures(),
        }
    systems = figures["systems"]
    figures["over"] = {
        rival: {kind: ratio(systems[OurMemory.name][kind], systems[rival][kind]) for kind in ("add", "search")}
        for rival in (MEM0, MEM0_PLAIN)
    }
    return figures


if __name__ == "__main__":
    main()
