"""`GET|PUT /v1/rules`: the rules that hold for the caller's tenant. For administrators."""

from typing import Any

from recollect.app import App
from recollect.core.errors import VersionMismatch
from recollect.core.time import iso
from recollect.entrypoints.http.messages import Reply, Request
from recollect.entrypoints.http.preconditions import etag, expects, matches
from recollect.entrypoints.http.routing import COMMON_STATUSES, READ_STATUSES, Route
from recollect.entrypoints.http.rules_document import RulesShape
from recollect.rules.groups import document_of
from recollect.rules.use_cases import TenantRules

RULES_BODY = RulesShape("RulesDocument")


def get_rules(app: App, request: Request) -> Reply:
    """The rules as they hold, and the tenant's own part of them."""
    return _reply(app.rules.read(request.principal.tenant))


def put_rules(app: App, request: Request) -> Reply:
    """Takes the place of the tenant's own; `{}` removes them. They hold from the next request on."""
    tenant, headers = request.principal.tenant, request.call.headers
    expected = _expected(app, request) if expects(headers) else None
    return _reply(app.rules.replace(tenant, request.values["document"], request.now, expected))


def _expected(app: App, request: Request) -> str:
    """The version that the request names, which is that of now. Raises VersionMismatch for any other."""
    version = app.rules.resolved(request.principal.tenant).version
    if not matches(request.call.headers, version):
        raise VersionMismatch("the rules changed since they were read")
    return version


def _reply(found: TenantRules) -> Reply:
    body: dict[str, Any] = {"version": found.rules.version, "rules": document_of(found.rules), "own": found.own}
    if found.updated_at is not None:
        body["updated_at"] = iso(found.updated_at)
    if found.ignored:
        body["ignored"] = [{"loc": list(fault.path), "message": fault.message} for fault in found.ignored]
    log = {"rules_version": found.rules.version, "ignored": len(found.ignored)}
    return Reply(200, body, {"ETag": etag(found.rules.version)}, log=log)


ROUTES = (
    Route(
        method="GET",
        path="/v1/rules",
        operation="getRules",
        summary="The tenant's rules, resolved, with their version",
        handle=get_rules,
        answer="RulesAnswer",
        statuses=(200, *READ_STATUSES),
        admin=True,
    ),
    Route(
        method="PUT",
        path="/v1/rules",
        operation="putRules",
        summary="Replaces the tenant's own rules, which are merged over the deployment's",
        handle=put_rules,
        body=RULES_BODY,
        answer="RulesAnswer",
        statuses=(200, 412, *COMMON_STATUSES),
        admin=True,
    ),
)
