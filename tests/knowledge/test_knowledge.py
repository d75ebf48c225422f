"""Entries of the knowledge: keys, schemas and free namespaces; strict on writing, lenient on reading."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.core.errors import InvalidInput
from recollect.knowledge.entries import (
    VALUE_BYTES,
    KnowledgeEntry,
    Namespace,
    checked_entry,
    checked_value,
    held_in,
    meanings_of,
    term_of,
)

CLIENT_NAME = (
    '{ "target": "name", "type": "synonym", "description": "Users refer to the \'name\' field as \'client_name\'" }'
)
VIP_USER = (
    '{ "condition": "orders_count > 100 AND status == \'active\'", "applies_to": ["users"], '
    '"description": "VIP users must have over 100 orders and be active" }'
)
A_RULE = {"condition": "x > 1"}
A_CORRECTION = {"instruction": "Use ISO dates", "trigger": "When asking about dates"}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=9), inner, max_size=4),
    max_leaves=20,
)


def entry(namespace: str, key: str, value: Any) -> KnowledgeEntry:
    """An entry as it would be read."""
    return KnowledgeEntry(namespace, key, value, 1, datetime(2024, 5, 1, tzinfo=UTC))


def of_bytes(size: int) -> dict[str, Any]:
    """A correction whose JSON has that many bytes."""
    bare = len(json.dumps({"instruction": "", "trigger": ""}, separators=(",", ":")))
    return {"instruction": "i" * (size - bare), "trigger": ""}


def refused(namespace: str, key: str, value: Any) -> tuple[str | int, ...]:
    """Where the entry is refused."""
    with pytest.raises(InvalidInput) as caught:
        checked_entry(namespace, key, value)
    return caught.value.loc


@pytest.mark.spec("S-11", "S-06", "S-08")
def test_the_documents_mapping_is_accepted_as_text_and_as_an_object() -> None:
    expected = {"target": "name", "description": "Users refer to the 'name' field as 'client_name'"}
    for value in (CLIENT_NAME, json.loads(CLIENT_NAME)):
        checked = checked_entry("vocabulary", "users:client_name", value)
        assert checked == {**checked, **expected}


@pytest.mark.spec("S-07", "S-09", "S-10")
def test_what_a_mapping_leaves_out_has_a_default() -> None:
    defaults = {"type": "synonym", "confidence": 1.0, "source": "user_instruction"}
    assert checked_entry("vocabulary", "users:a", {"target": "b"}) == {"target": "b", **defaults}
    whole = {"target": "b", "type": "synonym", "description": "d", "confidence": 0.5, "source": "inference"}
    assert checked_entry("vocabulary", "users:a", whole) == whole


@pytest.mark.spec("S-17", "S-12", "S-14", "S-15", "S-16")
def test_the_documents_rule_is_accepted() -> None:
    for value in (VIP_USER, json.loads(VIP_USER)):
        assert checked_entry("rule", "vip_user", value) == json.loads(VIP_USER)


@pytest.mark.spec("S-03", "S-05", "S-13", "S-19")
@pytest.mark.parametrize(
    ("namespace", "key", "value"),
    [
        *(("vocabulary", key, {"target": "t"}) for key in ("users:full_name", "orders:cost", "global:client")),
        *(("rule", key, A_RULE) for key in ("vip_user", "recent_orders", "active_account")),
        *(("correction", key, A_CORRECTION) for key in ("join_users_orders", "date_format_iso")),
    ],
)
def test_the_documents_keys_are_valid(namespace: str, key: str, value: Any) -> None:
    meanings = meanings_of([entry(namespace, key, checked_entry(namespace, key, value))])
    found = [one.key for one in meanings.terms] + [one.key for one in meanings.rules]
    assert found + [one.key for one in meanings.corrections] == [key]


@pytest.mark.spec("S-04")
def test_a_key_of_the_vocabulary_is_split_at_its_first_colon() -> None:
    assert term_of("orders:cost") == ("orders", "cost")
    assert term_of("orders:a:b") == ("orders", "a:b")
    for key in ("cost", ":cost", "orders:", " :cost", "orders: ", ":", "\u3000:\u3000"):
        assert refused("vocabulary", key, {"target": "t"}) == ("key",)
    assert checked_entry("rule", "no-colon", A_RULE)


@pytest.mark.spec("S-02", "S-06", "S-07", "S-09", "S-10", "S-14", "S-15", "S-18", "S-20", "S-21")
@pytest.mark.parametrize(
    ("namespace", "value", "loc"),
    [
        ("vocabulary", {}, ("target",)),
        ("vocabulary", {"target": ""}, ("target",)),
        ("vocabulary", {"target": " "}, ("target",)),
        ("vocabulary", {"target": None}, ("target",)),
        ("vocabulary", {"target": 1}, ("target",)),
        ("vocabulary", {"target": "x" * 257}, ("target",)),
        ("vocabulary", {"target": "\ud800"}, ("target",)),
        ("vocabulary", {"target": "t", "type": "antonym"}, ("type",)),
        ("vocabulary", {"target": "t", "description": 1}, ("description",)),
        ("vocabulary", {"target": "t", "confidence": 1.01}, ("confidence",)),
        ("vocabulary", {"target": "t", "confidence": -0.1}, ("confidence",)),
        ("vocabulary", {"target": "t", "confidence": True}, ("confidence",)),
        ("vocabulary", {"target": "t", "confidence": float("nan")}, ("confidence",)),
        ("vocabulary", {"target": "t", "confidence": 10**400}, ("confidence",)),
        ("vocabulary", {"target": "t", "confidence": "1.0"}, ("confidence",)),
        ("vocabulary", {"target": "t", "source": "model"}, ("source",)),
        ("vocabulary", {"target": "t", "source": []}, ("source",)),
        ("vocabulary", {"target": "t", "taget": "t"}, ("taget",)),
        ("rule", {}, ("condition",)),
        ("rule", {"condition": "\n"}, ("condition",)),
        ("rule", {"condition": ["a"]}, ("condition",)),
        ("rule", {**A_RULE, "applies_to": "users"}, ("applies_to",)),
        ("rule", {**A_RULE, "applies_to": ["users", 1]}, ("applies_to", 1)),
        ("rule", {**A_RULE, "applies_to": [""]}, ("applies_to", 0)),
        ("rule", {**A_RULE, "applies_to": ["s"] * 101}, ("applies_to",)),
        ("rule", {**A_RULE, "description": {}}, ("description",)),
        ("correction", {"trigger": "t"}, ("instruction",)),
        ("correction", {"instruction": "", "trigger": "t"}, ("instruction",)),
        ("correction", {"instruction": "i"}, ("trigger",)),
        ("correction", {"instruction": "i", "trigger": 5}, ("trigger",)),
        ("vocabulary", None, ()),
        ("vocabulary", [], ()),
        ("vocabulary", 5, ()),
        ("vocabulary", "[]", ()),
        ("vocabulary", "not JSON", ()),
        ("vocabulary", '{"target": "t", } // a comment', ()),
        ("vocabulary", '{"target": "t", "confidence": NaN}', ()),
        ("vocabulary", "[" * 16_000, ()),
        ("vocabulary", "\ud800", ()),
        ("correction", {"instruction": "é" * VALUE_BYTES, "trigger": ""}, ()),
        ("correction", of_bytes(VALUE_BYTES + 1), ()),
        ("vocabulary", {"target": "t", "x" * 80: 1}, ("x" * 64,)),
        ("vocabulary", {"target": "t", "\ud800": 1}, ("?",)),
        ("vocabulary", json.dumps({"target": "t", "description": "d" * VALUE_BYTES}), ()),
    ],
)
def test_what_breaks_a_schema_is_refused_where_it_does(namespace: str, value: Any, loc: tuple[str | int, ...]) -> None:
    key = "users:a" if namespace == "vocabulary" else "a"
    assert refused(namespace, key, value) == ("value", *loc)


@pytest.mark.spec("S-06", "S-09", "S-15")
@pytest.mark.parametrize(
    ("namespace", "value"),
    [
        ("vocabulary", {"target": "t" * 256, "confidence": 0, "source": "inference"}),
        ("vocabulary", {"target": "t", "confidence": 1}),
        ("rule", {"condition": "c", "applies_to": ["s"] * 100}),
        ("correction", of_bytes(VALUE_BYTES)),
        ("correction", json.dumps(of_bytes(VALUE_BYTES), separators=(",", ":"))),
    ],
)
def test_what_lies_on_a_bound_is_taken(namespace: str, value: Any) -> None:
    kept = checked_value(namespace, value)
    assert kept == {**kept, **(json.loads(value) if isinstance(value, str) else value)}


FREE = [
    {"a": [1, 2.5, None, "é"]}, [], 0, False, "text", '{"not": "read"}', {"\u2028": {}}, [[[[[[[[1]]]]]]]],
    {"a": {"b": [{"c": [{"d": [{}]}]}]}}, 2**63 - 1, -(2**63 - 1),
]  # fmt: skip
NOT_FREE = [
    float("inf"), {"a": 10**30}, ["\ud800"], {"\ud800": 1}, "é" * VALUE_BYTES, [[[[[[[[[1]]]]]]]]], {1, 2},
    [[[[[[[[[]]]]]]]]], {"a": {"b": [{"c": [{"d": [{"e": {}}]}]}]}}, 2**63,
]  # fmt: skip


@pytest.mark.spec("S-39")
@pytest.mark.parametrize("value", FREE)
def test_an_unknown_namespace_takes_any_json_as_it_is(value: Any) -> None:
    assert checked_entry("notes", "k", value) == value
    assert meanings_of([entry("notes", "k", value)]) == meanings_of([])


@pytest.mark.spec("S-39")
@pytest.mark.parametrize("value", NOT_FREE)
def test_an_unknown_namespace_takes_nothing_else(value: Any) -> None:
    assert refused("notes", "k", value)[0] == "value"


@pytest.mark.parametrize("bad", ["", ".", "..", "a\nb", "x" * 129, "\ud800"])
def test_namespaces_and_keys_are_ids(bad: str) -> None:
    assert refused(bad, "k", {}) == ("namespace",)
    assert refused("rule", bad, A_RULE) == ("key",)


@pytest.mark.spec("S-02", "S-32")
@pytest.mark.parametrize(
    ("namespace", "key", "value"),
    [
        ("vocabulary", "users:a", "not JSON"),
        ("vocabulary", "users:a", None),
        ("vocabulary", "users:a", {"type": "synonym"}),
        ("vocabulary", "colonless", {"target": "t"}),
        ("rule", "a", {"condition": 5}),
        ("rule", "a", {"condition": "c", "applies_to": "users"}),
        ("correction", "a", []),
    ],
)
def test_a_malformed_stored_value_is_skipped_and_counted(namespace: str, key: str, value: Any) -> None:
    good = entry("rule", "good", A_RULE)
    meanings = meanings_of([entry(namespace, key, value), good])
    assert (meanings.skipped, [rule.key for rule in meanings.rules]) == (1, ["good"])
    assert (meanings.terms, meanings.corrections) == ((), ())


def test_reading_takes_text_and_passes_over_fields_of_a_newer_version() -> None:
    meanings = meanings_of(
        [entry("vocabulary", "users:client_name", CLIENT_NAME), entry("rule", "r", {**A_RULE, "since": "version 9"})]
    )
    assert ([term.target for term in meanings.terms], len(meanings.rules), meanings.skipped) == (["name"], 1, 0)


@pytest.mark.spec("S-05", "S-15", "S-22")
def test_what_holds_in_a_store() -> None:
    meanings = meanings_of(
        [
            entry("vocabulary", "global:cost", {"target": "any"}),
            entry("vocabulary", "global:client", {"target": "user"}),
            entry("vocabulary", "orders:Cost", {"target": "total"}),
            entry("rule", "everywhere", A_RULE),
            entry("rule", "in_users", {**A_RULE, "applies_to": ["users"]}),
            entry("correction", "c", A_CORRECTION),
        ]
    )
    expected: dict[str | None, tuple[set[str], set[str]]] = {
        "orders": ({"orders:Cost", "global:client"}, {"everywhere"}),
        "users": ({"global:cost", "global:client"}, {"everywhere", "in_users"}),
        "Orders": ({"global:cost", "global:client"}, {"everywhere"}),
        None: ({"global:cost", "global:client", "orders:Cost"}, {"everywhere", "in_users"}),
    }
    for store, terms_and_rules in expected.items():
        held = held_in(meanings, store)
        assert ({term.key for term in held.terms}, {rule.key for rule in held.rules}) == terms_and_rules
        assert len(held.corrections) == 1


@given(namespace=st.sampled_from([*Namespace, "notes"]) | st.text(max_size=5), key=st.text(max_size=9), value=JSON)
def test_whatever_is_given_is_stored_or_refused_with_a_place(namespace: str, key: str, value: Any) -> None:
    try:
        checked = checked_entry(namespace, key, value)
    except InvalidInput:
        assert refused(namespace, key, value)[0] in ("namespace", "key", "value")
        return
    assert len(json.dumps(checked, ensure_ascii=False, allow_nan=False).encode()) <= 2 * VALUE_BYTES
    assert checked_entry(namespace, key, checked) == checked


@given(values=st.lists(JSON, max_size=5))
def test_reading_raises_on_nothing(values: list[Any]) -> None:
    entries = [entry(namespace, "a:b", value) for value in values for namespace in (*Namespace, "notes")]
    meanings = meanings_of(entries)
    told = len(meanings.terms) + len(meanings.rules) + len(meanings.corrections)
    assert told + meanings.skipped == 3 * len(values)
