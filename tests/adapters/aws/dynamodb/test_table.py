"""The table is made once, completed where something is missing, and never made over another."""

from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest

from adapters.aws.dynamodb.scripted import Scripted, a_client_error
from recollect.adapters.aws.table import Table, table_definition
from recollect.core.errors import NotReady

MISSING = a_client_error("ResourceNotFoundException")


@pytest.fixture(params=["moto", pytest.param("local", marks=pytest.mark.engines)])
def client(request: pytest.FixtureRequest) -> Any:
    return request.getfixturevalue(f"{request.param}_client")


@pytest.fixture
def table(client: Any) -> Iterator[Table]:
    table = Table(client, f"test-{uuid4().hex[:12]}")
    yield table
    if table.name in client.list_tables()["TableNames"]:
        client.delete_table(TableName=table.name)


def test_it_is_made_once(table: Table, client: Any) -> None:
    with pytest.raises(NotReady, match="recollect init"):
        table.check()
    assert table.create() is True
    assert table.create() is False
    assert table.name in table.check()
    described = client.describe_table(TableName=table.name)["Table"]
    definition = table_definition()
    assert described["KeySchema"] == definition["KeySchema"]
    assert described["StreamSpecification"] == {"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"}
    assert {i["IndexName"]: i["KeySchema"] for i in described["GlobalSecondaryIndexes"]} == {
        i["IndexName"]: i["KeySchema"] for i in definition["GlobalSecondaryIndexes"]
    }
    ttl = client.describe_time_to_live(TableName=table.name)["TimeToLiveDescription"]
    assert ttl == {"TimeToLiveStatus": "ENABLED", "AttributeName": "ttl"}
    assert table.stream_arn().startswith("arn:aws:dynamodb:")


def test_what_is_missing_is_added(table: Table, client: Any) -> None:
    definition = table_definition()
    client.create_table(
        TableName=table.name,
        BillingMode="PAY_PER_REQUEST",
        KeySchema=definition["KeySchema"],
        AttributeDefinitions=definition["AttributeDefinitions"][:2],
    )
    with pytest.raises(NotReady, match="not complete"):
        table.check()
    with pytest.raises(NotReady, match="no stream"):
        table.stream_arn()
    assert table.create() is True
    assert table.create() is False
    table.check()
    table.stream_arn()


def test_a_table_with_other_keys_is_left_alone(table: Table, client: Any) -> None:
    client.create_table(
        TableName=table.name,
        BillingMode="PAY_PER_REQUEST",
        KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
    )
    with pytest.raises(NotReady, match="other keys"):
        table.create()
    assert [k["AttributeName"] for k in client.describe_table(TableName=table.name)["Table"]["KeySchema"]] == ["id"]


def test_another_process_may_make_it_at_the_same_time(moto_client: Any) -> None:
    name = f"test-{uuid4().hex[:12]}"
    Table(moto_client, name).create()
    client = Scripted(moto_client, describe_table=[MISSING], create_table=[a_client_error("ResourceInUseException")])
    assert Table(client, name).create() is False


def test_waiting_for_it_has_an_end() -> None:
    creating = {"Table": {"TableStatus": "CREATING", "KeySchema": table_definition()["KeySchema"]}}
    client = Scripted(None, describe_table=[creating] * 99)
    pauses: list[float] = []
    with pytest.raises(NotReady, match="did not become active"):
        Table(client, "t", patience_seconds=2, sleep=pauses.append).create()
    assert sum(pauses) <= 3


def test_no_permission_is_said_as_such() -> None:
    client = Scripted(None, describe_table=[a_client_error("AccessDeniedException")] * 2)
    for call in (Table(client, "t").create, Table(client, "t").check):
        with pytest.raises(NotReady, match="AccessDenied"):
            call()


def test_the_definition_declares_just_the_attributes_of_its_keys() -> None:
    definition = table_definition()
    schemas = [definition["KeySchema"], *(index["KeySchema"] for index in definition["GlobalSecondaryIndexes"])]
    used = {part["AttributeName"] for schema in schemas for part in schema}
    assert {one["AttributeName"] for one in definition["AttributeDefinitions"]} == used
