"""The handler of the function `mcp`: the ASGI application under Mangum, behind the JWT authorizer."""

from typing import Any, cast

from aws_lambda_powertools.utilities.typing import LambdaContext
from mangum import Mangum
from mangum.adapter import DEFAULT_TEXT_MIME_TYPES

from recollect.app import App
from recollect.bootstrap import open_app
from recollect.entrypoints.http.access_log import AccessLog
from recollect.entrypoints.http.aws import Handler
from recollect.entrypoints.http.credentials import token_credentials
from recollect.entrypoints.http.problems import PROBLEM_TYPE
from recollect.entrypoints.mcp.endpoint import McpEndpoint


def mcp_handler(app: App | None = None, log: AccessLog | None = None) -> Handler:
    """Serves MCP for the app of the environment. Raises ConfigurationError at start."""
    app = app or open_app()
    endpoint = McpEndpoint(app, token_credentials(app.settings), log or AccessLog(app.settings.log_level))
    mangum = Mangum(cast(Any, endpoint), "off", text_mime_types=[*DEFAULT_TEXT_MIME_TYPES, PROBLEM_TYPE])

    def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
        return mangum(cast(Any, event), cast(Any, context))

    return handler
