"""A deployment in one minute: what is said is found, summarized, answered from, gone once it is deleted, and forgotten.

    python3 infra/smoke/smoke.py API_URL TOKEN [--user USER] [--patience SECONDS]
    python3 infra/smoke/smoke.py --stack STACK [--public]

Works against a deployed API and against `recollect serve`; of a stack it reads the address from the outputs, and a
token from RECOLLECT_TOKEN or, where the stack has a user pool of its own, by its TokenCommand (POOL_USER,
POOL_PASSWORD). What it writes belongs to a user of its own, who is erased at the end (or to USER, where the deployment
binds tokens to users; there what it wrote is deleted, and nobody erased); what a run that stops half-way leaves of it
expires after ten minutes, but for a turn. Ends with 1 at the first thing that is wrong. A turn and a summary ask the
deployment's model, where it has one. With --public only what needs no token is asked.
"""

import argparse
import json
import os
import subprocess
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

TIMEOUT_SECONDS = 35
TEXT = "The smoke test keeps its spare key under the third flowerpot."
QUESTION = "Where is the spare key?"


@dataclass(frozen=True, slots=True)
class Api:
    """Where the API answers, and for whom."""

    url: str
    token: str
    user: str

    def call(self, method: str, path: str, body: dict[str, Any] | None = None, token: str | None = None) -> Any:
        """Status and decoded answer; a refusal is an answer too. Raises URLError where nobody answers."""
        headers = {"Content-Type": "application/json", "Idempotency-Key": uuid.uuid4().hex}
        given = self.token if token is None else token
        if given:
            headers["Authorization"] = f"Bearer {given}"
        data = json.dumps(body).encode() if body is not None else None
        request = urllib.request.Request(self.url.rstrip("/") + path, data, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as answer:
                return answer.status, _decoded(answer.read())
        except urllib.error.HTTPError as refusal:
            return refusal.code, _decoded(refusal.read())


def _decoded(text: bytes) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


def expect(what: str, right: bool, seen: Any) -> None:
    """A line for a step; ends the run where the step went wrong."""
    print(f"{'ok  ' if right else 'FAIL'} {what}", flush=True)
    if not right:
        raise SystemExit(f"     {json.dumps(seen)[:600]}")


def check_readiness(api: Api) -> None:
    """The four public routes, without credentials."""
    for path in ("/v1/health", "/v1/ready", "/v1/openapi.json", "/docs"):
        status, body = api.call("GET", path, token="")
        expect(f"GET {path}", status == 200, [status, body])


def check_credentials(api: Api) -> None:
    """A token that nobody issued opens nothing; a laptop without keys asks for none."""
    status, body = api.call("GET", f"/v1/users/{api.user}/events", token="not-a-token")
    local = api.url.startswith(("http://127.0.0.1", "http://localhost"))
    expect("a token that nobody issued is refused", status in (401, 403) or (local and status == 200), [status, body])


def check_ingest(api: Api) -> str:
    """The id of a turn that is durable."""
    expires = (datetime.now(UTC) + timedelta(minutes=10)).isoformat()
    turn = {"role": "user", "content": TEXT, "expires_at": expires}
    status, body = api.call("POST", "/v1/events", {"user_id": api.user, "conversation_id": "smoke", "events": [turn]})
    expect("POST /v1/events", status == 201, [status, body])
    return str(body["results"][0]["event_id"])


def check_reads(api: Api, event_id: str) -> None:
    """The turn in search and context, at once: before the index shows it."""
    status, body = api.call("POST", "/v1/search", {"user_id": api.user, "query": QUESTION})
    found = status == 200 and event_id in [one["id"] for one in body["results"]]
    expect("POST /v1/search finds the turn just said", found, [status, body])
    status, body = api.call("POST", "/v1/context", {"user_id": api.user, "input": QUESTION})
    expect("POST /v1/context has it in the prompt", status == 200 and "flowerpot" in body["prompt"], [status, body])


def check_projection(api: Api, event_id: str, patience_seconds: float) -> None:
    """The turn's conversation is listed only once it is projected."""

    def projected() -> bool:
        status, body = api.call("GET", f"/v1/users/{api.user}/conversations")
        return status == 200 and bool(body["conversations"])

    waited = wait_until(projected, patience_seconds)
    expect(f"the stream brought it to the projector ({waited:.1f} s)", projected(), {"event_id": event_id})


def check_turn(api: Api) -> list[str]:
    """The ids of what a turn stored: input and answer."""
    body = {"user_id": api.user, "conversation_id": "smoke", "input": QUESTION}
    status, answer = api.call("POST", "/v1/turns", body)
    expect("POST /v1/turns answers", status == 200 and bool(answer["response"]), [status, answer])
    return [answer["input_event_id"], answer["response_event_id"]]


def check_summary(api: Api) -> None:
    """A summary before it is due, and in the list."""
    status, body = api.call("POST", f"/v1/users/{api.user}/summaries?force=true")
    expect("POST summaries makes one", status == 201, [status, body])
    status, listed = api.call("GET", f"/v1/users/{api.user}/summaries")
    ids = [one["id"] for one in listed["summaries"]] if status == 200 else []
    expect("GET summaries lists it", body["summary"]["id"] in ids, [status, listed])


def check_deletion(api: Api, event_ids: list[str]) -> None:
    """All that was said goes, and is found no more."""
    for event_id in event_ids:
        status, body = api.call("DELETE", f"/v1/users/{api.user}/events/{event_id}")
        expect("DELETE an event", status == 204, [status, body])
    status, body = api.call("POST", "/v1/search", {"user_id": api.user, "query": QUESTION})
    left = status == 200 and {one["id"] for one in body["results"]} & set(event_ids)
    expect("POST /v1/search finds nothing of it", left == set(), [status, body])


def check_erasure(api: Api, patience_seconds: float) -> None:
    """The user is forgotten, and every part was read back and held nothing."""
    status, body = api.call("DELETE", f"/v1/users/{api.user}")
    expect("DELETE the user begins an erasure", status == 202, [status, body])
    path = f"/v1/erasures/{body['erasure_id']}"
    waited = wait_until(lambda: api.call("GET", path)[1]["status"] != "running", patience_seconds)
    status, report = api.call("GET", path)
    done = status == 200 and report["status"] == "done" and report["verified"]
    expect(f"the user is erased, verified ({waited:.1f} s)", done, [status, report])
    status, body = api.call("GET", f"/v1/users/{api.user}/events")
    expect("GET events of the user finds nobody", status == 200 and body["events"] == [], [status, body])


def wait_until(condition: Callable[[], bool], patience_seconds: float) -> float:
    """How long it took, or the patience."""
    started = time.monotonic()
    while not condition() and time.monotonic() - started < patience_seconds:
        time.sleep(1)
    return time.monotonic() - started


class NoStack(Exception):
    """The stack's outputs could not be read, or name no way to a token."""


def stack_outputs(stack: str) -> dict[str, str]:
    """What a stack says of itself, by the AWS CLI. Raises NoStack."""
    query = ["--query", "Stacks[0].Outputs", "--output", "json"]
    command = ["aws", "cloudformation", "describe-stacks", "--stack-name", stack, *query]
    outputs = json.loads(_printed(command))
    return {one["OutputKey"]: one["OutputValue"] for one in outputs or []}


def token_of(outputs: dict[str, str]) -> str:
    """RECOLLECT_TOKEN, or what the stack's own TokenCommand prints. Raises NoStack."""
    given = os.environ.get("RECOLLECT_TOKEN", "")
    if given:
        return given
    if "TokenCommand" not in outputs:
        raise NoStack("the stack has an issuer of yours: set RECOLLECT_TOKEN")
    return _printed(["sh", "-c", outputs["TokenCommand"]]).strip()


def _printed(command: list[str]) -> str:
    """What a command prints; what it says against it goes to this one's standard error."""
    try:
        return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        raise NoStack(f"{command[0]} failed: {error.__class__.__name__}") from None


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description="Says whether a deployment works.")
    parser.add_argument("url", nargs="?", default="", help="where the API answers")
    parser.add_argument("token", nargs="?", default="", help="a token of your issuer; none on a laptop")
    parser.add_argument("--stack", default="", help="read address and token from this stack instead")
    parser.add_argument("--public", action="store_true", help="ask only what needs no token")
    parser.add_argument("--user", default="", help="whose memory to write to, instead of a new user's")
    parser.add_argument("--patience", type=float, default=60, help="seconds to wait for the projector, and an erasure")
    given = parser.parse_args()
    if bool(given.url) == bool(given.stack):
        parser.error("give an address or --stack")
    try:
        api = _api(given)
        check_readiness(api) if given.public else run(api, given.patience, erases=not given.user)
    except NoStack as error:
        raise SystemExit(f"FAIL {error}") from None
    except OSError as error:
        raise SystemExit(f"FAIL no answer: {error}") from None
    print("all well")


def _api(given: argparse.Namespace) -> Api:
    user = given.user or f"smoke-{uuid.uuid4().hex[:12]}"
    if not given.stack:
        return Api(given.url, given.token, user)
    outputs = stack_outputs(given.stack)
    if "ApiUrl" not in outputs:
        raise NoStack(f"{given.stack} has no output ApiUrl")
    return Api(outputs["ApiUrl"], "" if given.public else token_of(outputs), user)


def run(api: Api, patience_seconds: float, erases: bool) -> None:
    """All steps. Raises SystemExit at the first that is wrong, OSError where nobody answers."""
    check_readiness(api)
    check_credentials(api)
    event_id = check_ingest(api)
    check_reads(api, event_id)
    check_projection(api, event_id, patience_seconds)
    said = check_turn(api)
    check_summary(api)
    check_deletion(api, [event_id, *said])
    if erases:
        check_erasure(api, patience_seconds)


if __name__ == "__main__":
    main()
