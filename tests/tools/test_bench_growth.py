"""The benches of growth and of stored vectors: what the bulk loader leaves, what is counted, what the page says."""

import importlib
import json
import sqlite3
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from recollect.adapters.embedders.hashing import HashingEmbedder

BENCH = Path(__file__).resolve().parents[2] / "infra" / "bench"
MODULES = ("bench_data", "bench_ours", "bench_vectors", "scale", "bulk", "growth", "scale_page", "vector_storage")
BEGAN = datetime(2024, 5, 1, 12, tzinfo=UTC)
TURNS = 30
# What a store holds of each event, but for ids, row numbers and revisions; in the order in which it was said.
HELD = (
    "SELECT timestamp, expires_at, conversation, persona, household, event_type, importance, key, version FROM events",
    "SELECT e.timestamp, json_remove(r.record, '$.id') FROM events e JOIN records r ON r.row = e.row",
    "SELECT identity, conversation FROM identities",
    "SELECT timestamp, generation, vector FROM projections",
    """SELECT d.timestamp, d.version, d.recorded_at, d.conversation, d.event_type, d.source, d.role, d.speaker,
        d.importance, d.private, d.superseded, d.length, v.generation, v.vector
        FROM documents d LEFT JOIN document_vectors v ON v.row = d.row""",
    "SELECT d.timestamp, w.terms FROM words w JOIN documents d ON d.row = w.rowid",
    "SELECT d.timestamp, l.label FROM labels l JOIN documents d ON d.row = l.row",
    "SELECT id, started_at FROM conversations",
    "SELECT user_id, documents, terms FROM scopes",
    "SELECT row FROM outbox",
)


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> dict[str, ModuleType]:
    monkeypatch.syspath_prepend(str(BENCH))
    made = {name: importlib.import_module(name) for name in MODULES}
    monkeypatch.setattr(made["growth"], "local_variables", variables)
    monkeypatch.setattr(made["vector_storage"], "local_variables", variables)
    return made


def variables(folder: Path, _model: Path) -> dict[str, str]:
    return {"RECOLLECT_HOME": str(folder), "RECOLLECT_EMBEDDER": "hashing"}


@pytest.fixture
def data(bench: dict[str, ModuleType]) -> Any:
    """Thirty turns in two conversations, an hour apart; a question about one of them in each."""
    texts = [f"I walked {number} miles to the harbour" for number in range(TURNS)]
    turns = tuple(
        bench["bench_data"].Turn(f"c{number % 2}", str(number), "Ann", text, BEGAN + timedelta(hours=number))
        for number, text in enumerate(texts)
    )
    asked = [(f"c{number % 2}", f"who walked {number} miles?", frozenset({str(number)})) for number in (4, 7)]
    questions = [bench["bench_data"].Question(c, text, "any", gold, BEGAN) for c, text, gold in asked]
    return bench["bench_data"].DataSet("small", turns, tuple(questions * 5))


@pytest.fixture
def kept(bench: dict[str, ModuleType], data: Any, tmp_path: Path) -> Any:
    kept = bench["bench_vectors"].KeptVectors(tmp_path, HashingEmbedder())
    kept.prepare([bench["bench_ours"].passage_of(turn) for turn in data.turns], "passage")
    kept.prepare([question.text for question in data.questions], "query")
    return kept


def held(folder: Path) -> list[Any]:
    connection = sqlite3.connect(folder / "recollect.db")
    found = [sorted(connection.execute(query), key=repr) for query in HELD]
    connection.close()
    return found


def test_the_bulk_loader_leaves_what_the_ports_leave(
    bench: dict[str, ModuleType], data: Any, kept: Any, tmp_path: Path
) -> None:
    embedder = bench["bench_vectors"].BenchEmbedder(HashingEmbedder(), kept)
    turns = list(bench["scale"].repeated(data, 2 * TURNS + 5))
    for name in ("ports", "bulk"):
        app = bench["bench_ours"].open_watched(variables(tmp_path / name, tmp_path), embedder)
        if name == "ports":
            bench["scale"].Loader(app, kept).load("u", turns, writers=1)
        else:
            bench["bulk"].BulkLoader(app, kept).load(bench["bulk"].Said("u", *turn) for turn in turns)
        app.parts.close()
    by_ports, by_bulk = held(tmp_path / "ports"), held(tmp_path / "bulk")
    for query, ours, theirs in zip(HELD, by_bulk, by_ports, strict=True):
        assert ours == theirs, query
    assert [len(rows) for rows in by_bulk[:4]] == [2 * TURNS + 5] * 4
    assert all(row[-1] for row in by_bulk[4])


@pytest.fixture
def figures(bench: dict[str, ModuleType], data: Any, kept: Any, tmp_path: Path) -> dict[str, Any]:
    embedder = bench["bench_vectors"].BenchEmbedder(HashingEmbedder(), kept)
    made: dict[str, Any] = bench["growth"].local_growth(data, embedder, kept, tmp_path, (20, 80), 12)
    return made


def test_growth_is_measured_at_each_size_and_in_a_crowd(bench: dict[str, ModuleType], figures: dict[str, Any]) -> None:
    json.dumps(figures)
    by_events, crowd = figures["one_user"]["by_events"], figures["crowd"]
    assert list(by_events) == ["20", "80"]
    for size, one in by_events.items():
        assert one["search"]["whole"]["count"] == one["context"]["whole"]["count"] == 5
        assert one["cold"]["matrix_mb"] == pytest.approx(int(size) * HashingEmbedder().dimension * 4 / 1e6)
        assert one["cold"]["peak_mb"] >= one["cold"]["added_mb"] - 1
    assert figures["one_user"]["ratio"]["search"]["20"] == {"whole": 1.0, "rest": 1.0}
    assert (crowd["users"], crowd["events"]) == (12, 120)
    assert crowd["first_search"]["between"] == 6
    assert set(crowd["search"]) == {"alone", "crowd"}


def test_the_page_tells_where_the_scan_costs_more_than_encoding(
    bench: dict[str, ModuleType], figures: dict[str, Any]
) -> None:
    part = bench["scale_page"].growth_part({"local-growth": figures})
    assert "| 80 | search |" in part
    assert "120 events of 12 users" in part
    reached = bench["scale_page"]._reached
    curve = [(1_000, 1.0), (10_000, 10.0), (100_000, 100.0)]
    assert reached(curve, 31.7) == "about 32,000"
    assert reached(curve, 200.0) == "more than 100,000"
    assert reached(curve, 0.5) == "less than 1,000"


@pytest.mark.parametrize(("form", "size"), [("float32", 4 * 16), ("float16", 2 * 16), ("int8", 16 + 4)])
def test_a_form_keeps_so_many_bytes_and_is_so_near(bench: dict[str, ModuleType], form: str, size: int) -> None:
    vectors = np.random.default_rng(3).standard_normal((3_000, 16)).astype(np.float32)
    vectors[7] = 0
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    stored = bench["vector_storage"].stored_as(form, vectors)
    assert stored.nbytes == size * len(vectors)
    exact = vectors @ vectors[0]
    worst = {"float32": 1e-6, "float16": 1e-3, "int8": 2e-2}[form]
    assert np.abs(stored.dots(vectors[0]) - exact).max() < worst
    assert np.allclose(stored.dots(vectors[0]), stored.restored() @ vectors[0], atol=1e-5)


def test_recall_by_form_is_of_the_stored_vectors(
    bench: dict[str, ModuleType], data: Any, kept: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage = bench["vector_storage"]
    monkeypatch.setattr(storage, "SCANNED", 500)
    embedder = bench["bench_vectors"].BenchEmbedder(HashingEmbedder(), kept)
    made = storage.vector_storage([data], embedder, kept, tmp_path)
    json.dumps(made)
    assert made["cosine"]["small"]["float32"]["same"] == 1
    assert set(made["hybrid"]["small"]) == {"float16", "int8"}
    dimension = HashingEmbedder().dimension
    assert made["scan"]["int8"]["megabytes"] == pytest.approx(500 * (dimension + 4) / 1e6)
    part = bench["scale_page"].storage_part({"vector-storage": made})
    assert "| int8 |" in part
    turned = {"float32": 1, "float16": 1, "int8": -1}
    monkeypatch.setattr(storage, "stored_as", lambda form, vectors: storage.Stored(turned[form] * vectors))
    by_form = storage._by_cosine(data, kept)
    assert by_form["int8"]["recall"] < by_form["float32"]["recall"]
    assert by_form["int8"]["same"] < by_form["float16"]["same"] == 1
