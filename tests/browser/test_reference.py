"""The page of the API in a real browser: what a reader tries is sent with the reader's token and answered there."""

from playwright.sync_api import Page, expect

from browser.site import KEY, Site, is_narrow_enough, violations


def test_a_reader_tries_an_example(sized: Page, site: Site) -> None:
    site.remember("anna", "I am allergic to peanuts")
    sized.goto("/docs#search")
    operation = sized.locator("#search")
    operation.get_by_role("button", name="Try it").click()
    sized.get_by_label("Token for what you try").fill(KEY)
    operation.get_by_role("button", name="Send").press("Enter")
    expect(operation.locator("form pre")).to_contain_text("I am allergic to peanuts")
    assert violations(sized) == []
    assert is_narrow_enough(sized)
    sized.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    assert is_narrow_enough(sized)
    sized.get_by_role("link", name="To the console").click()
    expect(sized.get_by_role("heading", name="Users")).to_be_visible()


def test_names_in_a_path_and_a_query_are_filled_in(page: Page, site: Site) -> None:
    kept = site.remember("bo/b", "I play the viola")
    page.goto("/docs#listMemories")
    page.get_by_label("Token for what you try").fill(KEY)
    operation = page.locator("#listMemories")
    operation.get_by_role("button", name="Try it").click()
    expect(operation.get_by_label("user_id")).to_have_value("anna")
    operation.get_by_label("user_id").fill("bo/b")
    operation.get_by_label("status").fill("superseded")
    operation.get_by_role("button", name="Send").click()
    expect(operation.locator("form pre")).to_contain_text('"memories": []')
    operation.get_by_label("status").fill("")
    operation.get_by_role("button", name="Send").click()
    expect(operation.locator("form pre")).to_contain_text(kept)
