"""The error tree and its table: every class has a kind, and no 5xx tells anything of what was sent."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from entrypoints.http.calling import Caller, Cloud
from recollect.app import App
from recollect.core import errors
from recollect.core.errors import RecollectError
from recollect.entrypoints.http.problems import BY_ERROR, Refused, kind_of, reply_to
from recollect.timeline.ingest import FieldError

SECRET = "xyzzy-secret"


def tree(base: type[RecollectError] = RecollectError) -> Iterator[type[RecollectError]]:
    """The class and all below it."""
    yield base
    for below in base.__subclasses__():
        yield from tree(below)


def an_error(kind: type[RecollectError]) -> RecollectError:
    """One of that class."""
    return kind("VARIABLE", "a sentence") if kind is errors.ConfigurationError else kind("a sentence")


@pytest.mark.parametrize("kind", list(tree()), ids=lambda kind: kind.__name__)
def test_every_class_of_the_tree_is_mapped_by_itself(kind: type[RecollectError]) -> None:
    assert kind in BY_ERROR
    reply = reply_to(an_error(kind))
    assert reply.status == BY_ERROR[kind].status
    assert isinstance(reply.body, dict)
    assert set(reply.body) == {"type", "title", "status", "detail", "errors"}
    assert reply.content_type == "application/problem+json"


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (errors.Unauthenticated, 401),
        (errors.Forbidden, 403),
        (errors.NotFound, 404),
        (errors.Conflict, 409),
        (errors.InFlight, 409),
        (errors.VersionMismatch, 412),
        (errors.InvalidInput, 422),
        (errors.KeyReused, 422),
        (errors.Throttled, 429),
        (errors.UpstreamFailed, 502),
        (errors.Unavailable, 503),
        (errors.NotReady, 503),
        (errors.WritesBlocked, 503),
        (errors.OutOfTime, 504),
    ],
)
def test_statuses(error: type[RecollectError], status: int) -> None:
    assert reply_to(an_error(error)).status == status


def test_the_table_names_no_status_twice_by_one_type() -> None:
    types = [kind.type for kind in BY_ERROR.values()]
    assert len(set(types)) == len(types)
    assert all(kind.type == f"urn:recollect:problem:{kind.name}" for kind in BY_ERROR.values())


@pytest.mark.parametrize(
    ("faults", "detail"),
    [
        ([(("body", "user_id"), "is required")], "1 value is invalid; required: user_id"),
        (
            [(("body", "xyzzy"), "unknown field"), (("body", "a", 0, "b"), "is required"), (("c",), "is required")],
            "3 values are invalid; required: b, c",
        ),
        ([(("body", "xyzzy"), "unknown field")], "1 value is invalid"),
    ],
)
def test_the_detail_names_what_is_missing_and_nothing_of_what_was_sent(faults: list[Any], detail: str) -> None:
    reply = reply_to(Refused(*(FieldError(loc, message) for loc, message in faults)))
    assert isinstance(reply.body, dict)
    assert (reply.status, reply.body["detail"]) == (422, detail)


@pytest.mark.parametrize(("seconds", "header"), [(None, "1"), (0.2, "1"), (2.5, "3"), (30, "30")])
def test_a_throttled_request_is_told_when_to_come_again(seconds: float | None, header: str) -> None:
    reply = reply_to(errors.Throttled("slow down", seconds))
    assert (reply.status, reply.headers) == (429, {"Retry-After": header})


def test_an_error_of_nobodys_tree_is_unexpected() -> None:
    assert kind_of(ValueError(SECRET)).status == 500
    assert SECRET not in json.dumps(reply_to(ValueError(SECRET)).body)


@pytest.mark.spec("H-26")
@pytest.mark.parametrize(
    "error",
    [
        ValueError(SECRET),
        KeyError(SECRET),
        RecursionError(SECRET),
        errors.StoredDataError(SECRET),
        errors.ConfigurationError(SECRET, SECRET),
        errors.UpstreamFailed(SECRET),
        errors.Unavailable(SECRET),
    ],
    ids=lambda error: type(error).__name__,
)
def test_a_failure_of_ours_tells_nothing_and_is_logged_by_type(
    app: App, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def fail(*_: Any) -> None:
        raise error from OSError(SECRET)

    monkeypatch.setattr(type(app.parts.timeline), "window", fail)
    cloud = Cloud(app)
    answer = Caller(cloud).timeline()
    assert answer.status >= 500
    assert answer.headers["content-type"] == "application/problem+json"
    assert SECRET not in answer.text
    line = json.loads(cloud.log.getvalue().splitlines()[-1])
    assert (line["level"], line["error"], line["cause"]) == ("ERROR", type(error).__name__, "OSError")
    assert line["at"].startswith("test_problems.py:")
    assert SECRET not in cloud.log.getvalue()


def test_a_function_serves_its_own_groups_alone(app: App) -> None:
    from recollect.entrypoints.http.aws import build_handler, http_handler

    cloud = Cloud(app)
    event = cloud.event("POST", "/v1/search", b"{}", {})
    cloud._handler = build_handler(app, ["ingest"])
    assert cloud.handle(event).status == 404
    cloud._handler = http_handler("retrieval", app=app)
    assert cloud.handle(event).status == 422
