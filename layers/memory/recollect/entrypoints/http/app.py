"""The routes on Powertools' resolvers: one route of theirs takes every request, the table of ours finds the operation.

Powertools matches paths by a regular expression that knows no emoji, no combining marks and no `#`; matching by our own
table gives every id the same answer under Lambda and on a laptop. Without `enable_validation`: it costs 140 ms.
"""

import asyncio
import base64
import binascii
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import parse_qsl

from aws_lambda_powertools.event_handler import APIGatewayHttpResolver, HttpResolverLocal, Response

from recollect.app import App
from recollect.entrypoints.http.access_log import AccessLog
from recollect.entrypoints.http.credentials import key_credentials, token_credentials
from recollect.entrypoints.http.dispatch import Answer, Dispatcher
from recollect.entrypoints.http.messages import Call
from recollect.entrypoints.http.routes import GROUPS, routes_of

ANY_PATH = r"[\s\S]*"
METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"]
LOCAL_SECONDS = 30.0
API_SECONDS = 29.0  # an HTTP API waits for 30, however long its function may run
_BESIDE_THE_MODEL_SECONDS = 5.0
_MARGIN_SECONDS = 0.5


def build_resolver(app: App, groups: Iterable[str], log: AccessLog | None = None) -> APIGatewayHttpResolver:
    """The resolver of a function behind an HTTP API: credentials are the claims of a checked JWT, nothing else."""
    settings = app.settings
    log = log or AccessLog(settings.log_level)
    dispatch = Dispatcher(app, routes_of(groups), token_credentials(settings), log)
    resolver = APIGatewayHttpResolver()

    def answer() -> Response[str]:
        remaining = min(API_SECONDS, resolver.lambda_context.get_remaining_time_in_millis() / 1000) - _MARGIN_SECONDS
        return _response(dispatch(call_of(resolver.current_event.raw_event, max(0.0, remaining))))

    resolver.route(ANY_PATH, METHODS)(answer)
    resolver.not_found(lambda _error: answer())
    return resolver


def build_local_resolver(app: App, log: AccessLog | None = None) -> HttpResolverLocal:
    """All of it as an ASGI application: credentials are the keys of the settings; requests run side by side."""
    log = log or AccessLog(app.settings.log_level, sys.stderr)
    dispatch = Dispatcher(app, routes_of(GROUPS), key_credentials(app.settings), log)
    resolver = HttpResolverLocal()
    seconds = max(LOCAL_SECONDS, app.settings.model_timeout_seconds + _BESIDE_THE_MODEL_SECONDS)

    async def answer() -> Response[str]:
        call = call_of(resolver.current_event.raw_event, seconds)
        return _response(await asyncio.to_thread(dispatch, call))

    resolver.route(ANY_PATH, METHODS)(answer)
    resolver.not_found(lambda _error: _response(dispatch(call_of(resolver.current_event.raw_event, seconds))))
    return resolver


def _response(answer: Answer) -> Response[str]:
    """As Powertools takes it: bytes in base64, since it would take those of a JSON document for an object."""
    if isinstance(answer.body, str):
        return Response(answer.status, body=answer.body, headers=answer.headers)
    response = Response(answer.status, body=base64.b64encode(answer.body).decode(), headers=answer.headers)
    response.base64_encoded = True
    return response


def call_of(event: Mapping[str, Any], remaining_seconds: float) -> Call:
    """A request as the event of an HTTP API, or of the laptop's server, holds it."""
    context = event.get("requestContext") or {}
    authorizer = context.get("authorizer") or {}
    token = authorizer.get("jwt")
    return Call(
        method=_method(event, context),
        path=_path(event, context),
        query=_query(event),
        headers={name.lower(): value for name, value in (event.get("headers") or {}).items()},
        body=_body(event),
        claims=_claims(token) if isinstance(token, Mapping) else None,
        remaining_seconds=remaining_seconds,
        request_id=context.get("requestId") if "rawPath" in event else None,
    )


def _method(event: Mapping[str, Any], context: Mapping[str, Any]) -> str:
    return str(event.get("httpMethod") or context["http"]["method"]).upper()


def _path(event: Mapping[str, Any], context: Mapping[str, Any]) -> str:
    """As the server decoded it, once; without the stage, where an HTTP API has one that is not the default."""
    path = str(event["rawPath"] if "rawPath" in event else event["path"])
    stage = f"/{context.get('stage')}/"
    return path[len(stage) - 1 :] if "rawPath" in event and path.startswith(stage) else path


def _query(event: Mapping[str, Any]) -> Sequence[tuple[str, str]]:
    if "rawPath" in event:
        return parse_qsl(event.get("rawQueryString") or "", keep_blank_values=True)
    many = event.get("multiValueQueryStringParameters") or {}
    return [(name, value) for name, values in many.items() for value in values]


def _body(event: Mapping[str, Any]) -> bytes:
    """The bytes that were sent; half a surrogate pair stays what no UTF-8 is."""
    body = event.get("body") or ""
    if not event.get("isBase64Encoded"):
        return str(body).encode("utf-8", "surrogatepass")
    try:
        return base64.b64decode(body)
    except (ValueError, binascii.Error):
        return b""


def _claims(token: Mapping[str, Any]) -> dict[str, Any]:
    """The claims of the token, with the scopes that the authorizer found where the claims name none."""
    claims = dict(token.get("claims") or {})
    scopes = token.get("scopes")
    return {**claims, "scope": scopes} if scopes and "scope" not in claims else claims
