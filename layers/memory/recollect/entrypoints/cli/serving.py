"""`recollect serve`, `recollect mcp` and `recollect openapi`: the servers of this machine, and their description."""

import logging
import signal
import sys
from contextlib import nullcontext, suppress
from typing import Annotated

import typer

from recollect.entrypoints.cli.console import say
from recollect.entrypoints.cli.opening import (
    LOCAL_TENANT,
    Household,
    Persona,
    Tenant,
    ensure_model,
    opened,
    scope_of,
    settings_of_environment,
)
from recollect.extras import require_package

_LOG = logging.getLogger(__name__)


def serve(
    host: Annotated[str, typer.Option(help="Address to listen on; anything but loopback needs keys.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65535)] = 8700,
) -> None:
    """Serves the HTTP API until stopped; ready when /v1/ready answers 200."""
    from recollect.entrypoints.http import server
    from recollect.entrypoints.http.access_log import AccessLog

    settings = settings_of_environment()
    require_package("uvicorn", "this command")
    server.check_host(settings, host)
    AccessLog(settings.log_level, sys.stderr)  # from here on our log is JSON lines
    ensure_model(settings, _LOG.warning)
    _announce(host, port)
    signal.signal(signal.SIGTERM, _stop)
    try:
        with suppress(KeyboardInterrupt):
            server.serve(settings, host, port)
    except SystemExit:
        raise typer.Exit(1) from None  # uvicorn has said why, such as that the port is taken


def _stop(_signal: int, _frame: object) -> None:
    """As Ctrl-C: the projector ends its page before the process does."""
    raise KeyboardInterrupt


def _announce(host: str, port: int) -> None:
    """To a person in words, to a collector of logs as a record."""
    where = f"http://{f'[{host}]' if ':' in host and not host.startswith('[') else host}:{port}"
    if sys.stderr.isatty():
        say(f"Recollect on {where}, documentation on {where}/docs. Ctrl-C ends it.")
    else:
        _LOG.info("starting", extra={"url": where})


def mcp(
    user: Annotated[
        str, typer.Option("--user", "-u", envvar="RECOLLECT_MCP_USER", help="Whose memory: the user's id.")
    ],
    persona: Persona = None,
    household: Household = None,
    tenant: Tenant = LOCAL_TENANT,
) -> None:
    """Serves MCP on standard input and output until that ends; an assistant starts it by itself."""
    require_package("mcp", "this command")
    from recollect.entrypoints.http.access_log import AccessLog
    from recollect.entrypoints.mcp.server import serve_stdio
    from recollect.entrypoints.worker import background_projector

    scope, settings = scope_of(user, persona, household, tenant), settings_of_environment()
    AccessLog(settings.log_level, sys.stderr)  # from here on our log is JSON lines
    ensure_model(settings, _LOG.warning)
    with opened(settings) as app, background_projector(app) if settings.projector == "on" else nullcontext():
        serve_stdio(app, scope)


def openapi() -> None:
    """Prints the OpenAPI document."""
    from recollect.entrypoints.http.openapi import document_json

    sys.stdout.write(document_json().rstrip("\n") + "\n")
