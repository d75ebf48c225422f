"""A start on the real engines: every function has answered to itself, and no store has anything of it."""

from typing import Any

import pytest

from engines.conftest import Deployment, on_both
from recollect.core.scope import Scope
from recollect.entrypoints.http import warm_up
from recollect.entrypoints.http.aws import http_handler
from recollect.entrypoints.http.warm_up import ROUNDS, WARM_UPS
from recollect.entrypoints.lambda_handlers import mcp_handler
from recollect.entrypoints.mcp.warm_up import WARM_UPS as OF_MCP

pytestmark = pytest.mark.engines


@on_both
@pytest.mark.usefixtures("loop")
def test_warm_ups_are_answered_and_nothing_is_written(deployment: Deployment, monkeypatch: pytest.MonkeyPatch) -> None:
    statuses, parts = list[int](), deployment.app.parts
    monkeypatch.setattr(warm_up, "_statuses", _noting(warm_up._statuses, statuses))
    monkeypatch.setattr(warm_up, "SECONDS", 600.0)
    for group in WARM_UPS:
        http_handler(group, app=deployment.app)
    mcp_handler(deployment.app)
    assert set(statuses) <= {200, 201, 204}
    assert len(statuses) == ROUNDS * (sum(map(len, WARM_UPS.values())) + len(OF_MCP))
    access: Any = parts.access  # type: ignore[attr-defined] # of the cloud's parts only
    assert access.client.scan(TableName=access.table)["Items"] == []
    assert parts.index.count(Scope(warm_up.NOBODY.tenant, warm_up.USER)).documents == 0


def _noting(real: Any, statuses: list[int]) -> Any:
    def noting(*given: Any) -> Any:
        for status in real(*given):
            statuses.append(status)
            yield status

    return noting


def test_what_is_written_after_a_start_is_stored(deployment: Deployment) -> None:
    body = {"user_id": "anna", "events": [{"content": "I moved to Lyon."}]}
    assert deployment.call("ingest", "POST", "/v1/events", body).status == 201
    access: Any = deployment.app.parts.access  # type: ignore[attr-defined] # of the cloud's parts only
    assert access.client.scan(TableName=access.table)["Items"]
