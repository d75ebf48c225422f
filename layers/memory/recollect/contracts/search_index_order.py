"""The order of an index's candidates, and its figures, against the same by brute force."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import numpy as np
import pytest

from recollect.contracts.examples import (
    DIMENSION,
    NOW,
    SearchIndexSetting,
    a_random_vector,
    a_request,
    a_scope,
    a_vector,
    an_event,
    arm_of,
    ids_of,
    some_events,
)
from recollect.core.event import Event, Role
from recollect.core.scope import Scope
from recollect.core.vectors import FloatArray, cosine
from recollect.ports import SearchIndex
from recollect.retrieval.filters import DropReason, TimeWindow, drop_reason
from recollect.retrieval.nomination import MOST_STANDING, Arm, NominationRequest
from recollect.text.terms import TermStatistics, bm25, terms

WORDS = ["paris", "london", "rome", "berlin", "madrid", "lisbon", "vienna", "prague", "oslo", "dublin", "athens"]


def some_remarks(scope: Scope, count: int) -> list[Event]:
    """Events of one to twelve words, some words often and some seldom, decided by their number."""
    chance = np.random.default_rng(count)
    weights = np.array([2.0**-n for n in range(len(WORDS))])
    said = [chance.choice(WORDS, size=chance.integers(1, 13), p=weights / weights.sum()) for _ in range(count)]
    events = some_events(scope, count)
    return [replace(event, content=" ".join(words)) for event, words in zip(events, said, strict=True)]


def counted(event: Event) -> Counter[str]:
    """The terms of an event, none of a private one's."""
    return Counter() if event.is_private else Counter(terms(event.searchable_text))


def statistics_of(events: Sequence[Event], query: Sequence[str]) -> TermStatistics:
    """The statistics by brute force."""
    counts = [counted(event) for event in events if not event.is_private]
    frequency = {term: sum(1 for count in counts if term in count) for term in query}
    return TermStatistics(len(counts), sum(count.total() for count in counts), frequency)


def by_bm25(events: Sequence[Event], query: Sequence[str], statistics: TermStatistics | None = None) -> list[str]:
    """The ids of the events that hold a term of the query, best first; of equals the newer, then the later id."""
    statistics = statistics or statistics_of(events, query)
    scored = [(bm25(statistics, counted(e), counted(e).total(), query), e.timestamp, e.id) for e in events]
    return [event_id for score, _, event_id in sorted(_rounded(scored, 9), reverse=True) if score > 0]


def by_cosine(events: Sequence[Event], vectors: Sequence[FloatArray], query: FloatArray) -> list[str]:
    """The ids of the events by cosine, best first; of equals the newer, then the later id."""
    scored = [(cosine(v, query), e.timestamp, e.id) for e, v in zip(events, vectors, strict=True)]
    return [event_id for _, _, event_id in sorted(_rounded(scored, 6), reverse=True)]


def _rounded(scored: Sequence[tuple[float, object, str]], digits: int) -> list[tuple[float, object, str]]:
    return [(round(score, digits), moment, event_id) for score, moment, event_id in scored]


class SearchIndexOrderContract(SearchIndexSetting):
    """Engines nominate what the domain would rank first; the figures are exact."""

    def test_the_lexical_arm_goes_by_bm25_of_the_user(self, index: SearchIndex) -> None:
        scope, other = a_scope(), a_scope()
        events = some_remarks(scope, 200)
        self.put(index, scope, events)
        self.put(index, other, [replace(e, content="athens dublin") for e in some_events(other, 100)])
        for text in ("athens", "rome dublin", "paris london oslo", "the paris that nobody knows"):
            request = a_request(text, limit=200)
            assert arm_of(index.nominate(scope, request), Arm.LEXICAL) == by_bm25(events, request.terms), text

    def test_a_cut_lexical_arm_holds_the_best(self, index: SearchIndex, scope: Scope) -> None:
        events = some_remarks(scope, 300)
        self.put(index, scope, events)
        request = a_request("rome vienna oslo", limit=40)
        found = arm_of(index.nominate(scope, request), Arm.LEXICAL)
        assert len(found) == 40
        assert found[:10] == by_bm25(events, request.terms)[:10]

    def test_the_vector_arm_is_the_exact_one(self, index: SearchIndex, scope: Scope) -> None:
        events = some_events(scope, 300)
        vectors = [a_random_vector(n) for n in range(300)]
        self.put(index, scope, events, vectors)
        for seed in range(1000, 1005):
            query = a_random_vector(seed)
            found = arm_of(index.nominate(scope, a_request(vector=query, limit=20)), Arm.VECTOR)
            assert found == by_cosine(events, vectors, query)[:20]

    def test_a_query_vector_may_have_any_length(self, index: SearchIndex, scope: Scope) -> None:
        events, vectors = some_events(scope, 5), [a_random_vector(n) for n in range(5)]
        self.put(index, scope, events, vectors)
        orders = [
            arm_of(index.nominate(scope, a_request(vector=a_random_vector(9) * factor)), Arm.VECTOR)
            for factor in (np.float32(0.01), np.float32(1), np.float32(100))
        ]
        assert orders == [by_cosine(events, vectors, a_random_vector(9))] * 3

    def test_the_users_own_words_farthest_in_a_direction_are_named_apart(self, index: SearchIndex) -> None:
        scope, another = a_scope(), a_scope()
        later = {"timestamp": NOW + timedelta(seconds=1)}
        hiding = {"role": Role.BOT}, {"is_private": True}, {"expires_at": NOW}, later
        hidden = [an_event(scope, **changes) for changes in hiding]
        own = some_events(scope, MOST_STANDING + 3)
        nearness = [1.0, *(0.7 for _ in own[1:MOST_STANDING]), *(-0.5 for _ in own[MOST_STANDING:])]
        self.put(index, scope, hidden, [a_vector()] * len(hidden))
        self.put(index, scope, own, [a_vector(cosine) for cosine in nearness])
        self.put(index, replace(another, tenant=scope.tenant), [an_event(another)])
        window: dict[str, Any] = {"filters": {"window": TimeWindow(end=NOW)}}
        asked = a_request("remark", vector=a_vector(-1.0), standing=a_vector() * np.float32(30), limit=1, **window)
        found = index.nominate(scope, asked)
        ranked = arm_of(replace(found, hits=found.standing), Arm.VECTOR)
        assert (ranked[0], set(ranked)) == (own[0].id, ids_of(own[:MOST_STANDING]))
        unasked = index.nominate(scope, replace(asked, standing=None))
        assert (unasked.standing, ids_of(unasked.hits)) == ((), ids_of(found.hits))
        alone = index.nominate(scope, a_request(standing=a_vector(), **window))
        assert (alone.hits, ids_of(alone.standing)) == ((), ids_of(own[:MOST_STANDING]))
        assert all(hit.vector is not None for hit in alone.standing)

    def test_of_equals_the_newer_comes_first_then_the_later_id(self, index: SearchIndex, scope: Scope) -> None:
        events = [an_event(scope, timestamp=NOW - timedelta(days=days)) for days in (2, 1, 1, 3)]
        self.put(index, scope, events)
        found = index.nominate(scope, a_request("paris", vector=a_vector()))
        order = sorted(events, key=lambda event: (event.timestamp, event.id), reverse=True)
        assert arm_of(found, Arm.LEXICAL) == arm_of(found, Arm.VECTOR) == [event.id for event in order]
        best = index.nominate(scope, a_request("paris", limit=1))
        assert arm_of(best, Arm.LEXICAL) == [order[0].id]

    def test_each_record_comes_once_with_its_rank_in_each_arm(self, index: SearchIndex, scope: Scope) -> None:
        events = [an_event(scope, content=content) for content in ("paris", "rome", "paris paris")]
        self.put(index, scope, events, [a_vector(0.9), a_vector(1.0), a_vector(0.1)])
        found = index.nominate(scope, a_request("paris", vector=a_vector(), limit=2))
        arms = {hit.ref.id: dict(hit.arms) for hit in found.hits}
        assert len(found.hits) == len(arms) == 3
        assert arms[events[0].id] == {Arm.LEXICAL: 2, Arm.VECTOR: 2}
        assert arms[events[1].id] == {Arm.VECTOR: 1}
        assert arms[events[2].id] == {Arm.LEXICAL: 1}

    def test_nothing_asked_nominates_nothing(self, index: SearchIndex, scope: Scope) -> None:
        self.put(index, scope, [an_event(scope)])
        for request in (a_request(), a_request("the of and"), a_request(vector=np.zeros(DIMENSION, np.float32))):
            found = index.nominate(scope, request)
            assert (found.hits, found.statistics.documents, found.tally) == ((), 1, None)

    def test_a_stranger_has_no_hits_and_no_statistics(self, index: SearchIndex) -> None:
        found = index.nominate(a_scope(), a_request("paris", vector=a_vector(), count=True))
        assert (found.hits, found.statistics) == ((), TermStatistics(0, 0, {"pari": 0}))
        assert found.tally is not None
        assert (found.tally.considered, found.tally.exact) == (0, True)

    def test_records_without_a_usable_vector_are_found_by_their_words(self, index: SearchIndex, scope: Scope) -> None:
        events = [an_event(scope) for _ in range(3)]
        self.put(index, scope, events, [None, np.zeros(DIMENSION, np.float32), a_vector()])
        found = index.nominate(scope, a_request("paris", vector=a_vector()))
        assert set(arm_of(found, Arm.LEXICAL)) == ids_of(events)
        assert arm_of(found, Arm.VECTOR)[:1] == [events[2].id]
        assert {hit.ref.id for hit in found.hits if hit.vector is None} >= {events[0].id}

    @pytest.mark.parametrize(
        "text",
        [
            "naïve café",
            "Straße",
            "नमस्ते दुनिया",
            "我住在巴黎",
            "東京タワー",
            "서울",
            "Привет мир",
            "o'clock",
            "e\u0301té",
            "a1b2 C3PO",
        ],
    )
    def test_words_of_every_script_are_counted(self, index: SearchIndex, text: str, scope: Scope) -> None:
        event = an_event(scope, content=f"{text} {text}")
        self.put(index, scope, [event, an_event(scope, content="unrelated")])
        request = a_request(text)
        (hit,) = index.nominate(scope, request).hits
        assert (hit.ref.id, dict(hit.counts)) == (event.id, {t: counted(event)[t] for t in request.terms})
        assert hit.length == counted(event).total()

    def test_the_longest_words_and_many_of_them_are_found(self, index: SearchIndex, scope: Scope) -> None:
        words = [chr(0x20000 + n) * 300 for n in range(3)] + ["x" * 5_000] + [f"word{n}" for n in range(100)]
        event = an_event(scope, content=" ".join(words))
        self.put(index, scope, [event])
        request = a_request(event.content)
        (hit,) = index.nominate(scope, request).hits
        assert set(hit.counts) == set(request.terms)

    def test_statistics_are_of_the_whole_user(self, index: SearchIndex) -> None:
        scope, other = a_scope(), a_scope()
        events = some_remarks(scope, 60)
        events[0] = replace(events[0], is_private=True)
        events[1] = replace(events[1], superseded_by=events[2].id, superseded_at=NOW, version=2, key="k")
        events[3] = replace(events[3], persona_id="p", household_id="h", conversation_id="c")
        self.put(index, scope, events)
        self.put(index, other, some_remarks(other, 30))
        for narrowed in (scope, replace(scope, persona_id="p"), replace(scope, household_id="nobody")):
            request = a_request("paris rome athens unheard", filters={"conversation_id": "c"})
            assert index.nominate(narrowed, request).statistics == statistics_of(events, request.terms)

    def test_the_tally_gives_each_record_its_first_reason(self, index: SearchIndex) -> None:
        scope = a_scope(persona_id="p")
        events = [*_dropped_for_every_reason(scope), *some_events(scope, 7)]
        vectors = [a_vector(0.1 * n) for n in range(len(events) - 7)] + [a_vector(0.1 * n) for n in range(4, 11)]
        self.put(index, scope, events, vectors)
        request = a_request(
            vector=a_vector(), min_similarity=0.65, count=True, limit=1, filters={"window": TimeWindow(NOW - DAY)}
        )
        tally = index.nominate(scope, request).tally
        assert tally is not None
        assert (tally.considered, tally.exact) == (len(events), True)
        assert {r: n for r, n in tally.dropped.items() if n} == reasons_of(scope, events, vectors, request)

    def test_a_tally_without_a_threshold_drops_nothing_for_it(self, index: SearchIndex, scope: Scope) -> None:
        self.put(index, scope, some_events(scope, 3), [a_vector(0.1), a_vector(0.2), None])
        tally = index.nominate(scope, a_request("paris", vector=a_vector(), count=True)).tally
        assert tally is not None
        assert (tally.considered, [n for n in tally.dropped.values() if n], tally.exact) == (3, [], True)


DAY = timedelta(days=1)


def _dropped_for_every_reason(scope: Scope) -> list[Event]:
    """One event for each set of reasons: each reason alone, and with all those that are tried after it."""
    late_first: list[dict[str, Any]] = [
        {"timestamp": NOW - 2 * DAY},
        {"superseded_by": "another", "superseded_at": NOW, "key": "k", "version": 2},
        {"expires_at": NOW},
        {"is_private": True},
        {"persona_id": "q"},
    ]
    alone = [an_event(scope, **changes) for changes in late_first]
    together = [an_event(scope, **_merged(late_first[: n + 1])) for n in range(1, len(late_first))]
    return alone + together


def _merged(changes: Sequence[dict[str, Any]]) -> dict[str, Any]:
    return {name: value for change in changes for name, value in change.items()}


def reasons_of(
    scope: Scope, events: Sequence[Event], vectors: Sequence[FloatArray | None], request: NominationRequest
) -> Counter[DropReason]:
    """How many events each reason drops, by brute force."""
    found: Counter[DropReason] = Counter()
    for event, vector in zip(events, vectors, strict=True):
        reason = drop_reason(scope, event, request.filters)
        if reason is not None or not _reaches(event, vector, request):
            found[reason or DropReason.THRESHOLD] += 1
    return found


def _reaches(event: Event, vector: FloatArray | None, request: NominationRequest) -> bool:
    if request.vector is None:
        return not counted(event).keys().isdisjoint(request.terms)
    least = request.min_similarity
    return least is None or (vector is not None and round(cosine(vector, request.vector), 6) >= least)
