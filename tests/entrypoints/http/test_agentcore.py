"""AgentCore Memory's wire by boto3's own clients: memories, events, sessions, records; whose they are and what ends."""

import json
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError

from entrypoints.http.aws_clients import aws_client
from entrypoints.http.calling import ORIGIN, Caller, Laptop, Surface
from entrypoints.http.conftest import opened
from entrypoints.http.test_logs import exported
from recollect.app import App
from recollect.core.errors import Forbidden, Unavailable, VersionMismatch
from recollect.core.scope import SHARED_OWNER
from recollect.entrypoints.http.agentcore import memories
from recollect.entrypoints.http.agentcore.memories import memory_of
from recollect.entrypoints.http.agentcore.records import update_record
from recollect.entrypoints.http.agentcore.wire import Kept
from recollect.entrypoints.http.messages import Call, Request
from recollect.entrypoints.http.routing import path_segment
from recollect.items.item import ItemPlace, NamespaceListing
from recollect.items.use_cases import Put
from recollect.settings import Principal

NOW = datetime.now(UTC).replace(microsecond=0)
AT = NOW - timedelta(hours=1)
TEA = "I drink green tea every morning"
FACTS = {"semanticMemoryStrategy": {"name": "Facts", "namespaceTemplates": ["/facts/{actorId}/"]}}
SECRETS = {tenant: f"secret-of-{tenant}-0123456789" for tenant in ("acme", "globex")}
NO_TEXTS: tuple[Any, ...] = ([], {}, None)
KEYS = {tenant: {"secret": secret, "tenant": tenant} for tenant, secret in SECRETS.items()}


@dataclass(frozen=True)
class AgentCore:
    """Both of boto3's clients, and the server that they speak to."""

    data: Any
    control: Any
    surface: Surface

    @classmethod
    def of(
        cls, surface: Surface, key: str = "anybody", secret: str = "anything-at-all", *, origin: str = ORIGIN
    ) -> "AgentCore":
        """With these credentials, or any."""
        services = ("bedrock-agentcore", "bedrock-agentcore-control")
        data, control = (aws_client(surface, service, key, secret, origin) for service in services)
        return cls(data, control, surface)

    def memory(self, name: str = "chat", **more: Any) -> str:
        """The id of a new memory."""
        made = self.control.create_memory(name=name, eventExpiryDuration=90, memoryStrategies=[FACTS], **more)
        return str(made["memory"]["id"])

    def said(self, memory: str, text: str, actor: str = "anna", session: str = "s", **more: Any) -> dict[str, Any]:
        """The event of one line of a user."""
        payload = [{"conversational": {"role": "USER", "content": {"text": text}}}]
        given = {"eventTimestamp": AT, "payload": payload, **more}
        event = self.data.create_event(memoryId=memory, actorId=actor, sessionId=session, **given)["event"]
        return dict(event)

    def events(self, memory: str, actor: str = "anna", session: str = "s", **more: Any) -> list[dict[str, Any]]:
        """All events that a list gives, page by page."""
        found: list[dict[str, Any]] = []
        place: dict[str, Any] = {}
        while True:
            page = self.data.list_events(memoryId=memory, actorId=actor, sessionId=session, **more, **place)
            found += page["events"]
            if "nextToken" not in page:
                return found
            place = {"nextToken": page["nextToken"]}

    def put(self, memory: str, namespace: str, *texts: str, **more: Any) -> list[str]:
        """The ids of records that are put."""
        records = [
            {
                "requestIdentifier": text[:9],
                "namespaces": [namespace],
                "content": {"text": text},
                "timestamp": AT,
                **more,
            }
            for text in texts
        ]
        answer = self.data.batch_create_memory_records(memoryId=memory, records=records)
        assert answer["failedRecords"] == []
        return [one["memoryRecordId"] for one in answer["successfulRecords"]]

    def found(self, memory: str, query: str, **where: Any) -> list[str]:
        """The texts that a search finds."""
        asked = {"searchQuery": query, "topK": 10, **where.pop("criteria", {})}
        answer = self.data.retrieve_memory_records(memoryId=memory, searchCriteria=asked, **where)
        return [one["content"]["text"] for one in answer["memoryRecordSummaries"]]


@pytest.fixture
def aws(laptop: Laptop) -> AgentCore:
    return AgentCore.of(laptop)


@pytest.fixture
def tenants(tmp_path: Path) -> Iterator[dict[str, AgentCore]]:
    """Two tenants, each with an access key of its own, at one server."""
    with opened(tmp_path, RECOLLECT_SIGNING_KEYS=json.dumps(KEYS)) as app, closing(Laptop(app)) as laptop:
        yield {tenant: AgentCore.of(laptop, tenant, secret) for tenant, secret in SECRETS.items()}


def refused(call: Any, **given: Any) -> str:
    """The code of the error that the call raises."""
    with pytest.raises(ClientError) as error:
        call(**given)
    return str(error.value.response["Error"]["Code"])


def test_a_memory_is_echoed_changed_and_deleted(aws: AgentCore) -> None:
    keys = [{"key": "topic", "type": "STRING"}]
    memory = aws.memory(description="of the chat", indexedKeys=keys)
    shown = aws.control.get_memory(memoryId=memory)["memory"]
    assert (shown["name"], shown["description"], shown["status"]) == ("chat", "of the chat", "ACTIVE")
    (strategy,) = shown["strategies"]
    assert (strategy["type"], strategy["namespaces"]) == ("SEMANTIC", ["/facts/{actorId}/"])
    assert [one["id"] for one in aws.control.list_memories()["memories"]] == [memory]
    changes = {
        "addMemoryStrategies": [
            {"userPreferenceMemoryStrategy": {"name": "Likes", "namespaces": ["/likes/{actorId}/"]}}
        ],
        "modifyMemoryStrategies": [{"memoryStrategyId": strategy["strategyId"], "namespaces": ["/f/{actorId}/"]}],
    }
    more = [{"key": "n", "type": "NUMBER"}]
    aws.control.update_memory(memoryId=memory, memoryStrategies=changes, addIndexedKeys=more, eventExpiryDuration=7)
    shown = aws.control.get_memory(memoryId=memory)["memory"]
    assert [one["namespaces"] for one in shown["strategies"]] == [["/f/{actorId}/"], ["/likes/{actorId}/"]]
    assert (shown["indexedKeys"], shown["eventExpiryDuration"]) == ([*keys, *more], 7)
    gone = {"deleteMemoryStrategies": [{"memoryStrategyId": strategy["strategyId"]}]}
    left = aws.control.update_memory(memoryId=memory, memoryStrategies=gone)["memory"]["strategies"]
    assert [one["name"] for one in left] == ["Likes"]
    assert aws.control.delete_memory(memoryId=memory)["status"] == "DELETING"
    assert refused(aws.control.get_memory, memoryId=memory) == "ResourceNotFoundException"
    assert aws.memory() != memory


def test_a_name_is_one_memorys_and_a_token_makes_one(aws: AgentCore) -> None:
    memory = aws.memory(clientToken="once")
    assert aws.memory(clientToken="once") == memory
    assert refused(aws.memory) == "ValidationException"
    assert refused(aws.memory, name="1 2") == "ValidationException"


def test_memories_come_in_pages(aws: AgentCore) -> None:
    made = {aws.memory(f"m{n}") for n in range(5)}
    pages = aws.control.get_paginator("list_memories").paginate(PaginationConfig={"PageSize": 2})
    assert {one["id"] for page in pages for one in page["memories"]} == made


def test_events_come_newest_first_in_stable_pages(aws: AgentCore) -> None:
    memory = aws.memory()
    for n in range(7):
        aws.said(memory, f"line {n}", extractionMode="SKIP")
    late = aws.said(memory, "earlier", eventTimestamp=AT - timedelta(days=1), extractionMode="SKIP")
    texts = [one["payload"][0]["conversational"]["content"]["text"] for one in aws.events(memory, maxResults=3)]
    assert texts == [f"line {n}" for n in range(6, -1, -1)] + ["earlier"]
    bare = aws.events(memory, includePayloads=False)
    assert (len(bare), {len(one["payload"]) for one in bare}) == (8, {0})
    assert late["eventTimestamp"] == AT - timedelta(days=1)


@pytest.mark.parametrize(
    "actor", ["anna", "org/team/anna:1", "анна ü@example.com", "a" * 255, "é" * 200, "~x", "a+b c%2F*"]
)
def test_any_actor_has_its_events(aws: AgentCore, actor: str) -> None:
    memory = aws.memory()
    event = aws.said(memory, TEA, actor)
    named = {"memoryId": memory, "actorId": actor, "sessionId": "s"}
    assert aws.data.get_event(**named, eventId=event["eventId"])["event"] == event
    assert [one["eventId"] for one in aws.events(memory, actor)] == [event["eventId"]]
    assert aws.data.list_actors(memoryId=memory)["actorSummaries"] == [{"actorId": actor}]
    (session,) = aws.data.list_sessions(memoryId=memory, actorId=actor)["sessionSummaries"]
    assert (session["sessionId"], session["actorId"]) == ("s", actor)
    assert aws.data.delete_event(**named, eventId=event["eventId"])["eventId"] == event["eventId"]
    assert refused(aws.data.get_event, **named, eventId=event["eventId"]) == "ResourceNotFoundException"
    assert aws.events(memory, actor) == []
    left = aws.data.list_sessions(memoryId=memory, actorId=actor, filter={"eventFilter": "HAS_EVENTS"})
    assert left["sessionSummaries"] == []


def test_payloads_are_kept_exactly_however_large(aws: AgentCore) -> None:
    memory = aws.memory()
    payload = [
        {"blob": "x" * 1_500_000 + '"\\\n\u0000é🙂' * 1_000},
        {"blob": {"a": [1, 2.5, None, True], "": {}}},
        {"json": {"content": [1, "two"]}},
        {"conversational": {"role": "TOOL", "content": {"text": "called"}}},
    ]
    event = aws.said(memory, "", payload=payload)
    assert event["payload"] == payload
    assert [one["payload"] for one in aws.events(memory)] == [payload]
    named = {"memoryId": memory, "actorId": "anna", "sessionId": "s", "eventId": event["eventId"]}
    aws.data.delete_event(**named)
    named = Caller(aws.surface).post("/store/namespaces", {"prefix": ["agentcore"]}).json["namespaces"]
    assert {one[2] for one in named if len(one) > 2} == {"actors", "sessions"}


def test_a_token_stores_an_event_once(aws: AgentCore) -> None:
    memory = aws.memory()
    first = aws.said(memory, TEA, clientToken="once")
    again = aws.said(memory, TEA, clientToken="once", eventTimestamp=AT + timedelta(seconds=5))
    assert again == first
    assert refused(aws.said, memory=memory, text="something else", clientToken="once") == "ValidationException"
    assert len(aws.events(memory)) == 1
    other = aws.said(memory, TEA, "ben", clientToken="once")
    assert other["eventId"] != first["eventId"]


@pytest.mark.parametrize("writes", range(3))
@pytest.mark.parametrize(
    "payload",
    [[{"conversational": {"role": "USER", "content": {"text": TEA}}}], [{"blob": 1}], [{"blob": "b" * 130_000}]],
)
def test_a_retry_after_a_crash_is_the_same_event(
    aws: AgentCore, app: App, monkeypatch: pytest.MonkeyPatch, writes: int, payload: Any
) -> None:
    """The first try ends behind so many of its writes; the next one is dated anew."""
    memory = aws.memory()
    given = {"memoryId": memory, "actorId": "anna", "payload": payload, "clientToken": "once"}
    aws.said(memory, "said before")
    with monkeypatch.context() as crashing:
        stored = app.parts.namespaced_items.write
        left = iter(range(writes))

        def write(*puts: Any) -> Any:
            answer = stored(*puts)
            if next(left, None) is None:
                raise Unavailable("crashed")
            return answer

        crashing.setattr(type(app.parts.namespaced_items), "write", lambda _, *puts: write(*puts))
        with suppress(ClientError):
            aws.data.create_event(**given, eventTimestamp=NOW)
    event = aws.data.create_event(**given, eventTimestamp=NOW + timedelta(seconds=3))["event"]
    assert event["payload"] == payload
    sessions = aws.data.list_sessions(memoryId=memory, actorId="anna")["sessionSummaries"]
    assert sorted(one["sessionId"] for one in sessions) == sorted({"s", event["sessionId"]})
    assert [one["eventId"] for one in aws.events(memory, session=event["sessionId"])] == [event["eventId"]]
    said = Caller(aws.surface).get("/v1/users/anna/events").json["events"]
    assert [one["content"] for one in said].count(TEA) == ("conversational" in payload[0])


def test_events_are_filtered_by_metadata(aws: AgentCore) -> None:
    memory = aws.memory()
    for name, metadata in (("a", {"x.y": "1", "z": ""}), ("b", {"x.y": "2"}), ("c", {})):
        given = {key: {"stringValue": value} for key, value in metadata.items()}
        aws.said(memory, name, metadata=given, extractionMode="SKIP")

    def listed(*conditions: tuple[str, str, str | None]) -> str:
        asked = [
            {"left": {"metadataKey": key}, "operator": operator}
            | ({} if value is None else {"right": {"metadataValue": {"stringValue": value}}})
            for key, operator, value in conditions
        ]
        events = aws.events(memory, filter={"eventMetadata": asked}, maxResults=1)
        return "".join(one["payload"][0]["conversational"]["content"]["text"] for one in events)

    assert listed(("x.y", "EQUALS_TO", "1")) == "a"
    assert listed(("x.y", "EXISTS", None)) == "ba"
    assert listed(("x.y", "NOT_EXISTS", None)) == "c"
    assert listed(("x.y", "EXISTS", None), ("z", "NOT_EXISTS", None)) == "b"
    assert listed(("z", "EQUALS_TO", "")) == "a"
    assert aws.events(memory)[2]["metadata"] == {"x.y": {"stringValue": "1"}, "z": {"stringValue": ""}}


def test_a_branch_is_listed_alone_or_with_what_it_grew_from(aws: AgentCore) -> None:
    memory = aws.memory()
    events = {name: aws.said(memory, name)["eventId"] for name in ("m1", "m2")}
    for name, branch, root in (("a1", "a", "m1"), ("a2", "a", None), ("b1", "b", "a1"), ("m3", None, None)):
        grown = {} if root is None else {"rootEventId": events[root]}
        named: dict[str, Any] = {} if branch is None else {"branch": {"name": branch, **grown}}
        events[name] = aws.said(memory, name, **named)["eventId"]

    def listed(**branch: Any) -> list[str]:
        shown = aws.events(memory, filter={"branch": branch}, maxResults=2)
        return [one["payload"][0]["conversational"]["content"]["text"] for one in shown]

    assert len(aws.events(memory)) == 6
    assert listed(name="main") == ["m3", "m2", "m1"]
    assert listed(name="a") == ["a2", "a1"]
    assert listed(name="b", includeParentBranches=True) == ["b1", "a1", "m1"]
    unknown = {"name": "c", "rootEventId": "000000000000000#00"}
    assert refused(aws.said, memory=memory, text="x", branch=unknown) == "ResourceNotFoundException"


def test_a_list_reads_a_bounded_part_of_a_session(aws: AgentCore, app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    memory, looked_at = aws.memory(), 0
    read = type(app.parts.namespaced_items).page

    def page(*asked: Any) -> Any:
        nonlocal looked_at
        found = read(*asked)
        looked_at += len(found.items)
        return found

    first = aws.said(memory, "first", extractionMode="SKIP", metadata={"a": {"stringValue": "b"}})["eventId"]
    branch = {"name": "b", "rootEventId": first}
    aws.said(memory, "grown", extractionMode="SKIP", branch=branch)
    for n in range(30):
        aws.said(memory, f"{n}", extractionMode="SKIP")
    monkeypatch.setattr(type(app.parts.namespaced_items), "page", page)
    monkeypatch.setattr("recollect.entrypoints.http.agentcore.events.MOST_LOOKED_AT", 20)
    named = {"memoryId": memory, "actorId": "anna", "sessionId": "s", "maxResults": 2}
    conditions = [{"left": {"metadataKey": "a"}, "operator": "EXISTS"}]
    filters: list[dict[str, Any]] = [
        {"eventMetadata": conditions}, {"branch": {"name": "b", "includeParentBranches": True}}
    ]  # fmt: skip
    for asked in filters:
        looked_at = 0
        shown = aws.data.list_events(**named, filter=asked)
        assert (shown["events"], looked_at <= 25) == ([], True)
        rest = aws.data.list_events(**named, filter=asked, nextToken=shown["nextToken"])["events"]
        assert rest[-1]["eventId"] == first
    looked_at = 0
    assert len(aws.data.list_events(**named)["events"]) == 2
    assert looked_at <= 25


def test_what_is_said_is_remembered_and_forgotten_with_its_event(aws: AgentCore) -> None:
    memory = aws.memory()
    caller = Caller(aws.surface)
    first = aws.said(memory, TEA)
    aws.said(memory, "I had coffee once", extractionMode="SKIP")
    strands = json.dumps({"message": {"role": "user", "content": [{"text": "I play chess"}, {"toolUse": {}}]}})
    aws.said(memory, strands)
    stored = caller.get("/v1/users/anna/events?conversation_id=s").json["events"]
    assert sorted(one["content"] for one in stored) == [TEA, "I play chess"]
    assert aws.found(memory, "What do I drink?", namespace="/facts/anna/")[0] == TEA
    assert aws.found(memory, "green tea", namespacePath="/facts/anna")[0] == TEA
    assert aws.found(memory, "green tea", namespace="/facts/ben/") == []
    assert aws.found(memory, "green tea", namespace="/facts/") == []
    context = caller.post("/v1/context", {"user_id": "anna", "input": "What do I drink?"}).text
    assert TEA in context
    aws.data.delete_event(memoryId=memory, actorId="anna", sessionId="s", eventId=first["eventId"])
    assert TEA not in aws.found(memory, "green tea", namespace="/facts/anna/")
    assert TEA not in caller.post("/v1/context", {"user_id": "anna", "input": "What do I drink?"}).text


def test_our_own_memories_are_records_of_their_actor(aws: AgentCore) -> None:
    memory = aws.memory()
    aws.said(memory, TEA)
    caller = Caller(aws.surface)
    caller.post("/v1/memories", {"user_id": "anna", "content": "Anna plays the cello"})
    listed = aws.data.list_memory_records(memoryId=memory, namespace="/facts/anna")["memoryRecordSummaries"]
    (cello,) = [one for one in listed if "cello" in one["content"]["text"]]
    assert len(cello["memoryRecordId"]) == 50
    named = {"memoryId": memory, "memoryRecordId": cello["memoryRecordId"]}
    assert aws.data.get_memory_record(**named)["memoryRecord"]["content"] == cello["content"]
    aws.data.delete_memory_record(**named)
    assert refused(aws.data.get_memory_record, **named) == "ResourceNotFoundException"
    assert caller.get("/v1/users/anna/memories").json["memories"] == []


def test_records_are_put_found_changed_and_deleted(aws: AgentCore) -> None:
    memory = aws.memory()
    metadata = {"topic": {"stringValue": "tea"}, "n": {"numberValue": 2}, "tags": {"stringListValue": ["a", "b"]}}
    (tea,) = aws.put(memory, "/kitchen/drinks/", TEA, metadata=metadata)
    aws.put(memory, "/kitchen/food", "Bread is baked on Mondays")
    assert len(tea) == 40
    record = aws.data.get_memory_record(memoryId=memory, memoryRecordId=tea)["memoryRecord"]
    assert (record["content"], record["namespaces"], record["timestamp"]) == ({"text": TEA}, ["/kitchen/drinks/"], AT)
    assert record["metadata"] == metadata
    assert aws.found(memory, "green tea", namespace="/kitchen/drinks") == [TEA]
    assert aws.found(memory, "green tea", namespacePath="/kitchen/")[0] == TEA
    assert len(aws.found(memory, "green tea", namespacePath="/kitchen/")) == 2
    for namespace in ("/kitchen", "/kitchen/dri", "/drinks"):
        assert aws.found(memory, "green tea", namespace=namespace) == []
    assert aws.found(memory, "green tea", namespacePath="/kitchen/dri") == []
    later = AT + timedelta(days=1)
    change = {"memoryRecordId": tea, "timestamp": later, "content": {"text": "I drink coffee"}, "namespaces": ["/new"]}
    assert aws.data.batch_update_memory_records(memoryId=memory, records=[change])["failedRecords"] == []
    assert aws.found(memory, "coffee", namespace="/new") == ["I drink coffee"]
    assert aws.found(memory, "coffee", namespace="/kitchen/drinks") == []
    answer = aws.data.batch_delete_memory_records(
        memoryId=memory, records=[{"memoryRecordId": tea}, {"memoryRecordId": "mem-" + "0" * 36}]
    )
    assert [one["memoryRecordId"] for one in answer["successfulRecords"]] == [tea]
    assert [one["errorCode"] for one in answer["failedRecords"]] == [404]


@pytest.mark.parametrize(
    ("key", "operator", "value", "passes"),
    [
        ("topic.of", "EQUALS_TO", {"stringValue": "tea"}, True),
        ("topic.of", "EQUALS_TO", {"stringValue": "te"}, False),
        ("topic.of", "CONTAINS", {"stringValue": "te"}, True),
        ("tags", "CONTAINS", {"stringValue": "b"}, True),
        ("tags", "CONTAINS", {"stringValue": "c"}, False),
        ("n", "GREATER_THAN", {"numberValue": 1}, True),
        ("n", "LESS_THAN_OR_EQUALS", {"numberValue": 1}, False),
        ("at", "BEFORE", {"dateTimeValue": AT + timedelta(days=1)}, True),
        ("at", "AFTER", {"dateTimeValue": AT + timedelta(days=1)}, False),
        ("topic.of", "EXISTS", None, True),
        ("none", "NOT_EXISTS", None, True),
        ("none", "EXISTS", None, False),
    ],
)
def test_records_are_filtered_by_metadata(
    aws: AgentCore, key: str, operator: str, value: dict[str, Any] | None, passes: bool
) -> None:
    memory = aws.memory()
    metadata = {
        "topic.of": {"stringValue": "tea"},
        "n": {"numberValue": 2},
        "tags": {"stringListValue": ["a", "b"]},
        "at": {"dateTimeValue": AT},
    }
    aws.put(memory, "/k", TEA, metadata=metadata)
    asked = {"left": {"metadataKey": key}, "operator": operator}
    asked |= {} if value is None else {"right": {"metadataValue": value}}
    assert aws.found(memory, "tea", namespace="/k", criteria={"metadataFilters": [asked]}) == [TEA] * passes
    listed = aws.data.list_memory_records(memoryId=memory, namespace="/k", metadataFilters=[asked])
    assert len(listed["memoryRecordSummaries"]) == passes


def test_records_come_in_pages(aws: AgentCore) -> None:
    memory = aws.memory()
    aws.said(memory, "I moved to Lyon in May")
    texts = {f"Fact number {n}" for n in range(5)}
    aws.put(memory, "/facts/anna/", *texts)
    pages = aws.data.get_paginator("list_memory_records").paginate(
        memoryId=memory, namespace="/facts/anna", PaginationConfig={"PageSize": 2}
    )
    found = [one["content"]["text"] for page in pages for one in page["memoryRecordSummaries"]]
    assert (set(found) >= texts, len(found) - len(set(found))) == (True, 0)


@pytest.mark.parametrize("before", range(1, 4))
@pytest.mark.parametrize(
    ("first", "other"), [(None, None), ("/b/", None), (None, "/b/"), ("/b/", "/b/"), ("/b/", "/c/")]
)
def test_of_two_updates_of_a_record_at_once_none_is_lost(
    aws: AgentCore, app: App, monkeypatch: pytest.MonkeyPatch, first: str | None, other: str | None, before: int
) -> None:
    """The other one comes after what the first has read, before so many of its writes."""
    memory = aws.memory()
    (record,) = aws.put(memory, "/a/", TEA)
    kept = Kept(app, "local", datetime.now(UTC), None)
    update = partial(update_record, kept, memory_of(kept, memory))
    named = {"memoryRecordId": record, "timestamp": AT}
    others: dict[str, Any] = {**named, "metadata": {"topic": {"stringValue": "tea"}}}
    others |= {} if other is None else {"namespaces": [other]}
    items = type(app.parts.namespaced_items)
    write, done = items.write, 0

    def raced(self: Any, *puts: Any) -> Any:
        nonlocal done
        done += 1
        if done == before:
            update(others)
        return write(self, *puts)

    monkeypatch.setattr(items, "write", raced)
    update({**named, "content": {"text": "changed"}, **({} if first is None else {"namespaces": [first]})})
    shown = aws.data.get_memory_record(memoryId=memory, memoryRecordId=record)["memoryRecord"]
    (listed,) = aws.data.list_memory_records(memoryId=memory, namespacePath="/")["memoryRecordSummaries"]
    assert (listed["memoryRecordId"], listed["content"]) == (record, {"text": "changed"})
    assert (shown["content"], shown.get("metadata")) == (
        {"text": "changed"}, others["metadata"] if done >= before else None
    )  # fmt: skip


def test_a_deletion_that_is_late_leaves_the_name_of_another_memory(aws: AgentCore, app: App) -> None:
    kept = Kept(app, "local", datetime.now(UTC), None)
    late = memory_of(kept, aws.memory())
    aws.control.delete_memory(memoryId=late.id)
    aws.memory()
    assert memories.deleted(kept, late, lambda _: None, lambda: True)
    assert refused(aws.memory) == "ValidationException"


def test_tenants_do_not_meet(tenants: dict[str, AgentCore]) -> None:
    acme, globex = tenants["acme"], tenants["globex"]
    memory = acme.memory()
    event = acme.said(memory, TEA)["eventId"]
    (record,) = acme.put(memory, "/facts/anna/", "Anna likes jam")
    assert globex.control.list_memories()["memories"] == []
    named = {"memoryId": memory, "actorId": "anna", "sessionId": "s"}
    calls: list[tuple[Any, dict[str, Any]]] = [
        (globex.control.get_memory, {"memoryId": memory}),
        (globex.control.delete_memory, {"memoryId": memory}),
        (globex.data.list_events, named),
        (globex.data.get_event, {**named, "eventId": event}),
        (globex.data.delete_event, {**named, "eventId": event}),
        (globex.data.list_actors, {"memoryId": memory}),
        (globex.data.get_memory_record, {"memoryId": memory, "memoryRecordId": record}),
        (globex.said, {"memory": memory, "text": "x"}),
        (globex.put, {"memory": memory, "namespace": "/facts/anna"}),
    ]
    assert [refused(call, **given) for call, given in calls] == ["ResourceNotFoundException"] * len(calls)
    own = globex.memory()
    assert own != memory
    assert globex.events(own) == []
    assert globex.found(own, "green tea", namespacePath="/facts/anna") == []
    assert len(acme.events(memory)) == 1


def test_who_signs_with_another_secret_is_refused(tenants: dict[str, AgentCore]) -> None:
    surface = tenants["acme"].surface
    for key in (("acme", SECRETS["globex"]), ("initech", SECRETS["acme"])):
        assert refused(AgentCore.of(surface, *key).control.list_memories) == "AccessDeniedException"


def test_erasing_a_user_reaches_all_that_an_actor_left(aws: AgentCore) -> None:
    memory = aws.memory()
    caller = Caller(aws.surface)
    for actor in ("anna", "ben"):
        aws.said(memory, TEA, actor)
        aws.said(memory, "", actor, payload=[{"blob": "b" * 400_000}])
        aws.put(memory, f"/facts/{actor}/", "likes jam")
        aws.put(memory, f"/notes/{actor}", "a note in a namespace of no strategy")
    assert caller.delete("/v1/users/anna").status == 202
    assert (aws.events(memory), len(aws.events(memory, "ben"))) == ([], 2)
    for namespace in ("/facts/anna", "/notes/anna"):
        assert aws.found(memory, "jam tea note", namespace=namespace) == []
    assert aws.found(memory, "jam", namespace="/notes/ben") != []
    assert aws.data.list_actors(memoryId=memory)["actorSummaries"] == [{"actorId": "ben"}]
    names = caller.post("/store/namespaces", {"prefix": ["agentcore"]}).text
    assert "anna" not in names


def test_an_actor_with_a_slash_is_whom_a_namespace_names(aws: AgentCore) -> None:
    memory = aws.memory()
    caller = Caller(aws.surface)
    for actor, text in (("team/anna", TEA), ("anna", "I play chess")):
        aws.said(memory, text, actor)
        aws.put(memory, f"/facts/{actor}/", f"likes jam as {actor}")
        aws.put(memory, f"/notes/{actor}/late", f"a note of {actor}")
    for where in ({"namespace": "/facts/team/anna/"}, {"namespacePath": "/facts/team/anna"}):
        assert set(aws.found(memory, "tea jam", **where)) == {TEA, "likes jam as team/anna"}
    assert aws.found(memory, "tea", namespace="/facts/team//anna/") == []
    listed = aws.data.list_memory_records(memoryId=memory, namespace="/facts/team/anna")["memoryRecordSummaries"]
    assert "likes jam as team/anna" in [one["content"]["text"] for one in listed]
    assert caller.delete("/v1/users/anna").status == 202
    assert aws.found(memory, "note", namespacePath="/notes") == ["a note of team/anna"]
    assert "likes jam as team/anna" in aws.found(memory, "jam", namespace="/facts/team/anna")
    assert caller.delete(f"/v1/users/{path_segment('team/anna')}").status == 202
    assert aws.found(memory, "jam note", namespacePath="/") == []


def test_a_namespace_below_an_actors_is_the_actors(aws: AgentCore) -> None:
    memory = aws.memory()
    aws.put(memory, "/facts/team/ben/", "likes jam")
    for actor in ("anna", "ben"):
        aws.said(memory, TEA, actor, extractionMode="SKIP")
    aws.put(memory, "/facts/anna/at work/", "drinks coffee")
    for actor, left in (("anna", ["likes jam"]), ("ben", ["likes jam"]), ("team/ben", [])):
        assert Caller(aws.surface).delete(f"/v1/users/{path_segment(actor)}").status == 202
        assert aws.found(memory, "coffee jam", namespacePath="/facts") == left


def test_a_path_that_may_name_two_actors_shows_who_is_known(aws: AgentCore) -> None:
    facts = {"semanticMemoryStrategy": {"name": "F", "namespaceTemplates": ["/f/{actorId}/{sessionId}/"]}}
    made = aws.control.create_memory(name="m", eventExpiryDuration=90, memoryStrategies=[facts])
    memory = str(made["memory"]["id"])
    aws.said(memory, TEA, "team/anna")
    assert aws.found(memory, "tea", namespacePath="/f/team/anna") == [TEA]
    assert aws.found(memory, "tea", namespace="/f/team/anna/s/") == [TEA]
    assert aws.found(memory, "tea", namespace="/f/team/anna/t/") == []
    many = {"namespacePath": "/" * 1024}
    assert refused(aws.found, memory=memory, query="tea", **many) == "ValidationException"


def test_what_another_user_puts_among_the_items_is_not_an_actors(aws: AgentCore, app: App) -> None:
    """Credentials of one user reach items at /store/items; AgentCore's plane believes only what it has put itself."""
    memory = aws.memory()
    event = aws.said(memory, "I play chess")
    (record,) = aws.put(memory, "/facts/anna/", "likes jam")

    def plant(labels: tuple[str, ...], key: str, value: dict[str, Any], **more: Any) -> None:
        place = ItemPlace(("agentcore", *labels), key)
        app.items.put("local", Put(place=place, value=value, **{"index": False, **more}), request_time, reader="ben")

    request_time = datetime.now(UTC)
    false = {"id": "9" * 15 + "#0", "actor": "anna", "session": "s", "at": "2026-05-01T12:00:00.000000Z", "said": []}
    plant((memory, "events", "anna", "s"), "9" * 15 + "-0", {**false, "payload": [{"blob": "false"}]})
    plant((memory, "sessions", "anna"), "t", {"session": "t"})
    text = {
        "text": "likes lies",
        "namespaces": ["/facts/anna/"],
        "path": "facts/anna",
        "strategy": "x",
        "at": false["at"],
    }
    plant((memory, "records", "facts", "anna"), "r", {**text, "metadata": {}, "sought": {}}, index=["text"])
    plant((), "false-0123456789", {"name": "false", "status": "ACTIVE", "strategies": [], "eventExpiryDuration": 7})
    assert [one["eventId"] for one in aws.events(memory)] == [event["eventId"]]
    assert [
        one["sessionId"] for one in aws.data.list_sessions(memoryId=memory, actorId="anna")["sessionSummaries"]
    ] == ["s"]
    assert "likes lies" not in aws.found(memory, "likes", namespace="/facts/anna")
    listed = aws.data.list_memory_records(memoryId=memory, namespacePath="/facts/anna")["memoryRecordSummaries"]
    assert record in [one["memoryRecordId"] for one in listed]
    assert "likes lies" not in [one["content"]["text"] for one in listed]
    assert [one["id"] for one in aws.control.list_memories()["memories"]] == [memory]
    assert refused(aws.data.list_actors, memoryId="false-0123456789") == "ResourceNotFoundException"


def test_what_another_user_puts_among_the_items_stops_no_deletion(aws: AgentCore, app: App) -> None:
    memory, now = aws.memory(), datetime.now(UTC)
    caller = Caller(aws.surface)
    aws.said(aws.memory("other"), TEA)
    (event,) = caller.get("/v1/users/anna/events").json["events"]
    planted: dict[tuple[str, ...], dict[str, Any]] = {
        ("events", "ben", "s"): {"actor": "anna", "said": [event["id"]]},
        ("events", "ben", "t"): {"actor": "ben"},
        ("events", "ben", "u"): {"actor": "ben", "said": ["no id", 1]},
        ("actors",): {"x": 1},
        (): {},
    }
    for labels, value in planted.items():
        place = ItemPlace(("agentcore", memory, *labels), "k")
        app.items.put("local", Put(place=place, value=value, index=False), now, reader="ben")
    assert aws.data.list_actors(memoryId=memory)["actorSummaries"] == []
    aws.control.delete_memory(memoryId=memory)
    assert refused(aws.control.get_memory, memoryId=memory) == "ResourceNotFoundException"
    assert len(caller.get("/v1/users/anna/events").json["events"]) == 1


def test_a_large_event_ends_whole(aws: AgentCore, app: App) -> None:
    memory = aws.memory()
    aws.said(memory, "", payload=[{"blob": "b" * 400_000}])
    later = datetime.now(UTC) + timedelta(days=91)
    left = app.items.namespaces("local", NamespaceListing(prefix=("agentcore", memory)), later)
    assert {one[2] for one in left} == {"actors", "sessions"}


def test_a_payload_may_be_deeper_than_an_item(aws: AgentCore) -> None:
    memory = aws.memory()
    deep: dict[str, Any] = {}
    for _ in range(50):
        deep = {"a": deep}
    event = aws.said(memory, "", payload=[{"blob": deep}])
    assert event["payload"] == [{"blob": deep}]


@pytest.mark.parametrize("template", ["/{actorId}{sessionId}/", "/{actorId}/{actorId}/", "/{1a}/", "/{/", "/" * 513])
def test_a_namespace_that_cannot_be_matched_is_refused(aws: AgentCore, template: str) -> None:
    """Two variables of one part: a text of some hundred letters would be tried for minutes."""
    facts = {"semanticMemoryStrategy": {"name": "F", "namespaces": [template]}}
    given = {"name": "m", "eventExpiryDuration": 7, "memoryStrategies": [facts]}
    answer = Caller(aws.surface).post("/memories/create", given)
    assert (answer.status, answer.headers["x-amzn-errortype"]) == (400, "ValidationException")


def test_an_export_has_what_an_actor_left(aws: AgentCore) -> None:
    memory = aws.memory()
    aws.said(memory, "", payload=[{"blob": "a blob of Anna's"}])
    aws.put(memory, "/facts/anna/", "likes jam")
    text = exported(Caller(aws.surface))
    assert "a blob of Anna's" in text
    assert "likes jam" in text


def test_deleting_a_memory_reaches_all_that_is_in_it(aws: AgentCore) -> None:
    memory, kept = aws.memory("gone"), aws.memory("kept")
    for one in (memory, kept):
        aws.said(one, TEA if one == memory else "I play chess", session=f"s{one}")
        aws.put(one, "/x", "a record")
    aws.control.delete_memory(memoryId=memory)
    assert refused(aws.events, memory=memory) == "ResourceNotFoundException"
    assert [one["id"] for one in aws.control.list_memories()["memories"]] == [kept]
    events = Caller(aws.surface).get("/v1/users/anna/events").json["events"]
    assert [one["content"] for one in events] == ["I play chess"]
    assert len(aws.events(kept, session=f"s{kept}")) == 1


@pytest.mark.parametrize(
    ("path", "body", "code", "status"),
    [
        ("/memories/create", {}, "ValidationException", 400),
        ("/memories/create", {"name": "x", "eventExpiryDuration": 1}, "ValidationException", 400),
        ("/memories/none/events", {"actorId": "a"}, "ValidationException", 400),
        ("/memories/none/actors", {"nextToken": "x"}, "ResourceNotFoundException", 404),
        ("/memories/", {"nextToken": "x"}, "ValidationException", 400),
        ("/memories/", {"maxResults": 101}, "ValidationException", 400),
        ("/memories/create", b"no json", "ValidationException", 400),
    ],
)
def test_a_refusal_has_the_form_that_botocore_reads(
    aws: AgentCore, path: str, body: Any, code: str, status: int
) -> None:
    answer = Caller(aws.surface).post(path, body)
    assert (answer.status, answer.headers["x-amzn-errortype"]) == (status, code)
    assert answer.json.keys() == {"message"}


@pytest.mark.parametrize(
    "changes",
    [
        {"addIndexedKeys": [{}]},
        {"addIndexedKeys": [{"key": ["a"], "type": "STRING"}]},
        *(
            {"memoryStrategies": {f"{what}MemoryStrategies": [{"memoryStrategyId": wrong}]}}
            for what in ("delete", "modify")
            for wrong in NO_TEXTS
        ),
        {"memoryStrategies": {"modifyMemoryStrategies": [{}]}},
        {"memoryStrategies": {"addMemoryStrategies": [{"semanticMemoryStrategy": {"name": "{actorId}/"}}]}},
        {
            "memoryStrategies": {
                "addMemoryStrategies": [{"semanticMemoryStrategy": {"name": "F", "namespaces": {"a": 1}}}]
            }
        },
    ],
)
def test_a_change_of_another_form_is_refused(aws: AgentCore, changes: dict[str, Any]) -> None:
    memory = aws.memory()
    answer = Caller(aws.surface).put(f"/memories/{memory}/update", changes)
    assert (answer.status, answer.headers["x-amzn-errortype"]) == (400, "ValidationException")
    created = {"name": "m", "eventExpiryDuration": 7, "indexedKeys": changes.get("addIndexedKeys", [{"key": "a"}])}
    assert Caller(aws.surface).post("/memories/create", created).status == 400


def test_what_changes_all_the_time_is_one_error(aws: AgentCore, app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    memory = aws.memory()
    (record,) = aws.put(memory, "/a", TEA)

    def write(*_: Any) -> Any:
        raise VersionMismatch("changed")

    monkeypatch.setattr(type(app.parts.namespaced_items), "write", write)
    body = {"actorId": "a", "sessionId": "s", "eventTimestamp": 1, "payload": [{"blob": 1}]}
    whole = Caller(aws.surface).post(f"/memories/{memory}/events", body)
    assert (whole.status, whole.headers["x-amzn-errortype"]) == (409, "RetryableConflictException")
    (failed,) = aws.data.batch_delete_memory_records(memoryId=memory, records=[{"memoryRecordId": record}])[
        "failedRecords"
    ]
    assert failed["errorCode"] == 409


def test_every_event_counts_as_a_write(aws: AgentCore) -> None:
    memory, caller = aws.memory(), Caller(aws.surface)
    assert caller.put("/v1/rules", {"limits": {"writes_per_second": 0.01}}).status == 200
    aws.said(memory, TEA, extractionMode="SKIP")
    for payload in ([{"blob": 1}], [{"conversational": {"role": "TOOL", "content": {"text": "called"}}}]):
        assert refused(aws.said, memory=memory, text="", payload=payload) == "ThrottledException"
    assert refused(aws.said, memory=memory, text=TEA, extractionMode="SKIP") == "ThrottledException"


def test_a_token_changes_a_memory_once(aws: AgentCore) -> None:
    memory = aws.memory()
    added = {"addMemoryStrategies": [{"semanticMemoryStrategy": {"name": "More"}}]}
    update = partial(aws.control.update_memory, memoryId=memory, memoryStrategies=added, clientToken="once" * 9)
    first = update(description="a")["memory"]
    aws.control.update_memory(memoryId=memory, description="b")
    again = update(description="a")["memory"]
    assert (again["strategies"], again["description"]) == (first["strategies"], "b")
    assert refused(update, description="c") == "ValidationException"


def test_a_change_of_a_memory_that_was_stored_and_not_answered_is_made_once(
    aws: AgentCore, app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = aws.memory()
    (facts,) = aws.control.get_memory(memoryId=memory)["memory"]["strategies"]
    changes = {
        "addMemoryStrategies": [{"semanticMemoryStrategy": {"name": "More"}}],
        "deleteMemoryStrategies": [{"memoryStrategyId": facts["strategyId"]}],
    }
    update = partial(aws.control.update_memory, memoryId=memory, memoryStrategies=changes, clientToken="once" * 9)
    write = type(app.parts.namespaced_items).write

    def stored(*given: Any) -> Any:
        write(*given)
        raise Unavailable("crashed")

    with monkeypatch.context() as crashing:
        crashing.setattr(type(app.parts.namespaced_items), "write", stored)
        with pytest.raises(ClientError):
            update()
    assert [one["name"] for one in update()["memory"]["strategies"]] == ["More"]


def test_our_own_memories_are_listed_by_their_session(aws: AgentCore) -> None:
    facts = {"semanticMemoryStrategy": {"name": "F", "namespaceTemplates": ["/f/{actorId}/{sessionId}/"]}}
    made = aws.control.create_memory(name="m", eventExpiryDuration=90, memoryStrategies=[facts])
    memory, caller = str(made["memory"]["id"]), Caller(aws.surface)
    for session, text in (("s", "I moved to Lyon in May"), ("t", "I am allergic to peanuts")):
        event = {"content": text, "importance": 0.9, "timestamp": (NOW - timedelta(seconds=10)).isoformat()}
        caller.post("/v1/events", {"user_id": "anna", "conversation_id": session, "events": [event]})
    caller.post("/v1/memories", {"user_id": "anna", "content": "Anna plays the cello"})
    caller.post("/v1/jobs/reconcile?wait=true", {})
    assert len(caller.get("/v1/users/anna/memories").json["memories"]) == 3
    listed = aws.data.list_memory_records(memoryId=memory, namespace="/f/anna/s")["memoryRecordSummaries"]
    assert [one["content"]["text"] for one in listed] == ["I moved to Lyon in May"]


def test_credentials_of_nobody_reach_no_actor(app: App) -> None:
    """Such a subject is refused everywhere: what is nobody's is no user's."""
    call = Call(method="POST", path="/")
    principal = Principal("acme", subject=SHARED_OWNER, limited_to_subject=True)
    kept = Kept.of(app, Request(principal=principal, now=NOW, route="POST /", call=call))
    with pytest.raises(Forbidden):
        kept.scope(SHARED_OWNER)
    assert kept.reader != SHARED_OWNER


@pytest.mark.parametrize(
    "payload",
    [
        [{"blob": json.loads("[" * 64 + "]" * 64)}], [{"blob": json.loads("[" * 90 + "]" * 90)}], [{"blob": "\ud800"}],
        [{}], [{"blob": 1, "json": {"content": 1}}], [{"conversational": {"role": "USER"}}], [{"other": 1}],
    ],
)  # fmt: skip
def test_a_payload_is_one_of_the_three_kinds(aws: AgentCore, payload: Any) -> None:
    memory = aws.memory()
    body = {"actorId": "a", "sessionId": "s", "eventTimestamp": 1, "payload": payload}
    answer = Caller(aws.surface).post(f"/memories/{memory}/events", body)
    assert (answer.status, answer.headers["x-amzn-errortype"]) == (400, "ValidationException")
