"""What comes in and goes out: import, export, values that are rejected, and the erasure of a user."""

from recollect.entrypoints.console.api import Refusal, user_path
from recollect.entrypoints.console.views.imports import form_values
from recollect.entrypoints.console.visit import Views, Visit
from recollect.entrypoints.http.messages import Reply
from recollect.memories.memory import Origin

views = Views()
NDJSON = "application/x-ndjson"
_USER = ("users", "{user_id}")
_SHOWN = 50
_MOST_PAGES = 100_000
_CLOUD_BYTES = 4_000_000
"""Of an answer through Lambda, whose body may be longer by half in base64."""
_COUNTED = ("memories", "conversations", "summaries", "logs", "rejections")
REACHED = {
    "events": "Events: what was said, and memories that were written down",
    "conversations": "Conversations",
    "items": "Memories, summaries, goals, decisions and whatever else was made from them",
    "index": "Entries of the search index",
    "segments": "Files of the archive",
    "archives": "Files of what retention had archived",
    "snapshots": "Snapshots",
    "index_snapshots": "Snapshots of the search index",
    "copies": "Copies that applications keep",
}
"""What an erasure counts, in words; the rest are traces of these inside of the store."""
LAPSING = {
    "idempotency_records": "Numbers of requests, by which one that is sent twice is done once; without any text",
    "bus_log": "The log of the event bus",
    "index_snapshots": "Snapshots that the search domain makes by itself",
    "point_in_time_backups": "Backups of the table",
}
"""The copies that nobody can edit, in words."""


@views.get(*_USER, "data")
def data(visit: Visit) -> Reply:
    """What one can take along, bring, let in again, or erase."""
    path = user_path(visit.ids["user_id"], "rejections")
    page = visit.api.get(path, limit=visit.most(_SHOWN), cursor=visit.query.get("cursor"))
    return visit.page("data.html", rejections=page["rejections"], more=page.get("next_cursor"), **form_values(visit))


@views.post(*_USER, "rejections", "{rejection_id}", of=data)
def lift(visit: Visit) -> Reply:
    """Lets a value in again."""
    user_id = visit.ids["user_id"]
    visit.api.send("DELETE", user_path(user_id, "rejections", visit.ids["rejection_id"]))
    return visit.go("users", user_id, "data", done="lifted")


@views.get(*_USER, "export")
def export(visit: Visit) -> Reply:
    """All records of the user as one file. Raises Refusal where that is too long for Lambda."""
    parts: list[str] = []
    target: str | None = user_path(visit.ids["user_id"], "export")
    for _ in range(_MOST_PAGES):
        if target is None:
            break
        text, target = visit.api.text(target)
        parts.append(text)
        if visit.in_cloud and sum(map(len, parts)) > _CLOUD_BYTES:
            told = "The export is longer than one answer may be: take it page by page, GET /v1/users/…/export."
            raise Refusal(413, {"title": "The export is too long for a click", "detail": told})
    headers = {"Content-Disposition": 'attachment; filename="recollect-export.ndjson"'}
    return Reply(200, "".join(parts), headers, NDJSON)


@views.get(*_USER, "erase")
def ask_to_erase(visit: Visit) -> Reply:
    """What would go."""
    return visit.page("erase.html", counts=_counts(visit))


def _counts(visit: Visit) -> list[tuple[str, str]]:
    """How much there is of each kind, up to a page; events as an erasure counts them."""
    user_id = visit.ids["user_id"]
    pages = {kind: visit.api.get(user_path(user_id, kind), limit=_SHOWN) for kind in _COUNTED}
    said = visit.api.get(user_path(user_id, "events"), limit=_SHOWN, **{"from": "1970-01-01T00:00:00Z"})
    written = [one for one in pages["memories"]["memories"] if one["origin"] == Origin.DIRECT.value]
    more = any("next_cursor" in page for page in (said, pages["memories"]))
    events = (REACHED["events"], _count(len(said["events"]) + len(written), more))
    found = [(kind.capitalize(), _count(len(page[kind]), "next_cursor" in page)) for kind, page in pages.items()]
    return [events, *found, ("Goals", str(len(visit.api.get(user_path(user_id, "goals"))["goals"])))]


def _count(number: int, more: bool) -> str:
    return f"{number}{' or more' if more else ''}"


@views.post(*_USER, "erase", of=ask_to_erase)
def erase(visit: Visit) -> Reply:
    """Erases the user, whose id was typed in once more."""
    if visit.form.get("confirmed", "").strip() != visit.ids["user_id"]:
        raise Refusal(422, {"detail": "This is not the id of the user. Nothing is erased."})
    done = visit.api.send("DELETE", user_path(visit.ids["user_id"])).document
    return visit.go("erasures", done["erasure_id"])


@views.get("erasures", "{erasure_id}")
def erasure(visit: Visit) -> Reply:
    """How far an erasure is."""
    found = visit.api.get(f"/v1/erasures/{visit.ids['erasure_id']}")
    reached = found["reached"]
    told = [(words, reached[name]) for name, words in REACHED.items() if reached.get(name)]
    inside = [(name, count) for name, count in reached.items() if name not in REACHED and count]
    return visit.page("erasure.html", erasure=found, told=told, inside=inside, lapsing=LAPSING)
