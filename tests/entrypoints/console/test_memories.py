"""Memories through the console: read by topic, edited, put back, forgotten, each after a look at what it reaches."""

import re

from entrypoints.cli.running import ended_in_part
from entrypoints.console.visiting import Visitor, one_memory, visible
from entrypoints.http.calling import Caller
from recollect.app import App
from recollect.core.scope import Scope

ANNA = "/console/users/anna"


def test_the_start_leads_to_the_console(caller: Caller, visitor: Visitor) -> None:
    one_memory(caller, "I live in Lyon")
    assert visitor.get("/").headers["location"] == "/console"
    assert "I live in Lyon" in visible(visitor.get(ANNA))


def test_memories_stand_under_their_topic(caller: Caller, visitor: Visitor) -> None:
    one_memory(caller, "I always walk with Duke, please")
    one_memory(caller, "The vet always sees Duke, please")
    one_memory(caller, "Please call always")
    one_memory(caller, "Oslo", key="home.city")
    shown = re.findall(r'<section aria-label="([^"]*)">', visitor.get(ANNA).text)
    assert [one for one in shown if one != "Whose memory"] == ["Duke", "home.city", "Other"]


def test_a_search_finds_what_was_said(caller: Caller, visitor: Visitor) -> None:
    one_memory(caller, "My sister is called Ada")
    assert "My sister is called Ada" in visible(visitor.get(ANNA, q="sister"))
    assert "Nothing was found" in visible(visitor.get("/console/users/nobody", q="sister"))
    unmatched = visible(visitor.get(ANNA, q="zzzz"))
    assert "Nothing was found. What is nearest to it otherwise (1) My sister" in unmatched


def test_a_search_for_superseded_ones_finds_them_alone(caller: Caller, visitor: Visitor) -> None:
    one_memory(caller, "I live in Oslo", key="city", timestamp="2024-01-01T00:00:00Z")
    one_memory(caller, "I live in Lyon", key="city", timestamp="2025-01-01T00:00:00Z")
    caller.post("/v1/jobs/reconcile?wait=true", {})
    found = {
        status: [city for city in ("Oslo", "Lyon") if city in visible(visitor.get(ANNA, q="live", status=status))]
        for status in ("active", "superseded", "all")
    }
    assert found == {"active": ["Lyon"], "superseded": ["Oslo"], "all": ["Oslo", "Lyon"]}


def test_what_summaries_lose_is_told_before_and_not_promised_back(caller: Caller, visitor: Visitor) -> None:
    said, told = "Remember: my sister is allergic to penicillin", "my sister is allergic to penicillin."
    (memory, *_) = caller.added(said, "I want to run a marathon in Hamburg in May")
    caller.post("/v1/jobs/reconcile?wait=true", {})
    caller.post("/v1/users/anna/summaries?force=true", {})
    path = f"{ANNA}/memories/{memory}"

    def summed_up() -> bool:
        return told in caller.get("/v1/users/anna/summaries").json["summaries"][0]["summary"]

    for page in (f"{path}/edit", f"{path}/forget", f"{ANNA}/events/{memory}/forget", f"{ANNA}/events/{memory}/correct"):
        shown = visible(visitor.get(page))
        assert (told in shown, "marathon" in shown) == (True, False), page
    assert summed_up()
    visitor.do(f"{path}/edit", content="My sister is allergic to ibuprofen")
    assert not summed_up()
    asked = visible(visitor.get(f"{path}/undo/1"))
    assert "do not come back by this, nor by a summary of what is new" in asked
    assert "go too" not in asked
    visitor.do(f"{path}/undo/1")
    visitor.get(f"{ANNA}/summaries")
    visitor.post(f"{ANNA}/summaries")
    assert not summed_up()


def test_who_edits_sees_what_else_says_it(caller: Caller, visitor: Visitor) -> None:
    memory, *_, echo = caller.added(
        "Remember: my sister is allergic to penicillin", "I ski", "My sister is allergic to penicillin"
    )
    caller.post("/v1/jobs/reconcile?wait=true", {})
    asked = visitor.get(f"{ANNA}/memories/{memory}/edit")
    stays = asked.text.partition("What stays, and says something like it")[2]
    assert f"{ANNA}/events/{echo}" in stays or f"{ANNA}/memories/{echo}" in stays
    assert (memory in stays.partition("</ul>")[0], "I ski" in stays) == (False, False)
    blank_first = one_memory(caller, " \n" * 2_000 + "I sail")
    assert visitor.get(f"{ANNA}/memories/{blank_first}/edit").status == 200


def test_an_edit_and_its_undoing_are_in_the_history(caller: Caller, visitor: Visitor) -> None:
    memory = one_memory(caller, "My sister is called Ada")
    path = f"{ANNA}/memories/{memory}"
    edited = visitor.do(f"{path}/edit", content="My sister is called Ida", keywords="family, sister", importance="0.9")
    assert "The memory is changed" in visible(edited)
    assert "<del><bdi" in edited.text
    found = caller.get(f"/v1/users/anna/memories/{memory}").json
    assert (found["content"], found["keywords"], found["importance"]) == (
        "My sister is called Ida",
        ["family", "sister"],
        0.9,
    )
    undone = visitor.do(f"{path}/undo/1")
    assert "The earlier version is back" in visible(undone)
    again = caller.get(f"/v1/users/anna/memories/{memory}").json
    assert (again["content"], again["version"]) == ("My sister is called Ada", 3)


def test_what_has_ended_counts_again_where_its_edit_says_so_and_a_version_back_ends_it_again(
    app: App, caller: Caller, visitor: Visitor
) -> None:
    older, newer = one_memory(caller, "I live in Ghent with Joris"), one_memory(caller, "I moved to Bruges")
    ended_in_part(app, older, newer, "I live in Ghent with Joris", Scope("local", "anna"))
    path = f"{ANNA}/memories/{older}"
    assert "Make it count again" in visible(visitor.get(path))
    asked = visible(visitor.get(f"{path}/edit"))
    assert "It has ended: no context tells it." in asked
    assert "I moved to Bruges" in asked

    def state() -> tuple[str, str]:
        found = caller.get(f"/v1/users/anna/memories/{older}").json
        return found["status"], found["content"]

    stays = visitor.do(f"{path}/edit", content="I lived in Ghent with Joris", counts="ended")
    assert ("The memory is changed" in visible(stays), state()[0]) == (True, "superseded")
    revived = visitor.do(f"{path}/edit", content="I live with Joris", counts="again", importance="0.8")
    assert "It counts again, in these words." in visible(revived)
    assert state() == ("active", "I live with Joris")
    told = visible(visitor.get(f"{path}/undo/2"))
    assert "It ends again, as it had then" in told
    visitor.do(f"{path}/undo/2")
    assert state() == ("superseded", "I live in Ghent with Joris")
    assert "It counts again, beside what ended it" in visible(visitor.get(f"{path}/undo/4"))
    visitor.do(f"{path}/undo/4")
    assert state() == ("active", "I live with Joris")
    words_alone = visible(visitor.get(f"{path}/undo/3"))
    assert "It counts as it does now: it had ended then" in words_alone
    visitor.do(f"{path}/undo/3")
    assert state() == ("active", "I lived in Ghent with Joris")


def test_the_version_before_an_edit_comes_back_without_what_of_it_had_ended(
    app: App, caller: Caller, visitor: Visitor
) -> None:
    older = one_memory(caller, "I knit, I play the accordion on Wednesday evenings")
    newer = one_memory(caller, "I've stopped knitting")
    decision = ended_in_part(app, older, newer, "I knit", Scope("local", "anna"))
    path, decided = f"{ANNA}/memories/{older}", f"{ANNA}/decisions/{decision}"
    assert "count again" in visible(visitor.get(f"{decided}/revert"))
    visitor.do(f"{path}/edit", content="I play the accordion on Tuesday evenings")
    for way in ("revert", "keep"):
        told = visible(visitor.get(f"{decided}/{way}"))
        assert ("there is nothing to take back" in told, "count again" in told) == (True, False)
    refused = caller.post(f"/v1/users/anna/arbitrations/{decision}/revert", {})
    assert (refused.status, "words were edited since" in refused.json["detail"]) == (409, True)
    assert "knit" not in visitor.get(f"{path}/undo/2").text
    done = visible(visitor.do(f"{path}/undo/2"))
    assert "current, without words that ended" in done
    assert "Left of it: I play the accordion on Wednesday evenings" in done
    assert "The words stayed" not in done
    found = caller.get(f"/v1/users/anna/memories/{older}").json
    assert (found["content"], found["version"]) == ("I play the accordion on Wednesday evenings", 4)
    visitor.do(f"{decided}/revert")
    found = caller.get(f"/v1/users/anna/memories/{older}").json
    assert found["content"] == "I knit, I play the accordion on Wednesday evenings"


def test_a_value_of_a_key_counts_again_by_its_edit(caller: Caller, visitor: Visitor) -> None:
    older = one_memory(caller, "I live in Oslo", key="city", timestamp="2024-01-01T00:00:00Z")
    one_memory(caller, "I live in Lyon", key="city", timestamp="2025-01-01T00:00:00Z")
    caller.post("/v1/jobs/reconcile?wait=true", {})
    done = visitor.do(f"{ANNA}/memories/{older}/edit", content="I live in Bergen", counts="again")
    assert "It counts again, in these words." in visible(done)
    (current,) = caller.get("/v1/users/anna/memories?status=active").json["memories"]
    assert current["content"] == "I live in Bergen"


def test_an_edit_of_what_changed_meanwhile_is_refused_and_keeps_what_was_typed(
    caller: Caller, visitor: Visitor
) -> None:
    memory = one_memory(caller, "Ada lives in Paris")
    path = f"{ANNA}/memories/{memory}/edit"
    visitor.get(path)
    caller.patch(f"/v1/users/anna/memories/{memory}", {"content": "Ada lives in Rome"}, if_match="*")
    refused = visitor.post(path, content="Ada lives in Bonn")
    assert refused.status == 412
    assert "Ada lives in Bonn" in refused.text
    assert caller.get(f"/v1/users/anna/memories/{memory}").json["content"] == "Ada lives in Rome"


def test_words_that_break_a_rule_come_back_with_what_is_wrong(caller: Caller, visitor: Visitor) -> None:
    memory = one_memory(caller, "Ada lives in Paris")
    visitor.get(f"{ANNA}/memories/{memory}/edit")
    refused = visitor.post(f"{ANNA}/memories/{memory}/edit", content="Ada", importance="much")
    assert refused.status == 422
    assert "importance: must be a number" in visible(refused)


def test_forgetting_shows_the_evidence_first_and_reaches_it(caller: Caller, visitor: Visitor) -> None:
    (event,) = caller.added("Remember: my sister is called Ada")
    (memory,) = caller.get("/v1/users/anna/memories").json["memories"] or [{"id": one_memory(caller, "x")}]
    path = f"{ANNA}/memories/{memory['id']}/forget"
    asked = visitor.get(path)
    assert asked.status == 200
    assert caller.get(f"/v1/users/anna/events/{event}").status == 200
    assert "It is forgotten" in visible(visitor.follow(visitor.post(path)))
    assert caller.get(f"/v1/users/anna/memories/{memory['id']}").status == 404


def test_a_value_that_is_rejected_is_refused_from_then_on(caller: Caller, visitor: Visitor) -> None:
    (event,) = caller.added("I smoke", "I run")[:1]
    assert visitor.do(f"{ANNA}/events/{event}/forget", reject="true").status == 200
    assert caller.add({"content": "I smoke"}).json["results"][0]["status"] == "refused"
    assert len(caller.get("/v1/users/anna/rejections").json["rejections"]) == 1


def test_a_memory_written_down_twice_by_one_form_is_one(caller: Caller, visitor: Visitor) -> None:
    visitor.get(f"{ANNA}/new")
    sent = visitor.page
    first = visitor.post(f"{ANNA}/new", content="I am vegan", key="diet")
    visitor.page = sent
    again = visitor.post(f"{ANNA}/new", content="I am vegan", key="diet")
    assert first.headers["location"] == again.headers["location"]
    (memory,) = caller.get("/v1/users/anna/memories").json["memories"]
    assert (memory["content"], memory["key"]) == ("I am vegan", "diet")


def test_an_id_of_a_context_leads_to_the_memory_or_to_what_was_said(caller: Caller, visitor: Visitor) -> None:
    memory, (event,) = one_memory(caller, "Ada lives in Paris"), caller.added("Hm.", timestamp="2025-03-01T09:00:00Z")
    locations = [visitor.get(f"{ANNA}/records/{one}").headers["location"] for one in (memory, event)]
    assert locations == [f"{ANNA}/memories/{memory}", f"{ANNA}/events/{event}"]


def test_two_are_merged_after_a_look_and_two_again(caller: Caller, visitor: Visitor) -> None:
    first = one_memory(caller, "I play the violin", timestamp="2025-01-01T00:00:00Z")
    second = one_memory(caller, "I play in an orchestra", timestamp="2025-02-01T00:00:00Z")
    for query, count in ("", "0"), (f"?memory={first}", "1"), (f"?memory={first}&memory={first}", "1"):
        refused = visitor.get(f"{ANNA}/merge{query}")
        assert (refused.status, f"{count} are chosen" in visible(refused)) == (422, True)
        assert "<h1>Nothing is merged</h1>" in refused.text
    shown = visible(visitor.get(f"{ANNA}/merge?memory={second}&memory={first}"))
    assert "I play the violin I play in an orchestra" in shown
    assert "which can be taken back" in shown
    hidden = visitor.hidden()
    caller.patch(f"/v1/users/anna/memories/{first}", {"content": "I play the viola"}, if_match="*")
    stale = visitor.post(f"{ANNA}/merge", words=second, **hidden)
    assert (stale.status, "I play the viola" in visible(stale)) == (412, True)
    done = visitor.follow(visitor.post(f"{ANNA}/merge", words="joined", content="I play the viola in an orchestra"))
    assert "I play the viola in an orchestra" in visible(done)
    assert caller.get(f"/v1/users/anna/memories/{first}").json["superseded_by"] == second
    (decision,) = caller.get("/v1/users/anna/arbitrations").json["arbitrations"]
    visitor.do(f"{ANNA}/decisions/{decision['id']}/revert")
    both = [caller.get(f"/v1/users/anna/memories/{one}").json for one in (first, second)]
    assert [(one["content"], one["status"]) for one in both] == [
        ("I play the viola", "active"), ("I play in an orchestra", "active"),
    ]  # fmt: skip


def test_the_words_of_one_alone_keep_that_one(caller: Caller, visitor: Visitor) -> None:
    first, second = one_memory(caller, "I play the violin"), one_memory(caller, "I play violins")
    visitor.get(f"{ANNA}/merge?memory={first}&memory={second}")
    visitor.follow(visitor.post(f"{ANNA}/merge", words=first))
    kept, gone = (caller.get(f"/v1/users/anna/memories/{one}").json for one in (first, second))
    assert (kept["content"], kept["status"], gone["status"]) == ("I play the violin", "active", "merged")


def test_what_was_typed_stays_on_the_page_while_the_server_is_busy(caller: Caller, visitor: Visitor) -> None:
    caller.put("/v1/rules", {"limits": {"writes_per_second": 0.001}}, if_match="*")
    one_memory(caller, "I sail")
    visitor.get(f"{ANNA}/new")
    answer = visitor.post(f"{ANNA}/new", content="I row")
    assert answer.status == 429
    assert "I row</textarea>" in answer.text
    assert "try it again in a moment" in visible(answer)
    assert "Too many" not in answer.text


def test_the_list_says_of_how_much_it_is_and_what_lies_elsewhere(caller: Caller, visitor: Visitor) -> None:
    one_memory(caller, "I live in Oslo", key="city", timestamp="2024-01-01T00:00:00Z")
    assert "became memories" not in visible(visitor.get(ANNA)), "nothing was said"
    caller.added("I drive a Volvo", "Hm.", "Remember: my sister is called Ada", "Hm, hm.")
    one_memory(caller, "I live in Lyon", key="city", timestamp="2025-01-01T00:00:00Z")
    caller.post("/v1/jobs/reconcile?wait=true", {})
    page = visitor.get(ANNA)
    assert "1 of 4 messages became memories" in visible(page)
    assert "All 4 can be read in the timeline" in visible(page)
    assert "2 memories were written down. Not in this list: 1 superseded ." in visible(page)
    assert f'<a href="{ANNA}?status=superseded">1 superseded</a>' in page.text
    assert "Not in this list: 2 current" in visible(visitor.get(ANNA, status="superseded"))
    assert "Not in this list" not in visible(visitor.get(ANNA, status="all"))


def test_finding_says_how_much_of_it_has_another_status_and_what_a_message_is(caller: Caller, visitor: Visitor) -> None:
    one_memory(caller, "I live in Oslo", key="city", timestamp="2024-01-01T00:00:00Z")
    one_memory(caller, "I live in Lyon", key="city", timestamp="2025-01-01T00:00:00Z")
    caller.added("My dentist is in Oslo")
    caller.post("/v1/jobs/reconcile?wait=true", {})
    found = visitor.get(ANNA, q="Oslo")
    assert "Not shown, but found too: 1 superseded ." in visible(found)
    assert f'<a href="{ANNA}?q=Oslo&amp;status=superseded">1 superseded</a>' in found.text
    assert "A message was said and became no memory." in visible(found)
    other = visible(visitor.get(ANNA, q="Oslo", status="superseded"))
    assert "Not shown, but found too: 1 current ." in other
    assert "I live in Oslo" in other
    assert "found too" not in visible(visitor.get(ANNA, q="Oslo", status="all"))
    assert "found too" not in visible(visitor.get(ANNA, q="Lyon"))


def test_only_two_that_can_be_merged_are_offered_to_be(caller: Caller, visitor: Visitor) -> None:
    offered = "Merge the two that are chosen"
    one_memory(caller, "I play the violin")
    one_memory(caller, "I am vegan", key="diet")
    assert offered not in visible(visitor.get(ANNA))
    one_memory(caller, "I play in an orchestra")
    page = visitor.get(ANNA)
    assert offered in visible(page)
    assert page.text.index("I play the violin</bdi></a>") < page.text.index('aria-label="Merge: I play the violin"')
    assert offered not in visible(visitor.get(ANNA, status="superseded"))
