"""Decisions and open conflicts through the console: both sides beside each other, settled and taken back."""

import re
from html import unescape

import pytest

from entrypoints.cli.running import ended_in_part, left_open
from entrypoints.console.visiting import Visitor, one_memory, visible
from entrypoints.http.calling import Caller
from recollect import __version__
from recollect.app import App
from recollect.core.scope import Scope

ANNA = Scope("local", "anna")
DECISIONS = "/console/users/anna/decisions"
SWIMS, ADA = "I go swimming at Kirkstall pool every Monday", "my sister Ada lives in Leeds."
QUIT = "I quit the Kirkstall pool"
PADDING = " ".join(f"On day {day} it rained." for day in range(60))


def test_a_conflict_is_settled_by_a_person_and_taken_back(app: App, caller: Caller, visitor: Visitor) -> None:
    older, newer = one_memory(caller, "Ada is my sister"), one_memory(caller, "Ada is my aunt")
    conflict = left_open(app, older, newer, ANNA)
    shown = visible(visitor.get(DECISIONS))
    assert "Ada is my sister" in shown
    assert "Ada is my aunt" in shown
    asked = visitor.get(f"/console/users/anna/conflicts/{conflict}/settle", winner=older)
    assert "This is a decision, which can be taken back" in visible(asked)
    settled = visitor.follow(visitor.post(f"/console/users/anna/conflicts/{conflict}/settle", winner=older))
    assert "None is open" in visible(settled)
    assert caller.get(f"/v1/users/anna/memories/{newer}").json["status"] == "superseded"
    (decision,) = caller.get("/v1/users/anna/arbitrations").json["arbitrations"]
    for one, told in (
        (older, f'It replaced <a href="/console/users/anna/records/{newer}">'),
        (newer, "It was replaced by"),
    ):
        assert told in visitor.get(f"/console/users/anna/memories/{one}").text
    visitor.do(f"/console/users/anna/decisions/{decision['id']}/revert")
    assert caller.get(f"/v1/users/anna/memories/{newer}").json["status"] == "active"
    both = visitor.do(f"/console/users/anna/conflicts/{conflict}/settle", winner="both")
    assert "None is open" in visible(both)
    assert caller.get(f"/v1/users/anna/memories/{older}").json["status"] == "active"


@pytest.mark.spec("P-24")
def test_of_a_memory_of_which_a_clause_ended_each_page_shows_what_it_said_what_ended_and_what_is_left(
    app: App, caller: Caller, visitor: Visitor
) -> None:
    older, newer = one_memory(caller, f"{SWIMS}, and {ADA}"), one_memory(caller, QUIT)
    decision = ended_in_part(app, older, newer, SWIMS, ANNA)
    memories = "/console/users/anna/memories"
    for path in (DECISIONS, f"{DECISIONS}/{decision}/revert", f"{memories}/{older}", f"{memories}/{newer}"):
        page = visitor.get(path)
        assert ended(page.text)[0] == SWIMS, path
        assert f"{SWIMS} , and {ADA}" in visible(page), path
        assert f"Left of it: {ADA}" in visible(page), path
        assert QUIT in visible(page), path
        assert "replaced" not in visible(page), path
    assert "current, without words that ended" in visible(visitor.get(f"{memories}/{older}"))
    assert "It ended words of" in visible(visitor.get(f"{memories}/{newer}"))
    taken_back = visitor.do(f"{DECISIONS}/{decision}/revert")
    assert "This was taken back." in visible(taken_back)
    assert "Left of it" not in visible(taken_back)
    assert caller.get(f"/v1{memories.removeprefix('/console')}/{older}").json["content"] == f"{SWIMS}, and {ADA}"


@pytest.mark.spec("P-24")
def test_of_what_two_decisions_ended_together_nothing_is_left_on_each_page(
    app: App, caller: Caller, visitor: Visitor
) -> None:
    older, newer = one_memory(caller, f"{SWIMS}, and {ADA}"), one_memory(caller, QUIT)
    first = ended_in_part(app, older, newer, SWIMS, ANNA)
    memory = f"/console/users/anna/memories/{older}"
    for path in (DECISIONS, memory, f"{DECISIONS}/{first}/revert"):
        assert "Nothing is left of it" not in visible(visitor.get(path)), path
    assert "Set right what is left" in visible(visitor.get(DECISIONS))
    second = ended_in_part(app, older, one_memory(caller, "Ada moved away"), ADA, ANNA)
    for path, times in ((DECISIONS, 2), (memory, 2), *((f"{DECISIONS}/{i}/revert", 1) for i in (first, second))):
        shown = visible(visitor.get(path))
        assert shown.count("Nothing is left of it.") == times, path
        assert "Left of it" not in shown, path
    assert "Set right what is left" not in visible(visitor.get(DECISIONS))
    visitor.do(f"{DECISIONS}/{second}/revert")
    assert "Nothing is left of it" not in visible(visitor.get(DECISIONS))
    assert f"Left of it: {ADA}" in visible(visitor.get(DECISIONS))


@pytest.mark.spec("P-24")
def test_where_only_a_part_ended_the_rest_is_kept_in_one_step_and_undone_in_one(
    app: App, caller: Caller, visitor: Visitor
) -> None:
    nuts, walnuts = "I'm allergic to walnuts and penicillin", "I'm allergic to walnuts"
    older, newer = one_memory(caller, nuts), one_memory(caller, "I'm not allergic to penicillin after all")
    decision = ended_in_part(app, older, newer, nuts, ANNA)
    assert "Only a part ended" in visible(visitor.get(DECISIONS))
    keep, memory = f"{DECISIONS}/{decision}/keep", f"/console/users/anna/memories/{older}"
    asked = visitor.get(keep)
    assert "These words count from the next question on, beside what ended it" in visible(asked)
    assert field(asked.text, "content") == nuts
    caller.patch(f"/v1/users/anna/memories/{older}", {"importance": 0.9}, if_match="*")
    assert visitor.post(keep, content=walnuts).status == 412
    kept = visitor.follow(visitor.post(keep, content=walnuts))
    assert "It counts again, in these words." in visible(kept)
    found = caller.get(f"/v1/users/anna/memories/{older}").json
    assert (found["content"], found["status"]) == (walnuts, "active")
    again = visitor.get(f"{DECISIONS}/{decision}/again")
    assert "Nothing is left of it, as it was decided first" in visible(again)
    assert ended(again.text)[0] == nuts
    assert " and penicillin" in re.findall("<ins>.*?</ins>", again.text)[0]
    undone = visitor.do(f"{DECISIONS}/{decision}/again")
    assert "It is decided again." in visible(undone)
    found = caller.get(f"/v1/users/anna/memories/{older}").json
    assert (found["content"], found["status"]) == (nuts, "superseded")
    for path in (keep, f"{DECISIONS}/{decision}/again"):
        assert visitor.get(path).status == 200
    visitor.do(f"{DECISIONS}/{decision}/revert")
    for shown in (visitor.get(DECISIONS), visitor.get(memory)):
        assert f"/console/users/anna/decisions/{decision}/again" in shown.text


@pytest.mark.spec("P-24")
def test_of_a_conflict_the_older_one_is_set_right_and_both_hold_until_it_is_opened_again(
    app: App, caller: Caller, visitor: Visitor
) -> None:
    older, newer = one_memory(caller, "Noor is 9 and Wout is 6."), one_memory(caller, "Noor turned 10 today")
    conflict = left_open(app, older, newer, ANNA)
    memory, settle = visitor.get(f"/console/users/anna/memories/{older}"), f"conflicts/{conflict}/settle"
    assert "Status current, in doubt" in visible(memory)
    assert f"/console/users/anna/{settle}" in memory.text
    asked = visitor.get(f"/console/users/anna/{settle}", winner="amended")
    assert field(asked.text, "older_words") == "Noor is 9 and Wout is 6."
    assert "also of what is not in doubt" in visible(asked)
    caller.patch(f"/v1/users/anna/memories/{older}", {"importance": 0.9}, if_match="*")
    stale = visitor.post(f"/console/users/anna/{settle}", winner="amended", older_words="Wout is 6.")
    assert (stale.status, field(stale.text, "older_words")) == (412, "Wout is 6.")
    for winner in (older, newer, "both"):
        dropped = visitor.post(f"/console/users/anna/{settle}", winner=winner, older_words="Wout is 6.")
        assert (dropped.status, field(dropped.text, "older_words")) == (422, "Wout is 6.")
        assert "choose the circle above the words to keep them" in visible(dropped)
        assert f"Recollect {__version__}." in dropped.text
    done = visitor.follow(visitor.post(f"/console/users/anna/{settle}", winner="amended", older_words="Wout is 6."))
    assert "The older one is set right, and both hold." in visible(done)
    assert "Settled: both hold" in visible(done)
    found = caller.get(f"/v1/users/anna/memories/{older}").json
    assert (found["content"], found["status"]) == ("Wout is 6.", "active")
    opened = visitor.do(f"/console/users/anna/conflicts/{conflict}/reopen")
    assert opened.text.count('aria-label="An open conflict: ') == 1
    assert "Settled: both hold" not in visible(opened)


def field(page: str, name: str) -> str:
    """What a field for a text holds."""
    (found,) = re.findall(rf'<textarea[^>]* name="{name}"[^>]*>\n(.*?)</textarea>', page, re.DOTALL)
    return unescape(found)


@pytest.mark.spec("P-22")
def test_a_decision_tells_nothing_of_what_was_rejected_or_forgotten(app: App, caller: Caller, visitor: Visitor) -> None:
    older, newer = one_memory(caller, f"{SWIMS}, and {ADA}"), one_memory(caller, QUIT)
    decision = ended_in_part(app, older, newer, SWIMS, ANNA)
    visitor.do(f"/console/users/anna/memories/{older}/forget", reject="true")
    for path in (DECISIONS, f"{DECISIONS}/{decision}/revert", f"/console/users/anna/memories/{newer}"):
        page = visitor.get(path)
        assert page.status == 200
        assert not [word for word in ("Monday", "Ada") if word in page.text], path
        assert "not there any more" in visible(page), path


def test_open_ones_say_which_words_are_in_doubt_by_what_and_how_surely_page_by_page(
    app: App, caller: Caller, visitor: Visitor
) -> None:
    long = f"{PADDING} {SWIMS}. {PADDING}"
    older = [one_memory(caller, long), *(one_memory(caller, f"The {n}th boat is green") for n in range(22))]
    newer = one_memory(caller, QUIT)
    start = long.index(SWIMS)
    left_open(app, older[0], newer, ANNA, ended=[(start, start + len(SWIMS))])
    first = visitor.get(DECISIONS)
    assert re.findall("<mark>(.*?)</mark>", first.text) == [f'<bdi dir="auto">{SWIMS}</bdi>']
    assert f"it rained. {SWIMS} . On day 0 it rained." in visible(first)
    assert re.search(r"\[… [\d,]+ characters …\]", visible(first))
    assert "All of it" in visible(first)
    assert "41 % sure that the newer one changes it" in visible(first)
    for one in older[1:]:
        left_open(app, one, newer, ANNA)
    first = visitor.get(DECISIONS)
    assert first.text.count('aria-label="An open conflict:') == 1, "all of one newer memory stand together"
    (following,) = re.findall(r'rel="next" href="([^"]*open=[^"]*)"', first.text)
    second = visitor.get(following)
    boats = [set(re.findall(r"The \d+th boat", visible(page))) for page in (first, second)]
    assert (len(boats[0] | boats[1]), boats[0] & boats[1]) == (22, set())
    assert "More open ones" not in visible(second)
    settle = re.findall(r'href="([^"?]*/settle)', second.text)[0]
    assert visitor.get(settle).status == 200


def test_what_was_decided_last_stands_first_and_an_action_leads_back_to_where_it_was_done(
    app: App, caller: Caller, visitor: Visitor
) -> None:
    newer = one_memory(caller, QUIT)
    older = [one_memory(caller, f"The {n}th boat is green") for n in range(43)]
    conflicts = [left_open(app, one, newer, ANNA) for one in older]
    for n, conflict in enumerate(conflicts[:42]):
        moment = f"2031-01-01T09:{n:02}:00Z"
        caller.post(f"/v1/users/anna/conflicts/{conflict}/resolve", {"winner": newer}, x_recollect_now=moment)
    path = f"/console/users/anna/conflicts/{conflicts[42]}/settle"
    visitor.get(path, winner=older[42])
    settled = visitor.post(path, winner=older[42])
    assert settled.headers["location"].endswith("#done")
    done = visible(visitor.follow(settled))
    assert "The conflict is settled. What ended: I quit the Kirkstall pool" in done
    boats = _walked(visitor)
    assert [len(page) for page in boats] == [18, 18, 7]
    assert [one for page in boats for one in page] == [*(f"The {n}th" for n in range(41, -1, -1)), "I quit"]
    second = visitor.get(f"{DECISIONS}?decided=18")
    (back,) = re.findall(r'href="([^"]*)" aria-label="Take it back: The 9th boat is green"', second.text)
    visitor.get(unescape(back))
    answer = visitor.post(unescape(back))
    assert answer.headers["location"].endswith("#acted")
    page = visitor.follow(answer)
    shown = page.text
    assert re.findall(r'id="acted" tabindex="-1" data-here aria-label="([^"]*)"', shown) == [
        "A decision: The 9th boat is green"
    ]
    assert "It was of: The 9th boat is green" in visible(page)
    assert "The 9th" not in "".join(ended(shown))
    assert "The 10th" in "".join(ended(shown)), "its neighbours are on the page"
    assert "The 1th" not in shown


def _walked(visitor: Visitor) -> list[list[str]]:
    """The boats of each page, each once, in the order in which their decisions stand."""
    pages, path = [], DECISIONS
    while path:
        shown = visitor.get(path).text
        pages.append(re.findall(r'aria-label="A decision: (The \d+th|I quit)', shown))
        path = unescape(next(iter(re.findall(r'rel="next" href="([^"]*decided=[^"]*)"', shown)), ""))
    return pages


def test_every_link_says_of_what_and_a_word_finds_both_open_and_decided_ones(
    app: App, caller: Caller, visitor: Visitor
) -> None:
    swims, quit_, ada, aunt = (one_memory(caller, text) for text in (SWIMS, QUIT, "Ada is my sister", "Ada is my aunt"))
    ended_in_part(app, swims, quit_, SWIMS, ANNA)
    left_open(app, ada, aunt, ANNA)
    page = visitor.get(DECISIONS).text.partition("<main")[2]
    named = re.findall(r'<a class="button" href="[^"]*" aria-label="([^"]*)">([^<]*)</a>', page)
    settling = ["Newer counts", "Older counts", "Both hold", "Set the older one right"]
    assert [text for _, text in named] == [*settling, "Only a part ended", "Take it back"]
    assert [name.removeprefix(text) for name, text in named] == [
        ": Ada is my aunt", ": Ada is my sister", ": Ada is my aunt / Ada is my sister", ": Ada is my sister",
        f": {SWIMS}", f": {SWIMS}",
    ]  # fmt: skip
    for word, there in (("ADA aunt", (True, False)), ("swimming", (False, True)), ("boat", (False, False))):
        found = visible(visitor.get(DECISIONS, q=word))
        assert ("Ada is my sister" in found, "I quit the" in found) == there, word
    assert "None is open that has these words" in found
    assert visitor.get(DECISIONS, one="nothing", done="reverted").status == 200


def ended(page: str) -> list[str]:
    """The words that a page strikes out."""
    return [unescape(re.sub("<[^>]*>", "", one)) for one in re.findall("<del>(.*?)</del>", page)]


def test_a_conflict_that_is_not_there_is_absent(visitor: Visitor) -> None:
    for path in ("conflicts/nothing/settle", "decisions/nothing/revert"):
        assert visitor.get(f"/console/users/anna/{path}").status == 404
