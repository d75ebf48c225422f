"""What comes in and goes out: import, export, values that are rejected, and the erasure of a user."""

from recollect.entrypoints.console.api import Refusal, user_path
from recollect.entrypoints.console.views.imports import form_values
from recollect.entrypoints.console.visit import Views, Visit
from recollect.entrypoints.http.messages import Reply

views = Views()
NDJSON = "application/x-ndjson"
_USER = ("users", "{user_id}")
_SHOWN = 50
_MOST_PAGES = 100_000
_CLOUD_BYTES = 4_000_000
"""Of an answer through Lambda, whose body may be longer by half in base64."""
_COUNTED = (
    ("memories", "memories"),
    ("events", "events"),
    ("conversations", "conversations"),
    ("summaries", "summaries"),
    ("logs", "logs"),
    ("rejections", "rejections"),
)


@views.get(*_USER, "data")
def data(visit: Visit) -> Reply:
    """What one can take along, bring, let in again, or erase."""
    path = user_path(visit.ids["user_id"], "rejections")
    page = visit.api.get(path, limit=_SHOWN, cursor=visit.query.get("cursor"))
    return visit.page("data.html", rejections=page["rejections"], more=page.get("next_cursor"), **form_values(visit))


@views.post(*_USER, "rejections", "{rejection_id}")
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
    return _erasing(visit, wrong=False)


def _erasing(visit: Visit, status: int = 200, *, wrong: bool) -> Reply:
    return visit.page("erase.html", status, counts=_counts(visit), wrong=wrong)


def _counts(visit: Visit) -> list[tuple[str, str]]:
    """How much there is of each kind, up to a page."""
    user_id, found = visit.ids["user_id"], []
    for kind, name in _COUNTED:
        bound = {"from": "1970-01-01T00:00:00Z"} if kind == "events" else {}
        page = visit.api.get(user_path(user_id, kind), limit=_SHOWN, **bound)
        found.append((name, f"{len(page[name])}{' or more' if 'next_cursor' in page else ''}"))
    return [*found, ("goals", str(len(visit.api.get(user_path(user_id, "goals"))["goals"])))]


@views.post(*_USER, "erase")
def erase(visit: Visit) -> Reply:
    """Erases the user, whose id was typed in once more."""
    if visit.form.get("confirmed", "").strip() != visit.ids["user_id"]:
        return _erasing(visit, 422, wrong=True)
    done = visit.api.send("DELETE", user_path(visit.ids["user_id"])).document
    return visit.go("erasures", done["erasure_id"])


@views.get("erasures", "{erasure_id}")
def erasure(visit: Visit) -> Reply:
    """How far an erasure is."""
    found = visit.api.get(f"/v1/erasures/{visit.ids['erasure_id']}")
    return visit.page("erasure.html", erasure=found)
