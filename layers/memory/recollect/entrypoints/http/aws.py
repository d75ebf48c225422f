"""The handler of a function behind the HTTP API: `handler = http_handler("ingest")`."""

import base64
import binascii
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qsl

from recollect.app import App
from recollect.bootstrap import open_app
from recollect.core.errors import RecollectError
from recollect.entrypoints.http.access_log import AccessLog, lambda_log
from recollect.entrypoints.http.credentials import Authenticate, signed_credentials, token_credentials
from recollect.entrypoints.http.dispatch import Answer, Dispatcher, is_sent_in_base64
from recollect.entrypoints.http.messages import Call
from recollect.entrypoints.http.models import build_models
from recollect.entrypoints.http.routes import routes_of
from recollect.entrypoints.http.warm_up import NEEDED, WARM_UPS, as_nobody, run_warm_ups, unheard_log
from recollect.settings import Settings

Event = Mapping[str, Any]
Handler = Callable[[dict[str, Any], Any], dict[str, Any]]

API_SECONDS = 29.0  # an HTTP API waits for 30, however long its function may run
_MARGIN_SECONDS = 0.5


def http_handler(*groups: str, app: App | None = None) -> Handler:
    """Serves these groups of routes for the app of the environment, and has warmed them up (`warm_up`).

    Raises ConfigurationError at start.
    """
    opened = app or open_app()
    handler = build_handler(opened, groups)
    _warm_up(opened, groups)
    return handler


def agentcore_handler(app: App) -> Handler:
    """Serves AgentCore's routes to whoever signs with a key of the settings, and to nobody else; warmed up too."""
    from recollect.entrypoints.http.agentcore.wire import sent_paths

    group, authenticate = "agentcore", signed_credentials(app.settings)
    dispatch = Dispatcher(app, routes_of([group]), authenticate, lambda_log(app.settings.log_level))

    def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
        call = call_of(event, _remaining_seconds(context))
        paths = (replace(call, raw_path=path) for path in sent_paths(call.path))
        return response_of(dispatch.dispatch(_as_signed(list(paths), authenticate)))

    _warm_up(app, [group])
    return handler


def _as_signed(calls: Sequence[Call], authenticate: Authenticate) -> Call:
    """The one to which the signature fits; the last is not tried here, since what fits none is refused anyway."""
    for call in calls[:-1]:
        with suppress(RecollectError):
            authenticate(call)
            return call
    return calls[-1]


def _warm_up(app: App, groups: Iterable[str]) -> None:
    build_models(model for route in routes_of(groups) for model in (route.body, route.query, route.answer))
    named = [one for group in groups for one in (group, *NEEDED.get(group, ()))]
    handler = build_handler(app, named, unheard_log(app.settings.log_level), as_nobody)
    run_warm_ups(app, handler, [one for group in groups for one in WARM_UPS.get(group, ())])


def build_handler(
    app: App, groups: Iterable[str], log: AccessLog | None = None, authenticate: Authenticate | None = None
) -> Handler:
    """The handler of a function behind an HTTP API; without `authenticate` with `cloud_credentials`."""
    settings = app.settings
    log = log or lambda_log(settings.log_level)
    dispatch = Dispatcher(app, routes_of(groups), authenticate or cloud_credentials(settings), log)

    def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
        return response_of(dispatch.dispatch(call_of(event, _remaining_seconds(context))))

    return handler


def _remaining_seconds(context: Any) -> float:
    """Until the API gives up, or the function has to."""
    seconds: float = context.get_remaining_time_in_millis() / 1000
    return max(0.0, min(API_SECONDS, seconds) - _MARGIN_SECONDS)


def cloud_credentials(settings: Settings) -> Authenticate:
    """The claims of a checked JWT, or a signature; under `sam local start-api`, where none is checked, a header."""
    if not settings.local_api:
        return token_credentials(settings)
    from recollect.entrypoints.http.local_credentials import local_credentials

    return local_credentials(settings)


def response_of(answer: Answer) -> dict[str, Any]:
    """As an HTTP API takes it, in the payload format 2.0: bytes in base64, and a text that is shorter so."""
    body, encoded = answer.body, is_sent_in_base64(answer.body)
    if encoded:
        body = base64.b64encode(body.encode() if isinstance(body, str) else body).decode()
    return {"statusCode": answer.status, "headers": dict(answer.headers), "body": body, "isBase64Encoded": encoded}


def call_of(event: Event, remaining_seconds: float) -> Call:
    """A request as the event of an HTTP API holds it."""
    context = event.get("requestContext") or {}
    authorizer = context.get("authorizer") or {}
    token, found = authorizer.get("jwt"), authorizer.get("lambda")
    base_path, path = _path(event, context)
    return Call(
        method=str(context["http"]["method"]).upper(),
        path=path,
        base_path=base_path,
        query=_query(event),
        headers={name.lower(): value for name, value in (event.get("headers") or {}).items()},
        body=_body(event),
        claims=_claims(token) if isinstance(token, Mapping) else None,
        handed_on=found if isinstance(found, Mapping) else None,
        remaining_seconds=remaining_seconds,
        request_id=context.get("requestId"),
        source_address=context["http"].get("sourceIp"),
    )


def _path(event: Event, context: Mapping[str, Any]) -> tuple[str, str]:
    """The stage, where an HTTP API has one that is not the default, and the path after it, as the API decoded it."""
    path, stage = str(event["rawPath"]), f"/{context.get('stage')}"
    return (stage, path.removeprefix(stage)) if path.startswith(f"{stage}/") else ("", path)


def _query(event: Event) -> Sequence[tuple[str, str]]:
    return parse_qsl(event.get("rawQueryString") or "", keep_blank_values=True)


def _body(event: Event) -> bytes:
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
