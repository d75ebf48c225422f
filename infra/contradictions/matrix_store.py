"""A store in a folder of its own, used as a client uses it: over HTTP, in this process, with a clock of its own."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

from entrypoints.http.calling import Answered, Caller, Laptop
from recollect.app import App
from recollect.bootstrap import open_app
from recollect.composition.deployment import Parts
from recollect.core.time import iso
from recollect.ports import Embedder
from recollect.settings import Settings

TOP_K = 10
CONVERSATION = "chat"


class _Embedding:
    """The parts of an app with another embedder, loaded once for all stores."""

    def __init__(self, parts: Parts, embedder: Embedder) -> None:
        self._parts = parts
        self.embedder = embedder

    def __getattr__(self, name: str) -> Any:
        return getattr(self._parts, name)


class Store:
    """One laptop's store. A user of it is one variant of a case; nobody sees another's."""

    def __init__(self, home: Path, embedder: Embedder) -> None:
        self._home = home
        self._embedder = embedder
        self._open()

    def _open(self) -> None:
        variables = {"RECOLLECT_HOME": str(self._home), "RECOLLECT_TEST_CLOCK": "1", "RECOLLECT_EMBEDDER": "hashing"}
        app = open_app(Settings.from_environment(variables))
        self._app = App(app.settings, cast(Parts, _Embedding(app.parts, self._embedder)))
        self._surface = Laptop(self._app)
        self._caller = Caller(self._surface)

    def close(self) -> None:
        """Lets go of the files."""
        self._surface.close()
        self._app.parts.close()

    def restart(self) -> None:
        """Nothing but what is stored is left."""
        self.close()
        self._open()

    def reindex(self, source: str) -> None:
        """The job `reindex`, today: from `vectors` or from `events`."""
        answer = self._caller.post("/v1/jobs/reindex?wait=true", {"from": source})
        if answer.status != 200 or answer.json["status"] != "done":
            raise RuntimeError(f"the job reindex from {source} failed: {answer.status} {answer.text}")
        self.project(datetime.now(UTC))

    def say(self, user: str, event: Mapping[str, Any], at: datetime) -> str:
        """The id of a new event, said and sent at that instant."""
        body = {"user_id": user, "conversation_id": CONVERSATION, "events": [{**event, "timestamp": iso(at)}]}
        (result,) = _whole(self._caller.post("/v1/events", body, x_recollect_now=iso(at)))["results"]
        if result["status"] != "created":
            raise RuntimeError(f"an event was not created: {result}")
        return str(result["event_id"])

    def project(self, at: datetime) -> None:
        """Drains what is pending."""
        report = self._app.projection.reconcile(at)
        if report.failed:
            raise RuntimeError(f"not projected: {report.failed}")

    def search(self, user: str, query: str, at: datetime, as_of: datetime | None = None) -> list[dict[str, Any]]:
        """The results of a search at that instant."""
        body = {"user_id": user, "query": query, "top_k": TOP_K, **_as_of(as_of)}
        return list(_whole(self._caller.post("/v1/search", body, x_recollect_now=iso(at)))["results"])

    def context(self, user: str, text: str, at: datetime, as_of: datetime | None = None) -> dict[str, Any]:
        """Prompt and items of a context at that instant."""
        body = {"user_id": user, "input": text, "web_search": "never", **_as_of(as_of)}
        return _whole(self._caller.post("/v1/context", body, x_recollect_now=iso(at)))

    def memories(self, user: str, at: datetime) -> list[dict[str, Any]]:
        """The user's memories, of whatever status."""
        answer = self._caller.get(f"/v1/users/{user}/memories", None, x_recollect_now=iso(at))
        return list(_whole(answer)["memories"])

    def open_conflicts(self, user: str, at: datetime) -> list[dict[str, Any]]:
        """The user's open conflicts."""
        answer = self._caller.get(f"/v1/users/{user}/conflicts", {"status": "open"}, x_recollect_now=iso(at))
        return list(_whole(answer)["conflicts"])


def _whole(answer: Answered) -> dict[str, Any]:
    if answer.status not in (200, 201):
        raise RuntimeError(f"{answer.status}: {answer.text}")
    return dict(answer.json)


def _as_of(instant: datetime | None) -> dict[str, str]:
    return {} if instant is None else {"as_of": iso(instant)}
