"""`/mcp` beside the routes of the laptop's server; the package `mcp` is imported with the first request to it."""

import asyncio
from importlib.util import find_spec

from recollect.app import App
from recollect.entrypoints.http.access_log import AccessLog
from recollect.entrypoints.http.dispatch import key_credentials
from recollect.entrypoints.http.gate import Application, Message, Receive, Send

_PATH = "/mcp"


def beside(routes: Application, app: App, log: AccessLog) -> Application:
    """The routes, and MCP at its path where the package for it is installed."""
    if find_spec("mcp") is None:
        return routes
    endpoint = _LazyEndpoint(app, log)

    async def application(scope: Message, receive: Receive, send: Send) -> None:
        await (endpoint if scope["path"] == _PATH else routes)(scope, receive, send)

    return application


class _LazyEndpoint:
    """Makes the endpoint when it is first needed: importing it takes longer than all the rest of a start."""

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
