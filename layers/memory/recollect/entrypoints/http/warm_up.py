"""The requests that a function answers to itself while it starts, so that no client's is the first of its kind.

They go the whole way, by the event of an API, route, use case and engines, as one user whom no token can name. Nothing
of it is written (`Parts.dry_run`), and neither log nor metrics tell of it. What a first request would do once (import
modules, make the SDK's signers and parsers, open connections, compile patterns, let Python specialize its code) is
done then, while a function has a whole processor whatever its memory, and nobody waits yet.
"""

import io
import json
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from time import monotonic
from types import MappingProxyType
from typing import Any, TypeAlias

from recollect.app import App
from recollect.entrypoints.http.access_log import AccessLog
from recollect.entrypoints.http.messages import Call
from recollect.settings import Principal

NOBODY = Principal("", admin=True)
"""No tenant's name is empty: what a token names has 1 to 128 characters (`credentials.checked_tenant`)."""
USER = "nobody"
ROUNDS = 3
"""Python specializes code that has run a few times, so one round leaves the first requests slower than the later."""
SECONDS = 3.0
"""No request begins after that: Lambda gives a start ten seconds, and a call of an engine may take six of them."""

_REMOTE = frozenset({"openai", "bedrock"})
Answer: TypeAlias = Mapping[str, Any]
Handler: TypeAlias = Callable[[dict[str, Any], Any], Answer]


@dataclass(frozen=True, slots=True)
class WarmUp:
    """One request: its method and path, and its body as JSON, if it has one; whether it may ask an embedder."""

    method: str
    path: str
    body: Mapping[str, Any] | None = None
    embeds: bool = False

    @property
    def event(self) -> dict[str, Any]:
        """As an HTTP API hands it over, in the payload format 2.0."""
        http = {"method": self.method, "path": self.path, "protocol": "HTTP/1.1", "sourceIp": "127.0.0.1"}
        return {
            "version": "2.0",
            "rawPath": self.path,
            "rawQueryString": "",
            "headers": dict(_HEADERS),
            "requestContext": {"http": http, "requestId": "warm-up", "stage": "$default"},
            "body": None if self.body is None else json.dumps(self.body),
            "isBase64Encoded": False,
        }


_HEADERS = MappingProxyType({
    "accept": "application/json, text/event-stream", "content-type": "application/json", "host": "localhost",
    "idempotency-key": "warm-up", "x-recollect-user": USER,
})  # fmt: skip
_SENTENCE = "On Monday I moved to Lyon, and I have liked green tea since."
_QUESTION = "Which city did I move to?"
_SEARCH = WarmUp("POST", "/v1/search", {"user_id": USER, "query": _QUESTION, "top_k": 3, "explain": True}, True)
_TURN = {"role": "user", "content": _SENTENCE}
_EVENT = WarmUp("POST", "/v1/events", {"user_id": USER, "conversation_id": "c", "events": [_TURN]})
_CONTEXT = WarmUp("POST", "/v1/context", {"user_id": USER, "conversation_id": "c", "input": _QUESTION}, True)
_ITEM_SEARCH = WarmUp("POST", "/store/items/search", {"namespace_prefix": ["n"], "query": _QUESTION}, True)
_OLD = {
    "id": "a", "user_id": USER, "content": "I live in Paris.", "timestamp": "2024-01-01T00:00:00Z",
    "importance": 0.5, "source": "user", "keywords": ["home"],
}  # fmt: skip
_NEW = {**_OLD, "id": "b", "content": "I moved to Lyon.", "timestamp": "2024-05-01T00:00:00Z"}
_TOOL_CALLS = "".join(
    f"[[ABP_TOOL:{tool}]]\n{json.dumps(given)}\n[[END_ABP_TOOL]]\n"
    for tool, given in (("search_memory", {"query": _QUESTION}), ("save_memory", {"content": _SENTENCE}))
)
WARM_UPS: Mapping[str, tuple[WarmUp, ...]] = MappingProxyType(
    {
        "ingest": (_EVENT, WarmUp("POST", "/v1/analyze", {"text": _SENTENCE})),
        "retrieval": (_SEARCH, WarmUp("GET", f"/v1/users/{USER}/events")),
        "memories": (
            WarmUp("POST", "/v1/memories", {"user_id": USER, "content": _SENTENCE, "keywords": ["tea"]}),
            WarmUp("GET", f"/v1/users/{USER}/memories"),
        ),
        "context": (_CONTEXT,),
        "turns": (_EVENT, _CONTEXT),
        "knowledge": (
            WarmUp(
                "PUT", "/v1/knowledge/vocabulary/~bjp0ZWE", {"value": {"target": "drink", "description": "Tea."}}, True
            ),
            WarmUp("POST", "/v1/knowledge/resolve", {"text": _QUESTION, "store": "n"}, True),
        ),
        "tools": (WarmUp("POST", "/v1/tool-calls", {"user_id": USER, "text": _TOOL_CALLS, "execute": True}, True),),
        "items": (
            WarmUp("PUT", "/store/items", {"namespace": ["n"], "key": "k", "value": {"text": _SENTENCE}}, True),
            _ITEM_SEARCH,
        ),
        "agentcore": (_EVENT, _SEARCH, _ITEM_SEARCH, WarmUp("POST", "/memories/", {})),
        "mem0": (
            WarmUp("POST", "/v3/memories/add/", {"messages": [{"content": _SENTENCE}], "user_id": USER}),
            WarmUp("POST", "/v3/memories/search/", {"query": _QUESTION, "filters": {"user_id": USER}}, True),
        ),
        "rules": (WarmUp("GET", "/v1/rules"),),
        "arbitration": (WarmUp("POST", "/v1/arbitrations", {"candidate": _NEW, "existing": [_OLD]}),),
        "merge_rules": (WarmUp("GET", "/v1/merge-rules"),),
        "summaries": (WarmUp("GET", f"/v1/users/{USER}/summaries"), WarmUp("GET", f"/v1/users/{USER}/goals")),
    }
)
"""By group of routes: what its clients ask for most, what it writes for them among it. None asks a language model."""

NEEDED: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"turns": ("ingest", "context"), "agentcore": ("ingest", "retrieval", "items")}
)
"""Other groups whose routes are asked too."""


def run_warm_ups(app: App, handler: Handler, warm_ups: Iterable[WarmUp]) -> int:
    """Has a handler of `NOBODY`'s requests answer them, in rounds, and says how many it has answered.

    After the first that fails there is no other: a part is away, and the request that needs it will say so. An embedder
    of another process is not asked: it is paid for, and where it hangs, the start would be over before it answers.
    """
    away = app.settings.embedder in _REMOTE or bool(app.settings.model_function)
    asked = tuple(one for one in warm_ups if not (one.embeds and away))
    answered: list[int] = []
    with _unheard():
        app.parts.dry_run(lambda: answered.extend(_statuses(handler, asked)))
    return sum(status < 500 for status in answered)


def _statuses(handler: Handler, warm_ups: tuple[WarmUp, ...]) -> Iterator[int]:
    over = monotonic() + SECONDS
    for _ in range(ROUNDS):
        for one in warm_ups:
            if monotonic() > over:
                return
            status = int(handler(one.event, _Invocation())["statusCode"])
            yield status
            if status >= 500:
                return


def as_nobody(_call: Call) -> Principal:
    """Whoever asks."""
    return NOBODY


def unheard_log(level: str) -> AccessLog:
    """A log whose lines are made and thrown away."""
    return AccessLog(level, io.StringIO(), "warm-up")


class _Invocation:
    """What a handler asks of Lambda's context."""

    aws_request_id = "warm-up"

    def get_remaining_time_in_millis(self) -> int:
        return int(SECONDS * 1000)


@contextmanager
def _unheard() -> Iterator[None]:
    """Nothing is logged meanwhile, neither by the package nor by others; but for `unheard_log`."""
    handlers = [*logging.getLogger("recollect").handlers, *logging.getLogger().handlers]
    for handler in handlers:
        handler.addFilter(_refuse)
    try:
        yield
    finally:
        for handler in handlers:
            handler.removeFilter(_refuse)


def _refuse(_record: logging.LogRecord) -> bool:
    return False
