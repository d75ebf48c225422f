"""What a person does in the console, in a real browser."""

import re

from playwright.sync_api import Browser, Page, expect

from browser.site import FOREIGN_KEY, KEY, Site


def test_three_wrong_memories_one_undone_one_line_explained(page: Page, site: Site) -> None:
    """The walk of somebody who has read nothing: every step is a link or a button that says what it does."""
    site.remember("nora", "Nora is allergic to cats")
    site.remember("nora", "Nora lives in Bergen")
    site.remember("nora", "Nora drives a truck")
    page.goto("/console")
    page.get_by_label("Open a user by id").fill("nora")
    page.get_by_role("button", name="Open").click()
    for wrong, right in (("cats", "dogs"), ("Bergen", "Bodø"), ("truck", "tram")):
        page.get_by_role("navigation", name="User").get_by_role("link", name="Memories").click()
        page.get_by_role("link", name=re.compile(wrong)).click()
        page.get_by_role("link", name="Edit").click()
        words = page.get_by_label("What is remembered")
        words.fill(words.input_value().replace(wrong, right))
        page.get_by_role("button", name="Save").click()
        expect(page.get_by_role("status")).to_contain_text("The memory is changed")
    page.get_by_role("link", name="Put version 1 back").click()
    page.get_by_role("button", name="Put it back").click()
    expect(page.get_by_role("status")).to_contain_text("The earlier version is back")
    page.get_by_role("link", name="What would it say?").click()
    page.get_by_label("What the user says").fill("Where does Nora live?")
    page.get_by_role("button", name="Show").click()
    line = page.get_by_role("listitem").filter(has_text="Nora lives in Bodø").first
    expect(line).to_contain_text("score")
    contents = [one["content"] for one in site.get("/v1/users/nora/memories")["memories"]]
    assert sorted(contents) == ["Nora drives a truck", "Nora is allergic to dogs", "Nora lives in Bodø"]


def test_what_is_forgotten_and_rejected_is_gone_and_refused(page: Page, site: Site) -> None:
    site.remember("otto", "Otto smokes")
    page.goto("/console/users/otto")
    page.get_by_role("link", name="Otto smokes").click()
    page.get_by_role("link", name="Reject for good").click()
    expect(page.get_by_label(re.compile("refuse the same value"))).to_be_checked()
    page.get_by_role("button", name="Forget it").click()
    expect(page.get_by_role("status")).to_contain_text("refused from now on")
    answer = site.api.post("/v1/memories", json={"user_id": "otto", "content": "Otto smokes"})
    assert answer.status_code in (409, 422)


def test_a_stranger_signs_in_sees_their_own_and_signs_out(browser: Browser, site: Site) -> None:
    memory = site.remember("pia", "Pia lives in Turin")
    with browser.new_context(base_url=site.url) as context:
        page = context.new_page()
        page.goto("/console/users/pia")
        page.get_by_label("Key").fill("key-x")
        page.get_by_role("button", name="Sign in").click()
        expect(page.get_by_role("alert")).to_contain_text("unknown")
        page.get_by_label("Key").fill(FOREIGN_KEY)
        page.get_by_role("button", name="Sign in").click()
        expect(page.get_by_role("heading", name="Users")).to_be_visible()
        assert page.goto(f"/console/users/pia/memories/{memory}").status == 404  # type: ignore[union-attr]
        assert page.evaluate("document.cookie") == ""
        page.get_by_role("button", name="Sign out").click()
        page.get_by_label("Key").fill(KEY)
        page.get_by_role("button", name="Sign in").click()
        page.goto(f"/console/users/pia/memories/{memory}")
        expect(page.get_by_text("Pia lives in Turin").first).to_be_visible()
