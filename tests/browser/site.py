"""The server that the browser looks at: its API for what a test needs there, and what must hold of every page."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import httpx
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import BrowserContext, Page

from entrypoints.cli.running import Home, ended_in_part, left_open
from infra.tools.pictures import FOLDER, note
from recollect.core.items import of_tenant
from recollect.core.scope import Scope
from recollect.core.time import utc_now
from recollect.entrypoints.console.sessions import COOKIE, Session
from recollect.jobs.job import LEASE, Job, JobProgress, Portion, job_write

KEY, FOREIGN_KEY = "key-a", "key-b"
KEYS = '{"key-a": {"tenant": "acme", "admin": true}, "key-b": {"tenant": "other"}}'
WIDTH = 1_100
WHOLE = {"import": 0, "operations": 0, "ask": 1_300}
"""Of these pages more than a window is shown: all, or so many pixels."""
_OWN_FOLDER = """() => document.querySelectorAll("td.long").forEach((cell) => {
  cell.textContent = cell.textContent.replace(/\\/\\S*pytest\\S*(?=;)/, "~/.local/share/recollect");
})"""
PAGE_BYTES = 150_000
CLAUDE = """[{"uuid": "c-1", "chat_messages": [
  {"uuid": "m-1", "sender": "human", "text": "I sail <b>boats</b>", "created_at": "2024-05-02T09:00:00Z"},
  {"uuid": "m-2", "sender": "assistant", "text": "How fine", "created_at": "2024-05-02T09:01:00Z"}]}]"""
_AXE = Axe()
_MOST_TABS = 60
_NAME = """(one => one.ariaLabel ?? one.labels?.[0]?.textContent ?? one.textContent)(document.activeElement).trim()"""
_DROP = """(place, [name, content, times]) => {
  const dataTransfer = new DataTransfer();
  dataTransfer.items.add(new File([content.repeat(times)], name));
  place.dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true }));
}"""
_BROKEN_WORDS = """() => [...document.querySelectorAll("th, td:not(.long)")].flatMap((cell) => {
  const text = [...cell.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE);
  return text.flatMap((node) => [...node.data.matchAll(/\\S+/g)].filter((word) => {
    const range = document.createRange();
    range.setStart(node, word.index);
    range.setEnd(node, word.index + word[0].length);
    return new Set([...range.getClientRects()].map((one) => one.top)).size > 1;
  }).map((word) => word[0]));
})"""


@dataclass(frozen=True, slots=True)
class Site:
    """Where it answers, a client of its API with the key of the tenant that signs in, and the folder of its data."""

    url: str
    api: httpx.Client
    home: Home

    def remember(self, user: str, content: str, **more: Any) -> str:
        """The id of a memory that is saved."""
        answer = self.api.post("/v1/memories", json={"user_id": user, "content": content, **more})
        answer.raise_for_status()
        return str(answer.json()["id"])

    def say(self, user: str, *texts: str, conversation_id: str = "c", **more: Any) -> list[str]:
        """The ids of events."""
        events = [{"content": text, **more} for text in texts]
        body = {"user_id": user, "conversation_id": conversation_id, "events": events}
        answer = self.api.post("/v1/events", json=body)
        answer.raise_for_status()
        return [one["event_id"] for one in answer.json()["results"]]

    def project(self) -> None:
        """Until all that was said is projected."""
        self.api.post("/v1/jobs/reconcile", params={"wait": "true"}, json={}).raise_for_status()

    def leave_open(self, user: str, *pairs: tuple[str, str], doubted: str = "") -> list[str]:
        """The ids of conflicts of two memories, the older first, about these words of it: no request makes one."""
        app, scope = self.home.app(), Scope("acme", user)
        words = {older: self.get(f"/v1/users/{user}/memories/{older}")["content"] for older, _ in pairs}
        places = {one: (text.index(doubted), text.index(doubted) + len(doubted)) for one, text in words.items()}
        ended = {one: [place] if doubted else [] for one, place in places.items()}
        made = [left_open(app, older, newer, scope, ended[older]) for older, newer in pairs]
        app.parts.close()
        return made

    def end(self, user: str, older: str, newer: str, words: str) -> None:
        """A decision of the judge that these words of a memory ended by another."""
        app = self.home.app()
        ended_in_part(app, older, newer, words, Scope("acme", user))
        app.parts.close()

    def hold(self, done: int, total: int, job_id: str | None = None) -> str:
        """The id of a job that another process is at, and has come so far with; with all of it, it has ended."""
        app, now = self.home.app(), utc_now()
        begun = Job(id=app.ids.fresh(), kind="restore", asked_at=now, started_at=now)
        job = app.jobs.read("acme", job_id) if job_id else begun
        progress = JobProgress(state={}, portion=Portion(done, total, "records"), done=done == total)
        stepped = job.stepped(progress, now)
        held = stepped if stepped.finished else replace(stepped, leased_until=now + 1.9 * LEASE)
        app.parts.items.write(of_tenant("acme"), [job_write(held)], now)
        app.parts.close()
        return job.id

    def get(self, path: str, **query: Any) -> Any:
        """A document of the API."""
        return self.api.get(path, params=query).raise_for_status().json()


def sign_in(context: BrowserContext, site: Site) -> None:
    """As the form does."""
    context.add_cookies([{"name": COOKIE, "value": Session.signed_in(KEY).value, "url": f"{site.url}/console"}])


def drop(page: Page, name: str, content: str, times: int = 1) -> None:
    """Drops a file, of that content so many times, somewhere on a page that takes one."""
    page.locator("h1").evaluate(_DROP, [name, content, times])


def tab_to(page: Page, name: str) -> None:
    """Presses Tab until what has the focus is called so: by its words, or as a field is labelled."""
    for _ in range(_MOST_TABS):
        if page.evaluate(_NAME) == name:
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"no Tab leads to {name}")


def press(page: Page, name: str) -> None:
    """Goes to a link or a button by the keyboard, and presses it: another page is shown."""
    tab_to(page, name)
    with page.expect_navigation():
        page.keyboard.press("Enter")


def check(page: Page, rules: Sequence[str] = ()) -> None:
    """Nothing that axe finds by these rules, else by all; and that it `fits`."""
    assert violations(page, rules) == [], page.url
    fits(page)


def fits(page: Page) -> None:
    """Nothing is wider than the screen, no word of a table is broken, one first heading, not too heavy."""
    assert is_narrow_enough(page), page.url
    assert page.evaluate(_BROKEN_WORDS) == [], page.url
    assert page.locator("h1").count() == 1
    assert len(page.content().encode()) < PAGE_BYTES


def is_narrow_enough(page: Page) -> bool:
    """Whether nothing is wider than the screen."""
    return bool(page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"))


def violations(page: Page, rules: Sequence[str] = ()) -> list[tuple[str, list[str]]]:
    """What axe finds by these rules, else by all: the rule, and where."""
    asked = {"resultTypes": ["violations"], **({"runOnly": list(rules)} if rules else {})}
    found = _AXE.run(page, options=asked).response["violations"]
    return [(one["id"], [node["html"] for node in one["nodes"]]) for one in found]


def picture(page: Page, name: str) -> None:
    """Writes docs/console/NAME.png, where that is asked for; a folder of the test is shown as that of a user."""
    if os.environ.get("RECOLLECT_SCREENSHOTS") == "1":
        page.evaluate(_OWN_FOLDER)
        height = WHOLE.get(name)
        clip = {"x": 0, "y": 0, "width": WIDTH, "height": height} if height else None
        page.screenshot(path=FOLDER / f"{name}.png", full_page=name in WHOLE, clip=clip)  # type: ignore[arg-type]
        note(name)
