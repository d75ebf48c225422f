"""MCP over standard input and output, for one user of this machine."""

from datetime import UTC, datetime

import anyio
from mcp.server.stdio import stdio_server

from recollect.app import App
from recollect.core.scope import Scope
from recollect.entrypoints.mcp.server import Caller, Context, build_server


def serve_stdio(app: App, scope: Scope) -> None:
    """Serves until standard input ends. Nothing but the protocol is written to standard output meanwhile."""

    def caller(_context: Context) -> Caller:
        return Caller(scope, datetime.now(UTC))

    async def run() -> None:
        server = build_server(app, caller)
        async with stdio_server() as (received, sent):
            await server.run(received, sent, server.create_initialization_options())

    anyio.run(run)
