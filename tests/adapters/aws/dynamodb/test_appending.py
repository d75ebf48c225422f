"""Transactions that are cancelled, throttled or cut off; what is sent, and in which order."""

import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from botocore.exceptions import ReadTimeoutError

from adapters.aws.dynamodb.scripted import Scripted, a_client_error, cancelled
from recollect.adapters.aws import keys
from recollect.adapters.aws.clients import Backoff
from recollect.adapters.aws.table import ItemAccess
from recollect.adapters.aws.timeline import DynamoDBTimeline
from recollect.contracts.examples import NOW, a_scope, a_seed, a_write, an_event, some_events, writes_of
from recollect.core.errors import Conflict, InvalidInput, Throttled, Unavailable, UpstreamFailed
from recollect.core.scope import Scope
from recollect.timeline.timeline import AppendStatus

Script = Callable[..., tuple[DynamoDBTimeline, Scripted, list[float]]]
CONFLICT = cancelled("None", "None", "TransactionConflict")
THROTTLED = a_client_error("ThrottlingException")
TRIES = 4


@pytest.fixture
def scripted(moto_access: ItemAccess) -> Script:
    """A timeline whose calls go by a script; pauses are written down instead of slept."""

    def build(**script: list[Any]) -> tuple[DynamoDBTimeline, Scripted, list[float]]:
        pauses: list[float] = []
        client = Scripted(moto_access.client, **script)
        backoff = Backoff(tries=TRIES, sleep=pauses.append)
        return DynamoDBTimeline(replace(moto_access, client=client, backoff=backoff)), client, pauses

    return build


def test_one_read_and_one_transaction_of_three_operations_and_nothing_else(scripted: Script, scope: Scope) -> None:
    timeline, client, _ = scripted()
    write = a_write(scope, an_event(scope))
    timeline.append(scope, [write])
    (asked, read), (name, request) = client.requests
    assert (asked, name) == ("batch_get_item", "transact_write_items")
    ((_, wanted),) = read["RequestItems"].items()
    assert wanted == {"Keys": [keys.rejection_key(scope, write.fingerprint).attributes], "ConsistentRead": True}
    operations = [(kind, body) for operation in request["TransactItems"] for kind, body in operation.items()]
    assert [kind for kind, _ in operations] == ["Put"] * 3
    written = [keys.Key(*(body["Item"][n]["S"] for n in ("pk", "sk"))) for _, body in operations]
    assert written == [
        keys.event_key(scope, write.event.ref),
        keys.dedupe_key(scope, write.identity),
        keys.pending_key(scope, write.event.id),
    ]


def test_a_rejected_value_costs_no_transaction_and_one_known_before_stays_known(scripted: Script, scope: Scope) -> None:
    timeline, client, _ = scripted()
    known, new = writes_of(scope, some_events(scope, 2, content="ok"))
    timeline.append(scope, [known])
    timeline.reject(scope, known.fingerprint, [], NOW)
    repeated = replace(known, event=replace(known.event, id=a_seed().nth(0)))
    outcomes = timeline.append(scope, [known, repeated, new])
    assert [o.status for o in outcomes] == [AppendStatus.CREATED, AppendStatus.DUPLICATE, AppendStatus.REFUSED]
    assert client.count("transact_write_items") == 2


def test_the_sdk_gives_each_call_a_token(moto_access: ItemAccess, scope: Scope) -> None:
    tokens: list[str] = []
    events = moto_access.client.meta.events  # type: ignore[attr-defined]
    events.register("before-call.dynamodb.TransactWriteItems", lambda params, **_: tokens.append(str(params["body"])))
    DynamoDBTimeline(moto_access).append(scope, writes_of(scope, some_events(scope, 2)))
    assert len(set(tokens)) == 2
    assert all("ClientRequestToken" in token for token in tokens)


@pytest.mark.parametrize("failure", [CONFLICT, THROTTLED, cancelled("ThrottlingError", "None", "None")])
def test_conflicts_and_throttling_are_waited_out(scripted: Script, failure: Exception, scope: Scope) -> None:
    timeline, client, pauses = scripted(transact_write_items=[failure] * (TRIES - 1))
    [outcome] = timeline.append(scope, [a_write(scope, an_event(scope))])
    assert outcome.status is AppendStatus.CREATED
    assert client.count("transact_write_items") == TRIES
    assert len(pauses) == TRIES - 1
    assert all(pause <= 0.02 * 2**n for n, pause in enumerate(pauses))


@pytest.mark.parametrize("failure", [CONFLICT, THROTTLED])
def test_patience_has_an_end(scripted: Script, failure: Exception, scope: Scope) -> None:
    timeline, client, _ = scripted(transact_write_items=[failure] * 100)
    with pytest.raises(Throttled):
        timeline.append(scope, [a_write(scope, an_event(scope))])
    assert client.count("transact_write_items") == TRIES


def test_other_events_are_stored_though_one_fails_and_a_retry_completes_it(scripted: Script, scope: Scope) -> None:
    cut_off = ReadTimeoutError(endpoint_url="http://x")
    timeline, client, _ = scripted(transact_write_items=[None, cut_off])
    writes = writes_of(scope, some_events(scope, 5))
    with pytest.raises(Unavailable):
        timeline.append(scope, writes)
    assert len(timeline.newest(scope, 10)) == 4
    assert {o.status for o in timeline.append(scope, writes)} == {AppendStatus.CREATED}
    assert len(timeline.newest(scope, 10)) == 5
    assert client.count("transact_write_items") == 10


@pytest.mark.parametrize(
    ("failure", "kind"),
    [
        (cancelled("ValidationError", "None", "None"), UpstreamFailed),
        (cancelled(), UpstreamFailed),
        (a_client_error("ValidationException"), UpstreamFailed),
        (a_client_error("InternalServerError", 500), Unavailable),
        (cancelled("ConditionalCheckFailed", "None", "None"), Conflict),
    ],
)
def test_what_waiting_cannot_mend_is_raised_at_once(scripted: Script, failure: Exception, kind: type) -> None:
    timeline, client, _ = scripted(transact_write_items=[failure])
    scope = a_scope()
    with pytest.raises(kind):
        timeline.append(scope, [a_write(scope, an_event(scope))])
    assert client.count("transact_write_items") == 1


def test_the_dedupe_record_is_read_where_the_answer_lacks_it(scripted: Script, scope: Scope) -> None:
    reasons = cancelled("None", "ConditionalCheckFailed", "None")
    timeline, client, _ = scripted(transact_write_items=[None, reasons])
    first = a_write(scope, an_event(scope))
    timeline.append(scope, [first])
    [outcome] = timeline.append(scope, [replace(first, event=replace(first.event, id=a_seed().nth(0)))])
    assert (outcome.status, outcome.event_id) == (AppendStatus.DUPLICATE, first.event.id)
    assert client.count("get_item") == 1


def test_the_first_of_equal_events_in_one_request_stands(timeline: DynamoDBTimeline, scope: Scope) -> None:
    first = an_event(scope, conversation_id="one")
    others = [replace(first, id=a_seed().nth(0), conversation_id="two") for _ in range(3)]
    identity = a_write(scope, first).identity
    writes = [replace(a_write(scope, event), identity=identity) for event in [first, *others]]
    outcomes = timeline.append(scope, [*writes_of(scope, some_events(scope, 10)), *writes])[10:]
    assert [o.status for o in outcomes] == [AppendStatus.CREATED] + [AppendStatus.DUPLICATE] * 3
    assert {(o.event_id, o.conversation_id) for o in outcomes} == {(first.id, "one")}


@pytest.mark.parametrize("where", ["notes", "embedding"])
def test_an_item_over_350_kilobytes_is_refused_before_any_call(scripted: Script, where: str, scope: Scope) -> None:
    timeline, client, _ = scripted()
    large: Any = noise(200_000) if where == "notes" else random.Random(1).randbytes(360_000)
    huge = an_event(scope, **{where: large})
    with pytest.raises(InvalidInput, match="350 KB"):
        timeline.append(scope, [a_write(scope, an_event(scope)), a_write(scope, huge)])
    assert client.requests == []


def test_an_event_near_the_limit_is_stored(timeline: DynamoDBTimeline, scope: Scope) -> None:
    large = an_event(scope, embedding=random.Random(1).randbytes(325_000), content=noise(10_000))
    [outcome] = timeline.append(scope, [a_write(scope, large)])
    assert outcome.status is AppendStatus.CREATED
    assert timeline.find(scope, large.id) == large


def test_nothing_to_append_is_no_call(scripted: Script) -> None:
    timeline, client, _ = scripted()
    assert timeline.append(a_scope(), []) == []
    assert client.requests == []


@pytest.mark.engines
def test_equal_texts_of_many_requests_at_once_are_all_stored(local_access: ItemAccess, scope: Scope) -> None:
    writes = writes_of(scope, some_events(scope, 24, content="ok"))
    pool = local_access.concurrency
    waiting = [pool.submit(lambda w=write: DynamoDBTimeline(local_access).append(scope, [w])) for write in writes]  # type: ignore[misc]
    outcomes = [outcome for one in waiting for outcome in one.result()]
    assert {o.status for o in outcomes} == {AppendStatus.CREATED}


def noise(characters: int) -> str:
    generator = random.Random(1)
    return "".join(chr(generator.randrange(0x4E00, 0x9FFF)) for _ in range(characters))
