"""`recollect mcp`: the memory of one user as an MCP server, for assistants and IDEs on this machine."""

import logging
import sys
from contextlib import nullcontext
from typing import Annotated

import typer

from recollect.entrypoints.cli.opening import ensure_model, opened, settings_of_environment
from recollect.entrypoints.cli.options import LOCAL_TENANT, Household, Persona, Tenant, scope_of
from recollect.extras import require_package

_LOG = logging.getLogger(__name__)


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
    from recollect.entrypoints.mcp.stdio import serve_stdio
    from recollect.entrypoints.worker import background_projector

    scope, settings = scope_of(user, persona, household, tenant), settings_of_environment()
    AccessLog(settings.log_level, sys.stderr)  # from here on our log is JSON lines
    ensure_model(settings, _LOG.warning)
    with opened(settings) as app, background_projector(app) if settings.projector == "on" else nullcontext():
        serve_stdio(app, scope)
