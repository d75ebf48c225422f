"""What was decided between memories, and what is open: side by side, settled and taken back."""

from collections.abc import Iterable, Mapping
from itertools import groupby
from operator import itemgetter
from typing import Any

from recollect.entrypoints.console.api import absent, user_path
from recollect.entrypoints.console.visit import Views, Visit
from recollect.entrypoints.http.messages import Reply

views = Views()
_USER = ("users", "{user_id}")
_CONFLICT = (*_USER, "conflicts", "{conflict_id}")
_DECISION = (*_USER, "decisions", "{decision_id}")
_SHOWN = 20


@views.get(*_USER, "decisions")
def decisions(visit: Visit) -> Reply:
    """Open conflicts first, then what was decided, of both the newest first; further pages are of one of them."""
    query = visit.query
    doubts = _listed(visit, "conflicts", query.get("open"), status="open") if "cursor" not in query else {}
    wanted = {"cursor": query.get("cursor"), "status": query.get("status")}
    made = _listed(visit, "arbitrations", **wanted) if "open" not in query else {}
    return visit.page(
        "decisions.html",
        open=_by_newer(doubts["conflicts"]) if doubts else None,
        more_open=doubts.get("next_cursor"),
        decisions=made.get("arbitrations"),
        more=made.get("next_cursor"),
    )


def _listed(visit: Visit, collection: str, cursor: str | None, **wanted: str | None) -> Any:
    """A page of them, with their words."""
    path = user_path(visit.ids["user_id"], collection)
    return visit.api.get(path, words="true", limit=visit.most(_SHOWN), cursor=cursor, **wanted)


def _by_newer(conflicts: Iterable[Mapping[str, Any]]) -> list[list[Mapping[str, Any]]]:
    """What one newer record puts in doubt together, the surest first."""
    groups = groupby(conflicts, key=itemgetter("newer"))
    return [sorted(group, key=lambda one: -one.get("confidence", 0.0)) for _, group in groups]


def _one(visit: Visit, collection: str, object_id: str) -> Any:
    """The one of this id, with its words. Raises Refusal where it is not there."""
    page = visit.api.get(user_path(visit.ids["user_id"], collection), words="true", id=object_id)
    found = page[collection]
    if not found:
        raise absent("object")
    return found[0]


@views.get(*_CONFLICT, "settle")
def ask_to_settle(visit: Visit) -> Reply:
    """What settling it so would do."""
    found = _one(visit, "conflicts", visit.ids["conflict_id"])
    return visit.page("settle.html", conflict=found, winner=visit.typed("winner", visit.query.get("winner", "")))


@views.post(*_CONFLICT, "settle", of=ask_to_settle)
def settle(visit: Visit) -> Reply:
    """The one that was chosen counts, the other ends; or both hold."""
    form, user_id = visit.form, visit.ids["user_id"]
    path, winner = user_path(user_id, "conflicts", visit.ids["conflict_id"], "resolve"), form.get("winner", "")
    visit.api.post(path, {"both": True} if winner == "both" else {"winner": winner}, once=form.get("once", ""))
    return visit.go("users", user_id, "decisions", done="settled")


@views.get(*_DECISION, "revert")
def ask_to_revert(visit: Visit) -> Reply:
    """What taking it back would do."""
    return visit.page("revert.html", decision=_one(visit, "arbitrations", visit.ids["decision_id"]))


@views.post(*_DECISION, "revert", of=ask_to_revert)
def revert(visit: Visit) -> Reply:
    """What it ended counts again."""
    user_id = visit.ids["user_id"]
    path = user_path(user_id, "arbitrations", visit.ids["decision_id"], "revert")
    visit.api.post(path, once=visit.form.get("once", ""))
    return visit.go("users", user_id, "decisions", done="reverted")
