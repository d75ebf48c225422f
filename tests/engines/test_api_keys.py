"""Keys of a stack's API by the operator's command, over the stack's table."""

import json
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest

from conftest import Engines
from engines.conftest import settings_on
from entrypoints.cli.running import Home
from recollect.api_keys import ApiKeys
from recollect.bootstrap.aws_parts import AwsParts
from recollect.settings import Principal

pytestmark = pytest.mark.engines


@pytest.fixture
def parts(engines: Engines) -> Iterator[AwsParts]:
    name = f"keys-{uuid.uuid4().hex[:12]}"
    parts = AwsParts(settings_on(engines, name, "table"))
    parts.create()
    yield parts
    boto3.client("dynamodb").delete_table(TableName=name)
    boto3.client("s3").delete_bucket(Bucket=name)


def test_a_key_is_made_listed_and_revoked(parts: AwsParts, tmp_path: Path) -> None:
    table = parts.access.table
    own = {"RECOLLECT_ENGINES": "aws", "RECOLLECT_SEARCH_ENGINE": "table", "RECOLLECT_TABLE": table}

    def said(*arguments: str) -> Any:
        ran = Home(tmp_path).run("api-keys", *arguments, **own)
        assert ran.returncode == 0, ran.stderr
        return json.loads(ran.stdout) if "--json" in arguments else ran.stdout.strip()

    key, keys = said("create", "--tenant", "acme", "--label", "shop"), ApiKeys(parts.items)
    assert keys.find(key) == Principal("acme")
    other = said("create", "--tenant", "globex", "--admin", "--json")
    assert keys.find(other["key"]) == Principal("globex", admin=True)
    listed = said("list", "--json")["keys"]
    assert [(one["tenant"], one["admin"], one["label"]) for one in listed] == [
        ("acme", False, "shop"),
        ("globex", True, ""),
    ]
    assert key not in said("list")
    said("revoke", listed[0]["id"], "--yes")
    assert (keys.find(key), len(said("list", "--json")["keys"])) == (None, 1)
    again = Home(tmp_path).run("api-keys", "revoke", listed[0]["id"], "--yes", **own)
    assert (again.returncode, "no such key" in again.stderr) == (2, True)


def test_a_server_of_one_s_own_has_its_keys_elsewhere(tmp_path: Path) -> None:
    ran = Home(tmp_path).run("api-keys", "list")
    assert (ran.returncode, "RECOLLECT_API_KEYS" in ran.stderr) == (2, True)
