"""An index filters as the reference does, whatever the filter: for the test classes of every engine."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recollect.contracts.examples import NOW, SearchIndexSetting, a_document, a_vector, an_event, seen
from recollect.core.event import Event, EventType, Role, Source
from recollect.core.filter import Condition, Filter, Not, Operator, filter_of, holds
from recollect.core.scope import Scope
from recollect.core.time import iso
from recollect.ports import SearchIndex
from recollect.retrieval.attributes import EVENT_FIELDS, NAMES, TIMES, event_fields, of_fields
from samples.filters import NUMBERS, TEXTS, VALUES, filters_of

HOUR = timedelta(hours=1)
METADATA: list[dict[str, Any]] = [
    {},
    {"a": 1, "b": "ab"},
    {"a": 1.0, "b": ["a", "A", 1, None, {"a": 2}]},
    {"a": True, "b": None, "é-1": {"a": "ß", "0": 2**53 + 1}},
    {"a": "a\x00b", "b": {"b": []}},
    {"a": 2**53, "é-1": "STRASSE * ? \\ 🙂", "unaddressable.name": {"a": 1}},
    {"a": -0.5, "b": "A" * 300, "0": [["a"], {"b": 1}]},
    {"a": 10**30, "b": "ſ", "0": {}},
    {"a": "", "b": -2, "0": "\uffff"},
]
COLUMNS: list[dict[str, Any]] = [
    {"role": Role.BOT, "source": Source.CONVERSATION, "importance": 0.0, "tags": ("a", "b")},
    {"key": "a", "title": "ß", "agent_id": "a", "importance": 0.5},
    {"key": "A b*", "space_id": "ab", "namespace": ("a", "ab"), "tags": ("A",)},
    {"persona_id": "a", "household_id": "b", "app_id": "A", "namespace": ("a",), "importance": 1.0},
    {"event_type": EventType.TASK, "expires_at": NOW + HOUR, "speaker": "SS", "category": "ab"},
    {"content": "What is paris?", "agent_id": "a", "app_id": "a", "namespace": ("a", "b")},
    {"timestamp": NOW - HOUR, "conversation_id": "a", "title": "A"},
    {"recorded_at": NOW - HOUR, "expires_at": NOW + 2 * HOUR},
    {"timestamp": NOW - 2 * HOUR, "conversation_id": "\U0001f642"},
]
_TIMES = st.sampled_from([iso(NOW + n * HOUR) for n in range(-3, 4)])
_PATHS = st.one_of(
    st.lists(st.sampled_from(["a", "b", "é-1", "0"]), max_size=2).map(lambda names: ("metadata", *names)),
    st.sampled_from(sorted(EVENT_FIELDS - TIMES)).map(lambda name: (name,)),
)
_WORDS = st.sampled_from(["user", "bot", "task", "conversation", "question", "A b*", "*", "strasse", "A" * 300, "ab"])
_IMPORTANCES = st.sampled_from([0, 0.4, 0.5, 1, 2])
_ALL_VALUES = st.one_of(VALUES, _WORDS, TEXTS, NUMBERS, st.just(["a", "ab"]))


def _condition(operator: Operator) -> st.SearchStrategy[Condition]:
    value: st.SearchStrategy[Any] = _ALL_VALUES
    if operator is Operator.EXISTS:
        value = st.booleans()
    elif operator is Operator.IN:
        value = st.lists(_ALL_VALUES, max_size=3)
    elif operator is Operator.ICONTAINS:
        value = st.one_of(TEXTS, _WORDS)
    return st.builds(Condition, _PATHS, st.just(operator), value)


_OF_TIMES = st.builds(
    Condition,
    st.sampled_from(["timestamp", "recorded_at", "expires_at"]).map(lambda name: (name,)),
    st.sampled_from([Operator.EQ, Operator.NE, Operator.GT, Operator.GTE, Operator.LT, Operator.LTE]),
    _TIMES,
)
_OF_IMPORTANCE = st.builds(
    Condition, st.just(("importance",)), st.sampled_from([Operator.EQ, Operator.NE, *list(Operator)[3:7]]), _IMPORTANCES
)
CONDITIONS: st.SearchStrategy[Filter] = st.one_of(
    st.sampled_from(list(Operator)).flatmap(_condition), _OF_TIMES, _OF_IMPORTANCE
)
FILTERS = filters_of(CONDITIONS, 4)


def events_of(scope: Scope) -> list[Event]:
    """Records with many kinds of fields."""
    mixed = [(COLUMNS[n], METADATA[m]) for n in range(len(COLUMNS)) for m in (n, (n * 2 + 1) % len(METADATA))]
    return [an_event(scope, **{"content": "I live in Paris", **columns}, metadata=rest) for columns, rest in mixed]


def told(wanted: Filter) -> bool:
    """Whether an index can tell: not of the order of tags, nor of long parts, nor of a name in lower case."""
    if isinstance(wanted, Condition):
        name, long = wanted.path[0], isinstance(wanted.value, str) and len(wanted.value) > 256
        part = wanted.operator in (Operator.CONTAINS, Operator.ICONTAINS)
        ordered = name == "tags" and wanted.operator in (Operator.EQ, Operator.NE, Operator.IN, Operator.ICONTAINS)
        folded = wanted.operator is Operator.ICONTAINS and name in NAMES
        return not (ordered or folded or (part and long))
    return all(map(told, (wanted.filter,) if isinstance(wanted, Not) else wanted.filters))


class FiltersInTheIndex(SearchIndexSetting):
    """Every record that passes is nominated, and no other one where the index can tell."""

    examples = 60

    def test_what_an_earlier_release_indexed_is_left_to_be_read_back(self, index: SearchIndex, scope: Scope) -> None:
        event = an_event(scope, metadata={"a": 1})
        self.put(index, scope, [event])
        index.put([replace(a_document(scope, event, a_vector()), attributes=())])
        for wanted in ({"metadata.a": 1}, {"metadata.a": 2}, {"not": {"metadata.a": 1}}):
            assert seen(index, scope, filters={"where": filter_of(wanted)}) == {event.id}
        assert seen(index, scope, filters={"where": filter_of({"role": "bot"})}) == set()
        assert seen(index, scope, filters={"agent_id": "helper"}) == set()

    def test_a_filter_selects_what_the_reference_selects(self, index: SearchIndex, scope: Scope) -> None:
        events = events_of(scope)
        self.put(index, scope, events)

        @settings(max_examples=self.examples, deadline=None, suppress_health_check=list(HealthCheck))
        @given(wanted=FILTERS)
        def selects(wanted: Filter) -> None:
            where = of_fields(wanted, EVENT_FIELDS)
            selected = {event.id for event in events if holds(where, event_fields(event))}
            found = seen(index, scope, filters={"where": where})
            assert selected <= found
            assert selected == found or not told(wanted)

        selects()
