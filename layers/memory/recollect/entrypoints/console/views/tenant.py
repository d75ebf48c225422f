"""What holds for the whole tenant: knowledge, and the rules as data, looked at before they are changed."""

import json
from collections.abc import Mapping
from typing import Any

from recollect.entrypoints.console.api import Refusal
from recollect.entrypoints.console.rendering import pretty
from recollect.entrypoints.console.visit import Views, Visit
from recollect.entrypoints.console.words import part_of, with_part
from recollect.entrypoints.http.messages import Reply
from recollect.entrypoints.http.models import NotJson, parse_json
from recollect.entrypoints.http.problems import Refused, read_as
from recollect.entrypoints.http.routes.rules import RulesDocument
from recollect.entrypoints.http.routing import path_segment

views = Views()
_ENTRY = ("knowledge", "{namespace}", "{key}")
_SHOWN = 50


def _path(visit: Visit) -> str:
    return f"/v1/knowledge/{path_segment(visit.ids['namespace'])}/{path_segment(visit.ids['key'])}"


@views.get("knowledge")
def knowledge(visit: Visit) -> Reply:
    """Terms, rules and corrections; a text, as they resolve it."""
    query, resolved = visit.query, None
    namespace = query.get("namespace")
    path = f"/v1/knowledge/{path_segment(namespace)}" if namespace else "/v1/knowledge"
    page = visit.api.get(path, limit=visit.most(_SHOWN), cursor=query.get("cursor"))
    if "text" in query:
        asked = {"text": query["text"], "store": query.get("store", "global")}
        resolved = visit.api.post("/v1/knowledge/resolve", asked)
    return visit.page("knowledge.html", entries=page["entries"], more=page.get("next_cursor"), resolved=resolved)


@views.get("knowledge-entry")
def new_entry(visit: Visit) -> Reply:
    """A form for a new entry, or, with both names, that entry."""
    query = visit.query
    if "namespace" in query and "key" in query:
        return visit.go("knowledge", query["namespace"], query["key"])
    return visit.page("new_entry.html")


@views.get(*_ENTRY)
def entry(visit: Visit) -> Reply:
    """One entry, to be changed; one that is not there yet, to be made."""
    found = _found(visit)
    words = part_of(_text_of(found), visit.typed("part", visit.query.get("part", "")))
    return visit.page("entry.html", found=found, words=words)


def _text_of(found: Any) -> str:
    """Its value as the form has it."""
    return pretty(found["value"] if found else {})


def _found(visit: Visit) -> Any:
    try:
        return visit.api.get(_path(visit))
    except Refusal as refused:
        if refused.status != 404:
            raise
        return None


@views.post(*_ENTRY, of=entry)
def save_entry(visit: Visit) -> Reply:
    """Makes it, or replaces the version that was shown."""
    given, part, found = visit.form.get("value", ""), visit.form.get("part", ""), _found(visit)
    value = _json(with_part(_text_of(found), given, part))
    visit.api.send("PUT", _path(visit), {"value": value}, version=visit.form.get("version", ""))
    return visit.go("knowledge", done="knowledge")


@views.get(*_ENTRY, "delete")
def ask_to_delete_entry(visit: Visit) -> Reply:
    """What would go."""
    return visit.page("delete_entry.html", found=visit.api.get(_path(visit)))


@views.post(*_ENTRY, "delete", of=ask_to_delete_entry)
def delete_entry(visit: Visit) -> Reply:
    """Deletes it where it is still the version that was shown."""
    visit.api.send("DELETE", _path(visit), version=visit.form.get("version") or "0")
    return visit.go("knowledge", done="knowledge_gone")


def _json(text: str) -> Any:
    """The value. Raises Refusal where it is not JSON."""
    try:
        return parse_json(text.encode())
    except NotJson as error:
        raise Refusal(422, {"title": "This is not JSON", "detail": str(error)}) from None


@views.get("rules")
def rules(visit: Visit) -> Reply:
    """The tenant's own rules, and what holds with them."""
    found = visit.api.get("/v1/rules")
    words = part_of(pretty(found["own"]), visit.typed("part", visit.query.get("part", "")))
    return visit.page("rules.html", rules=found, own=visit.typed("own", words.text), words=words, changed=None)


def _own(visit: Visit, found: Mapping[str, Any]) -> Any:
    """The tenant's own rules with the part that was sent. Raises Refusal where they are no JSON."""
    return _json(with_part(pretty(found["own"]), visit.form.get("own", ""), visit.form.get("part", "")))


@views.post("rules", "preview", of=rules)
def preview_rules(visit: Visit) -> Reply:
    """What would change; nothing is stored."""
    found, form = visit.api.get("/v1/rules"), visit.form
    value = _own(visit, found)
    try:
        read_as(RulesDocument, value, "body")
    except Refused as refused:
        faults = [{"loc": one.loc, "message": one.message} for one in refused.faults]
        raise Refusal(422, {"errors": faults}) from None
    words = part_of(pretty(found["own"]), form.get("part", ""))
    changed = changes_of(found, value)
    return visit.page("rules.html", rules=found, own=form.get("own", ""), words=words, changed=changed)


def changes_of(found: Mapping[str, Any], own: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """Each path whose value would be another: as it is now, and as it would be."""
    old, new, now = _flat(found["own"]), _flat(own), _flat(found["rules"])
    changed = [(path, now.get(path, "nothing"), value) for path, value in new.items() if old.get(path) != value]
    gone = [(path, value, "what the deployment says") for path, value in old.items() if path not in new]
    return changed + gone


def _flat(document: Mapping[str, Any], place: str = "") -> dict[str, str]:
    flat: dict[str, str] = {}
    for name, value in document.items():
        path = f"{place}{name}"
        if isinstance(value, Mapping):
            flat |= _flat(value, f"{path}.")
        else:
            flat[path] = json.dumps(value, ensure_ascii=False)
    return flat


@views.post("rules", of=rules)
def save_rules(visit: Visit) -> Reply:
    """Replaces them where those that hold are still the version that was shown."""
    value = _own(visit, visit.api.get("/v1/rules"))
    visit.api.send("PUT", "/v1/rules", value, version=visit.form.get("version") or "0")
    return visit.go("rules", done="rules")
