"""A table of wrong requests, each with its exact status and place; nothing of them is stored."""

import json
from typing import Any

import pytest

from entrypoints.http.calling import Caller, Cloud
from entrypoints.http.test_arbitration import m

GOOD: dict[str, Any] = {"content": "I live in Lisbon"}

NOT_JSON = [
    b"", b"{", b"{'a': 1}", b"\xff\xfe", b'{"user_id": "\xc3\x28"}', b'{"a": NaN}', b'{"a": Infinity}',
    b'{"a": -Infinity}', b"\xef\xbb\xbf{}", b'{"a": ' + b"9" * 5000 + b"}", b"[" * 100_000,
    b'{"a":' * 100_000, b'{"a": 01}', b'{"a": "\n"}', b"{} {}",
]  # fmt: skip

BAD_VALUES: dict[str, list[Any]] = {
    "content": [None, "", " \t\n\u2003", 5, ["a"], "a" * (64 * 1024 + 1), "🦊" * (16 * 1024) + "a", "\ud800"],
    "tenant": ["acme"],
    "user_id": ["x"],
    "role": ["system", "USER"],
    "source": ["model"],
    "event_type": ["note"],
    "content_type": [1],
    "importance": ["0.5", True, 1.01, -0.01, 10**4000],
    "timestamp": [
        *("yesterday", "", True, {}, "1899-12-31T23:59:59Z", "2200-01-01T00:00:00Z", "9999-12-31T23:59:59-14:00"),
        *(10**300, "9" * 100_000, "2024-05-01\ud800"),
    ],
    "expires_at": ["soon"],
    "views": [-1, 1.0, True, 2**63],
    "is_private": [1, "true"],
    "key": ["", "a\x00"],
    "speaker": ["x" * 129],
    "space_id": [".."],
    "title": ["x" * 4097],
    "notes": ["x" * (16 * 1024 + 1)],
    "embedding": [[], [1.0], [0.0] * 384, "AAAA", [1.0] * 385, [1.0] * 5000],
    "metadata": [
        *([], {"a": "x" * (16 * 1024)}, {"a": [[[[[[[[1]]]]]]]]}, {"a": "\udfff"}, {"\udfff": 1}, {"a": 2**64}),
    ],
}
"""By field what a good event must not have there."""
BAD_EVENTS: list[tuple[Any, tuple[Any, ...]]] = [
    (None, ()),
    ("text", ()),
    ([], ()),
    ({}, ("content",)),
    (GOOD | {"role": "bot", "source": "user"}, ("source",)),
    (GOOD | {"role": "assistant", "source": "user"}, ("source",)),
    (GOOD | {"embedding": [True] + [1] * 383}, ("embedding", 0)),
    (GOOD | {"embedding": ["1"] + [1] * 383}, ("embedding", 0)),
    (GOOD | {"embedding": [1] * 383 + [None]}, ("embedding", 383)),
    *((GOOD | {name: value}, (name,)) for name, values in BAD_VALUES.items() for value in values),
]

GOOD_BODIES: dict[str, dict[str, Any]] = {
    "/v1/events": {"user_id": "anna", "events": [GOOD]},
    "/v1/memories": {"user_id": "anna", "content": "Anna lives in Lyon"},
    "/v1/analyze": {"text": "a"},
    "/v1/search": {"user_id": "anna", "query": "x"},
    "/v1/context": {"user_id": "anna", "input": "x"},
    "/v1/turns": {"user_id": "anna", "input": "hi"},
    "/v1/tool-calls": {"text": "x"},
    "/v1/signals": {"type": "warning", "source": "m"},
    "/v1/arbitrations": {"candidate": m(), "existing": []},
    "/v1/merges": {"first": m("a"), "second": m("b")},
}
BAD_FIELDS: dict[str, dict[str, list[Any]]] = {
    "/v1/events": {
        "user_id": [None, 5],
        "events": [None, {}, [], [GOOD] * 101],
        "tenant": ["acme"],
    },
    "/v1/memories": {
        "content": [None, " \n\t"],
        "user_id": [None],
        "importance": [1.001],
        "embedding": [[0.1] * 383],
        "source": ["model"],
        "keywords": [["k"] * 51],
        "timestamp": ["some day"],
        "key": [".."],
        "expires_at": ["1850-01-01"],
        "metadata": [[]],
        "tenant": ["other"],
        "status": ["active"],
    },
    "/v1/analyze": {"text": [None, 1], "history": ["b"], "user_id": ["anna"]},
    "/v1/search": {
        "query": [None, " "],
        "user_id": [None],
        "top_k": [0, 101, "5"],
        "mode": ["fuzzy"],
        "min_similarity": [1.5],
        "tenant": ["acme"],
        "time_window": [{"from": 9, "to": 1}],
        "as_of": ["later"],
    },
    "/v1/context": {"input": [None, ""], "token_budget": [0], "web_search": [True]},
    "/v1/turns": {
        "input": [None, " \n"],
        "tenant": ["other"],
        "as_of": ["2024-01-01"],
        "input_event_id": ["x"],
        "conversation_id": [""],
        "web_search": ["sometimes"],
    },
    "/v1/tool-calls": {"tenant": ["x"], "source": ["x"], "now": ["x"]},
    "/v1/signals": {
        "type": [None, "alarm"],
        "source": [None, " "],
        "severity": [3],
        "reason": ["x" * 1025],
        "tenant": ["other"],
    },
    "/v1/arbitrations": {"existing": [None], "options": [7], "rule": [7], "apply": ["yes"]},
    "/v1/merges": {"second": [None]},
}
"""For each route, by field, what makes its good body a bad one; null is a field that is not there."""
BAD_REQUESTS: list[tuple[str, Any, tuple[Any, ...]]] = [
    ("/v1/events", [], ()),
    ("/v1/events", None, ()),
    ("/v1/events", {"\ud800": 1}, ("?",)),
    ("/v1/memories", {"embedding": [1e39, *[0.0] * 383, "x"]}, ("embedding", 384)),
    ("/v1/memories", {"keywords": [" "]}, ("keywords", 0)),
    ("/v1/analyze", {"history": [1]}, ("history", 0)),
    ("/v1/search", {"query": None, "vector": [1.0] * 384, "mode": "intent"}, ("query",)),
    ("/v1/search", {"query": None, "vector": [1.0] * 384, "mode": "lexical"}, ("query",)),
    ("/v1/search", {"query": None, "vector": [1.0] * 3}, ("vector",)),
    ("/v1/search", {"filters": {"tenant": "a"}}, ("filters", "tenant")),
    ("/v1/search", {"filters": {"tags": "a"}}, ("filters", "tags")),
    ("/v1/search", {"time_window": {"from": "x"}}, ("time_window", "from")),
    ("/v1/search", {"time_window": {"last_days": -1}}, ("time_window", "last_days")),
    ("/v1/context", {"input": "x" * 400, "token_budget": 20}, ("token_budget",)),
    ("/v1/context", {"limits": {"total": -1}}, ("limits", "total")),
    ("/v1/context", {"limits": {"all": 1}}, ("limits", "all")),
    ("/v1/turns", {"input": "hi there, how are you", "token_budget": 2}, ("token_budget",)),
    ("/v1/turns", {"limits": {"total": 99}}, ("limits", "total")),
    ("/v1/tool-calls", {"execute": True}, ("user_id",)),
    ("/v1/arbitrations", {"candidate": m(importance=2)}, ("candidate", "importance")),
    ("/v1/arbitrations", {"candidate": m(colour=2)}, ("candidate", "colour")),
    ("/v1/arbitrations", {"candidate": m(embedding=["x"])}, ("candidate", "embedding", 0)),
    ("/v1/arbitrations", {"candidate": m(None)}, ("candidate", "id")),
    ("/v1/arbitrations", {"existing": [m("old"), m("other", content=" ")]}, ("existing", 1, "content")),
    (
        "/v1/arbitrations",
        {"candidate": m(embedding=[1]), "existing": [m("o", embedding=[1, 2])]},
        ("existing", 0, "embedding"),
    ),
    ("/v1/arbitrations", {"options": {"mergeThreshold": 1.1}}, ("options", "mergeThreshold")),
    ("/v1/arbitrations", {"options": {"arbitration": {"allowMerge": 1}}}, ("options", "arbitration", "allowMerge")),
    ("/v1/arbitrations", {"options": {"colour": 1}}, ("options", "colour")),
    ("/v1/arbitrations", {"options": {"weights": {"semantic": 0.2}}}, ("options", "weights")),
    ("/v1/merges", {"second": m("b", user_id="ben")}, ("second", "user_id")),
    ("/v1/merges", {"options": {"contentStrategy": "shuffle"}}, ("options", "contentStrategy")),
    ("/v1/merges", {"options": {"metadataStrategy": {"keywords": 1}}}, ("options", "metadataStrategy", "keywords")),
    ("/v1/merges", {"options": {"mergeThreshold": 0.1}}, ("options", "mergeThreshold")),
    *((path, {name: bad}, (name,)) for path, fields in BAD_FIELDS.items() for name in fields for bad in fields[name]),
]
"""Changes of a route's good body, or whole bodies; and where they are wrong."""

BAD_QUERIES: list[tuple[str, dict[str, Any], tuple[Any, ...]]] = [
    ("/v1/users/anna/events", {"tenant": "acme"}, ("query", "tenant")),
    ("/v1/users/anna/events", {"user_id": "bert"}, ("query", "user_id")),
    ("/v1/users/anna/events", {"top_k": "0"}, ("query", "top_k")),
    ("/v1/users/anna/events", {"top_k": "201"}, ("query", "top_k")),
    ("/v1/users/anna/events", {"top_k": "5.0"}, ("query", "top_k")),
    ("/v1/users/anna/events", {"top_k": "five"}, ("query", "top_k")),
    ("/v1/users/anna/events", {"top_k": "5", "limit": "5"}, ("query", "limit")),
    ("/v1/users/anna/events", {"last_days": "NaN"}, ("query", "last_days")),
    ("/v1/users/anna/events", {"from": "x"}, ("query", "from")),
    ("/v1/users/anna/events", {"from": "2024-02-01", "to": "2024-01-01"}, ("query", "from")),
    ("/v1/users/anna/events", {"event_type": "note"}, ("query", "event_type")),
    ("/v1/users/anna/events", {"persona_id": ""}, ("query", "persona_id")),
    ("/v1/users/anna/events", {"cursor": "AAAA"}, ("query", "cursor")),
    ("/v1/users/anna/events", {"cursor": "ü"}, ("query", "cursor")),
    ("/v1/users/anna/conversations", {"persona_id": "p"}, ("query", "persona_id")),
    ("/v1/bus", {"tenant": "acme"}, ("query", "tenant")),
    ("/v1/health", {"verbose": "1"}, ("query", "verbose")),
]


@pytest.mark.parametrize("body", NOT_JSON, ids=range(len(NOT_JSON)))
@pytest.mark.parametrize("path", ["/v1/events", "/v1/search"])
def test_a_body_that_is_no_json(caller: Caller, path: str, body: bytes) -> None:
    answer = caller.post(path, body)
    assert answer.status == 400
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.locs == {("body",)}


def test_a_body_in_base64_is_the_same_body(cloud: Cloud) -> None:
    cloud.as_base64 = True
    caller = Caller(cloud)
    assert caller.add({"content": "grüße"}).status == 201
    assert caller.timeline().json["events"][0]["content"] == "grüße"
    assert caller.post("/v1/events", b"\xff").status == 400
    event = cloud.event("POST", "/v1/events", b"{}", {}) | {"body": "§", "isBase64Encoded": True}
    assert cloud.handle(event).status == 400


@pytest.mark.parametrize(("event", "loc"), BAD_EVENTS, ids=range(len(BAD_EVENTS)))
@pytest.mark.spec("K-72", "K-73", "H-19")
def test_a_bad_event_is_invalid_and_not_stored(caller: Caller, event: Any, loc: tuple[Any, ...]) -> None:
    alone = caller.add(event)
    assert alone.status == 422
    assert alone.json["results"][0]["status"] == "invalid"
    assert alone.locs == {("body", "events", 0, *loc)}
    among = caller.add({"content": "before"}, event, {"content": "after"})
    assert (among.status, [one["status"] for one in among.json["results"]]) == (201, ["created", "invalid", "created"])
    assert {tuple(one["loc"]) for one in among.json["results"][1]["errors"]} == {loc}
    assert [one["content"] for one in caller.timeline().json["events"]] == ["after", "before"]


@pytest.mark.spec("A-20", "P-9")
def test_a_bad_request_is_refused_by_name_and_stores_nothing(caller: Caller) -> None:
    for path, changes, loc in BAD_REQUESTS:
        answer = caller.post(path, GOOD_BODIES[path] | changes if isinstance(changes, dict) else changes)
        assert (answer.status, answer.locs) == (422, {("body", *loc)}), (path, changes, answer.text)
    assert caller.timeline().json["events"] == []
    assert caller.get("/v1/users/anna/memories").json == {"memories": []}


@pytest.mark.parametrize(("path", "query", "loc"), BAD_QUERIES, ids=range(len(BAD_QUERIES)))
def test_a_bad_query_is_refused_by_name(caller: Caller, path: str, query: dict[str, Any], loc: tuple[Any, ...]) -> None:
    answer = caller.get(path, query)
    assert (answer.status, answer.locs) == (422, {loc})


def test_a_repeated_parameter_is_refused(caller: Caller) -> None:
    answer = caller.get("/v1/users/anna/events?top_k=1&top_k=2")
    assert (answer.status, answer.locs) == (422, {("query", "top_k")})


def test_what_lies_at_the_limits_is_accepted(caller: Caller) -> None:
    events: list[dict[str, Any]] = [
        {"content": "🦊" * (16 * 1024)},
        {"content": "x", "metadata": {"a": [[[[[[[1]]]]]]], "n": None, "f": 1.5, "i": 2**63 - 1}},
        {"content": "x", "timestamp": "2199-12-31T23:59:59.999999Z", "importance": 1, "views": 0},
        {"content": "x", "timestamp": 0, "importance": 0.0, "title": "t" * 4096, "notes": "n" * 16384},
        {"content": "x", "embedding": [1e38] * 384, "expires_at": "2199-01-01"},
        {"content": "x", "content_type": "poem", "role": "assistant", "source": "conversation", "persona_id": None},
        {"content": "\x00\x01control characters\x7f"},
    ]
    events[5].pop("persona_id")
    answer = caller.add(*events)
    assert answer.status == 201, answer.text
    assert {one["status"] for one in answer.json["results"]} == {"created"}
    assert answer.json["results"][5]["content_type"] == "default"


def test_too_large_a_body_is_refused_before_it_is_read_as_json(caller: Caller) -> None:
    assert caller.post("/v1/events", b" " * 5_000_001).status == 413
    assert caller.post("/v1/events", b" " * 5_000_000).status == 400
    body = {"user_id": "anna", "events": [{"content": "x" * 49_000}] * 100}
    answer = caller.post("/v1/events", body)
    assert (answer.status, len(answer.json["results"])) == (201, 100)


SENTENCES: list[tuple[bytes, str]] = [
    (b'{"query": "x"}', "is required"),
    (b'{"user_id": null, "query": "x"}', "is required"),
    (b'{"user_id": "a", "query": "x", "tenant": null}', "unknown field"),
    (b'{"user_id": "a", "query": "x", "explain": 1}', "must be true or false"),
    (b'{"user_id": "a", "query": "x", "filters": []}', "must be an object"),
    (b"[]", "must be an object"),
    (b'{"user_id": "a", "query": "x", "min_similarity": 1e999}', "must be a finite number"),
    (b'{"user_id": "a", "query": "x", "min_similarity": "1"}', "must be a number"),
    (b'{"user_id": "a", "query": "x", "min_similarity": -2}', "must be at least -1"),
    (b'{"user_id": "a", "query": "x", "top_k": 1.0}', "must be a whole number"),
    (b'{"user_id": "a", "query": "x", "top_k": 101}', "must be at most 100"),
    (b'{"user_id": "a", "query": "x", "filters": {"tags": "a"}}', "must be a list"),
    (b'{"user_id": "a", "query": 1}', "must be text"),
    (b'{"user_id": "a", "query": " "}', "must not be blank"),
    (b'{"user_id": "a", "query": "\\ud800"}', "has half of a surrogate pair, which is no Unicode text"),
    (b'{"user_id": "a", "vector": []}', "must have at least 1 entries"),
    (b'{"user_id": "a", "vector": [1000000000000000000000]}', "is out of range"),
    (
        b'{"user_id": "a", "query": "x", "history": [%s""]}' % (b'"",' * 50),
        "must have at most 50 entries",
    ),
    (b'{"user_id": "a", "query": "x", "mode": "b"}', "must be one of hybrid, semantic, lexical, intent"),
]


@pytest.mark.parametrize(("body", "message"), SENTENCES, ids=range(len(SENTENCES)))
def test_each_type_of_fault_has_a_sentence(cloud: Cloud, body: bytes, message: str) -> None:
    answer = Caller(cloud).post("/v1/search", body)
    assert (answer.status, {one for _, one in answer.faults}) == (422, {message})


def test_many_faults_give_a_short_answer(caller: Caller) -> None:
    event = {f"field {n} {'x' * 1000}": n for n in range(2000)}
    answer = caller.add(event)
    assert answer.status == 422
    assert len(answer.json["errors"]) == 20
    assert len(answer.text) < 10_000


def test_no_answer_repeats_what_was_wrong(caller: Caller) -> None:
    secret = "xyzzy-secret"
    wrong = [
        {name: f"{secret}\ud800"}
        for name in ("content", "role", "timestamp", "importance", "metadata", "key", "embedding")
    ]
    for answer in (
        caller.add(*wrong),
        caller.post("/v1/search", {"user_id": f"{secret}\n", "query": 1, "mode": secret}),
        caller.post("/v1/events", f'{{"a": {secret}}}'.encode()),
        caller.get(f"/v1/users/{secret}%0A/events", {"cursor": secret, "from": secret}),
        caller.get("/v1/users/anna/events", {"cursor": secret, "from": secret}),
        caller.get(f"/v1/users/anna/events/{secret}"),
    ):
        assert 400 <= answer.status < 500
        assert secret not in json.dumps(answer.json)
