"""What a browser is sent: no page of a full store weighs more than 150 KB with its style and scripts.

The console's are counted as they are, that of the API as it is sent to a client that takes gzip.
"""

from collections.abc import Iterator
from importlib.resources import files

import pytest

from entrypoints.cli.running import left_open
from entrypoints.console.test_foreign_ids import LISTS, OWNER, Kept, filled
from entrypoints.http.conftest import opened
from recollect.app import App
from recollect.core.scope import Scope
from recollect.entrypoints.console.endpoint import views

MOST_BYTES = 150_000
ASSETS = ("console.css", "console.js", "htmx.min.js", "icon.svg")
ANNA = "/console/users/{user_id}"
SAID = "Yesterday I sat with my sister in a small café in the old town & we talked about the boat. " * 5
"""455 characters: more than a line of a list shows."""
LISTED = 52
"""More than a page lists of anything."""
DOUBTS = 21
PAGES = {
    *(route.path for route, _ in views() if route.method == "GET" and not route.path.endswith(("export", "merge"))),
    *(f"{ANNA}{path}" for path in LISTS if path != "/export"),
    f"{ANNA}/merge?memory={{memory_id}}&memory={{other_id}}",
}


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kept]:
    """More of everything than a page lists, in long words."""
    with opened(tmp_path_factory.mktemp("full")) as app:
        yield Kept(app, {**filled(app), **_more(app)})


def _more(app: App) -> dict[str, str]:
    api, scope = Kept(app, {}).api(), Scope("acme", "anna")
    events = [{"content": f"{number} {SAID}"} for number in range(LISTED)]
    said = api.post("/v1/events", {"user_id": "anna", "events": events})["results"]
    memories = [
        api.post("/v1/memories", {"user_id": "anna", "content": f"{number} {SAID}"})["id"] for number in range(LISTED)
    ]
    for number in range(DOUBTS):
        older, settled, newer = memories[number], memories[number + DOUBTS], memories[-1 - number % 5]
        left_open(app, older, newer, scope)
        api.post(f"/v1/users/anna/conflicts/{left_open(app, settled, newer, scope)}/resolve", {"winner": newer})
    for number in range(LISTED):
        api.send("PUT", f"/v1/knowledge/notes/entry{number}", {"value": {"words": SAID}})
    named = {"kind": "reconcile", "namespace": "notes", "key": "entry1", "record_id": memories[0]}
    return {"event_id": said[0]["event_id"], "memory_id": memories[0], "other_id": memories[1], **named}


def test_no_page_is_too_heavy(full: Kept) -> None:
    folder = files("recollect.entrypoints.console") / "static"
    assets = sum(len((folder / name).read_bytes()) for name in ASSETS)
    weights = {"/docs": full.sent("/docs")}
    for path in PAGES:
        answer = full.ask(OWNER, "GET", path.format(**full.ids, user_id="anna"))
        assert answer.status in (200, 303), path
        weights[path] = assets + len(str(answer.body).encode())
    assert {path: weight for path, weight in weights.items() if weight > MOST_BYTES} == {}
    assert len([weight for weight in weights.values() if weight > assets + 20_000]) >= 5, "the store is not full"
