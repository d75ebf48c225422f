"""What was decided between memories, and what is open: side by side, settled and taken back."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

from recollect.entrypoints.console.api import Refusal, absent, user_path
from recollect.entrypoints.console.visit import Views, Visit
from recollect.entrypoints.console.words import PART_BYTES, weight
from recollect.entrypoints.http.messages import Reply

views = Views()
_USER = ("users", "{user_id}")
_CONFLICT = (*_USER, "conflicts", "{conflict_id}")
_DECISION = (*_USER, "decisions", "{decision_id}")
_REVERTED = (*_USER, "decisions", "{reverted_id}")
_AMENDED = "amended"
_SHOWN = 18
_READ = 100
"""The API lists decisions by the message that won, the newest first: so many are put in the order of deciding."""
_PAGES_FOUND_IN = 3
_TYPED_TOO = (
    "Other words are typed for the older one, and another circle is chosen: choose the circle above the words to keep "
    "them, or empty the box to settle it without them."
)
_PLACE = ("cursor", "decided", "open", "q")
"""The parameters that say which decisions a page shows; an action leads back there."""


@views.get(*_USER, "decisions")
def decisions(visit: Visit) -> Reply:
    """Open conflicts first, then what was decided, of both the newest first; further pages are of one of them.

    `one` names the decision that was just made or taken back: it is on the page.
    """
    query, acted = visit.query, visit.query.get("one")
    doubts = _listed(visit, "conflicts", query.get("open"), _SHOWN) if {"cursor", "decided"}.isdisjoint(query) else {}
    made = _listed(visit, "arbitrations", query.get("cursor"), _READ) if "open" not in query else {}
    decided = sorted(made.get("arbitrations", ()), key=itemgetter("at", "id"), reverse=True)
    begin = _begin(visit, decided, acted)
    end = begin + visit.most(_SHOWN)
    return visit.page(
        "decisions.html",
        open=_by_newer(doubts["conflicts"]) if doubts else None,
        more_open=doubts.get("next_cursor"),
        decisions=decided[begin:end] if made else None,
        more={**_kept(visit, "cursor", "q"), "decided": end} if end < len(decided) else _following(made),
        both_hold=_both_hold(visit),
        acted=_acted(visit, acted, decided),
        kept=_kept(visit, *_PLACE),
        is_cut="q" in query and bool(doubts.get("cut") or made.get("cut")),
    )


def _both_hold(visit: Visit) -> list[Any]:
    """Of the newest conflicts that were settled those without a winner; on the first page alone."""
    if not set(_PLACE).isdisjoint(visit.query):
        return []
    asked = {"status": "settled", "words": "true", "limit": visit.most(_SHOWN)}
    found = visit.api.get(user_path(visit.ids["user_id"], "conflicts"), **asked)["conflicts"]
    return [one for one in found if "winner" not in one and {"newer", "older"} <= one["words"].keys()]


def _listed(visit: Visit, collection: str, cursor: str | None, most: int) -> Any:
    """A page of them, with their words; of open conflicts alone. With a question, those that have its words."""
    path, wanted = user_path(visit.ids["user_id"], collection), {"words": "true", "limit": visit.most(most)}
    wanted |= {"status": "open"} if collection == "conflicts" else {}
    if "q" in visit.query:
        return _with_words(visit, collection, {**wanted, "limit": _READ})
    return visit.api.get(path, **wanted, cursor=cursor)


def _with_words(visit: Visit, collection: str, wanted: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the first 300 of which a side has all words that are looked for; `cut` where there are more."""
    path, words, cursor = user_path(visit.ids["user_id"], collection), visit.query["q"].casefold().split(), None
    most = visit.most(_SHOWN) if collection == "conflicts" else _PAGES_FOUND_IN * _READ
    found: list[Any] = []
    for _ in range(_PAGES_FOUND_IN):
        page = visit.api.get(path, **wanted, cursor=cursor)
        found += [one for one in page[collection] if any(_has(text, words) for text in _texts(one))]
        cursor = page.get("next_cursor")
        if cursor is None:
            break
    return {collection: found[:most], "cut": cursor is not None or len(found) > most}


def _texts(one: Mapping[str, Any]) -> list[str]:
    """What both sides say, as far as it is still there."""
    return [str(side["content"]).casefold() for side in one["words"].values() if isinstance(side, Mapping)]


def _has(text: str, words: Iterable[str]) -> bool:
    return all(word in text for word in words)


def _begin(visit: Visit, decided: Sequence[Mapping[str, Any]], acted: str | None) -> int:
    """Where in the list the page begins: with the decision that was acted on, wherever that stands."""
    places = [place for place, one in enumerate(decided) if one["id"] == acted]
    most = visit.most(_SHOWN)
    return places[0] // most * most if places else visit.start("decided", len(decided))


def _kept(visit: Visit, *names: str) -> dict[str, str]:
    return {name: visit.query[name] for name in names if name in visit.query}


def _following(made: Mapping[str, Any]) -> dict[str, str] | None:
    return {"cursor": made["next_cursor"]} if "next_cursor" in made else None


def _acted(visit: Visit, acted: str | None, shown: Iterable[Any]) -> Any:
    """The decision that was acted on, whether the page's list has it or not; None where there is none."""
    if acted is None:
        return None
    found = [one for one in shown if one["id"] == acted]
    path = user_path(visit.ids["user_id"], "arbitrations")
    found = found or visit.api.get(path, words="true", id=acted)["arbitrations"]
    return found[0] if found else None


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
    older = found["words"].get("older", {}).get("content", "")
    return visit.page(
        "settle.html",
        conflict=found,
        winner=visit.typed("winner", visit.query.get("winner", "")),
        older=older,
        fits=weight(older) <= PART_BYTES,
        older_version=_version(visit, found["older"]),
        kept=_kept(visit, *_PLACE),
    )


def _version(visit: Visit, record_id: str) -> int:
    """That of a record's memory; of the event that has none; 0 where it is gone."""
    kinds = ("memories", "events")
    found = (visit.api.find(user_path(visit.ids["user_id"], kind, record_id)) for kind in kinds)
    return next((int(one["version"]) for one in found if one is not None), 0)


@views.post(*_CONFLICT, "settle", of=ask_to_settle)
def settle(visit: Visit) -> Reply:
    """The one that was chosen counts, the other ends; or both hold, in other words of the older one or as they are."""
    form, user_id = visit.form, visit.ids["user_id"]
    path, winner = user_path(user_id, "conflicts", visit.ids["conflict_id"], "resolve"), form.get("winner", "")
    once = form.get("once", "")
    if winner == _AMENDED:
        amended = {"both": True, "older": form.get("older_words", "")}
        visit.api.send("POST", path, amended, version=form.get("version") or "0", once=once)
        return _back(visit, "amended", None, "done")
    _check_nothing_typed_is_lost(visit)
    done = visit.api.post(path, {"both": True} if winner == "both" else {"winner": winner}, once=once)
    return _back(visit, "settled", done.get("decision_id"), "done")


def _check_nothing_typed_is_lost(visit: Visit) -> None:
    """Raises Refusal where the box has words that the older one does not say: the choice that was made drops them."""
    typed = visit.form.get("older_words", "").split()
    older = _one(visit, "conflicts", visit.ids["conflict_id"])["words"].get("older") if typed else None
    if older is not None and typed != older["content"].split():
        raise Refusal(422, {"detail": _TYPED_TOO})


@views.get(*_CONFLICT, "reopen")
def ask_to_reopen(visit: Visit) -> Reply:
    """What opening a settled one again would do."""
    found = _one(visit, "conflicts", visit.ids["conflict_id"])
    return visit.page("reopen.html", conflict=found, kept=_kept(visit, *_PLACE))


@views.post(*_CONFLICT, "reopen", of=ask_to_reopen)
def reopen(visit: Visit) -> Reply:
    """Somebody has to say again which counts."""
    path = user_path(visit.ids["user_id"], "conflicts", visit.ids["conflict_id"], "reopen")
    visit.api.post(path, once=visit.form.get("once", ""))
    return _back(visit, "reopened", None, "done")


def _back(visit: Visit, done: str, decision_id: str | None, place: str) -> Reply:
    """The decisions again, where they were looked at, at the one that was acted on or at what is said of it."""
    kept = _kept(visit, *_PLACE)
    return visit.go("users", visit.ids["user_id"], "decisions", at=place, done=done, one=decision_id, **kept)


@views.get(*_DECISION, "revert")
def ask_to_revert(visit: Visit) -> Reply:
    """What taking it back would do."""
    found = _one(visit, "arbitrations", visit.ids["decision_id"])
    memory, kept = _loser(visit, found), _kept(visit, *_PLACE)
    return visit.page("revert.html", decision=found, memory=memory, edited=_is_edited(memory, found), kept=kept)


def _loser(visit: Visit, decision: Mapping[str, Any]) -> Any:
    """Its memory as it is; None where it is gone."""
    return visit.api.find(user_path(visit.ids["user_id"], "memories", decision["loser"]))


def _is_edited(memory: Any, decision: Mapping[str, Any]) -> bool:
    """Whether it has other words since, of which the decision ended none: nothing of it can be taken back."""
    words = decision["words"]
    if memory is None or memory["status"] != "active" or decision["outcome"] == "merged" or "loser" not in words:
        return False
    return not words["whole"] and "left" not in words and memory["content"] != words["loser"]["content"]


@views.post(*_DECISION, "revert", of=ask_to_revert)
def revert(visit: Visit) -> Reply:
    """What it ended counts again."""
    user_id = visit.ids["user_id"]
    path = user_path(user_id, "arbitrations", visit.ids["decision_id"], "revert")
    visit.api.post(path, once=visit.form.get("once", ""))
    return _back(visit, "reverted", visit.ids["decision_id"], "acted")


@views.get(*_DECISION, "keep")
def ask_to_keep(visit: Visit) -> Reply:
    """A form with the words of what ended: a part of them may count still."""
    found = _one(visit, "arbitrations", visit.ids["decision_id"])
    memory, told = _loser(visit, found), found["words"]
    was = told.get("loser", {}).get("content", "")
    words = memory["content"] if memory is not None and told["whole"] else was
    is_long, kept, edited = weight(words) > PART_BYTES, _kept(visit, *_PLACE), _is_edited(memory, found)
    shown = {"decision": found, "words": words, "memory": memory, "is_long": is_long, "kept": kept, "edited": edited}
    return visit.page("keep.html", **shown)


@views.post(*_DECISION, "keep", of=ask_to_keep)
def keep(visit: Visit) -> Reply:
    """What ended counts again in these words: one step with taking the decision back."""
    changed = take_back(visit, visit.ids["decision_id"], {"content": visit.form.get("content", "")})
    return visit.go("users", visit.ids["user_id"], "memories", changed["id"], done="kept")


def take_back(visit: Visit, decision_id: str, changes: Mapping[str, Any]) -> Any:
    """The memory that counts then, so changed; where it is still the version that was shown."""
    path, form = user_path(visit.ids["user_id"], "arbitrations", decision_id, "revert"), visit.form
    answer = visit.api.send("POST", path, changes, version=form.get("version") or "0", once=form.get("once", ""))
    return answer.document["memory"]


@views.get(*_REVERTED, "again")
def ask_to_decide_again(visit: Visit) -> Reply:
    """What making it again would do."""
    found = _one(visit, "arbitrations", visit.ids["reverted_id"])
    return visit.page("again.html", decision=found, memory=_loser(visit, found), kept=_kept(visit, *_PLACE))


@views.post(*_REVERTED, "again", of=ask_to_decide_again)
def decide_again(visit: Visit) -> Reply:
    """What it ended ends again."""
    make_again(visit, visit.ids["reverted_id"])
    return _back(visit, "reapplied", visit.ids["reverted_id"], "acted")


def make_again(visit: Visit, decision_id: str) -> None:
    """The decision holds again, where its loser is still the version that was shown."""
    path, form = user_path(visit.ids["user_id"], "arbitrations", decision_id, "reapply"), visit.form
    visit.api.send("POST", path, version=form.get("version") or "0", once=form.get("once", ""))
