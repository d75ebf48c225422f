"""Users, a user's timeline by day, and one event."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from recollect.entrypoints.console.api import Refusal, user_path
from recollect.entrypoints.console.reach import derived_of
from recollect.entrypoints.console.rendering import link
from recollect.entrypoints.console.visit import Views, Visit, shown_again
from recollect.entrypoints.console.words import PART_BYTES, part_of, weight
from recollect.entrypoints.http.messages import Reply

views = Views()
_USER = ("users", "{user_id}")
_EVENT = (*_USER, "events", "{event_id}")
_USERS = 100
_SHOWN = 50
_DRAWN = 200
_PAGES_DRAWN = 2
_PAGES_READ = 3
_ENOUGH = 20
_KEPT = ("from", "to", "conversation_id", "event_type", "role", "word")
_MOST_BARS = 92
_BAR_HEIGHT = 64
_PLACE = ("timestamp", "persona_id", "household_id", "agent_id", "app_id", "namespace", "key", "expires_at")
"""What a memory takes over from the event that it sets right."""
_EPOCH = "1970-01-01T00:00:00Z"


@views.get()
def users(visit: Visit) -> Reply:
    """The tenant's users; whoever speaks for one user sees that one."""
    principal = visit.principal
    if principal.limited_to_subject and principal.subject is not None:
        return visit.go("users", principal.subject)
    found = visit.api.get("/v1/users", limit=visit.most(_USERS), cursor=visit.query.get("cursor"))
    return visit.page("users.html", users=found["users"], more=found.get("next_cursor"))


@views.get("users")
def open_user(visit: Visit) -> Reply:
    """A user by the id that was typed in."""
    named = visit.query.get("user_id", "").strip()
    return visit.go("users", named) if named else visit.go()


@views.get(*_USER, "timeline")
def timeline(visit: Visit) -> Reply:
    """What was said, newest first, with a picture of how much on which day."""
    user_id, query = visit.ids["user_id"], visit.query
    path = user_path(user_id, "events")
    asked = _asked(query)
    page = _with_word(visit, asked) if "word" in query else _of_role(visit, path, asked)
    kept = {name: query[name] for name in _KEPT if name in query}
    is_drawn = "cursor" not in query and not {"role", "word"} & set(query)
    drawn, cut = _drawn(visit, path, asked, page) if is_drawn else ([], False)
    return visit.page(
        "timeline.html",
        events=page["events"],
        days=_by_day(page["events"]),
        bars=bars_of(user_id, drawn, most=visit.most(_MOST_BARS)),
        drawn=len(drawn),
        cut=cut,
        kept=kept,
        more=page.get("next_cursor"),
    )


def _asked(query: Mapping[str, str]) -> dict[str, Any]:
    """Whole days, both inclusive; without any bound everything since 1970 (A-45: else the last 30 days)."""
    until = query.get("to")
    return {
        "from": f"{query['from']}T00:00:00Z" if "from" in query else _EPOCH,
        "to": f"{until}T23:59:59.999999Z" if until else None,
        "conversation_id": query.get("conversation_id"),
        "event_type": query.get("event_type"),
    }


def _of_role(visit: Visit, path: str, asked: Mapping[str, Any]) -> dict[str, Any]:
    """A page of the timeline; where one role is asked for, some pages without the other one."""
    role, cursor = visit.query.get("role"), visit.query.get("cursor")
    found: list[Mapping[str, Any]] = []
    for _ in range(_PAGES_READ):
        page = visit.api.get(path, **asked, limit=visit.most(_SHOWN), cursor=cursor)
        found += [one for one in page["events"] if role in (None, one["role"])]
        cursor = page.get("next_cursor")
        if cursor is None or len(found) >= visit.most(_ENOUGH):
            break
    return {"events": found, **({"next_cursor": cursor} if cursor else {})}


def _with_word(visit: Visit, asked: Mapping[str, Any]) -> dict[str, Any]:
    """The fifty best of what was said with a word, newest first, by one search; what is private it does not find."""
    filters = {name: asked[name] for name in ("conversation_id", "event_type") if asked[name]}
    window = {name: asked[name] for name in ("from", "to") if asked[name]}
    question = {
        "user_id": visit.ids["user_id"],
        "query": visit.query["word"],
        "mode": "lexical",
        "top_k": visit.most(_SHOWN),
    }
    body = {**question, "time_window": window, "include_superseded": True, **({"filters": filters} if filters else {})}
    role = visit.query.get("role")
    said = [one for one in visit.api.post("/v1/search", body)["results"] if one["source_event_ids"] and "role" in one]
    wanted = [{**one, "id": one["source_event_ids"][0]} for one in said if role in (None, one["role"])]
    return {"events": sorted(wanted, key=lambda one: (one["timestamp"], one["id"]), reverse=True)}


def _drawn(visit: Visit, path: str, asked: Mapping[str, Any], first: Mapping[str, Any]) -> tuple[list[str], bool]:
    """The days of the first page's events and of the next 400 at most, and whether there are more."""
    page, found = first, [one["timestamp"][:10] for one in first["events"]]
    for _ in range(_PAGES_DRAWN):
        if "next_cursor" not in page:
            break
        page = visit.api.get(path, **asked, limit=_DRAWN, cursor=page["next_cursor"])
        found += [one["timestamp"][:10] for one in page["events"]]
    return found, "next_cursor" in page


def _by_day(events: Sequence[Mapping[str, Any]]) -> list[tuple[str, list[Mapping[str, Any]]]]:
    days: dict[str, list[Mapping[str, Any]]] = {}
    for event in events:
        days.setdefault(event["timestamp"][:10], []).append(event)
    return list(days.items())


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar of the picture: `x`, `y`, `width`, `height` in its units, the days it stands for, and where it leads."""

    x: float
    y: float
    width: float
    height: float
    count: int
    first: date
    last: date
    href: str

    @property
    def label(self) -> str:
        """What it says to who cannot see it."""
        day = f"{self.first.day} {self.first:%b %Y}"
        days = day if self.first == self.last else f"{day} to {self.last.day} {self.last:%b %Y}"
        return f"{days}: {self.count} event{'' if self.count == 1 else 's'}"


def bars_of(user_id: str, days: Sequence[str], width: float = 720, most: int = _MOST_BARS) -> list[Bar]:
    """At most so many bars, each of equally many days; days on which nothing was said have none."""
    if not days:
        return []
    counted = Counter(map(date.fromisoformat, days))
    first, last = min(counted), max(counted)
    span = -(-((last - first).days + 1) // most)
    grouped: Counter[int] = Counter()
    for day, count in counted.items():
        grouped[(day - first).days // span] += count
    step, highest = width / max(8, max(grouped) + 1), max(grouped.values())
    return [_bar(user_id, place, count, first, span, step, highest) for place, count in sorted(grouped.items())]


def _bar(user_id: str, place: int, count: int, first: date, span: int, step: float, highest: int) -> Bar:
    start, height = first + timedelta(days=place * span), max(3.0, _BAR_HEIGHT * count / highest)
    end = start + timedelta(days=span - 1)
    href = link("users", user_id, "timeline", **{"from": start.isoformat(), "to": end.isoformat()})
    return Bar(round(place * step, 1), _BAR_HEIGHT - height, round(step * 0.86, 1), height, count, start, end, href)


@views.get(*_EVENT)
def event(visit: Visit) -> Reply:
    """One event, and the memories that were made from it."""
    found, memories = _event_and_memories(visit)
    words = part_of(found["content"], visit.query.get("part", ""))
    return visit.page("event.html", event=found, words=words, memories=memories)


@views.get(*_EVENT, "forget")
def ask_to_forget_event(visit: Visit) -> Reply:
    """What deleting an event would reach."""
    found, memories = _event_and_memories(visit)
    return visit.page("forget_event.html", event=found, memories=memories, derived=derived_of(visit, {found["id"]}))


@views.post(*_EVENT, "forget", of=ask_to_forget_event)
def forget_event(visit: Visit) -> Reply:
    """Deletes it; its value too is refused from now on where that is asked for."""
    user_id, form = visit.ids["user_id"], visit.form
    path = user_path(user_id, "events", visit.ids["event_id"])
    query = {"reject": "true"} if "reject" in form else {}
    visit.api.send("DELETE", path, query=query, version=form.get("version", ""))
    return visit.go("users", user_id, "timeline", done="rejected" if query else "forgotten")


@views.get(*_EVENT, "correct")
def ask_to_correct_event(visit: Visit) -> Reply:
    """A form with the words of an event."""
    found = visit.api.get(user_path(visit.ids["user_id"], "events", visit.ids["event_id"]))
    is_long, derived = weight(found["content"]) > PART_BYTES, derived_of(visit, {found["id"]})
    return visit.page("correct_event.html", event=found, is_long=is_long, derived=derived)


@views.post(*_EVENT, "correct", of=ask_to_correct_event)
def correct_event(visit: Visit) -> Reply:
    """What is remembered of it is right from now on; where that is asked for it is forgotten for what is right."""
    user_id, form = visit.ids["user_id"], visit.form
    path = user_path(user_id, "events", visit.ids["event_id"])
    found = visit.api.get(path)
    fault = _no_correction(found, form)
    if fault is not None:
        raise Refusal(422, {"detail": fault})
    if "forget" not in form:
        return _set_right(visit)
    kept = {name: found[name] for name in _PLACE if found.get(name)}
    memory = {"user_id": user_id, "content": form.get("content", ""), "source": "user", **kept}
    saved = visit.api.post("/v1/memories", memory, once=form.get("once", ""))
    try:
        visit.api.send("DELETE", path, version=form.get("version", ""))
    except Refusal as refused:
        if visit.api.find(path) is not None:
            return _half_corrected(visit, refused)
    return visit.go("users", user_id, "memories", saved["id"], done="corrected")


def _set_right(visit: Visit) -> Reply:
    user_id, form = visit.ids["user_id"], visit.form
    path = user_path(user_id, "events", visit.ids["event_id"], "correct")
    body = {"content": form.get("content", "")}
    made = visit.api.send("POST", path, body, version=form.get("version") or "0", once=form.get("once", ""))
    return visit.go("users", user_id, "memories", made.document["id"], done="set_right")


def _half_corrected(visit: Visit, refused: Refusal) -> Reply:
    """What is right is written down; what was said is left to be forgotten."""
    told = ["What is right is remembered now. What was said is not forgotten yet: do that here.", *refused.sentences]
    half = Refusal(refused.status, {"errors": [{"loc": (), "message": one} for one in told]})
    return shown_again(ask_to_forget_event, visit, half)


def _no_correction(event: Mapping[str, Any], form: Mapping[str, str]) -> str | None:
    """Why an event is not set right so: a memory is never private, nor of what nothing is derived of."""
    if event["is_private"] or not event["derive"]:
        what = "What is private" if event["is_private"] else "What nothing is derived of"
        return f"{what} has no memory: it can only be forgotten."
    if form.get("version") != str(event["version"]):
        return "It has changed since the page was shown. Look at it again."
    return "These are the words as they are." if form.get("content", "").strip() == event["content"].strip() else None


def _event_and_memories(visit: Visit) -> tuple[Any, list[Any]]:
    user_id, event_id = visit.ids["user_id"], visit.ids["event_id"]
    found = visit.api.get(user_path(user_id, "events", event_id))
    memories = visit.api.get(user_path(user_id, "memories"), source_event_id=event_id, limit=visit.most(_SHOWN))[
        "memories"
    ]
    return found, memories
