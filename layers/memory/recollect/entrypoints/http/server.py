"""The laptop's server: uvicorn around the same routes, with the projector beside it."""

import asyncio
import ipaddress
import sys
from collections.abc import Callable
from importlib.util import find_spec
from threading import Event, Timer
from urllib.parse import parse_qsl

from recollect.app import App
from recollect.bootstrap import open_app, raise_gc_threshold
from recollect.core.errors import ConfigurationError
from recollect.entrypoints.http.access_log import AccessLog
from recollect.entrypoints.http.cors import Cors
from recollect.entrypoints.http.credentials import key_credentials
from recollect.entrypoints.http.dispatch import Answer, Dispatcher, RequestLog
from recollect.entrypoints.http.gate import OWN_NAMES, Application, Gate, Message, Receive, Send, send_answer
from recollect.entrypoints.http.messages import LOCAL_SECONDS, Call
from recollect.entrypoints.http.routes import GROUPS, OWN_SERVER, routes_of
from recollect.entrypoints.http.routing import OURS, Route
from recollect.settings import Settings

_BESIDE_THE_MODEL_SECONDS = 5.0
_KEEP_ALIVE_SECONDS = 5
_LAST_REQUESTS_SECONDS = 5
_PRIMED_AFTER_SECONDS = 1.0
_MCP_PATH = "/mcp"
_CONSOLE_PATH = "/console"
_CONSOLE_BYTES = 33_000_000
"""A file of 32 MB (`console.uploads`), and the form around it."""


def serve(settings: Settings, host: str = "127.0.0.1", port: int = 8700) -> None:
    """Serves until SIGINT or SIGTERM; ready when `/v1/ready` answers 200. Raises ConfigurationError at start."""
    check_host(settings, host)
    app = open_app(settings)
    try:
        _serve_app(app, host, port)
    finally:
        app.close()


def build_asgi(app: App, host: str = "127.0.0.1", log: AccessLog | None = None) -> Gate | Cors:
    """The ASGI application: routes, MCP and console behind the gate; before it CORS, where the settings name origins.

    Raises ConfigurationError as `check_host` does.
    """
    check_host(app.settings, host)
    log = log or AccessLog(app.settings.log_level, sys.stderr)
    own_names = None if app.settings.has_keys else OWN_NAMES | {host.strip("[]")}
    origins = app.settings.cors_origins
    application = _beside_console(_beside_mcp(build_routes(app, log), app, log), app, log)
    gate = Gate(application, log, own_names, origins, _longest_bodies(), {_CONSOLE_PATH.strip("/")})
    return Cors(gate, origins, excepted_path=_MCP_PATH) if origins else gate


def build_routes(app: App, log: RequestLog) -> Application:
    """All routes as an ASGI application: credentials are the keys of the settings; requests run side by side."""
    dispatch = Dispatcher(app, _all_routes(), key_credentials(app.settings), log, large=True)
    return _answering(dispatch.dispatch, app.settings)


def _answering(answer_to: Callable[[Call], Answer], settings: Settings) -> Application:
    seconds = max(LOCAL_SECONDS, settings.model_timeout_seconds + _BESIDE_THE_MODEL_SECONDS)

    async def application(scope: Message, receive: Receive, send: Send) -> None:
        body = (await receive()).get("body", b"")
        await send_answer(await asyncio.to_thread(answer_to, call_in(scope, body, seconds)), send)

    return application


def _beside_console(routes: Application, app: App, log: RequestLog) -> Application:
    """The routes, and the console at its paths where its package is installed; `/` leads to it, else to `/docs`."""
    has_console = find_spec("jinja2") is not None
    start = Answer(303, {"Location": _CONSOLE_PATH if has_console else "/docs"}, "")
    console: list[Application] = []

    async def application(scope: Message, receive: Receive, send: Send) -> None:
        path = scope["path"]
        if path == "/" and scope["method"] == "GET":
            await send_answer(start, send)
        elif not has_console or not (path == _CONSOLE_PATH or path.startswith(f"{_CONSOLE_PATH}/")):
            await routes(scope, receive, send)
        else:
            if not console:
                console.append(await asyncio.to_thread(_console, app, log))
            await console[0](scope, receive, send)

    return application


def _console(app: App, log: RequestLog) -> Application:
    """Made with the first request to it: who uses the API alone reads no templates."""
    from recollect.entrypoints.console.endpoint import Console

    return _answering(Console.over(app, key_credentials(app.settings), log).answer, app.settings)


class _Priming:
    """Makes the console's pages ready soon after the start: half a second of a processor, where it is installed."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._over = Event()
        self._thread = Timer(_PRIMED_AFTER_SECONDS, self._run)

    def start(self) -> None:
        if find_spec("jinja2") is not None:
            self._thread.start()

    def stop(self) -> None:
        """Ends it after the page that it is at."""
        self._over.set()
        self._thread.cancel()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        from recollect.entrypoints.console.endpoint import prime

        prime(self._app, lambda: not self._over.is_set())


def _all_routes() -> list[Route]:
    return routes_of((*GROUPS, *OWN_SERVER))


def _longest_bodies() -> dict[str, int]:
    """By the first part of a path, of the routes that take larger ones than most."""
    routes = {route.path.split("/")[1]: route.wire.body_bytes for route in _all_routes() if route.wire is not OURS}
    return {**routes, _CONSOLE_PATH.strip("/"): _CONSOLE_BYTES}


def _beside_mcp(routes: Application, app: App, log: AccessLog) -> Application:
    """The routes, and MCP at its path where the package for it is installed."""
    if find_spec("mcp") is None:
        return routes
    endpoint = _LazyMcpEndpoint(app, log)

    async def application(scope: Message, receive: Receive, send: Send) -> None:
        await (endpoint if scope["path"] == _MCP_PATH else routes)(scope, receive, send)

    return application


class _LazyMcpEndpoint:
    """Made with the first request to it: importing `mcp` takes longer than all the rest of a start."""

    def __init__(self, app: App, log: AccessLog) -> None:
        self._app = app
        self._log = log
        self._endpoint: Application | None = None

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if self._endpoint is None:
            self._endpoint = await asyncio.to_thread(self._make)
        await self._endpoint(scope, receive, send)

    def _make(self) -> Application:
        from recollect.entrypoints.mcp.server import McpEndpoint

        settings = self._app.settings
        return McpEndpoint(self._app, key_credentials(settings), self._log, settings.mcp_user)


def call_in(scope: Message, body: bytes, remaining_seconds: float) -> Call:
    """A request as the gate passes it on; of a header that comes twice the values are joined."""
    headers: dict[str, str] = {}
    for raw_name, raw_value in scope["headers"]:
        name, value = raw_name.decode().lower(), raw_value.decode()
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    return Call(
        method=scope["method"].upper(),
        path=scope["path"],
        query=parse_qsl(scope.get("query_string", b"").decode(), keep_blank_values=True),
        headers=headers,
        body=body,
        remaining_seconds=remaining_seconds,
        raw_path=scope["raw_path"].decode("ascii", "replace") if scope.get("raw_path") else None,
    )


def check_host(settings: Settings, host: str) -> None:
    """Raises ConfigurationError where a host that others reach is to be served without keys."""
    if not settings.has_keys and not is_loopback(host):
        raise ConfigurationError(
            "RECOLLECT_API_KEYS", f"must be set to listen on {host}: without keys only on this machine itself"
        )


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches it."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


def _serve_app(app: App, host: str, port: int) -> None:
    import uvicorn

    from recollect.entrypoints.worker import background_projector

    config = uvicorn.Config(
        build_asgi(app, host),
        host=host.strip("[]"),
        port=port,
        log_config=None,
        access_log=False,
        lifespan="off",
        ws="none",
        server_header=False,
        timeout_keep_alive=_KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=_LAST_REQUESTS_SECONDS,
    )
    raise_gc_threshold()
    priming = _Priming(app)
    projector = background_projector(app) if app.settings.projector == "on" else None
    if projector is not None:
        projector.start()
    try:
        priming.start()
        uvicorn.Server(config).run()
    finally:
        priming.stop()
        if projector is not None:
            projector.stop()
