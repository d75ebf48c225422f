"""What a browser is sent: no page weighs more than 150 KB with its style and scripts, whatever the API has accepted."""

import re
from collections.abc import Iterator
from importlib.resources import files
from types import MappingProxyType
from typing import Any
from urllib.parse import unquote

import pytest

from entrypoints.cli.running import left_open
from entrypoints.console.sending import Sent, forms_of, refusing, through
from entrypoints.console.test_foreign_ids import LISTS, OWNER, Kept, filled
from entrypoints.http.conftest import opened
from recollect.app import App
from recollect.core.scope import Scope
from recollect.entrypoints.console.api import user_path
from recollect.entrypoints.console.endpoint import views
from recollect.entrypoints.http.routing import path_segment

MOST_BYTES = 150_000
ASSETS = ("console.css", "console.js", "htmx.min.js", "icon.svg")
ANNA = "/console/users/{user_id}"
LONGEST = 64 * 1024
SAID = "Yesterday I sat with my sister in a small café in the old town & we talked about the boat. " * 5
"""455 characters: more than a line of a list shows."""
LISTED = 52
"""More than a page lists of anything."""
DOUBTS = 21
PAGES = sorted(
    {
        *(route.path for route, _ in views() if route.method == "GET" and not route.path.endswith(("export", "merge"))),
        *(f"{ANNA}{path}" for path in LISTS if path != "/export"),
        f"{ANNA}/merge?memory={{memory_id}}&memory={{other_id}}",
        f"{ANNA}/memories/{{memory_id}}/edit?part=9",
    }
)
FOX = "🦊"
"""Four bytes, of which an address makes five: nothing that an id may have is longer."""
STORES = MappingProxyType({
    "ordinary": ("anna", SAID, ("notes", "entry"), ["sister"]),
    "the worst": (FOX * 128, "R&D " + "&" * (LONGEST - 8), (FOX * 128, FOX * 120), ["&" * 512 for _ in range(50)]),
})  # fmt: skip
"""A user's id, what is said and remembered, where knowledge lies, and keywords: HTML writes five bytes for an `&`."""


@pytest.fixture(scope="module", params=STORES)
def full(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Kept]]:
    """More of everything than a page lists."""
    user, said, entry, keywords = STORES[request.param]
    with opened(tmp_path_factory.mktemp("full")) as app:
        yield user, Kept(app, {**filled(app, user), **_more(app, user, said, entry, keywords)})


def _more(app: App, user: str, said: str, entry: tuple[str, str], keywords: list[str]) -> dict[str, str]:
    api, scope = Kept(app, {}).api(), Scope("acme", user)
    texts = [f"{number} {said}" for number in range(LISTED)]
    for begin in range(0, LISTED, 26):
        events = [{"content": text, "speaker": user} for text in texts[begin : begin + 26]]
        sent = {"user_id": user, "conversation_id": user, "events": events}
        event = api.post("/v1/events", sent)["results"][0]["event_id"]
    memory: dict[str, Any] = {"user_id": user, "keywords": keywords}
    memories = [api.post("/v1/memories", {**memory, "content": text})["id"] for text in texts]
    for number in range(DOUBTS):
        older, settled, newer = memories[number], memories[number + DOUBTS], memories[-1 - number % 5]
        left_open(app, older, newer, scope)
        api.post(user_path(user, "conflicts", left_open(app, settled, newer, scope), "resolve"), {"winner": newer})
    api.send("PATCH", user_path(user, "memories", memories[0]), {"content": said}, version="*")
    for goal in api.get(user_path(user, "goals"))["goals"]:
        api.send("PATCH", user_path(user, "goals", goal["id"]), {"goal": said[:499]}, version="*")
    namespace, key = entry
    for number in range(LISTED):
        path = f"/v1/knowledge/{path_segment(namespace)}/{path_segment(f'{key}{number}')}"
        api.send("PUT", path, {"value": {"words": said[:16_000]}})
    named = {"kind": "reconcile", "namespace": path_segment(namespace), "key": path_segment(f"{key}1")}
    return {"event_id": event, "memory_id": memories[0], "other_id": memories[1], "record_id": memories[0], **named}


def test_no_page_is_too_heavy(full: tuple[str, Kept]) -> None:
    user, kept = full
    folder = files("recollect.entrypoints.console") / "static"
    assets = sum(len((folder / name).read_bytes()) for name in ASSETS)
    weights: dict[str, int] = {}
    forms: dict[str, Sent] = {}
    for path in PAGES:
        answer = kept.ask(OWNER, "GET", path.format(**kept.ids, user_id=path_segment(user)))
        assert answer.status in (200, 303), path
        assert "would be too long" not in str(answer.body), path
        weights[path] = assets + len(str(answer.body).encode())
        sent = forms_of(str(answer.body)) if "{" in path else []
        forms |= {re.sub("/goals/[^/]*", "/goals/", one.action): one for one in sent}
    for target, form in forms.items():
        answer = through(kept.app, refusing(kept.app, 429), unquote(form.action), form.filled_in(), OWNER)
        weights[f"POST {target}"] = assets + len(str(answer.body).encode())
    assert len([one for one in weights if one.startswith("POST")]) >= 12
    assert {path: weight for path, weight in weights.items() if weight > MOST_BYTES} == {}
    assert len([weight for weight in weights.values() if weight > assets + 20_000]) >= 5, "the store is not full"
