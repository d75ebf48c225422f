"""Both arms against brute force over the domain's own rules; the cache against writes from elsewhere; the bounds."""

from dataclasses import replace
from datetime import timedelta
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.adapters.local import nominate_by_words as lexical_arm
from recollect.adapters.local.database import FILE_NAME, Database
from recollect.adapters.local.nominate import NominationQuery
from recollect.adapters.local.rows import find_user
from recollect.adapters.local.search_index import SqliteSearchIndex
from recollect.adapters.local.timeline import SqliteTimeline
from recollect.contracts.examples import (
    DIMENSION,
    NOW,
    a_document,
    a_random_vector,
    a_request,
    a_scope,
    a_vector,
    an_event,
    arm_of,
    some_events,
    writes_of,
)
from recollect.contracts.search_index_order import by_bm25, by_cosine, reasons_of, statistics_of
from recollect.core.errors import InvalidInput
from recollect.core.event import EventType, Json
from recollect.core.scope import Scope
from recollect.retrieval.filters import DropReason, TimeWindow, drop_reason
from recollect.retrieval.nomination import Arm
from recollect.text.terms import TermStatistics
from recollect.timeline.timeline import COUNTED_RECORDS

GENERATION = "test.1"
HOURS = [NOW - timedelta(hours=n) for n in range(4)]
WORDS = ("paris", "rome", "lyon", "日本語", "été", "кофе")


def maybe(*values: object) -> st.SearchStrategy[Any]:
    return st.sampled_from((None, *values))


METADATA: st.SearchStrategy[dict[str, Json]] = st.sampled_from([{}, {"a": 1}, {"a": 1, "b": [None]}])


EVENTS = st.fixed_dictionaries(
    {
        "content": st.lists(st.sampled_from(WORDS), max_size=5).map(" ".join),
        "persona_id": maybe("p", "q"),
        "household_id": maybe("h"),
        "conversation_id": st.sampled_from("ab"),
        "event_type": st.sampled_from([EventType.TASK, EventType.EMOTION]),
        "key": maybe("home"),
        "tags": st.sampled_from([(), ("x",), ("x", "y")]),
        "metadata": METADATA.map(MappingProxyType[str, Json]),
        "timestamp": st.sampled_from(HOURS),
        "recorded_at": st.sampled_from(HOURS),
        "expires_at": maybe(NOW, NOW + timedelta(hours=1)),
        "superseded_by": maybe("newer"),
        "is_private": st.booleans(),
    }
)
FILTERS = st.fixed_dictionaries(
    {},
    optional={
        "window": st.builds(TimeWindow, maybe(HOURS[2]), maybe(HOURS[1])),
        "as_of": maybe(HOURS[1]),
        "recorded_as_of": maybe(HOURS[1]),
        "include_superseded": st.booleans(),
        "conversation_id": maybe("a", "c"),
        "event_type": maybe("task"),
        "key": maybe("home"),
        "tags": st.sampled_from([(), ("y",), ("x", "y")]),
        "metadata": st.sampled_from([{}, {"a": 1}, {"b": [None]}]),
    },
)


@pytest.mark.parametrize("generation", [GENERATION, None], ids=["vectors", "words"])
@given(
    drafts=st.lists(st.tuples(EVENTS, maybe(0, 1, 2, 3)), max_size=25),
    filters=FILTERS,
    narrowed=st.tuples(maybe("p"), maybe("h")),
    limit=st.integers(1, 6),
    query=st.tuples(st.lists(st.sampled_from(WORDS), max_size=3).map(" ".join), maybe(0, 9), maybe(0.3)),
)
@settings(max_examples=75)
def test_the_arms_and_the_tally_are_those_of_brute_force(
    tmp_path_factory: pytest.TempPathFactory,
    generation: str | None,
    drafts: list[tuple[dict[str, Any], int | None]],
    filters: dict[str, Any],
    narrowed: tuple[str | None, str | None],
    limit: int,
    query: tuple[str, int | None, float | None],
) -> None:
    path = tmp_path_factory.getbasetemp() / "brute force" / FILE_NAME
    database, user = Database(path), a_scope()
    index = SqliteSearchIndex(database, generation, DIMENSION)
    events = [an_event(user, **draft) for draft, _ in drafts]
    vectors = [a_random_vector(number) if number is not None and generation else None for _, number in drafts]
    index.put([a_document(user, e, v) for e, v in zip(events, vectors, strict=True)])

    scope = replace(user, persona_id=narrowed[0], household_id=narrowed[1])
    text, vector_number, least = query
    vector = None if vector_number is None or generation is None else a_random_vector(vector_number)
    request = a_request(text, filters=filters, vector=vector, limit=limit, count=True, min_similarity=least)
    found = index.nominate(scope, request)
    database.close()

    statistics = statistics_of(events, request.terms)
    shown = [(e, v) for e, v in zip(events, vectors, strict=True) if drop_reason(scope, e, request.filters) is None]
    near = [(e, v) for e, v in shown if v is not None]
    assert found.statistics == statistics
    by_vector = [] if vector is None else by_cosine([e for e, _ in near], [v for _, v in near], vector)
    assert arm_of(found, Arm.VECTOR) == by_vector[:limit]
    assert arm_of(found, Arm.LEXICAL) == by_bm25([e for e, _ in shown], request.terms, statistics)[:limit]
    assert found.tally is not None
    assert (found.tally.considered, found.tally.exact) == (len(events), True)
    assert found.tally.dropped == reasons_of(scope, events, vectors, request)


@given(
    steps=st.lists(
        st.tuples(st.sampled_from(["put", "put here", "remove"]), st.integers(0, 7), st.integers(0, 3)), max_size=30
    )
)
@settings(max_examples=60)
def test_the_cache_follows_others(tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, int, int]]) -> None:
    path = tmp_path_factory.getbasetemp() / "cache" / FILE_NAME
    database, elsewhere, scope = Database(path), Database(path), a_scope()
    reader = SqliteSearchIndex(database, GENERATION, DIMENSION)
    writer = SqliteSearchIndex(elsewhere, GENERATION, DIMENSION)
    events = some_events(scope, 8, content="paris")
    present: dict[str, int] = {}
    for version, (step, number, vector) in enumerate(steps, start=1):
        event = replace(events[number], version=version)
        if step == "remove":
            writer.remove(scope, [event.id])
            present.pop(event.id, None)
        else:
            (writer if step == "put" else reader).put([a_document(scope, event, a_random_vector(vector))])
            present[event.id] = vector
        found = reader.nominate(scope, a_request("paris", vector=a_random_vector(0), count=True))
        assert {hit.ref.id for hit in found.hits} == set(present)
        for hit in found.hits:
            assert np.array_equal(hit.vector, a_random_vector(present[hit.ref.id]))  # type: ignore[arg-type]
            assert set(hit.arms) == {Arm.LEXICAL, Arm.VECTOR}
        assert found.tally is not None
        assert found.tally.considered == found.statistics.documents == len(present)
    database.close()
    elsewhere.close()


def test_a_mostly_removed_user_is_loaded_again(sqlite_index: SqliteSearchIndex, database: Database) -> None:
    scope = a_scope()
    events = some_events(scope, 1500, content="paris")
    sqlite_index.put([a_document(scope, event, a_vector()) for event in events])
    request = a_request("paris", vector=a_vector(), limit=600)
    assert len(sqlite_index.nominate(scope, request).hits) == 600
    sqlite_index.remove(scope, [event.id for event in events[:1400]])
    for _ in range(2):
        assert {hit.ref.id for hit in sqlite_index.nominate(scope, request).hits} == {e.id for e in events[1400:]}


def test_words_are_found_from_the_append_on(timeline: SqliteTimeline, sqlite_index: SqliteSearchIndex) -> None:
    scope = a_scope()
    events = [an_event(scope, content="I live in Paris"), an_event(scope, content="Paris!", is_private=True)]
    timeline.append(scope, writes_of(scope, events))
    found = sqlite_index.nominate(scope, a_request("paris", vector=a_vector(), count=True))
    assert [hit.ref for hit in found.hits] == [events[0].ref]
    assert found.hits[0].vector is None
    assert found.includes_tail
    assert found.statistics == TermStatistics(1, 2, {"pari": 1})
    assert found.tally is not None
    assert (found.tally.considered, found.tally.dropped) == (2, {DropReason.PRIVATE: 1})
    sqlite_index.put([a_document(scope, event, a_vector()) for event in events])
    projected = sqlite_index.nominate(scope, a_request("paris", vector=a_vector(), count=True))
    assert (projected.statistics, projected.tally) == (found.statistics, found.tally)
    assert projected.hits[0].vector is not None


def test_words_of_an_older_version_are_replaced(sqlite_index: SqliteSearchIndex, scope: Scope) -> None:
    event = an_event(scope)
    sqlite_index.put([a_document(scope, event)])
    sqlite_index.put([a_document(scope, replace(event, content="I live in Rome", version=2))])
    found = sqlite_index.nominate(scope, a_request("paris rome"))
    assert found.statistics == TermStatistics(1, 2, {"pari": 0, "rome": 1})
    assert [dict(hit.counts) for hit in found.hits] == [{"rome": 1}]


@pytest.mark.parametrize("generation", [GENERATION, None], ids=["vectors", "words"])
@pytest.mark.parametrize("enough", [1, 20, 5000])
def test_common_terms_nominate_nobody_beyond_the_bound(
    database: Database, monkeypatch: pytest.MonkeyPatch, enough: int, generation: str | None, scope: Scope
) -> None:
    sqlite_index = SqliteSearchIndex(database, generation)
    monkeypatch.setattr(lexical_arm, "READ_ENOUGH", enough)
    rare = [an_event(scope, content="lighthouse coffee"), an_event(scope, content="lighthouse")]
    common = some_events(scope, 50, content="coffee")
    sqlite_index.put([a_document(scope, event) for event in (*rare, *common)])
    found = sqlite_index.nominate(scope, a_request("coffee lighthouse", limit=2))
    assert {hit.ref.id for hit in found.hits} == {event.id for event in rare}
    assert {tuple(hit.counts.values()) for hit in found.hits} == {(1, 1), (1,)}
    assert found.statistics.document_frequency == {"coffe": 51, "lighthous": 2}
    more = sqlite_index.nominate(scope, a_request("coffee lighthouse", limit=10))
    assert len(more.hits) == 10


def test_beyond_ten_thousand_the_tally_is_of_the_last_to_arrive(
    sqlite_index: SqliteSearchIndex, database: Database, scope: Scope
) -> None:
    first = [an_event(scope, content="paris", persona_id="q") for _ in range(7)]
    rest = [an_event(scope, content="paris" if n % 2 else "rome") for n in range(COUNTED_RECORDS)]
    sqlite_index.put([a_document(scope, event) for event in (*first, *rest)])
    for index in (sqlite_index, SqliteSearchIndex(database, None)):
        tally = index.nominate(scope, a_request("paris", count=True)).tally
        assert tally is not None
        assert (tally.considered, tally.exact) == (COUNTED_RECORDS, False)
        assert tally.dropped == {DropReason.THRESHOLD: COUNTED_RECORDS // 2}


def test_a_vector_of_another_length_is_refused(sqlite_index: SqliteSearchIndex, scope: Scope) -> None:
    good, bad = some_events(scope, 2, content="paris")
    wrong = np.ones(DIMENSION + 1, dtype=np.float32)
    [failure] = sqlite_index.put([a_document(scope, good, a_vector()), a_document(scope, bad, wrong)])
    assert (failure.event_id, failure.retryable) == (bad.id, False)
    with pytest.raises(InvalidInput):
        sqlite_index.nominate(scope, a_request(vector=wrong))
    assert len(sqlite_index.nominate(scope, a_request("paris", vector=a_vector())).hits) == 1


def test_a_reader_with_an_older_view_shows_nothing_newer(database: Database, sqlite_index: SqliteSearchIndex) -> None:
    scope = a_scope()
    old, new = some_events(scope, 2, content="paris")
    sqlite_index.put([a_document(scope, old, a_vector())])
    request = a_request("paris", vector=a_vector())
    with database.reading() as connection:
        user = find_user(connection, scope)
        assert user is not None
        sqlite_index.put([a_document(scope, new, a_vector())])
        assert len(sqlite_index.nominate(scope, request).hits) == 2
        assert sqlite_index._cache is not None
        with sqlite_index._cache.columns(connection, user) as columns:
            found = NominationQuery(connection, scope, user, columns, request).nominations()
    assert [hit.ref.id for hit in found.hits] == [old.id]
    assert found.statistics.documents == 1
