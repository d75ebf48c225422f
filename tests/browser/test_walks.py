"""Walks of a person through the rest of the console: what is said is set right, a doubt is settled, a goal followed."""

from playwright.sync_api import Page, expect

from browser.driving import drives
from browser.site import Site, check, press, tab_to

GOAL = "My goal is to run a marathon."


@drives(
    "GET /users/{user_id}/timeline?from",
    "GET /users/{user_id}/timeline?to",
    "GET /users/{user_id}/timeline?conversation_id",
    "GET /users/{user_id}/events/{event_id}",
    "GET /users/{user_id}/events/{event_id}/correct",
    "POST /users/{user_id}/events/{event_id}/correct?content",
    "POST /users/{user_id}/events/{event_id}/correct?forget",
    "GET /users/{user_id}/events/{event_id}/forget",
    "POST /users/{user_id}/events/{event_id}/forget?reject",
    "POST /users/{user_id}/rejections/{rejection_id}",
)
def test_what_was_said_is_found_set_right_refused_and_let_in_again(page: Page, site: Site) -> None:
    for day, text in enumerate(("I bake bread", "I own two boats", "I hum"), 1):
        site.say("lena", text, conversation_id=f"c-{day}", timestamp=f"2025-03-0{day}T09:00:00Z")
    site.project()
    page.goto("/console/users/lena/timeline")
    page.get_by_label("From").fill("2025-03-02")
    page.get_by_label("To", exact=True).fill("2025-03-02")
    page.get_by_role("button", name="Show").click()
    expect(page.get_by_text("I own two boats")).to_be_visible()
    expect(page.get_by_text("I bake bread")).to_have_count(0)
    page.get_by_role("link", name="I own two boats").click()
    page.get_by_role("link", name="Set it right").click()
    page.get_by_label("What should be remembered instead").fill("I own three boats")
    page.get_by_label("Also forget what was said").check()
    page.get_by_role("button", name="Set it right").click()
    expect(page.get_by_role("status")).to_contain_text("What was said before is forgotten")
    expect(page.locator("blockquote")).to_contain_text("I own three boats")
    page.get_by_role("link", name="Timeline").click()
    page.get_by_label("Conversation").fill("c-3")
    page.get_by_role("button", name="Show").click()
    expect(page.get_by_role("main").get_by_role("listitem")).to_have_count(1)
    page.get_by_role("link", name="I hum").click()
    page.get_by_role("link", name="Forget").click()
    page.get_by_label("Also refuse the same value").check()
    page.get_by_role("button", name="Forget it").click()
    expect(page.get_by_role("status")).to_contain_text("refused from now on")
    expect(page.get_by_text("I bake bread")).to_be_visible()
    for gone in ("I hum", "I own two boats"):
        expect(page.get_by_text(gone)).to_have_count(0)
    page.get_by_role("link", name="Import, export, erase").click()
    page.get_by_role("button", name="Let the value").click()
    expect(page.get_by_role("status")).to_contain_text("let in again")
    expect(page.get_by_role("region", name="Rejected values")).to_contain_text("None.")
    site.remember("lena", "I hum")


@drives(
    "GET /users/{user_id}/new",
    "POST /users/{user_id}/new?content",
    "GET /users/{user_id}/decisions",
    "GET /users/{user_id}/conflicts/{conflict_id}/settle",
    "POST /users/{user_id}/conflicts/{conflict_id}/settle?winner",
    "POST /users/{user_id}/conflicts/{conflict_id}/settle?older_words",
    "GET /users/{user_id}/conflicts/{conflict_id}/reopen",
    "POST /users/{user_id}/conflicts/{conflict_id}/reopen",
)
def test_a_doubt_is_settled_by_the_keyboard_alone_with_what_was_written_down(page: Page, site: Site) -> None:
    older = site.remember("olga", "Ada is my sister", timestamp="2025-01-01T00:00:00Z")
    page.goto("/console/users/olga")
    press(page, "Write one down")
    tab_to(page, "What should be remembered")
    page.keyboard.type("Ada is my aunt")
    press(page, "Save")
    expect(page.get_by_role("status")).to_contain_text("The memory is saved")
    newer = page.url.partition("?")[0].rpartition("/")[2]
    site.leave_open("olga", (older, newer), doubted="my sister")
    press(page, "Decisions")
    doubt = page.get_by_role("article", name="An open conflict")
    expect(doubt.locator("mark")).to_have_text("my sister")
    expect(doubt).to_contain_text("41 % sure that the newer one changes it")
    press(page, "Set the older one right: Ada is my sister")
    tab_to(page, "What the older one says then")
    check(page)
    press(page, "Settle it")
    expect(page.get_by_role("status")).to_contain_text("The older one is set right, and both hold")
    press(page, "Open it again: Ada is my aunt / Ada is my sister")
    check(page)
    press(page, "Open it again")
    expect(page.get_by_role("status")).to_contain_text("The conflict is open again")
    press(page, "Older counts: Ada is my sister")
    expect(page.locator("mark")).to_have_text("my sister")
    expect(page.get_by_role("radio", name="the older one", exact=True)).to_be_checked()
    press(page, "Settle it")
    expect(page.get_by_role("status")).to_contain_text("The conflict is settled")
    expect(page.get_by_text("None is open")).to_be_visible()
    expect(page.get_by_role("article", name="A decision")).to_contain_text("Ada is my aunt")
    press(page, "Memories")
    expect(page.get_by_role("link", name="Ada is my sister")).to_be_visible()
    expect(page.get_by_role("link", name="Ada is my aunt")).to_have_count(0)


@drives(
    "GET /users/{user_id}/summaries",
    "POST /users/{user_id}/summaries",
    "POST /users/{user_id}/goals/{goal_id}?goal",
    "POST /users/{user_id}/goals/{goal_id}?status",
    "POST /users/{user_id}/goals/{goal_id}/check-in?date",
    "POST /users/{user_id}/goals/{goal_id}/check-in?status",
)
def test_what_was_said_is_summed_up_and_a_goal_is_followed(page: Page, site: Site) -> None:
    site.say("emil", "I am forty.", GOAL, "I will run three times a week.")
    site.project()
    page.goto("/console/users/emil/summaries")
    page.get_by_role("button", name="Sum up what is new").click()
    expect(page.get_by_role("status")).to_contain_text("There is a new summary")
    expect(page.get_by_role("article", name="A summary")).to_contain_text("marathon")
    page.get_by_role("textbox", name="Goal").first.fill("Run a marathon in Hamburg")
    page.get_by_role("region", name="Goals").get_by_role("button", name="Save").first.click()
    expect(page.get_by_role("status")).to_contain_text("The goal is changed")
    goal = page.get_by_role("article", name="Run a marathon in Hamburg")
    goal.get_by_label("On").fill("2025-03-04")
    goal.get_by_label("it was").select_option("missed")
    goal.get_by_role("button", name="Note it").click()
    expect(page.get_by_role("status")).to_contain_text("It is noted")
    expect(goal).to_contain_text("2025-03-04 missed")
    goal.get_by_label("stands as").select_option("completed")
    goal.get_by_role("button", name="Save").click()
    expect(goal.get_by_label("stands as")).to_have_value("completed")
    expect(goal).to_contain_text("2025-03-04 missed")
    page.get_by_role("article", name="A summary").get_by_role("link").first.click()
    expect(page.get_by_role("heading", name="What was said")).to_be_visible()


@drives(
    "GET /users/{user_id}/ask?format",
    "GET /users/{user_id}/ask?as_of",
    "GET /users/{user_id}/ask?recorded_as_of",
)
def test_a_context_is_shown_as_each_format_and_of_another_moment(page: Page, site: Site) -> None:
    site.remember("timo", "I live in Oslo", key="city", timestamp="2024-01-01T00:00:00Z")
    site.remember("timo", "I live in Lyon", key="city", timestamp="2025-01-01T00:00:00Z")
    page.goto("/console/users/timo/ask")
    page.get_by_label("What the user says").fill("Where do I live?")
    context = page.get_by_role("region", name="The context", exact=True)
    for form, sign in (("prompt", "Lyon"), ("openai", '"role": "system"'), ("anthropic", '"system": "')):
        page.get_by_label("Show as").select_option(form)
        page.get_by_role("button", name="Ask").click()
        expect(page.get_by_role("heading", name=f"The context, as {form}")).to_be_visible()
        expect(context).to_contain_text(sign)
        expect(context).to_contain_text("I live in Lyon")
    page.get_by_text("At another moment").click()
    page.get_by_label("As it held at (UTC)").fill("2024-06-01T12:00")
    page.get_by_label("Show as").select_option("converse")
    page.get_by_role("button", name="Ask").click()
    expect(context).to_contain_text('"text": "')
    expect(context).to_contain_text("I live in Oslo")
    expect(context).not_to_contain_text("Lyon")
    expect(page.get_by_label("As it held at (UTC)")).to_have_value("2024-06-01T12:00")
    page.get_by_label("As was known at (UTC)").fill("2023-01-01T00:00")
    page.get_by_role("button", name="Ask").click()
    expect(page.get_by_text("Nothing that is remembered is relevant")).to_be_visible()


@drives(
    "GET /",
    "GET /users/{user_id}?q",
    "GET /users/{user_id}?status",
    "GET /users/{user_id}/timeline?role",
    "GET /users/{user_id}/timeline?word",
    "POST /users/{user_id}/new?key",
    "POST /users/{user_id}/memories/{memory_id}/edit?keywords",
    "POST /users/{user_id}/memories/{memory_id}/edit?importance",
)
def test_what_is_remembered_and_was_said_is_found(page: Page, site: Site) -> None:
    site.say("wim", "The ferry leaves at nine")
    site.say("wim", "Noted: the ferry", role="assistant")
    page.goto("/console/users/wim/new")
    page.get_by_label("What should be remembered").fill("I row on the Rhine")
    page.get_by_label("Key").fill("sport")
    page.get_by_role("button", name="Save").click()
    page.get_by_role("link", name="Edit").click()
    page.get_by_label("Keywords").fill("boats, rivers")
    page.get_by_label("Weight").fill("0.9")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("rivers")).to_be_visible()
    (memory,) = site.get("/v1/users/wim/memories")["memories"]
    assert (memory["key"], memory["keywords"], memory["importance"]) == ("sport", ["boats", "rivers"], 0.9)
    page.get_by_role("link", name="Memories").click()
    page.get_by_label("Find").fill("Rhine")
    page.get_by_label("Among").select_option("all")
    page.get_by_role("button", name="Show").click()
    expect(page.get_by_role("main").get_by_role("link", name="I row on the Rhine")).to_be_visible()
    expect(page.get_by_label("Among")).to_have_value("all")
    page.get_by_role("link", name="Timeline").click()
    said = page.get_by_role("main").get_by_role("listitem")
    for role, words in (("bot", "Noted: the ferry"), ("user", "The ferry leaves at nine")):
        page.get_by_label("Said by").select_option(role)
        page.get_by_label("With the word").fill("ferry")
        page.get_by_role("button", name="Show").click()
        expect(said).to_have_count(1)
        expect(said).to_contain_text(words)
    page.get_by_role("link", name="Users").click()
    expect(page.get_by_role("heading", name="Users")).to_be_visible()
