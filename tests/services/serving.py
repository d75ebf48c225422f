"""One tenant of a service, called over HTTP in this process, and what tests do with it."""

import json
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from embedded.setting import Memory, judged, with_parts
from engines.conftest import lambda_context
from entrypoints.http.calling import Answered, Caller, Cloud, Laptop
from recollect.adapters.aws.clients import dynamodb_client, streams_client
from recollect.adapters.aws.stream import StreamPump
from recollect.adapters.aws.table import Table
from recollect.app import App
from recollect.bootstrap import open_app
from recollect.core.errors import NotReady
from recollect.core.scope import Scope
from recollect.core.time import iso
from recollect.entrypoints.lambda_handlers import project_handler

USER = "anna"
LAPTOP, ENGINES = "laptop", "engines"
SCOPES: dict[str, dict[str, str]] = {
    "none": {}, "persona": {"persona_id": "work"}, "household": {"household_id": "home"},
    "both": {"persona_id": "work", "household_id": "home"},
}  # fmt: skip
SEEN = {"none": {*SCOPES}, "persona": {"persona", "both"}, "household": {"household", "both"}, "both": {"both"}}
"""Of records that are named as the scope that they were stored in: what is seen in each scope."""
_JOB_TRIES = 200


def good(answer: Answered, *statuses: int) -> Any:
    """The body of an answer that has one of these statuses; 200, unless others are named."""
    assert answer.status in (statuses or (200,)), answer.text
    return answer.json


@dataclass(frozen=True, slots=True)
class Service:
    """A tenant that nobody else uses; `pump` reads the table's stream, where there is one; `stack` closes it all."""

    app: App
    tenant: str
    caller: Caller
    stack: ExitStack
    pump: StreamPump | None = None

    @property
    def kind(self) -> str:
        return ENGINES if self.pump else LAPTOP

    def scope(self, persona_id: str | None = None) -> Scope:
        return Scope(self.tenant, USER, persona_id)

    def say(self, content: str, user: str = USER, scope: Mapping[str, Any] | None = None, **more: Any) -> str:
        """The id of a new event."""
        (result,) = self.told({"content": content, **more}, user=user, **(scope or {}))
        assert result["status"] == "created", result
        return str(result["event_id"])

    def told(self, *events: Mapping[str, Any], user: str = USER, **scope: Any) -> list[dict[str, Any]]:
        answer = self.caller.post("/v1/events", {"user_id": user, "events": list(events), **scope})
        return list(good(answer, 200, 201, 422)["results"])

    def save(self, content: str, user: str = USER, **more: Any) -> Answered:
        return self.caller.post("/v1/memories", {"user_id": user, "content": content, **more})

    def saved(self, content: str, user: str = USER, **more: Any) -> dict[str, Any]:
        return dict(good(self.save(content, user, **more), 201))

    def search(self, **asked: Any) -> dict[str, Any]:
        return dict(good(self.caller.post("/v1/search", {"user_id": USER, **asked})))

    def found(self, **asked: Any) -> list[str]:
        return [one["content"] for one in self.search(**asked)["results"]]

    def window(self, user: str = USER, **query: Any) -> dict[str, Any]:
        return dict(good(self.caller.timeline(user, **query)))

    def listed(self, user: str = USER, **query: Any) -> list[str]:
        return [one["content"] for one in self.window(user, **query)["events"]]

    def memories(self, user: str = USER, **query: Any) -> dict[str, dict[str, Any]]:
        return {one["content"]: one for one in good(self.caller.get(f"/v1/users/{user}/memories", query))["memories"]}

    def ledger(self, event_id: str) -> list[str]:
        """What became of an event, oldest first."""
        entries = self.caller.get(f"/v1/users/{USER}/ledger", {"event_id": event_id}).json["entries"]
        return [one["outcome"] for one in reversed(entries)]

    def bus(self, kind: str) -> list[dict[str, Any]]:
        """The details of what was published of a type, oldest first."""
        return [one["detail"] for one in good(self.caller.get("/v1/bus", {"type": kind}))["events"]]

    def signal(self, kind: str, **more: Any) -> dict[str, Any]:
        return dict(good(self.caller.post("/v1/signals", {"type": kind, "source": "monitor", **more})))

    def send(self, method: str, path: str, body: Any = None) -> Answered:
        raw = None if body is None else json.dumps(body).encode()
        return self.caller.surface.send(method, path, raw, {})

    def delete(self, path: str) -> None:
        """Something of the user's."""
        answer = self.send("DELETE", f"/v1/users/{USER}/{path}")
        assert answer.status == 204, answer.text

    def patch(self, path: str, match: str, body: Any) -> Answered:
        return self.caller.surface.send("PATCH", path, json.dumps(body).encode(), {"If-Match": match})

    def rules(self, **groups: Any) -> None:
        good(self.send("PUT", "/v1/rules", groups))

    def settle(self) -> None:
        """Projects what was said: from the stream where there is one, and by its marker."""
        if self.pump:
            self.pump.drain()
            assert self.pump.given_up == 0
        assert self.app.projection.reconciliation.run(now()).failed == {}

    def pending_and_projected(self) -> Iterator[None]:
        """Twice: while what was said waits to be projected, and when it is."""
        yield
        self.settle()
        yield

    def reconcile_bridge(self) -> int:
        """The scheduled reconciliation of the bridge; how many were promoted."""
        return self.app.memories.bridge.reconcile(now(), self.tenant).deferred.promoted

    def job(self, kind: str, **parameters: Any) -> dict[str, Any]:
        job_id = good(self.caller.post(f"/v1/jobs/{kind}", parameters), 202)["job_id"]
        for _ in range(_JOB_TRIES):
            job = self.app.job_runs.one(self.tenant, job_id, now, lambda: 900.0)
            if job.finished:
                break
            time.sleep(0.05)
        shown = self.caller.get(f"/v1/jobs/{job_id}").json
        assert (shown["status"], shown["errors"]) == ("done", []), shown
        return dict(shown)

    def ready(self) -> Answered:
        return self.caller.get("/v1/ready")

    def restarted(self) -> "Service":
        """The same service in another process: nothing but what is stored is left."""
        app = judged(open_app(self.app.settings))
        self.stack.callback(app.parts.close)
        return service_of(app, self.tenant, self.stack, self.pump)

    def elsewhere(self, **settings: Any) -> "Service":
        """A process with other settings, for the same tenant."""
        app = judged(open_app(replace(self.app.settings, **settings)))
        self.stack.callback(app.parts.close)
        return service_of(app, self.tenant, self.stack, pump_of(app) if self.pump else None)

    def with_parts(self, **parts: object) -> "Service":
        """The same service with other parts in these places."""
        app = with_parts(Memory(self.app), **parts).app
        return service_of(app, self.tenant, self.stack, self.pump)


def service_of(app: App, tenant: str, stack: ExitStack, pump: StreamPump | None = None) -> Service:
    """A tenant of an app, called through the laptop's server or as functions of the cloud."""
    if app.settings.engines == "local":
        surface = Laptop(app)
        stack.callback(surface.close)
        return Service(app, tenant, Caller(surface), stack)
    claims = {"tenant": tenant, "scope": "openid recollect/admin"}
    return Service(app, tenant, Caller(Cloud(app, claims)), stack, pump)


def pump_of(app: App) -> StreamPump | None:
    """Feeds its table's stream to the function `project`; None without a table."""
    project, table = project_handler(app), Table(dynamodb_client(), app.settings.table)
    try:
        arn = table.stream_arn()
    except NotReady:
        return None
    return StreamPump(streams_client(), arn, lambda event: project(event, lambda_context()))


def now() -> datetime:
    return datetime.now(UTC)


def ago(**units: float) -> str:
    return iso(now() - timedelta(**units))
