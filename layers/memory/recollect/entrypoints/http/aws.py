"""The handler of a function behind the HTTP API: `handler = http_handler("ingest")`."""

from collections.abc import Callable
from typing import Any

from aws_lambda_powertools.event_handler import APIGatewayHttpResolver
from aws_lambda_powertools.utilities.typing import LambdaContext

from recollect.app import App
from recollect.bootstrap import open_app
from recollect.entrypoints.http.app import build_resolver

Handler = Callable[[dict[str, Any], LambdaContext], dict[str, Any]]


def http_handler(*groups: str, app: App | None = None) -> Handler:
    """Serves these groups of routes for the app of the environment. Raises ConfigurationError at start."""
    return resolving(build_resolver(app or open_app(), groups))


def resolving(resolver: APIGatewayHttpResolver) -> Handler:
    """A plain function around the resolver."""

    def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
        return resolver.resolve(event, context)

    return handler
