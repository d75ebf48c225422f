"""`GET|PUT /v1/rules`: the rules that hold for the caller's tenant. For administrators."""

from typing import Annotated, Any

from recollect.app import App
from recollect.entrypoints.http.messages import Reply, Request, etag
from recollect.entrypoints.http.models import AnswerModel, DocumentModel, Fault, Free, Maybe, Read, Shows, Some, Time
from recollect.entrypoints.http.routing import Routes
from recollect.entrypoints.http.rule_documents import checked_rules, rules_schema
from recollect.rules.groups import document_of
from recollect.rules.use_cases import TenantRules


class RulesDocument(DocumentModel):
    root: Annotated[dict[str, Any], Read(checked_rules, rules_schema)]


class RulesAnswer(AnswerModel):
    version: str
    rules: Annotated[Free, Shows(rules_schema)]
    own: Free
    updated_at: Maybe[Time] = None
    ignored: Some[Fault] = None


routes = Routes()


@routes.get("/v1/rules", answer=RulesAnswer, admin=True)
def get_rules(app: App, request: Request) -> Reply:
    """The tenant's rules, resolved, with their version."""
    return _reply(app.rules.read(request.principal.tenant))


@routes.add("PUT", "/v1/rules", answer=RulesAnswer, errors=(412,), admin=True)
def put_rules(app: App, request: Request, body: RulesDocument) -> Reply:
    """Replaces the tenant's own rules, which are merged over the deployment's.

    `{}` removes them. They hold from the next request on.
    """
    tenant, expected = request.principal.tenant, None
    if request.expects_version:
        expected = request.expected(app.rules.resolved(tenant).version, "the rules changed since they were read")
    return _reply(app.rules.replace(tenant, body.root, request.now, expected))


def _reply(found: TenantRules) -> Reply:
    ignored = [Fault(loc=list(one.path), message=one.message) for one in found.ignored]
    shown = RulesAnswer.made_of(found, found.rules, rules=document_of(found.rules), ignored=ignored)
    log = {"rules_version": found.rules.version, "ignored": len(found.ignored)}
    return Reply(200, shown, etag(found.rules.version), log=log)
