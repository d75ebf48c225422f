"""What was decided between memories, and what is open: side by side, settled and taken back."""

from collections.abc import Mapping
from typing import Any

from recollect.entrypoints.console.api import absent, user_path
from recollect.entrypoints.console.reach import memories_of, read_either
from recollect.entrypoints.console.visit import Views, Visit
from recollect.entrypoints.http.messages import Reply

views = Views()
_USER = ("users", "{user_id}")
_CONFLICT = (*_USER, "conflicts", "{conflict_id}")
_DECISION = (*_USER, "decisions", "{decision_id}")
_OPEN, _DECIDED = ("newer", "older"), ("winner", "loser")
_SHOWN = 20
_PAGES = 5


@views.get(*_USER, "decisions")
def decisions(visit: Visit) -> Reply:
    """Open conflicts first, then what was decided, the newest first."""
    user_id, query = visit.ids["user_id"], visit.query
    path = user_path(user_id, "arbitrations")
    decided = visit.api.get(path, status=query.get("status"), limit=visit.most(_SHOWN), cursor=query.get("cursor"))
    first = "cursor" not in query
    open_ones = visit.api.get(user_path(user_id, "conflicts"), status="open", limit=visit.most(_SHOWN)) if first else {}
    conflicts, made = open_ones.get("conflicts", ()), decided["arbitrations"]
    named = [one[side] for found, sides in ((conflicts, _OPEN), (made, _DECIDED)) for one in found for side in sides]
    texts: dict[str, Any] = memories_of(visit, named)
    return visit.page(
        "decisions.html",
        conflicts=[_sides(visit, one, _OPEN, texts) for one in conflicts],
        more_conflicts="next_cursor" in open_ones,
        decisions=[_sides(visit, one, _DECIDED, texts) for one in made],
        more=decided.get("next_cursor"),
    )


def _sides(visit: Visit, one: Mapping[str, Any], names: tuple[str, str], texts: dict[str, Any]) -> dict[str, Any]:
    """With the two memories in the place of their ids; None for one that is gone."""
    return {**one, "sides": [(name, one[name], _memory(visit, one[name], texts)) for name in names]}


def _memory(visit: Visit, memory_id: str, texts: dict[str, Any]) -> Any:
    if memory_id not in texts:
        texts[memory_id] = read_either(visit, memory_id)
    return texts[memory_id]


def _one(visit: Visit, collection: str, object_id: str) -> Any:
    """One of the newest hundred: the API lists them alone. Raises Refusal where it is not among them."""
    cursor = None
    for _ in range(_PAGES):
        page = visit.api.get(user_path(visit.ids["user_id"], collection), limit=_SHOWN, cursor=cursor)
        found = [one for one in page[collection] if one["id"] == object_id]
        cursor = page.get("next_cursor")
        if found:
            return found[0]
        if cursor is None:
            break
    raise absent("object")


@views.get(*_CONFLICT, "settle")
def ask_to_settle(visit: Visit) -> Reply:
    """What settling it so would do."""
    found = _sides(visit, _one(visit, "conflicts", visit.ids["conflict_id"]), _OPEN, {})
    return visit.page("settle.html", conflict=found, winner=visit.typed("winner", visit.query.get("winner", "")))


@views.post(*_CONFLICT, "settle", of=ask_to_settle)
def settle(visit: Visit) -> Reply:
    """The one that was chosen counts, the other is superseded; or both hold."""
    form, user_id = visit.form, visit.ids["user_id"]
    path, winner = user_path(user_id, "conflicts", visit.ids["conflict_id"], "resolve"), form.get("winner", "")
    visit.api.post(path, {"both": True} if winner == "both" else {"winner": winner}, once=form.get("once", ""))
    return visit.go("users", user_id, "decisions", done="settled")


@views.get(*_DECISION, "revert")
def ask_to_revert(visit: Visit) -> Reply:
    """What taking it back would do."""
    found = _sides(visit, _one(visit, "arbitrations", visit.ids["decision_id"]), _DECIDED, {})
    return visit.page("revert.html", decision=found)


@views.post(*_DECISION, "revert", of=ask_to_revert)
def revert(visit: Visit) -> Reply:
    """The loser counts again."""
    user_id = visit.ids["user_id"]
    path = user_path(user_id, "arbitrations", visit.ids["decision_id"], "revert")
    visit.api.post(path, once=visit.form.get("once", ""))
    return visit.go("users", user_id, "decisions", done="reverted")
