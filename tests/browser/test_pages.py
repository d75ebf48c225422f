"""Each page in a real browser, on a desk by day and on a phone by night: readable for everybody."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from browser.site import Site, check, fits, picture, press, tab_to

SAID = (
    "I moved to Lyon last week",
    "Remember: my sister is called Ada",
    "I am allergic to peanuts",
    "I work as a nurse at the city hospital",
    "<script>document.title='taken'</script>",
    "invoice\u202etxt.exe",
    "اسمي مارا وأعيش في ليون",
)


@pytest.fixture(scope="module")
def mara(site: Site) -> dict[str, Any]:
    """A user of whom everything is there that a page shows: the ids by what they are."""
    events = [site.say("mara", text, timestamp=f"2025-03-0{day}T09:00:00Z")[0] for day, text in enumerate(SAID, 1)]
    oslo = site.remember("mara", "I live in Oslo", key="city", timestamp="2024-01-01T00:00:00Z")
    lyon = site.remember("mara", "I live in Lyon", key="city", timestamp="2025-03-01T00:00:00Z")
    merged = [site.remember("mara", text) for text in ("I knit scarves", "I knit socks and scarves")]
    shown = {"event": events[1], "memory": lyon, "older": oslo, "first": merged[0], "second": merged[1]}
    return {**shown, **_hedda(site)}


def _hedda(site: Site) -> dict[str, str]:
    """A user with a goal, a summary, an open conflict, a decision and a rejection; an erasure and a job: their ids."""
    told, smokes = site.say("hedda", "My goal is to run a marathon every spring", "I smoke")
    ties = ("aunt", "sister", "mother", "cousin", "niece")
    aunt, *others = (site.remember("hedda", f"Ada is my {one}") for one in ties)
    conflict, settled, _, settled_too = site.leave_open("hedda", *((one, aunt) for one in others), doubted="Ada is my")
    boats = site.remember("hedda", "I own two boats, and my sister Ada lives in Leeds")
    site.end("hedda", boats, site.remember("hedda", "I sold my boats"), "I own two boats")
    site.project()
    api, hedda = site.api, "/v1/users/hedda"
    api.post(f"{hedda}/summaries", params={"force": "true"}, json={}).raise_for_status()
    api.delete(f"{hedda}/events/{smokes}", params={"reject": "true"}).raise_for_status()
    for one in (settled, settled_too):
        api.post(f"{hedda}/conflicts/{one}/resolve", json={"winner": aunt}).raise_for_status()
    api.put("/v1/knowledge/notes/hours", json={"value": {"open": "nine"}}).raise_for_status()
    site.remember("zoe", "Zoe was here")
    return {
        "conflict": conflict,
        "decision": site.get(f"{hedda}/arbitrations")["arbitrations"][0]["id"],
        "told": told,
        "cut": boats,
        "goal": site.get(f"{hedda}/goals")["goals"][0]["id"],
        "summary": site.get(f"{hedda}/summaries")["summaries"][0]["id"],
        "job": api.post("/v1/jobs/reconcile", params={"wait": "true"}, json={}).json()["job_id"],
        "erasure": api.delete("/v1/users/zoe").raise_for_status().json()["erasure_id"],
    }


PAGES = (
    ("users", "/console"),
    ("memories", "/console/users/mara"),
    ("found", "/console/users/mara?q=sister"),
    ("memory", "/console/users/mara/memories/{memory}"),
    ("edit", "/console/users/mara/memories/{memory}/edit"),
    ("forget", "/console/users/mara/memories/{memory}/forget"),
    ("merge", "/console/users/mara/merge?memory={first}&memory={second}"),
    ("undo", "/console/users/mara/memories/{memory}/undo/1"),
    ("new", "/console/users/mara/new"),
    ("timeline", "/console/users/mara/timeline"),
    ("event", "/console/users/mara/events/{event}"),
    ("forget-event", "/console/users/mara/events/{event}/forget"),
    ("correct", "/console/users/mara/events/{event}/correct"),
    ("ask", "/console/users/mara/ask?q=Where+do+I+live?"),
    ("keyed-decisions", "/console/users/mara/decisions"),
    ("summaries", "/console/users/mara/summaries"),
    ("data", "/console/users/mara/data"),
    ("import", "/console/users/mara/import"),
    ("erase", "/console/users/mara/erase"),
    ("knowledge", "/console/knowledge?text=who"),
    ("new-entry", "/console/knowledge-entry"),
    ("entry", "/console/knowledge/notes/any"),
    ("rules", "/console/rules"),
    ("operations", "/console/operations"),
    ("start-job", "/console/operations/reconcile"),
    ("nobody", "/console/users/nobody"),
    ("absent", "/console/users/mara/memories/nothing"),
    ("merge-none", "/console/users/mara/merge"),
    ("nearest", "/console/users/mara?q=zzzz"),
    ("decisions", "/console/users/hedda/decisions"),
    ("settle", "/console/users/hedda/conflicts/{conflict}/settle"),
    ("revert", "/console/users/hedda/decisions/{decision}/revert"),
    ("cut", "/console/users/hedda/memories/{cut}"),
    ("told-forget", "/console/users/hedda/events/{told}/forget"),
    ("goals", "/console/users/hedda/summaries"),
    ("rejections", "/console/users/hedda/data"),
    ("job", "/console/jobs/{job}"),
    ("jobs", "/console/jobs"),
    ("erasure", "/console/erasures/{erasure}"),
    ("delete-entry", "/console/knowledge/notes/hours/delete"),
)
WITH_A_JOB = ("operations", "jobs")
"""These show one that is at work."""
STATUSES = {"absent": 404, "merge-none": 422}
"""Of every other page it is 200."""
PICTURED = (
    "ask",
    "decisions",
    "erase",
    "forget",
    "memories",
    "memories-phone",
    "memory",
    "merge",
    "operations",
    "timeline",
    "timeline-phone",
)
"""What docs/console.md shows."""


def test_every_page_is_readable_for_everybody(sized: Page, site: Site, mara: dict[str, Any]) -> None:
    narrow = (sized.viewport_size or {"width": 0})["width"] < 500
    for name, path in PAGES:
        job = site.hold(312, 1040) if name in WITH_A_JOB else None
        answer = sized.goto(path.format(**mara))
        assert answer is not None
        assert answer.status == STATUSES.get(name, 200), name
        shown = f"{name}-phone" if narrow else name
        fits(sized)
        if not narrow or name in PICTURED:
            check(sized, ["color-contrast"] if narrow else [])
        if shown in PICTURED:
            picture(sized, shown)
        if job:
            site.hold(1040, 1040, job)
    assert sized.title() != "taken"
    sized.goto("/console/rules")
    sized.get_by_role("textbox").fill('{"context": {"total": 9}}')
    sized.get_by_role("button", name="Show what would change").click()
    expect(sized.get_by_role("heading", name="What would change")).to_be_visible()
    check(sized)
    sized.context.clear_cookies()
    sized.goto("/console")
    expect(sized.get_by_role("button", name="Sign in")).to_be_visible()
    check(sized)


def test_a_bar_of_the_picture_leads_to_its_day(page: Page, mara: dict[str, Any]) -> None:
    page.goto("/console/users/mara/timeline")
    page.get_by_label("3 Mar 2025: 1 event").click()
    expect(page.get_by_text(SAID[2])).to_be_visible()
    expect(page.get_by_text(SAID[0])).to_have_count(0)


def test_stored_markup_is_text(page: Page, mara: dict[str, Any]) -> None:
    page.goto("/console/users/mara/timeline")
    expect(page.get_by_text(SAID[4])).to_be_visible()
    assert page.locator("main script").count() == 0
    expect(page.get_by_text("U+202E")).to_be_visible()


def test_the_keyboard_alone_reaches_and_changes_a_memory(page: Page, site: Site) -> None:
    memory = site.remember("kim", "I play the violin")
    page.goto("/console/users/kim")
    page.keyboard.press("Tab")
    expect(page.get_by_text("Skip to the page")).to_be_focused()
    press(page, "I play the violin")
    expect(page.get_by_role("heading", name="A memory")).to_be_visible()
    press(page, "Edit")
    tab_to(page, "What is remembered")
    page.keyboard.press("Control+a")
    page.keyboard.type("I play the cello")
    press(page, "Save")
    expect(page.get_by_role("status")).to_contain_text("The memory is changed")
    assert site.get(f"/v1/users/kim/memories/{memory}")["content"] == "I play the cello"
