"""Sends the requests when they are due, as many at once as allowed, and takes away what they wrote."""

import json
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from http.client import HTTPException
from queue import Empty, SimpleQueue
from typing import Any

from infra.tools.load.bounds import Bounds
from infra.tools.load.loopback import NotThisMachine, Target
from infra.tools.load.measured import Answered, Backlog
from infra.tools.load.mix import Asked, asked, user_name

TIMEOUT_SECONDS = 35.0
_POLL_SECONDS = 0.2


@dataclass(frozen=True, slots=True)
class Server:
    """Where requests go, and the token that they carry, if any."""

    target: Target
    token: str = ""

    def call(self, method: str, path: str, body: dict[str, Any] | None = None) -> tuple[int, bytes]:
        """Status and body, of this address whatever the answer names. Raises OSError or HTTPException without one."""
        connection = self.target.connect(TIMEOUT_SECONDS)
        try:
            headers = {"Host": self.target.host, "Content-Type": "application/json"}
            headers |= {"Authorization": f"Bearer {self.token}"} if self.token else {}
            connection.request(method, path, json.dumps(body) if body is not None else None, headers)
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()


def load(server: Server, bounds: Bounds, run: str, seed: int) -> tuple[list[Answered], float]:
    """How each request ended, and how many seconds all of them took."""
    started = time.monotonic()
    due: SimpleQueue[tuple[float, Asked]] = SimpleQueue()
    for number, one in enumerate(asked(run, bounds.users, bounds.requests, seed)):
        due.put((started + number / bounds.rate_per_second, one))
    with ThreadPoolExecutor(bounds.concurrency) as workers:
        parts = [workers.submit(_work, server, due) for _ in range(bounds.concurrency)]
        answered = [one for part in parts for one in part.result()]
    return answered, time.monotonic() - started


def _work(server: Server, due: "SimpleQueue[tuple[float, Asked]]") -> list[Answered]:
    """One after the other until none is left. What waits for a free worker waits in its figure too."""
    answered: list[Answered] = []
    while True:
        try:
            at, one = due.get_nowait()
        except Empty:
            return answered
        time.sleep(max(0.0, at - time.monotonic()))
        outcome = _outcome(server, one)
        answered.append(Answered(one.kind, outcome, time.monotonic() - at))


def _outcome(server: Server, one: Asked) -> str:
    try:
        return str(server.call("POST", one.path, one.body)[0])
    except (OSError, HTTPException, NotThisMachine) as error:
        return error.__class__.__name__


def backlog(server: Server, patience_seconds: float) -> Backlog:
    """How long the projection takes to catch up; over DynamoDB a server counts up to 100 of what waits.

    Raises OSError, HTTPException or ValueError where nobody says.
    """
    started = time.monotonic()
    first = pending = _pending(server)
    while pending and time.monotonic() - started < patience_seconds:
        time.sleep(_POLL_SECONDS)
        pending = _pending(server)
    return Backlog(first, time.monotonic() - started, pending)


def _pending(server: Server) -> int:
    """Raises ValueError for an answer that does not say."""
    body = json.loads(server.call("GET", "/v1/ready")[1])
    try:
        return int(body["parts"]["timeline"]["pending"])
    except (KeyError, TypeError):
        raise ValueError("/v1/ready does not say what is pending") from None


def erase(server: Server, users: Iterable[str]) -> list[str]:
    """Begins the erasure of the users; those of whom it was not accepted."""
    return [user for user in users if not _is_erased(server, user)]


def _is_erased(server: Server, user: str) -> bool:
    try:
        return server.call("DELETE", f"/v1/users/{user}")[0] == 202
    except (OSError, HTTPException):
        return False


def users_of(run: str, bounds: Bounds) -> list[str]:
    """All that the run may have written to."""
    return [user_name(run, number) for number in range(bounds.users)]
