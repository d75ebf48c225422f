"""What a person does in the console, in a real browser."""

import re
from functools import partial

from playwright.sync_api import Browser, Page, Route, expect

from browser.driving import drives
from browser.site import CLAUDE, FOREIGN_KEY, KEY, Site, check, drop, picture, press, tab_to


@drives(
    "GET /users?user_id",
    "GET /users/{user_id}",
    "GET /users/{user_id}/memories/{memory_id}",
    "GET /users/{user_id}/memories/{memory_id}/edit",
    "POST /users/{user_id}/memories/{memory_id}/edit?content",
    "GET /users/{user_id}/memories/{memory_id}/undo/{version}",
    "POST /users/{user_id}/memories/{memory_id}/undo/{version}",
    "GET /users/{user_id}/ask?q",
    "GET /users/{user_id}/records/{record_id}",
    "GET /users/{user_id}/data",
    "GET /users/{user_id}/erase",
    "POST /users/{user_id}/erase?confirmed",
    "GET /erasures/{erasure_id}",
)
def test_a_newcomer_corrects_undoes_asks_why_and_erases(page: Page, site: Site) -> None:
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
    page.get_by_role("button", name="Ask").click()
    line = page.get_by_role("listitem").filter(has_text="Nora lives in Bodø").first
    expect(line).to_contain_text("“Nora” and “live” with the question")
    line.get_by_text("Numbers").click()
    expect(line.get_by_role("table")).to_contain_text("Closeness in meaning")
    line.get_by_text("Evidence").click()
    line.get_by_role("link", name="Look at it").click()
    expect(page.get_by_role("heading", name="What changed when")).to_be_visible()
    contents = [one["content"] for one in site.get("/v1/users/nora/memories")["memories"]]
    assert sorted(contents) == ["Nora drives a truck", "Nora is allergic to dogs", "Nora lives in Bodø"]
    page.get_by_role("link", name="Import, export, erase").click()
    page.get_by_role("link", name="Erase this user").click()
    page.get_by_label("Type the id of the user").fill("nora")
    page.get_by_role("button", name="Erase everything").click()
    expect(page.get_by_role("status")).to_contain_text("It is done")
    assert site.get("/v1/users/nora/memories")["memories"] == []


@drives(
    "GET /users/{user_id}/memories/{memory_id}/forget",
    "POST /users/{user_id}/memories/{memory_id}/forget?reject",
)
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


@drives(
    "GET /users/{user_id}/merge?memory",
    "POST /users/{user_id}/merge?words",
    "POST /users/{user_id}/merge?content",
)
def test_two_memories_are_merged_by_the_keyboard_and_parted(page: Page, site: Site) -> None:
    site.remember("ines", "Ines sails", timestamp="2025-01-01T00:00:00Z")
    site.remember("ines", "Ines races boats", timestamp="2025-02-01T00:00:00Z")
    page.goto("/console/users/ines")
    for words in ("Ines sails", "Ines races boats"):
        tab_to(page, words)
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        expect(page.get_by_role("checkbox", name=f"Merge: {words}")).to_be_checked()
    press(page, "Merge the two that are chosen")
    expect(page.get_by_role("region", name="Older")).to_contain_text("Ines sails")
    expect(page.get_by_label("Both together")).to_have_value("Ines sails\nInes races boats")
    page.get_by_label("Both together").fill("Ines sails in races")
    press(page, "Merge them")
    expect(page.get_by_role("status")).to_contain_text("The two are one memory")
    (current,) = site.get("/v1/users/ines/memories", status="active")["memories"]
    assert current["content"] == "Ines sails in races"
    page.get_by_role("link", name="Take this decision back").click()
    page.get_by_role("button", name="Take it back").click()
    expect(page.get_by_role("status")).to_contain_text("taken back")
    contents = [one["content"] for one in site.get("/v1/users/ines/memories", status="active")["memories"]]
    assert contents == ["Ines races boats", "Ines sails"]


@drives(
    "GET /users/{user_id}/decisions/{decision_id}/revert",
    "POST /users/{user_id}/decisions/{decision_id}/revert",
    "GET /users/{user_id}/decisions?q",
)
def test_a_decision_is_taken_back(page: Page, site: Site) -> None:
    site.remember("ruth", "I live in Oslo", key="city", timestamp="2024-01-01T00:00:00Z")
    site.remember("ruth", "I live in Lyon", key="city", timestamp="2025-01-01T00:00:00Z")
    site.project()
    page.goto("/console/users/ruth/decisions")
    page.get_by_label("Find").fill("lyon")
    page.get_by_role("button", name="Find").click()
    decided = page.get_by_role("article", name="A decision: I live in Oslo")
    expect(decided.first.get_by_role("deletion")).to_have_text("I live in Oslo")
    decided.first.get_by_role("link", name="Take it back").click()
    expect(page.get_by_text("in the place of what ended it")).to_be_visible()
    page.get_by_role("button", name="Take it back").click()
    expect(page.get_by_role("status")).to_contain_text("taken back")
    expect(decided).to_be_focused()
    expect(decided.get_by_role("deletion")).to_have_count(0)
    (current,) = site.get("/v1/users/ruth/memories", status="active")["memories"]
    assert current["content"] == "I live in Oslo"


@drives(
    "GET /users/{user_id}/decisions/{decision_id}/keep",
    "POST /users/{user_id}/decisions/{decision_id}/keep?content",
    "GET /users/{user_id}/decisions/{reverted_id}/again",
    "POST /users/{user_id}/decisions/{reverted_id}/again",
)
def test_of_what_ended_in_part_a_person_sees_what_was_said_what_ended_and_what_is_left(page: Page, site: Site) -> None:
    swims, ada = "I swim every Monday", "my sister Ada lives in Leeds"
    older, newer = site.remember("zoltan", f"{swims}, and {ada}"), site.remember("zoltan", "I quit the pool")
    site.end("zoltan", older, newer, swims)
    page.goto("/console/users/zoltan/decisions")
    decided = page.get_by_role("article", name="A decision")
    for place in (decided, page.get_by_role("main")):
        expect(place.get_by_role("deletion")).to_have_text(swims)
        expect(place).to_contain_text(f"Left of it: {ada}")
        expect(place).to_contain_text("I quit the pool")
        if place == decided:
            place.get_by_role("link", name="Take it back").click()
    expect(page.get_by_text("The words that are struck out count again")).to_be_visible()
    page.get_by_role("link", name="Memories").click()
    page.get_by_role("main").get_by_role("link", name=ada).click()
    expect(page.get_by_text("current, without words that ended")).to_be_visible()
    expect(page.get_by_text("replaced")).to_have_count(0)
    history = page.get_by_role("region", name="What was decided about it")
    expect(history.get_by_role("deletion")).to_have_text(swims)
    history.get_by_role("link", name="Take this decision back").click()
    page.get_by_role("button", name="Take it back").click()
    expect(decided).to_contain_text("This was taken back")
    assert site.get(f"/v1/users/zoltan/memories/{older}")["content"] == f"{swims}, and {ada}"
    press(page, f"Decide it again: {swims}, and {ada}")
    check(page)
    expect(page.get_by_role("region", name="What ends", exact=True).get_by_role("deletion")).to_have_text(swims)
    press(page, "Decide it again")
    expect(page.get_by_role("status")).to_contain_text("It is decided again")
    press(page, f"Set right what is left: {swims}, and {ada}")
    words = page.get_by_label("What it said")
    expect(words).to_have_value(f"{swims}, and {ada}")
    check(page)
    words.fill("My sister Ada lives in Leeds")
    press(page, "Keep these words")
    expect(page.get_by_role("status")).to_contain_text("It counts again, in these words")
    assert site.get(f"/v1/users/zoltan/memories/{older}")["content"] == "My sister Ada lives in Leeds"


@drives(
    "GET /operations",
    "GET /operations/{kind}",
    "POST /operations/{kind}",
    "GET /jobs/{job_id}",
)
def test_a_job_shows_its_progress_until_it_is_done(page: Page, site: Site) -> None:
    page.goto("/console")
    page.get_by_role("link", name="Operations").click()
    page.get_by_role("link", name="Reconcile", exact=True).first.click()
    page.get_by_role("button", name="Start it").click()
    expect(page.get_by_role("status")).to_contain_text("It is done")


@drives("GET /jobs")
def test_the_bar_of_a_job_moves_between_its_ends_on_its_page_and_in_the_list(page: Page, site: Site) -> None:
    job = site.hold(312, 1040)
    for path in (f"/console/jobs/{job}", "/console/operations", "/console/jobs"):
        site.hold(312, 1040, job)
        page.goto(path)
        bar = page.get_by_role("progressbar", name="Progress of restore")
        expect(bar).to_have_js_property("value", 0.3)
        expect(page.get_by_text("312 of 1040 records")).to_be_visible()
        check(page)
        site.hold(780, 1040, job)
        expect(bar).to_have_js_property("value", 0.75)
        expect(page.get_by_text("780 of 1040 records")).to_be_visible()
    site.hold(1040, 1040, job)
    expect(bar).to_have_count(0)
    page.goto(f"/console/jobs/{job}")
    expect(page.get_by_role("status")).to_contain_text("It is done")
    expect(page.get_by_role("progressbar")).to_have_count(0)


def _refuse(status: int, route: Route) -> None:
    route.fulfill(status=status, body="no")


def test_a_running_job_leaves_focus_title_and_what_was_said_and_a_refused_question_is_told(
    page: Page, site: Site
) -> None:
    job = site.hold(1, 10)
    page.goto("/console/operations")
    link = page.locator(f"#job-{job}").get_by_role("link")
    link.focus()
    page.evaluate(
        """window.said = 0;
        new MutationObserver(() => { window.said += 1; }).observe(document.querySelector("#jobs-said"),
            { childList: true, subtree: true, characterData: true });
        document.querySelector("#jobs").dataset.again = 0.1;"""
    )
    bar = page.get_by_role("progressbar", name="Progress of restore")
    for done in (4, 8):
        site.hold(done, 10, job)
        expect(bar).to_have_js_property("value", done / 10)
    expect(link).to_be_focused()
    expect(page).to_have_title("Operations · Recollect")
    assert page.evaluate("window.said") == 0
    told = page.locator("#jobs").get_by_role("alert")
    expect(told).to_have_count(0)
    for status, words in ((429, "asked again, more slowly"), (401, "sign in again"), (503, "asked again, more slowly")):
        page.route("**/console/jobs", partial(_refuse, status))
        expect(told).to_contain_text(words)
        expect(bar).to_have_js_property("value", 0.8)
        page.unroute("**/console/jobs")
    later = site.hold(1, 2)
    expect(page.locator("#jobs li").first).to_have_id(f"job-{later}")
    expect(told).to_have_count(0)
    expect(link).to_be_focused()
    for one in (job, later):
        site.hold(10, 10, one)
    expect(bar).to_have_count(0)
    assert page.evaluate("window.said") >= 2
    page.goto(f"/console/jobs/{job}")
    expect(page.locator("#state")).not_to_have_attribute("data-again", re.compile("."))


@drives(
    "GET /users/{user_id}/export",
    "POST /users/{user_id}/import?file",
)
def test_an_export_is_dropped_on_another_user_who_is_then_erased(page: Page, site: Site) -> None:
    site.say("sven", "I live in Kiruna", "I ski")
    page.goto("/console/users/sven/data")
    with page.expect_download() as download:
        page.get_by_role("link", name="Download").click()
    page.goto("/console/users/tove/data")
    page.get_by_label("An export or a file").set_input_files(download.value.path())
    expect(page.get_by_role("region", name="What it is")).to_contain_text("an export of Recollect: 2 records")
    page.get_by_role("button", name="Import them").click()
    expect(page.get_by_role("status")).to_contain_text("2 are new")
    page.get_by_role("link", name="Erase this user").click()
    page.get_by_label("Type the id of the user").fill("sven")
    page.get_by_role("button", name="Erase everything").click()
    expect(page.get_by_role("alert")).to_contain_text("Nothing is erased")
    page.get_by_label("Type the id of the user").fill("tove")
    page.get_by_role("button", name="Erase everything").click()
    expect(page.get_by_role("status")).to_contain_text("It is done")
    assert site.get("/v1/users/tove/events", **{"from": 0})["events"] == []
    assert len(site.get("/v1/users/sven/events", **{"from": 0})["events"]) == 2


@drives(
    "POST /users/{user_id}/import?step",
    "POST /users/{user_id}/import?format",
    "POST /users/{user_id}/import?at",
    "POST /users/{user_id}/import?conversation",
)
def test_a_foreign_file_is_dropped_looked_at_and_stored(page: Page, site: Site) -> None:
    page.goto("/console/users/liv/data")
    drop(page, "conversations.json", CLAUDE)
    preview = page.get_by_role("region", name="What it is")
    expect(preview).to_contain_text("an export of Claude: 2 messages of 1 conversation, from 2 May 2024, 09:00")
    expect(preview).to_contain_text("I sail <b>boats</b>")
    check(page)
    picture(page, "import")
    assert site.get("/v1/users/liv/events", **{"from": 0})["events"] == []
    page.get_by_role("button", name="Import them").click()
    expect(page.get_by_role("status")).to_contain_text("It is done: 2 are new")
    drop(page, "conversations.json", CLAUDE)
    page.get_by_role("button", name="Import them").click()
    expect(page.get_by_role("status")).to_contain_text("0 are new, 2 were there already")
    page.get_by_text("It is not recognised").click()
    page.get_by_label("Read it as").select_option("messages")
    page.get_by_label("Messages without a time").fill("2023-05-06T07:00")
    page.get_by_label("Conversation of messages").fill("harbour")
    drop(page, "notes.json", '[{"role": "user", "content": "The harbour is frozen"}]')
    expect(preview).to_contain_text("The harbour is frozen")
    page.get_by_role("button", name="Import them").click()
    expect(page.get_by_role("status")).to_contain_text("It is done: 1 are new")
    (stored,) = site.get("/v1/users/liv/events", **{"from": 0}, conversation_id="harbour")["events"]
    assert stored["timestamp"] == "2023-05-06T07:00:00.000000Z"
    drop(page, "notes.txt", "Dear diary")
    expect(page.get_by_role("alert")).to_contain_text("format was not recognised")
    drop(page, "large.json", " ", times=33_000_000)
    expect(page.get_by_role("alert")).to_contain_text("recollect import FILE --user liv")


@drives(
    "POST /rules/preview?own",
    "POST /rules",
    "GET /rules",
)
def test_rules_are_looked_at_before_they_hold(page: Page, site: Site) -> None:
    page.goto("/console/rules")
    page.get_by_label("The tenant's own rules").fill('{"context": {"recent": "all"}}')
    page.get_by_role("button", name="Show what would change").click()
    expect(page.get_by_role("alert")).to_contain_text("context.recent")
    page.get_by_label("The tenant's own rules").fill('{"context": {"recent": 6}}')
    page.get_by_role("button", name="Show what would change").click()
    expect(page.get_by_role("row", name="context.recent")).to_contain_text("6")
    page.get_by_role("button", name="Let them hold").click()
    expect(page.get_by_role("status")).to_contain_text("The rules hold")
    assert site.get("/v1/rules")["rules"]["context"]["recent"] == 6


@drives(
    "GET /knowledge-entry?namespace",
    "GET /knowledge-entry?key",
    "GET /knowledge/{namespace}/{key}",
    "POST /knowledge/{namespace}/{key}?value",
    "GET /knowledge/{namespace}/{key}/delete",
    "POST /knowledge/{namespace}/{key}/delete",
    "GET /knowledge?namespace",
    "GET /knowledge?text",
    "GET /knowledge?store",
)
def test_knowledge_is_written_changed_and_deleted(page: Page, site: Site) -> None:
    page.goto("/console/knowledge")
    page.get_by_role("link", name="Make an entry").click()
    page.get_by_label("Namespace").fill("notes")
    page.get_by_label("Key").fill("opening hours")
    page.get_by_role("button", name="Go on").click()
    page.get_by_label("Value").fill('{"monday": "9 to 5"}')
    page.get_by_role("button", name="Save").click()
    page.get_by_role("link", name="notes / opening hours").click()
    page.get_by_label("Value").fill('{"monday": "10 to 6"}')
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("status")).to_contain_text("The entry is saved")
    page.get_by_label("Namespace").fill("notes")
    page.get_by_role("button", name="Show").click()
    page.get_by_label("A question").fill("When is it open?")
    page.get_by_label("Store").fill("shop")
    page.get_by_role("button", name="Resolve").click()
    expect(page.get_by_role("region", name="As it is resolved")).to_contain_text("When is it open?")
    page.get_by_role("link", name="notes / opening hours").click()
    expect(page.get_by_label("Value")).to_have_value(re.compile("10 to 6"))
    page.get_by_role("link", name="Delete").click()
    page.get_by_role("button", name="Delete it").click()
    expect(page.get_by_role("status")).to_contain_text("deleted")


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
