"""`/v1/merge-rules`: a tenant's merge rules by name, all of them, and which one a candidate meets (A-108 to A-130)."""

from collections.abc import Callable
from functools import partial
from typing import Annotated, Any

from pydantic import ConfigDict, Field, RootModel
from pydantic_core import core_schema

from recollect.app import App
from recollect.arbitration.merge_rules import MOST_RULES, MergeRuleRegistry
from recollect.core.errors import InvalidInput
from recollect.core.items import of_tenant
from recollect.entrypoints.http.cursors import cursor_to, listing_of, open_cursor
from recollect.entrypoints.http.headers import Answer, Attempt, idempotent
from recollect.entrypoints.http.merge_rule_documents import (
    checked_merge_rule,
    checked_merge_rules,
    merge_rule_schema,
    merge_rules_schema,
)
from recollect.entrypoints.http.messages import Reply, Request, etag
from recollect.entrypoints.http.models import (
    LARGEST_WHOLE,
    AnswerModel,
    Count,
    Cursor,
    DocumentModel,
    Free,
    Limit,
    Maybe,
    Read,
    RequestModel,
)
from recollect.entrypoints.http.problems import located
from recollect.entrypoints.http.routes.arbitration import Profile, candidate_of
from recollect.entrypoints.http.routing import Routes

_PAGE = 50
_RULE = "/v1/merge-rules/{name}"
_Rules = Annotated[
    list[Any], Read(partial(checked_merge_rules, most=MOST_RULES), partial(merge_rules_schema, MOST_RULES))
]


class MergeRulesQuery(RequestModel):
    limit: Maybe[Limit] = Field(None, description="Without limit and cursor: all of them, as an export.")
    cursor: Maybe[Cursor] = None


class MergeRuleDocument(DocumentModel):
    root: Annotated[dict[str, Any], Read(checked_merge_rule, merge_rule_schema)]


class MergeRuleChanges(DocumentModel):
    root: Annotated[dict[str, Any], Read(checked_merge_rule, partial(merge_rule_schema, nullable=True))]


class MergeRulesImport(RequestModel):
    rules: _Rules = Field(description="In any order; a name that is there is replaced.")
    version: Maybe[Annotated[int, Field(ge=0, le=LARGEST_WHOLE)]] = Field(
        None, description="As an export has it; passed over."
    )


class _Profiles(RootModel[Annotated[list[Profile], Field(min_length=0, max_length=1_000)]]):
    model_config = ConfigDict(title="Profiles", strict=True, defer_build=True)


class _OneOrMany:
    """A profile, or a list of them; what is wrong is found at its own place, whichever it is."""

    def __get_pydantic_core_schema__(self, _source: Any, handler: Any) -> core_schema.CoreSchema:
        either = core_schema.union_schema([handler(Profile), handler(_Profiles)])
        return core_schema.no_info_wrap_validator_function(_one_or_many, either)


def _one_or_many(value: Any, _either: Any) -> Any:
    return (_Profiles if isinstance(value, list) else Profile).model_validate(value)


class MergeRuleQuestion(RequestModel):
    candidate: Profile
    existing: Maybe[Annotated[Any, _OneOrMany()]] = Field(None, description="No condition asks for it.")


def _with_the_rule(schema: dict[str, Any]) -> None:
    schema["properties"] |= merge_rule_schema()["properties"]
    del schema["additionalProperties"]


class MatchedRule(AnswerModel):
    """A rule with its name and version; what it says stands beside them."""

    model_config = ConfigDict(extra="allow", json_schema_extra=_with_the_rule)

    name: str
    version: Count


class MergeRule(MatchedRule):
    """A rule in its raw form; `resolved` is what it says with all that it inherits."""

    resolved: Free


class MergeRulesPage(AnswerModel):
    version: Count
    rules: list[MergeRule]
    next_cursor: Maybe[str] = None


class MergeRuleMatch(AnswerModel):
    name: str
    rule: MatchedRule


routes = Routes()


@routes.add("PUT", _RULE, answer=MergeRule, errors=(409, 412))
def put_merge_rule(app: App, request: Request, body: MergeRuleDocument) -> Reply:
    """Registers or replaces a merge rule."""
    tenant, name = request.principal.tenant, request.path["name"]
    accepted = request.accepts if request.names_version else None
    return _changed(lambda: app.arbitration.merge_rules.put(tenant, name, body.root, request.now, accepted), name)


@routes.add("PATCH", _RULE, answer=MergeRule, errors=(404, 409, 412, 428), needs_version=True)
def patch_merge_rule(app: App, request: Request, body: MergeRuleChanges) -> Reply:
    """Merges changes into a merge rule."""
    tenant, name = request.principal.tenant, request.path["name"]
    if not body.root:
        raise InvalidInput("names nothing to change", ("body",))
    return _changed(
        lambda: app.arbitration.merge_rules.patch(tenant, name, body.root, request.now, request.accepts), name
    )


@routes.get(_RULE, answer=MergeRule, errors=(404,))
def get_merge_rule(app: App, request: Request) -> Reply:
    """A merge rule, raw and resolved."""
    return _rule_reply(app.arbitration.merge_rules.registry(request.principal.tenant), request.path["name"])


@routes.delete(_RULE, good=(204,), errors=(404, 409, 412))
def delete_merge_rule(app: App, request: Request) -> Reply:
    """Deletes a merge rule."""
    app.arbitration.merge_rules.delete(request.principal.tenant, request.path["name"], request.now, request.accepts)
    return Reply(204, "")


@routes.get("/v1/merge-rules", answer=MergeRulesPage)
def list_merge_rules(app: App, request: Request, query: MergeRulesQuery) -> Reply:
    """All merge rules: an export.

    They come in the order of their registration; with a limit or a cursor a page of them, by name.
    """
    tenant = request.principal.tenant
    registry = app.arbitration.merge_rules.registry(tenant)
    names, more = [rule.name for rule in registry.rules], None
    if query.given():
        listing = listing_of(app, "merge-rules", of_tenant(tenant))
        after = "" if query.cursor is None else open_cursor(query.cursor, listing, 1)[0]
        left = sorted(name for name in names if name > after)
        names = left[: query.limit or _PAGE]
        more = cursor_to(names[-1], listing) if len(left) > len(names) else None
    shown = MergeRulesPage(version=registry.version, rules=_shown(registry, names), next_cursor=more)
    return Reply(200, shown, etag(registry.version), log={"returned": len(names)})


@routes.post("/v1/merge-rules/import", answer=MergeRulesPage, errors=(409,), idempotent=True)
def import_merge_rules(app: App, request: Request, body: MergeRulesImport) -> Reply:
    """Registers all of these merge rules, or none.

    A replay answers with the rules as they are now.
    """
    tenant = request.principal.tenant

    def work(_attempt: Attempt) -> Answer:
        return Answer(200, {"version": app.arbitration.merge_rules.load(tenant, body.rules, request.now).version})

    with located(lambda name: ("body", "rules") if name != "header" else None):
        answer = idempotent(app, request, work)
    registry = app.arbitration.merge_rules.registry(tenant)
    rules = _shown(registry, [rule.name for rule in registry.rules])
    return answer.reply(MergeRulesPage(version=answer.body["version"], rules=rules), {"imported": len(body.rules)})


@routes.post("/v1/merge-rules/match", answer=MergeRuleMatch)
def match_merge_rule(app: App, request: Request, body: MergeRuleQuestion) -> Reply:
    """The merge rule that a candidate meets.

    It is shown with all that it inherits.
    """
    request.check_user(body.candidate.user_id)
    registry = app.arbitration.merge_rules.registry(request.principal.tenant)
    name = registry.matching(candidate_of(body.candidate, request.now)).name
    raw = registry.rule(name)
    rule = {"name": name, "version": raw.version, **raw.document, **registry.resolved(name)}
    shown = MergeRuleMatch(name=name, rule=MatchedRule.model_validate(rule))
    return Reply(200, shown, log={"default": name == "default"})


def rule_json(registry: MergeRuleRegistry, name: str) -> dict[str, Any]:
    """A rule in its raw form with its version, and resolved."""
    rule = registry.rule(name)
    return {"name": name, "version": rule.version, **rule.document, "resolved": registry.resolved(name)}


def _shown(registry: MergeRuleRegistry, names: list[str]) -> list[MergeRule]:
    return [MergeRule.model_validate(rule_json(registry, name)) for name in names]


def _changed(change: Callable[[], MergeRuleRegistry], name: str) -> Reply:
    with located(lambda _name: ("body",)):
        registry = change()
    return _rule_reply(registry, name)


def _rule_reply(registry: MergeRuleRegistry, name: str) -> Reply:
    shown = MergeRule.model_validate(rule_json(registry, name))
    log = {"version": shown.version, "registry_version": registry.version}
    return Reply(200, shown, etag(shown.version), log=log)
