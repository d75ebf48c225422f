"""The tool `manage_knowledge` (S-25 to S-29, S-39). What a model writes is an inference, whatever it says of itself."""

from collections.abc import Mapping
from typing import Any, Literal, Self

from pydantic import Field, model_validator

from recollect.entrypoints.http.representations import knowledge_json
from recollect.entrypoints.tools.tool import Identifier, Invocation, Outcome, Parameters, Tool, fitting
from recollect.knowledge.use_cases import KnowledgeAuthor
from recollect.memories.audit import Actor, ActorKind

LISTED = 50
_WRITING = frozenset({"upsert", "delete"})


class ManageKnowledge(Parameters):
    """Of `manage_knowledge`; only `list` goes without a key, only `upsert` with a value."""

    namespace: Identifier = Field(description="vocabulary, rule, correction, or one of your own.")
    key: Identifier | None = Field(None, description="In vocabulary {store}:{term}; needed but for list.")
    value: Any = Field(None, description="The value, for upsert: an object, or its JSON text.")
    action: Literal["upsert", "delete", "read", "list"] = "upsert"

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if self.key is None and self.action != "list":
            raise ValueError(f"key is required to {self.action}")
        if self.value is None and self.action == "upsert":
            raise ValueError("value is required to upsert")
        return self


def manage_knowledge(invocation: Invocation, given: ManageKnowledge) -> Outcome:
    """Writes, deletes, reads or lists entries of the tenant's knowledge."""
    return {"upsert": _upsert, "delete": _delete, "read": _read, "list": _list}[given.action](invocation, given)


def _upsert(invocation: Invocation, given: ManageKnowledge) -> Outcome:
    entry = invocation.app.knowledge.put(
        invocation.scope.tenant,
        given.namespace,
        given.key or "",
        given.value,
        invocation.now,
        author=_author(invocation),
    )
    return Outcome({"namespace": entry.namespace, "key": entry.key, "version": entry.version})


def _delete(invocation: Invocation, given: ManageKnowledge) -> Outcome:
    place = given.namespace, given.key or ""
    invocation.app.knowledge.delete(invocation.scope.tenant, *place, invocation.now, author=_author(invocation))
    return Outcome({"namespace": given.namespace, "key": given.key, "deleted": True})


def _author(invocation: Invocation) -> KnowledgeAuthor:
    actor = Actor(ActorKind.MODEL, "manage_knowledge")
    return KnowledgeAuthor(invocation.scope, actor, audit_id=invocation.seed.nth(0))


def _read(invocation: Invocation, given: ManageKnowledge) -> Outcome:
    return Outcome(
        knowledge_json(invocation.app.knowledge.get(invocation.scope.tenant, given.namespace, given.key or ""))
    )


def _list(invocation: Invocation, given: ManageKnowledge) -> Outcome:
    page = invocation.app.knowledge.listed(invocation.scope.tenant, given.namespace, LISTED)
    found = fitting([knowledge_json(entry) for entry in page.entries])
    return Outcome({**found, "more": page.more is not None or "left_out" in found})


def _say(given: ManageKnowledge, result: Mapping[str, Any]) -> str:
    said = {"upsert": "I have learnt that.", "delete": "I have forgotten that.", "read": "Here is what I know."}
    return said.get(given.action) or f"I know {len(result['entries'])} entries of that."


TOOLS: Mapping[str, Tool] = {
    "manage_knowledge": Tool(ManageKnowledge, manage_knowledge, _say, lambda given: given.action in _WRITING)
}
