"""`/v1/merge-rules`: a tenant's merge rules by name, all of them, and which one a candidate meets (A-108 to A-130)."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from recollect.app import App
from recollect.arbitration.merge_rules import MOST_RULES, MergeRuleRegistry
from recollect.core.errors import InvalidInput
from recollect.core.ids import IdSeed
from recollect.core.items import of_tenant
from recollect.entrypoints.http.cursors import Listing, open_cursor, seal
from recollect.entrypoints.http.fields import Field, Shape, in_query, list_of, nested, text, whole
from recollect.entrypoints.http.idempotency import REPLAYED, claim_of
from recollect.entrypoints.http.messages import Reply, Request
from recollect.entrypoints.http.option_fields import MergeRuleShape, rules_field
from recollect.entrypoints.http.preconditions import HEADER, etag, matches, require
from recollect.entrypoints.http.routing import COMMON_STATUSES, READ_STATUSES, Route
from recollect.entrypoints.http.run_once import Answer, run_once
from recollect.entrypoints.http.statements import PROFILE, statement_of

_PAGE = 50
_IMPORT_ROUTE = "POST /v1/merge-rules/import"


def _one_or_many(one: Field) -> Field:
    many = list_of(one, 0, 1_000)

    def read(value: Any) -> Any:
        return many.read(value) if isinstance(value, list) else one.read(value)

    return Field(read, {"anyOf": [one.schema, many.schema]})


LIST_QUERY = Shape(
    "MergeRulesQuery",
    {
        "limit": in_query(whole(1, 200)).described("Without limit and cursor: all of them, as an export."),
        "cursor": text(max_bytes=4096),
    },
)
RULE_BODY = MergeRuleShape("MergeRuleDocument")
CHANGES_BODY = MergeRuleShape("MergeRuleChanges", changes=True)
IMPORT_BODY = Shape(
    "MergeRulesImport",
    {
        "rules": rules_field(MOST_RULES).needed().described("In any order; a name that is there is replaced."),
        "version": whole(0).described("As an export has it; passed over."),
    },
)
MATCH_BODY = Shape(
    "MergeRuleQuestion",
    {
        "candidate": nested(PROFILE).needed(),
        "existing": _one_or_many(nested(PROFILE)).described("No condition asks for it."),
    },
)


def put_rule(app: App, request: Request) -> Reply:
    """Registers a rule, or replaces the one of that name."""
    accepts = _accepts(request) if HEADER.lower() in request.call.headers else None
    name, document = request.path["name"], request.values["document"]
    return _changed(
        lambda: app.arbitration.merge_rules.put(request.principal.tenant, name, document, request.now, accepts), name
    )


def patch_rule(app: App, request: Request) -> Reply:
    """Changes a rule in the version that `If-Match` names."""
    require(request.call.headers)
    name, changes = request.path["name"], request.values["document"]
    if not changes:
        raise InvalidInput("names nothing to change", ("body",))
    return _changed(
        lambda: app.arbitration.merge_rules.patch(
            request.principal.tenant, name, changes, request.now, _accepts(request)
        ),
        name,
    )


def get_rule(app: App, request: Request) -> Reply:
    """A rule in its raw form, and what it says with all that it inherits."""
    return _rule_reply(app.arbitration.merge_rules.registry(request.principal.tenant), request.path["name"])


def delete_rule(app: App, request: Request) -> Reply:
    """Deletes a rule."""
    app.arbitration.merge_rules.delete(request.principal.tenant, request.path["name"], request.now, _accepts(request))
    return Reply(204, "")


def list_rules(app: App, request: Request) -> Reply:
    """All rules, in the order of their registration; with a limit or a cursor a page of them, by name."""
    tenant, query = request.principal.tenant, request.query
    registry = app.arbitration.merge_rules.registry(tenant)
    names = [rule.name for rule in registry.rules]
    listing = Listing(f"{app.settings.engines}:{app.settings.table}", "merge-rules", of_tenant(tenant))
    more: dict[str, Any] = {}
    if query:
        after = open_cursor(query["cursor"], listing, 1)[0] if "cursor" in query else ""
        left = sorted(name for name in names if name > after)
        names = left[: query.get("limit", _PAGE)]
        more = {"next_cursor": seal([names[-1]], listing)} if len(left) > len(names) else {}
    body = {"version": registry.version, "rules": [rule_json(registry, name) for name in names], **more}
    return Reply(200, body, {"ETag": etag(registry.version)}, log={"returned": len(names)})


def import_rules(app: App, request: Request) -> Reply:
    """Registers all of them, or none. A replay answers with the rules as they are now."""
    tenant, rules = request.principal.tenant, request.values["rules"]
    fresh = app.ids.seed(int(time.time() * 1000))

    def work(_seed: IdSeed) -> Answer:
        return Answer(200, {"version": app.arbitration.merge_rules.load(tenant, rules, request.now).version})

    with _located("body", "rules"):
        claim = claim_of(request, _IMPORT_ROUTE, fresh)
        answer = run_once(app.parts.idempotency, claim, work) if claim else work(fresh)
    registry = app.arbitration.merge_rules.registry(tenant)
    body = {"version": answer.body["version"], "rules": [rule_json(registry, rule.name) for rule in registry.rules]}
    log = {"imported": len(rules), "replayed": answer.replayed}
    return Reply(answer.status, body, REPLAYED if answer.replayed else {}, log=log)


def match_rule(app: App, request: Request) -> Reply:
    """The rule that a candidate meets: its name, and what it says with all that it inherits."""
    profile = {"id": "-", "content": "", "importance": -1.0, "timestamp": request.now, **request.values["candidate"]}
    request.scope({"user_id": profile["user_id"]})
    registry = app.arbitration.merge_rules.registry(request.principal.tenant)
    rule = registry.matching(statement_of(profile))
    shown = {**rule_json(registry, rule.name), **registry.resolved(rule.name)}
    shown.pop("resolved")
    return Reply(200, {"name": rule.name, "rule": shown}, log={"default": rule.name == "default"})


def rule_json(registry: MergeRuleRegistry, name: str) -> dict[str, Any]:
    """A rule in its raw form with its version, and resolved."""
    rule = registry.rule(name)
    return {"name": name, "version": rule.version, **rule.document, "resolved": registry.resolved(name)}


def _changed(change: Callable[[], MergeRuleRegistry], name: str) -> Reply:
    with _located("body"):
        registry = change()
    return _rule_reply(registry, name)


def _rule_reply(registry: MergeRuleRegistry, name: str) -> Reply:
    body = rule_json(registry, name)
    log = {"version": body["version"], "registry_version": registry.version}
    return Reply(200, body, {"ETag": etag(body["version"])}, log=log)


def _accepts(request: Request) -> Callable[[int], bool]:
    headers = request.call.headers
    return lambda version: matches(headers, version)


@contextmanager
def _located(*loc: str) -> Iterator[None]:
    """Says of what the domain refuses where in the request it stood."""
    try:
        yield
    except InvalidInput as error:
        if error.loc[:1] == ("header",):
            raise
        raise InvalidInput(str(error), (*loc, *error.loc)) from None


_RULE = "/v1/merge-rules/{name}"
_READ = (200, *READ_STATUSES)
_WRITE = (200, *COMMON_STATUSES)


def _route(method: str, path: str, operation: str, summary: str, handle: Any, answer: str, **more: Any) -> Route:
    return Route(method=method, path=path, operation=operation, summary=summary, handle=handle, answer=answer, **more)


ROUTES = (
    _route("PUT", _RULE, "putMergeRule", "Registers or replaces a merge rule", put_rule, "MergeRule",
           body=RULE_BODY, statuses=(409, 412, *_WRITE)),
    _route("PATCH", _RULE, "patchMergeRule", "Merges changes into a merge rule", patch_rule, "MergeRule",
           body=CHANGES_BODY, statuses=(404, 409, 412, 428, *_WRITE), needs_version=True),
    _route("GET", _RULE, "getMergeRule", "A merge rule, raw and resolved", get_rule, "MergeRule",
           statuses=(404, *_READ)),
    _route("DELETE", _RULE, "deleteMergeRule", "Deletes a merge rule", delete_rule, "Nothing",
           statuses=(204, 404, 409, 412, *READ_STATUSES)),
    _route("GET", "/v1/merge-rules", "listMergeRules", "All merge rules: an export", list_rules, "MergeRulesPage",
           query=LIST_QUERY, statuses=_READ),
    _route("POST", "/v1/merge-rules/import", "importMergeRules", "Registers all of these merge rules, or none",
           import_rules, "MergeRulesPage", body=IMPORT_BODY, statuses=(409, *_WRITE), idempotent=True),
    _route("POST", "/v1/merge-rules/match", "matchMergeRule", "The merge rule that a candidate meets", match_rule,
           "MergeRuleMatch", body=MATCH_BODY, statuses=_WRITE),
)  # fmt: skip
