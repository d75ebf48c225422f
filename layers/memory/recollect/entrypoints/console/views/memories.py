"""Memories by topic, one with its history; edited, put back, forgotten, each after a look at what that reaches."""

from collections.abc import Mapping, Sequence
from typing import Any

from recollect.entrypoints.console.api import absent, user_path
from recollect.entrypoints.console.finding import found_by, held_of
from recollect.entrypoints.console.passages import common
from recollect.entrypoints.console.reach import derived_of, echoes_of, sources_in
from recollect.entrypoints.console.topics import by_topic
from recollect.entrypoints.console.views.decisions import make_again, take_back
from recollect.entrypoints.console.visit import Views, Visit
from recollect.entrypoints.console.words import PART_BYTES, part_of, part_with, weight, with_part
from recollect.entrypoints.http.messages import Reply
from recollect.entrypoints.http.models import CONTENT_BYTES

views = Views()
_USER = ("users", "{user_id}")
_MEMORY = (*_USER, "memories", "{memory_id}")
_SHOWN = 50
_SOURCES = 10
_VERSIONS = 10
_KEYWORD_BYTES = 4_000
_LOOKED_THROUGH = 20
_TWO = 2
_DOUBTS = 10
_CURRENT, _COUNTS_AGAIN, _ENDS_AGAIN = "active", "again", "ended"
_STATED = ("id", "user_id", "content", "importance", "timestamp", "source", "keywords")
_RESTORED = ("content", "importance", "keywords", "metadata")


@views.get(*_USER)
def memories(visit: Visit) -> Reply:
    """What is remembered, by topic, and of how much of what was said; with a query, what a search finds."""
    user_id, query = visit.ids["user_id"], visit.query
    status = query.get("status", "active")
    if query.get("q"):
        return visit.page("memories.html", which=status, found=found_by(visit, status), topics=[], more=None, held=None)
    wanted = {"status": None if status == "all" else status, "key": query.get("key")}
    page = visit.api.get(user_path(user_id, "memories"), **wanted, limit=visit.most(_SHOWN), cursor=query.get("cursor"))
    topics, more = by_topic(page["memories"]), page.get("next_cursor")
    held = held_of(visit) if {"cursor", "key"}.isdisjoint(query) else None
    return visit.page("memories.html", which=status, found=None, topics=topics, more=more, held=held)


@views.get(*_USER, "new")
def ask_for_new(visit: Visit) -> Reply:
    """A form for a memory."""
    return visit.page("new_memory.html")


@views.post(*_USER, "new", of=ask_for_new)
def save_new(visit: Visit) -> Reply:
    """Saves it."""
    user_id, form = visit.ids["user_id"], visit.form
    key = {"key": form["key"]} if form.get("key", "").strip() else {}
    body = {"user_id": user_id, "content": form.get("content", ""), "source": "user", **key}
    saved = visit.api.post("/v1/memories", body, once=form.get("once", ""))
    return visit.go("users", user_id, "memories", saved.get("id", ""), done="saved")


@views.get(*_USER, "merge")
def ask_to_merge(visit: Visit) -> Reply:
    """What becoming one memory would do to the two that were chosen."""
    sent = [visit.typed(f"memory_{place}") for place in range(_TWO)]
    asked = [value for name, value in visit.call.query if name == "memory"]
    chosen = list(dict.fromkeys(one for one in (*sent, *asked) if one))
    if len(chosen) != _TWO:
        told = f"Choose two memories of the list; {len(chosen)} are chosen."
        return visit.page("problem.html", 422, problem={"title": "Nothing is merged"}, sentences=[told])
    both = [visit.api.get(user_path(visit.ids["user_id"], "memories", one)) for one in chosen]
    older, newer = _by_age(both)
    joined = _joined(visit, older, newer)
    is_allowed = len(joined.encode()) <= CONTENT_BYTES
    sources = [(one, sources_of(visit, one)) for one in (older, newer)]
    return visit.page(
        "merge.html",
        both=both,
        sides=sources,
        words="joined" if is_allowed else newer["id"],
        content=joined,
        is_allowed=is_allowed,
        fits=weight(joined) <= PART_BYTES,
    )


def _by_age(both: Sequence[Any]) -> list[Any]:
    return sorted(both, key=lambda one: (one["timestamp"], one["id"]))


def _joined(visit: Visit, older: Mapping[str, Any], newer: Mapping[str, Any]) -> str:
    first, second = ({name: one[name] for name in _STATED} for one in (older, newer))
    return str(visit.api.post("/v1/merges", {"first": first, "second": second})["merged"]["content"])


@views.post(*_USER, "merge", of=ask_to_merge)
def merge(visit: Visit) -> Reply:
    """Makes one of the two where both are still the versions that were shown."""
    user_id, form = visit.ids["user_id"], visit.form
    both = [visit.api.get(user_path(user_id, "memories", form.get(f"memory_{place}") or "-")) for place in range(_TWO)]
    versions = [form.get(f"version_{place}", "") for place in range(_TWO)]
    kept = _kept(both, form.get("words", ""))
    words = _words(visit, both)
    body = {"other": both[1 - kept]["id"], "other_version": _whole(versions[1 - kept]), "content": words}
    path = user_path(user_id, "memories", both[kept]["id"], "merge")
    visit.api.send("POST", path, body, version=versions[kept] or "0", once=form.get("once", ""))
    return visit.go("users", user_id, "memories", both[kept]["id"], done="merged")


def _kept(both: Sequence[Mapping[str, Any]], words: str) -> int:
    """Which of the two stays: the one whose words do, else the newer."""
    ids = [one["id"] for one in both]
    return ids.index(words) if words in ids else max((0, 1), key=lambda at: (both[at]["timestamp"], ids[at]))


def _words(visit: Visit, both: Sequence[Mapping[str, Any]]) -> str:
    """Those of one, what the form says, or, where it was too long for the form, both."""
    form, words = visit.form, {one["id"]: str(one["content"]) for one in both}
    if form.get("words") in words:
        return words[form["words"]]
    return form["content"] if "content" in form else _joined(visit, *_by_age(both))


def _whole(text: str) -> int | str:
    return int(text) if text.isdecimal() else text


@views.get(*_USER, "records", "{record_id}")
def record(visit: Visit) -> Reply:
    """The memory of this id, else the event: a context names either."""
    user_id, record_id = visit.ids["user_id"], visit.ids["record_id"]
    kind = "events" if visit.api.find(user_path(user_id, "memories", record_id)) is None else "memories"
    return visit.go("users", user_id, kind, record_id)


@views.get(*_MEMORY)
def memory(visit: Visit) -> Reply:
    """One memory: what it rests on, what became of it, and every version."""
    found = _memory(visit)
    history, decided = _before_and_after(_history(visit)), _decisions(visit, found)
    begin = visit.start("versions", len(history))
    end = begin + visit.most(_VERSIONS)
    return visit.page(
        "memory.html",
        memory=found,
        words=part_of(found["content"], visit.query.get("part", "")),
        sources=sources_of(visit, found),
        history=history[begin:end],
        earlier=end if end < len(history) else None,
        decisions=decided,
        is_cut=any(one["loser"] == found["id"] and "left" in one["words"] for one in decided),
        ending=_ending(found, decided),
        doubts=_doubts(visit, found["id"]),
        derived=derived_of(visit, sources_in(found)),
    )


def _ending(found: Mapping[str, Any], decided: Sequence[Any]) -> Any:
    """The decision by which it has ended as a whole; None where it is current, or where none can be taken back."""
    mine = (one for one in decided if one["loser"] == found["id"] and "revert" in one)
    return next((one for one in mine if one["winner"] == found.get("superseded_by")), None)


def _doubts(visit: Visit, memory_id: str) -> list[Any]:
    """The newest open conflicts that it is a side of, with their words."""
    path = user_path(visit.ids["user_id"], "conflicts")
    asked = {"status": "open", "record": memory_id, "words": "true", "limit": visit.most(_DOUBTS)}
    return list(visit.api.get(path, **asked)["conflicts"])


def _memory(visit: Visit) -> Any:
    return visit.api.get(user_path(visit.ids["user_id"], "memories", visit.ids["memory_id"]))


def _history(visit: Visit) -> list[Any]:
    path = user_path(visit.ids["user_id"], "memories", visit.ids["memory_id"], "history")
    return list(visit.api.get(path)["history"])


def _before_and_after(history: Sequence[Any]) -> list[tuple[Any, Any]]:
    """Each version with the one before, the newest first."""
    return list(zip(history, [None, *history[:-1]], strict=True))[::-1]


def sources_of(visit: Visit, found: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """The events that a memory was made from, the first ten by their ids; None for one that is gone."""
    user_id = visit.ids["user_id"]
    return [
        (one, visit.api.find(user_path(user_id, "events", one)))
        for one in found["source_event_ids"][: visit.most(_SOURCES)]
    ]


def _decisions(visit: Visit, found: Mapping[str, Any]) -> list[Any]:
    """The newest decisions that it lost or won, with their words."""
    asked = {"words": "true", "limit": visit.most(_LOOKED_THROUGH)}
    path = user_path(visit.ids["user_id"], "arbitrations")
    pages = [visit.api.get(path, **{side: found["id"]}, **asked)["arbitrations"] for side in ("loser", "winner")]
    return [one for page in pages for one in page]


@views.get(*_MEMORY, "edit")
def ask_to_edit(visit: Visit) -> Reply:
    """A form with its words."""
    found = _memory(visit)
    known, keywords = sources_in(found), ", ".join(found["keywords"])
    return visit.page(
        "edit_memory.html",
        memory=found,
        ending=_ending(found, _decisions(visit, found)),
        counts=visit.typed("counts", "again"),
        words=part_of(found["content"], visit.typed("part", visit.query.get("part", ""))),
        keywords=keywords if weight(keywords) <= _KEYWORD_BYTES else None,
        derived=derived_of(visit, known),
        echoes=echoes_of(visit, found["content"], known),
    )


@views.post(*_MEMORY, "edit", of=ask_to_edit)
def edit(visit: Visit) -> Reply:
    """Changes it where it is still the version that was shown."""
    form, found = visit.form, _memory(visit)
    part = form.get("part", "")
    changes: dict[str, Any] = {"content": with_part(found["content"], form.get("content", ""), part)}
    if not form.get("without_keywords"):
        changes["keywords"] = [word.strip() for word in form.get("keywords", "").split(",") if word.strip()]
    if form.get("importance"):
        changes["importance"] = _number(form["importance"])
    where = _edited_part(found["content"], changes["content"], part)
    ending = _ending(found, _decisions(visit, found)) if form.get("counts") == "again" else None
    if ending is None:
        _patch(visit, changes)
        return _shown(visit, "edited", where)
    changed = take_back(visit, ending["id"], changes)
    return visit.go("users", visit.ids["user_id"], "memories", changed["id"], done="kept", part=where)


def _edited_part(before: str, after: str, part: str) -> str:
    """The part in which the words are other now: those that an edit moves may stand in a neighbour."""
    return part if not part or before == after else str(part_with(after, common(before, after)))


def _number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def _patch(visit: Visit, changes: Mapping[str, Any]) -> None:
    path = user_path(visit.ids["user_id"], "memories", visit.ids["memory_id"])
    visit.api.send("PATCH", path, changes, version=visit.form.get("version") or "0")


def _shown(visit: Visit, done: str, part: str = "") -> Reply:
    return visit.go("users", visit.ids["user_id"], "memories", visit.ids["memory_id"], done=done, part=part)


@views.get(*_MEMORY, "undo", "{version}")
def ask_to_undo(visit: Visit) -> Reply:
    """What putting an earlier version back would change."""
    found, earlier = _memory(visit), _version(visit)
    decision, way = _way_back(found, earlier, _decisions(visit, found))
    return visit.page(
        "undo.html",
        memory=found,
        before=earlier,
        decision=decision,
        way=way,
        derived=derived_of(visit, sources_in(found)),
    )


@views.post(*_MEMORY, "undo", "{version}", of=ask_to_undo)
def undo(visit: Visit) -> Reply:
    """Puts its words, weight, keywords and metadata back, and whether it counted; what stood between stays."""
    found, earlier = _memory(visit), _version(visit)
    decision, way = _way_back(found, earlier, _decisions(visit, found))
    words = {name: earlier[name] for name in _RESTORED}
    if way == _COUNTS_AGAIN:
        changed = take_back(visit, decision["id"], words)
        return visit.go("users", visit.ids["user_id"], "memories", changed["id"], done="put_back")
    if way == _ENDS_AGAIN:
        make_again(visit, decision["id"])
    else:
        _patch(visit, words)
    return _shown(visit, "put_back")


def _way_back(found: Mapping[str, Any], earlier: Mapping[str, Any], decided: Sequence[Any]) -> tuple[Any, str]:
    """The decision that is taken back, or made again, with an earlier version, and which; else the words alone."""
    if earlier["status"] == _CURRENT and found["status"] != _CURRENT:
        ending = _ending(found, decided)
        return ending, "" if ending is None else _COUNTS_AGAIN
    if earlier["status"] == _CURRENT or found["status"] != _CURRENT:
        return None, ""
    pair = (earlier.get("superseded_by"), found["id"])
    was = [one for one in decided if (one["winner"], one["loser"]) == pair and "reapply" in one]
    same = [one for one in was if one["words"].get("loser", {}).get("content") == earlier["content"]]
    return (same[0], _ENDS_AGAIN) if same else (None, "")


def _version(visit: Visit) -> Any:
    """An earlier version. Raises Refusal for one that is not there."""
    for one in _history(visit):
        if str(one["version"]) == visit.ids["version"]:
            return one
    raise absent("version")


@views.get(*_MEMORY, "forget")
def ask_to_forget(visit: Visit) -> Reply:
    """What forgetting it would reach."""
    found = _memory(visit)
    return visit.page(
        "forget.html",
        memory=found,
        sources=sources_of(visit, found),
        derived=derived_of(visit, sources_in(found)),
        reject=visit.typed("reject", visit.query.get("reject", "")),
    )


@views.post(*_MEMORY, "forget", of=ask_to_forget)
def forget(visit: Visit) -> Reply:
    """Deletes it with its events; its value too is refused from now on where that is asked for."""
    user_id, form = visit.ids["user_id"], visit.form
    path = user_path(user_id, "memories", visit.ids["memory_id"])
    query = {"reject": "true"} if "reject" in form else {}
    visit.api.send("DELETE", path, query=query, version=form.get("version") or "0")
    return visit.go("users", user_id, done="rejected" if query else "forgotten")
