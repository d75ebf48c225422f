"""Rules from JSON: merged by name, with every fault at its path, and their bounds in words."""

import json
import math
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.core.event import SPOKEN_TYPES, ContentType
from recollect.rules.groups import ContextRules, RetentionRule, Rules, document_of
from recollect.rules.importance import extract_tags, score
from recollect.rules.reading import MOST_BYTES, MOST_POLICIES, read_rules, read_rules_json, shown_path
from recollect.rules.values import MOST_FAULTS, Choice, Choices, Flag, Number, Table, Texts

RULES = Rules()

SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.just("\ud800")
ANYTHING = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
TEXTS = st.lists(st.text(min_size=1, max_size=12).filter(str.strip), max_size=4)
SHARES = st.floats(0, 1)
PLACES = st.integers(0, 50)
EVENT_TYPES = st.lists(st.sampled_from([one.value for one in SPOKEN_TYPES]), max_size=3)
POLICIES = st.fixed_dictionaries(
    {"older_than_days": st.floats(0.01, 36525)},
    optional={
        "event_types": EVENT_TYPES,
        "below_importance": SHARES,
        "keep_keyed": st.booleans(),
        "archive": st.booleans(),
    },
)


def optional(**parts: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """An object with any of these."""
    return st.fixed_dictionaries({}, optional=parts)


GOOD = optional(
    scoring=optional(
        base=st.dictionaries(st.sampled_from([one.value for one in ContentType]), SHARES),
        boost=SHARES,
        keywords=TEXTS,
    ),
    tags=st.dictionaries(st.text(min_size=1, max_size=8).filter(str.strip), TEXTS, max_size=3),
    web_search=optional(keywords=TEXTS, patterns=TEXTS, temporal=TEXTS),
    matching=optional(word_boundary=st.booleans()),
    context=optional(total=PLACES, recent=PLACES, decay_half_life_days=st.none() | st.floats(0.1, 1000)),
    summary=optional(messages=st.integers(1, 10_000), raw_window=PLACES),
    bridge=optional(enabled=st.booleans(), min_importance=SHARES, event_types=EVENT_TYPES),
    retention=st.lists(POLICIES, max_size=3),
    conflict=optional(auto_apply=st.sampled_from(["judged", "all", "off"]), semantic_threshold=SHARES),
    intent=optional(max_results=st.integers(0, 100), require_match=st.booleans()),
    limits=optional(index_capacity=st.none() | st.integers(1, 10**12)),
    logging=optional(content=st.booleans()),
)


def good(document: Any, base: Rules = RULES) -> Rules:
    """The rules of a document in which nothing is wrong."""
    reading = read_rules(document, base)
    assert reading.faults == ()
    return reading.rules


def faults(document: Any) -> dict[str, str]:
    """Path to message of all that is wrong."""
    return {shown_path(fault.path): fault.message for fault in read_rules(document, RULES).faults}


@given(GOOD)
def test_rules_come_back_from_their_document_as_they_were(document: dict[str, Any]) -> None:
    rules = good(document)
    written = json.loads(json.dumps(document_of(rules)))
    assert good(written) == rules
    assert good(written).version == rules.version
    assert document_of(good(written)) == document_of(rules)


@given(GOOD)
def test_merging_the_same_document_again_changes_nothing(document: dict[str, Any]) -> None:
    once = good(document)
    assert good(document, once) == once


@given(GOOD, GOOD)
def test_of_two_documents_the_later_one_decides_and_the_earlier_keeps_what_is_not_named(
    first: dict[str, Any], second: dict[str, Any]
) -> None:
    both = document_of(good(second, good(first)))
    alone = document_of(good(first))
    for group, rules in alone.items():
        if group not in second:
            assert both[group] == rules
    if "keywords" in second.get("scoring", {}):
        assert both["scoring"]["keywords"] == second["scoring"]["keywords"]


@given(ANYTHING | st.dictionaries(st.sampled_from([*document_of(RULES), "odd"]), ANYTHING, max_size=5))
def test_whatever_the_document_is_nothing_is_raised_and_faults_or_rules_come_of_it(document: Any) -> None:
    reading = read_rules(document, RULES)
    assert reading.faults or isinstance(document, dict)
    assert good(document_of(reading.rules)) == reading.rules  # what is left is always a good document
    for fault in reading.faults:
        shown_path(fault.path).encode()


@given(GOOD, st.sampled_from(list(document_of(RULES))), ANYTHING)
def test_what_is_wrong_in_one_group_leaves_the_others_as_they_are_wished(
    document: dict[str, Any], group: str, junk: Any
) -> None:
    reading = read_rules({**document, group: junk}, RULES)
    wished, found = document_of(good(document)), document_of(reading.rules)
    assert {name: found[name] for name in found if name != group} == {n: wished[n] for n in wished if n != group}


@given(st.text() | st.binary().map(lambda data: data.decode("latin-1")))
def test_any_text_is_read_or_refused(text: str) -> None:
    reading = read_rules_json(text, RULES)
    assert reading.rules == RULES or not reading.faults


@pytest.mark.parametrize("text", ["", "{", "NaN", '{"scoring": {"boost": Infinity}}', "[" * 100_000, "\ud800"])
def test_what_is_no_json_is_one_fault_of_the_whole(text: str) -> None:
    (fault,) = read_rules_json(text, RULES).faults
    assert (shown_path(fault.path), fault.message) == ("the rules", "is no JSON")


def test_the_empty_document_is_the_base() -> None:
    base = replace(RULES, context=ContextRules(total=3))
    assert good({}, base) == base


@pytest.mark.spec("K-53")
def test_a_category_from_configuration_is_merged_over_the_defaults() -> None:
    rules = good({"tags": {"food": ["soup", "血压"], "weather": ["snow"], "news": []}})
    assert list(rules.tags) == [*RULES.tags, "food"]
    assert extract_tags("Soup in the snow, not in the rain", rules) == ("weather", "food")
    assert extract_tags("the rain today", rules) == ()
    assert extract_tags("hello", rules) == ("greeting",)


@pytest.mark.spec("K-50", "K-53")
def test_new_categories_stand_behind_the_others_in_the_order_of_the_document() -> None:
    rules = good({"tags": {"zebra": ["tea"], "news": ["tea"], "ant": ["tea"]}})
    assert extract_tags("tea", rules) == ("news", "zebra", "ant")


def test_tables_merge_by_name_and_lists_are_replaced() -> None:
    rules = good({"scoring": {"base": {"userinput": 0}, "keywords": ["wichtig"]}, "web_search": {"patterns": []}})
    assert score("remember", "userinput", rules) == 0.0
    assert score("Wichtig", "userpreference", rules) == 1.0
    assert rules.scoring.keywords == ("wichtig",)
    assert (rules.web_search.patterns, rules.web_search.keywords) == ((), RULES.web_search.keywords)


def test_retention_is_replaced_as_a_whole() -> None:
    base = good({"retention": [{"older_than_days": 5}, {"older_than_days": 6}]})
    rules = good({"retention": [{"older_than_days": 7, "event_types": ["task"], "below_importance": 1}]}, base)
    assert rules.retention == (RetentionRule(7.0, ("task",), 1.0, True, False),)
    assert good({"retention": []}, rules).retention == ()
    policy = {"older_than_days": 7.0, "event_types": ["task"], "below_importance": 1.0}
    assert document_of(rules)["retention"] == [{**policy, "keep_keyed": True, "archive": False}]


def test_null_turns_off_what_may_be_null() -> None:
    base = good({"context": {"decay_half_life_days": 30}, "limits": {"index_capacity": 5, "writes_per_second": 0.5}})
    assert (base.context.decay_half_life_days, base.limits.index_capacity) == (30.0, 5)
    nulls = {"context": {"decay_half_life_days": None}, "limits": {"index_capacity": None, "writes_per_second": None}}
    assert good(nulls, base) == RULES


HALF = "has half of a surrogate pair, which is no Unicode text"
ABOVE = "must be a number, above 0 to 36525, or null"
WHOLE = "must be a whole number, 1 to 1000000000000, or null"
WRONG: list[tuple[Any, ...]] = [
    ([], "the rules", "must be an object"),
    (None, "the rules"),
    ("scoring", "the rules"),
    (True, "the rules"),
    ({"scorings": {}}, "scorings", "unknown name"),
    ({"version": "x"}, "version"),
    ({"scoring": None}, "scoring"),
    ({"scoring": []}, "scoring", "must be an object"),
    ({"scoring": {"bonus": 1}}, "scoring.bonus"),
    ({"scoring": {"base": {"userinput": "0.5"}}}, "scoring.base.userinput"),
    ({"scoring": {"base": {"userinput": True}}}, "scoring.base.userinput"),
    ({"scoring": {"base": {"userinput": None}}}, "scoring.base.userinput"),
    ({"scoring": {"base": {"userinput": 1.01}}}, "scoring.base.userinput", "must be a number, 0 to 1"),
    ({"scoring": {"base": {"userinput": -0.01}}}, "scoring.base.userinput"),
    ({"scoring": {"base": {"userinput": math.nan}}}, "scoring.base.userinput"),
    ({"scoring": {"base": {"userinput": math.inf}}}, "scoring.base.userinput"),
    ({"scoring": {"base": {"userinput": 10**400}}}, "scoring.base.userinput"),
    ({"scoring": {"base": {"UserInput": 0.5}}}, "scoring.base.UserInput"),
    ({"scoring": {"base": {"opinion": 0.5}}}, "scoring.base.opinion", f"unknown name: one of {', '.join(ContentType)}"),
    ({"scoring": {"base": 0.5}}, "scoring.base"),
    ({"scoring": {"keywords": "remember"}}, "scoring.keywords", "must be a list"),
    ({"scoring": {"keywords": {"a": 1}}}, "scoring.keywords"),
    ({"scoring": {"keywords": ["a", 1]}}, "scoring.keywords[1]", "must be text"),
    ({"scoring": {"keywords": ["a", " "]}}, "scoring.keywords[1]"),
    ({"scoring": {"keywords": ["a", ""]}}, "scoring.keywords[1]", "must not be blank"),
    ({"scoring": {"keywords": [None]}}, "scoring.keywords[0]"),
    ({"scoring": {"keywords": ["\ud800"]}}, "scoring.keywords[0]", HALF),
    ({"scoring": {"keywords": ["é" * 129]}}, "scoring.keywords[0]", "must be at most 256 bytes of UTF-8"),
    ({"scoring": {"keywords": ["x"] * 1_001}}, "scoring.keywords", "must have at most 1000 entries"),
    ({"tags": []}, "tags"),
    ({"tags": {"food": "soup"}}, "tags.food"),
    ({"tags": {"food": {"soup": 1}}}, "tags.food"),
    ({"tags": {"food": [["soup"]]}}, "tags.food[0]"),
    ({"tags": {" ": ["soup"]}}, "tags. "),
    ({"tags": {"é" * 65: ["soup"]}}, f"tags.{'é' * 64}", "must be at most 128 bytes of UTF-8"),
    ({"tags": {str(n): [] for n in range(201)}}, "tags", "must have at most 200 names"),
    ({"web_search": {"keywords": [0]}}, "web_search.keywords[0]"),
    ({"matching": {"word_boundary": 1}}, "matching.word_boundary", "must be true or false"),
    ({"matching": {"word_boundary": "true"}}, "matching.word_boundary"),
    ({"context": {"total": 8.0}}, "context.total"),
    ({"context": {"total": True}}, "context.total"),
    ({"context": {"total": None}}, "context.total"),
    ({"context": {"decay_half_life_days": False}}, "context.decay_half_life_days", ABOVE),
    ({"summary": {"days": 1.5}}, "summary.days"),
    ({"bridge": {"enabled": None}}, "bridge.enabled"),
    (
        {"bridge": {"event_types": ["task", "party"]}},
        "bridge.event_types[1]",
        f"must be one of {', '.join(SPOKEN_TYPES)}",
    ),
    ({"bridge": {"event_types": "task"}}, "bridge.event_types", "must be a list"),
    ({"bridge": {"event_types": ["task"] * 7}}, "bridge.event_types"),
    ({"retention": {}}, "retention", "must be a list of at most 50 policies"),
    ({"retention": [[]]}, "retention[0]"),
    ({"retention": [{}]}, "retention[0].older_than_days", "is required"),
    ({"retention": [{"older_than_days": None}]}, "retention[0].older_than_days"),
    ({"retention": [{"older_than_days": 1}, {"older_than_days": "1"}]}, "retention[1].older_than_days"),
    ({"retention": [{"older_than_days": 1, "keep": True}]}, "retention[0].keep"),
    ({"retention": [{"older_than_days": 1, "event_types": [1]}]}, "retention[0].event_types[0]"),
    ({"retention": [{"older_than_days": 1}] * (MOST_POLICIES + 1)}, "retention"),
    ({"conflict": {"auto_apply": "maybe"}}, "conflict.auto_apply", "must be one of judged, all, off"),
    ({"conflict": {"auto_apply": None}}, "conflict.auto_apply"),
    ({"conflict": {"time_window_ms": 0.5}}, "conflict.time_window_ms"),
    ({"intent": {"relevance_threshold": "0.3"}}, "intent.relevance_threshold"),
    ({"limits": {"index_capacity": 0}}, "limits.index_capacity", WHOLE),
    ({"logging": {"content": "no"}}, "logging.content"),
    ({"logging": {"level": "DEBUG"}}, "logging.level", "unknown name"),
]
"""Documents, the path of what is wrong in each, and where it is given the message."""


@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: wrong[1])
def test_what_is_wrong_is_named_by_its_path_and_the_value_before_it_stays(wrong: tuple[Any, ...]) -> None:
    document, path, *message = wrong
    assert list(faults(document)) == [path]
    assert message in ([], list(faults(document).values()))
    assert read_rules(document, RULES).rules == RULES


def test_all_faults_are_told_together_and_none_repeats_a_value() -> None:
    wrong = {
        "scoring": {"boost": "secret", "keywords": ["", 5]},
        "context": {"total": "secret"},
        "retention": [{"older_than_days": "secret", "archive": "secret"}, 1],
        "odd": "secret",
    }
    told = faults(wrong)
    assert set(told) == {
        "scoring.boost", "scoring.keywords[0]", "scoring.keywords[1]", "context.total", "odd",
        "retention[0].older_than_days", "retention[0].archive", "retention[1]",
    }  # fmt: skip
    assert not any("secret" in message for message in told.values())
    assert told["context.total"] == "must be a whole number, 0 to 50"
    assert told["scoring.boost"] == "must be a number, 0 to 1"


def test_what_is_right_beside_a_fault_is_read() -> None:
    reading = read_rules({"context": {"total": 99, "recent": 2}, "tags": {"a": [1], "b": ["c"]}}, RULES)
    assert (reading.rules.context.total, reading.rules.context.recent) == (8, 2)
    assert (reading.rules.tags.get("a"), reading.rules.tags["b"]) == (None, ("c",))


def test_the_list_of_faults_has_an_end() -> None:
    assert len(read_rules({f"odd{n}": 0 for n in range(1_000)}, RULES).faults) == MOST_FAULTS
    wrong = {**{f"odd{n}": 0 for n in range(1_000)}, "scoring": {"keywords": [""] * 200}, "retention": [{}] * 50}
    assert read_rules(wrong, RULES).rules == RULES


def test_a_document_that_is_too_large_is_refused_as_a_whole() -> None:
    texts = ["x" * 200] * (MOST_BYTES // 200)
    assert faults({"scoring": {"keywords": texts}}) == {"the rules": f"must be at most {MOST_BYTES} bytes of JSON"}
    assert faults({"scoring": {"keywords": texts[:300]}}) == {}


def test_numbers_are_kept_as_the_kind_they_are() -> None:
    rules = good({"scoring": {"boost": 1}, "context": {"total": 3, "decay_half_life_days": 2}})
    assert isinstance(rules.scoring.boost, float)
    assert isinstance(rules.context.decay_half_life_days, float)
    assert good({"scoring": {"boost": 1.0}}).version == good({"scoring": {"boost": 1}}).version


@pytest.mark.parametrize(
    "document",
    [
        {"scoring": {"keywords": ["x" * 256, " tea "]}},
        {"scoring": {"keywords": ["x"] * 1_000}},
        {"tags": {"é" * 64: []} | {str(n): [] for n in range(199)}},
        {"bridge": {"event_types": list(SPOKEN_TYPES)}},
        {"bridge": {"event_types": []}},
        {"retention": [{"older_than_days": 0.001, "event_types": None, "below_importance": None}] * 50},
    ],
)
def test_what_lies_at_the_bounds_is_accepted(document: Any) -> None:
    resolved = document_of(good(document))
    for group, wished in document.items():
        if isinstance(wished, dict):
            assert {name: resolved[group][name] for name in wished} == wished
        else:
            assert [policy["older_than_days"] for policy in resolved[group]] == [0.001] * 50


def test_a_name_that_is_no_unicode_can_be_shown() -> None:
    (fault,) = read_rules({"\ud800": 1}, RULES).faults
    assert fault.path == ("?",)


def test_a_document_is_measured_as_compact_json_in_utf_8() -> None:
    texts = ["血" * 85] * 253
    without = '{"tags":{"a":[],"b":[]},"scoring":{"keywords":["",' + ",".join(f'"{text}"' for text in texts) + "]}}"
    room = MOST_BYTES - len(without.encode())
    assert 0 < room < 256
    for pad, expected in ((room, []), (room + 1, ["the rules"])):
        document = {"tags": {"a": [], "b": []}, "scoring": {"keywords": ["x" * pad, *texts]}}
        assert list(faults(document)) == expected


def test_bottomless_nesting_is_refused() -> None:
    nested: Any = []
    for _ in range(100_000):
        nested = [nested]
    assert list(faults({"tags": nested})) == ["the rules"]


def test_a_json_text_is_read_as_its_document() -> None:
    assert read_rules_json('{"context": {"total": 3}}', RULES) == read_rules({"context": {"total": 3}}, RULES)
    assert read_rules_json('{"context": {"total": 3}}', RULES).rules.context.total == 3


def test_what_each_kind_may_be() -> None:
    assert Table(Texts()).bounds == "any name: list of texts"
    assert Table(Number(0, 1), ("a", "b")).bounds == "a, b: number, 0 to 1"
    assert Choices(("a", "b")).bounds == "list of a, b"
    assert Choices(("a", "b"), optional=True).bounds == "list of a, b, or null"
    assert (Choice(("a", "b")).bounds, Flag().bounds) == ("one of a, b", "true or false")


YEAR_MS = 366 * 24 * 3600 * 1000
BOUNDS = [
    ("scoring", "boost", 0, 1),
    *(("context", name, 0, 50) for name in ("total", "recent", "recent_fill", "semantic", "important")),
    ("context", "displace_delta", 0, 1),
    ("summary", "messages", 1, 10_000),
    ("summary", "days", 0, 3_650),
    ("summary", "raw_window", 0, 50),
    ("summary", "max_words", 1, 2_000),
    ("bridge", "min_importance", 0, 1),
    ("bridge", "healthy_lag_ms", 0, YEAR_MS),
    ("conflict", "semantic_threshold", 0, 1),
    ("conflict", "keyword_threshold", 0, 1),
    ("conflict", "time_window_ms", 0, YEAR_MS),
    ("conflict", "importance_delta", 0, 1),
    ("intent", "relevance_threshold", 0, 1),
    ("intent", "max_results", 0, 100),
    ("intent", "min_query_words", 0, 100),
    ("intent", "max_keywords", 1, 1_000),
    ("intent", "context_lookback", 0, 100),
    ("limits", "index_capacity", 1, 10**12),
]


@pytest.mark.parametrize(
    ("group", "name", "taken", "refused"),
    [
        *((group, name, (lowest, highest), (lowest - 1, highest + 1)) for group, name, lowest, highest in BOUNDS),
        ("context", "decay_half_life_days", (None, 0.001, 0.5, 36_525), (0, -1, 36_525.5)),
        ("limits", "writes_per_second", (None, 0.001, 0.5, 10**6), (0, -1, 10**6 + 0.5)),
        ("limits", "turns_per_second", (None, 0.001, 0.5, 10**6), (0, -1, 10**6 + 0.5)),
    ],
)
def test_both_ends_are_taken_and_nothing_beyond(group: str, name: str, taken: Any, refused: Any) -> None:
    for value in taken:
        assert getattr(getattr(good({group: {name: value}}), group), name) == value
    for value in refused:
        reading = read_rules({group: {name: value}}, RULES)
        assert ([fault.path for fault in reading.faults], reading.rules) == ([(group, name)], RULES)


@pytest.mark.parametrize(
    ("name", "taken", "refused"),
    [("older_than_days", (0.001, 36_525), (0, 36_525.5)), ("below_importance", (None, 0, 1), (-0.5, 1.5))],
)
def test_a_policy_of_forgetting_has_the_same_bounds(name: str, taken: Any, refused: Any) -> None:
    def paths(value: Any) -> list[str]:
        return list(faults({"retention": [{"older_than_days": 1, name: value}]}))

    assert [paths(value) for value in taken] == [[] for _ in taken]
    assert [paths(value) for value in refused] == [[f"retention[0].{name}"] for _ in refused]
