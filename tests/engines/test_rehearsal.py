"""A restore rehearsed on the real engines: a table of its own beside the live one, which is only read."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from engines.conftest import Deployment, on_both
from engines.test_archive import ANNA, add, run
from recollect.adapters.aws.scratch_table import ScratchTable
from recollect.archive.rehearsal import RehearsalOrder
from recollect.bootstrap import rehearsal
from recollect.bootstrap.rehearsal import rehearse
from recollect.core.errors import Conflict
from recollect.jobs.job import JOB_ID

pytestmark = [pytest.mark.engines, on_both]

ORDER = RehearsalOrder(tenant="acme", seconds=120.0)


def stored(deployment: Deployment) -> tuple[str, list[str]]:
    """All items of the live table, and the versions of its objects."""
    access: Any = deployment.app.parts.access  # type: ignore[attr-defined]
    items = access.client.scan(TableName=access.table, ConsistentRead=True)["Items"]
    client = deployment.app.parts._bucket.client  # type: ignore[attr-defined]
    found = client.list_object_versions(Bucket=deployment.app.settings.snapshot_bucket).get("Versions", ())
    return json.dumps(sorted(items, key=str), default=str), sorted(f"{one['Key']} {one['ETag']}" for one in found)


def tables(deployment: Deployment) -> list[str]:
    access: Any = deployment.app.parts.access  # type: ignore[attr-defined]
    return [name for name in access.client.list_tables()["TableNames"] if name.startswith(access.table)]


@pytest.mark.spec("A-52", "P-22")
def test_it_shows_that_all_comes_back_but_what_was_deleted_and_leaves_nothing(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    app, ids = deployment.app, add(deployment, 12)
    add(deployment, 3, "ben")
    run(app.archive.take_snapshot, **{JOB_ID: app.ids.seed(1_800_000_000_000).nth(0)})
    app.deletion.events.forget(ANNA, now=datetime.now(UTC), event_id=ids[7])
    app.projection.reconciliation.run(datetime.now(UTC))
    before = stored(deployment)

    with monkeypatch.context() as patch:
        patch.setattr(ScratchTable, "remove", lambda self: None)
        patch.setattr(rehearsal, "recall_check", _dies)
        with pytest.raises(KeyboardInterrupt):
            rehearse(app, ORDER, datetime.now(UTC))
    assert tables(deployment) == [app.settings.table, f"{app.settings.table}-rehearsal"]

    report = rehearse(app, ORDER, datetime.now(UTC))
    assert [check.name for check in report.checks if not check.passed] == [], report
    assert (report.users, report.counts) == (2, {"created": 14})
    assert {check.name: check.detail for check in report.checks}["deletions"].startswith("1 deleted")
    assert stored(deployment) == before
    assert tables(deployment) == [app.settings.table]


def _dies(*_: object) -> None:
    raise KeyboardInterrupt


def test_a_table_of_somebody_else_is_not_touched(deployment: Deployment) -> None:
    app = deployment.app
    add(deployment, 1)
    run(app.archive.take_snapshot, **{JOB_ID: app.ids.seed(1_800_000_000_000).nth(0)})
    client: Any = app.parts.access.client  # type: ignore[attr-defined]
    name = f"{app.settings.table}-rehearsal"
    ScratchTable(client, name).make("elsewhere")
    client.delete_item(TableName=name, Key={"pk": {"S": "scratch"}, "sk": {"S": "elsewhere"}})
    client.put_item(TableName=name, Item={"pk": {"S": "theirs"}, "sk": {"S": "1"}})
    with pytest.raises(Conflict, match="not touched"):
        rehearse(app, ORDER, datetime.now(UTC))
    assert client.scan(TableName=name)["Count"] == 1
    client.delete_item(TableName=name, Key={"pk": {"S": "theirs"}, "sk": {"S": "1"}})
    with pytest.raises(Conflict, match="not touched"):  # empty, and about to be filled for all that we know
        rehearse(app, ORDER, datetime.now(UTC))
    assert name in tables(deployment)
    client.delete_table(TableName=name)
