"""What is longer than a page goes on: parts of a text, and further pages of a list; on a phone, by the keyboard."""

import re

import pytest
from playwright.sync_api import Page, expect

from browser.driving import drives
from browser.site import Site, check, fits

LONG = "\n".join(f"Paragraph {n}: we sailed & talked about the harbour." for n in range(1_000))
TONGUES = (
    "Spanish", "French", "German", "Dutch", "Danish", "Greek", "Turkish", "Polish", "Czech", "Finnish", "Welsh",
)  # fmt: skip
FURTHER = (
    ("/console/knowledge?namespace=tides", "More", "GET /knowledge?cursor"),
    ("/console/users/vera?status=all", "Older ones", "GET /users/{user_id}?cursor"),
    ("/console/users/vera/timeline", "Older ones", "GET /users/{user_id}/timeline?cursor"),
    ("/console/users/vera/decisions", "More open ones", "GET /users/{user_id}/decisions?open"),
    ("/console/users/vera/decisions", "Older ones", "GET /users/{user_id}/decisions?decided"),
    ("/console/users/vera/summaries", "More goals", "GET /users/{user_id}/summaries?goals"),
    ("/console/users/vera/summaries", "Older ones", "GET /users/{user_id}/summaries?cursor"),
)
"""A page, its link to what follows, and what that asks for; where it would take hundreds, no browser does it."""


@pytest.fixture(scope="module")
def vera(site: Site) -> None:
    """A user, and a tenant, with more of everything than a page lists."""
    api = site.api
    for tongue in TONGUES:
        site.say("vera", f"My goal is to learn {tongue}.", f"My goal is to run in {tongue} shoes.")
        api.post("/v1/users/vera/summaries", params={"force": "true"}, json={}).raise_for_status()
    site.say("vera", *(f"I saw ship {n} at sea" for n in range(52)))
    ids = [site.remember("vera", f"My neighbour {n} rows") for n in range(52)]
    settled, left = ids[:21], ids[21:42]
    for one in site.leave_open("vera", *((one, ids[-1]) for one in (*settled, *left)))[:21]:
        api.post(f"/v1/users/vera/conflicts/{one}/resolve", json={"winner": ids[-1]}).raise_for_status()
    for n in range(51):
        api.put(f"/v1/knowledge/tides/{n}", json={"value": n}).raise_for_status()


@drives(*(asked for _, _, asked in FURTHER))
def test_each_list_goes_on_where_its_page_ends(phone: Page, vera: None) -> None:
    for path, name, _ in FURTHER:
        phone.goto(path)
        on_the_first = set(phone.get_by_role("main").get_by_role("link").all_inner_texts())
        with phone.expect_navigation():
            phone.get_by_role("link", name=name, exact=True).press("Enter")
        following = set(phone.get_by_role("main").get_by_role("link").all_inner_texts())
        assert following, path
        assert following != on_the_first, path
        fits(phone)
    check(phone, ["color-contrast"])


@drives(
    "GET /users/{user_id}/memories/{memory_id}?part",
    "GET /users/{user_id}/memories/{memory_id}/edit?part",
    "GET /users/{user_id}/memories/{memory_id}?versions",
)
def test_a_long_text_is_read_and_edited_in_parts_and_each_change_of_it_is_seen(phone: Page, site: Site) -> None:
    memory = site.remember("viktor", LONG)
    for n in range(10):
        words = {"content": LONG.replace("Paragraph 0:", f"Paragraph 0 of {n}:")}
        site.api.patch(f"/v1/users/viktor/memories/{memory}", json=words, headers={"If-Match": "*"}).raise_for_status()

    def press(name: str) -> None:
        with phone.expect_navigation():
            phone.get_by_role("link", name=name, exact=True).press("Enter")

    phone.goto(f"/console/users/viktor/memories/{memory}")
    press("The next part")
    expect(phone.get_by_text("It is long: part 2 of")).to_be_visible()
    press("Edit")
    press("The next part")
    field = phone.get_by_label("What is remembered")
    assert (field.bounding_box() or {"height": 0})["height"] > 500
    field.press("Control+Home")
    phone.keyboard.type("Nobody rowed. ")
    check(phone)
    with phone.expect_navigation():
        phone.get_by_role("button", name="Save").press("Enter")
    expect(phone.get_by_text(re.compile("It is long: part [23] of"))).to_be_visible()
    assert "Nobody rowed." in phone.get_by_role("blockquote").inner_text()
    history = phone.get_by_role("region", name="What changed when")
    expect(history.get_by_role("insertion").first).to_have_text("Nobody rowed. ")
    expect(history.get_by_role("listitem").first).to_contain_text("characters that stay")
    check(phone)
    press("Earlier versions")
    press("Put version 1 back")
    expect(phone.get_by_role("deletion")).to_have_text([" of 9", "Nobody rowed. "])
    check(phone)
