"""The line of a request: whose deployment its metrics are."""

import io
import json
from typing import Any

import pytest

from recollect.entrypoints.http.access_log import AccessLog, lambda_log
from recollect.entrypoints.http.messages import Call, Reply


def line_of(log: AccessLog, stream: io.StringIO) -> dict[str, Any]:
    call = Call(method="POST", path="/v1/search", request_id="1")
    log.request(call, None, None, Reply(200, {}, metrics={"IntentRecords": 3}), 0.1, None)
    line: dict[str, Any] = json.loads(stream.getvalue())
    return line


def test_metrics_of_a_function_have_its_stack_as_dimension(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POWERTOOLS_SERVICE_NAME", "staging")
    stream = io.StringIO()
    # Under a name of its own: a logger keeps the stream that it was first made with.
    line = line_of(lambda_log("INFO", stream, "a function"), stream)
    (directive,) = line["_aws"]["CloudWatchMetrics"]
    assert directive["Dimensions"] == [["service"]]
    assert (line["service"], line["IntentRecords"]) == ("staging", 3)


def test_a_laptop_s_are_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("POWERTOOLS_SERVICE_NAME", raising=False)
    stream = io.StringIO()
    assert line_of(AccessLog("INFO", stream, "laptop"), stream)["service"] == "laptop"
