"""Knowledge, rules, jobs, summaries and goals through the console."""

import re
from datetime import date
from html import unescape

import pytest

from entrypoints.console.test_isolation import memory_of, signed_in
from entrypoints.console.visiting import Visitor, visible
from entrypoints.http.calling import Caller, Laptop
from recollect.app import App
from recollect.context.model_call import ModelAnswer
from recollect.contradictions.decisions import OpenConflict, Step, conflict_write
from recollect.core.scope import Scope
from recollect.core.time import utc_now
from recollect.entrypoints.console.endpoint import prime
from recollect.entrypoints.console.rendering import dollars
from recollect.entrypoints.console.spending import prices, spans_of
from recollect.entrypoints.console.views.tenant import changes_of
from recollect.entrypoints.http.routing import path_segment

ENTRY = "/v1/knowledge/vocabulary/" + path_segment("global:staff")
TERM = '{"target": "people", "description": "who works here"}'


def test_an_entry_is_made_changed_and_deleted(caller: Caller, visitor: Visitor) -> None:
    path = "/console/knowledge/vocabulary/" + path_segment("global:staff")
    chosen = visitor.get("/console/knowledge-entry", namespace="vocabulary", key="global:staff")
    assert chosen.headers["location"] == path
    visitor.do(path, value=TERM)
    assert caller.get(ENTRY).json["value"]["target"] == "people"
    assert "vocabulary / global:staff" in visible(visitor.get("/console/knowledge"))
    visitor.do(path, value=TERM.replace("people", "persons"))
    assert caller.get(ENTRY).json["version"] == 2
    visitor.do(f"{path}/delete")
    assert caller.get(ENTRY).status == 404


def test_a_value_that_cannot_be_comes_back_with_what_is_wrong(visitor: Visitor) -> None:
    path = "/console/knowledge/vocabulary/" + path_segment("global:staff")
    visitor.get(path)
    assert visitor.post(path, value="{").status == 422
    refused = visitor.post(path, value='{"type": "field"}')
    assert refused.status == 422
    assert "target" in visible(refused)


def test_rules_are_checked_and_looked_at_before_they_hold(caller: Caller, visitor: Visitor) -> None:
    visitor.get("/console/rules")
    wrong = visitor.post("/console/rules/preview", own='{"context": {"total": "many"}}')
    assert (wrong.status, "context.total" in visible(wrong)) == (422, True)
    shown = visitor.post("/console/rules/preview", own='{"context": {"total": 9}}')
    assert "context.total 8 9" in visible(shown)
    assert caller.get("/v1/rules").json["own"] == {}
    assert "The rules hold" in visible(visitor.follow(visitor.post("/console/rules", own='{"context": {"total": 9}}')))
    assert caller.get("/v1/rules").json["rules"]["context"]["total"] == 9


def test_rules_that_changed_meanwhile_are_not_written_over(caller: Caller, visitor: Visitor) -> None:
    visitor.get("/console/rules")
    visitor.post("/console/rules/preview", own='{"context": {"total": 9}}')
    caller.put("/v1/rules", {"context": {"total": 7}})
    assert visitor.post("/console/rules", own='{"context": {"total": 9}}').status == 412
    assert caller.get("/v1/rules").json["own"] == {"context": {"total": 7}}


def test_a_rule_that_goes_falls_back_to_the_deployments() -> None:
    found = {"own": {"context": {"total": 9}}, "rules": {"context": {"total": 9, "recent": 5}}}
    assert changes_of(found, {"context": {"recent": 4}}) == [
        ("context.recent", "5", "4"),
        ("context.total", "9", "what the deployment says"),
    ]


def test_a_job_is_started_after_a_look_at_what_it_reaches(caller: Caller, visitor: Visitor) -> None:
    caller.added("I live in Lyon")
    assert "waiting to be searchable" in visible(visitor.get("/console/operations"))
    assert "cannot be undone" in visible(visitor.get("/console/operations/retain"))
    shown = visitor.do("/console/operations/reconcile")
    assert "It waits" in visible(shown)
    assert '<progress aria-label="Progress of reconcile" max="1" value="0">' in shown.text
    assert 'data-again="1"' in shown.text
    assert "Reconcile" in visible(visitor.get("/console/operations"))


def test_operations_say_what_was_asked_for_and_what_it_would_cost(caller: Caller, visitor: Visitor) -> None:
    assert "messages 0 0.00" in visible(visitor.get("/console/operations"))
    for _ in range(2):
        caller.post(
            "/v1/events", {"user_id": "anna", "events": [{"content": "a"}, {"content": "b"}]}, idempotency_key="k"
        )
    caller.post("/v1/search", {"user_id": "anna", "query": "a"})
    caller.post("/v1/search", {"user_id": "anna"})
    shown = visible(visitor.get("/console/operations"))
    assert "messages 2 under 0.01 under 0.01 searches 1 under 0.01" in shown.partition("This month")[2]
    idle = {engine: dollars(one * 12 / 365) for engine, one in prices()["idle_month"].items()}
    assert f"an idle stack 1 day {idle['table']} {idle['domain']} in all" in shown
    assert ("none of this is paid: the dollars" in shown, "Since the beginning" in shown) == (True, False)


USED = {"messages": 2_000_000, "searches": 0, "contexts": 0, "turns": 0, "models": []}


def test_a_stack_is_counted_by_its_own_engine_and_by_the_days_that_it_was_there() -> None:
    usage = {"month": "2026-11", "this_month": USED, "since": "2026-10-30", "whole": USED, "search_engine": "domain"}
    month, whole = spans_of(usage, date(2026, 11, 10))
    assert [[one.count for one in span.spent if one.kind == "idle"] for span in (month, whole)] == [[10], [12]]
    assert [list(one.dollars) for one in month.spent] == [["domain"]] * 5
    expected = 2 * prices()["million"]["domain"]["message"] + prices()["idle_month"]["domain"] * 12 * 12 / 365
    assert whole.total("domain") == pytest.approx(expected)
    (first,) = spans_of({**usage, "since": "2026-11-09"}, date(2026, 11, 10))
    assert (first.name, first.spent[-1].count) == ("This month, November 2026, counted since 9 November", 2)


def test_a_models_calls_are_not_said_to_be_free(app: App, visitor: Visitor) -> None:
    answer = ModelAnswer(text="Yes.", model="openai:gpt", input_tokens=7, output_tokens=1)
    app.usage.answered("local", answer)
    shown = visible(visitor.get("/console/operations"))
    assert "none of this is paid, but what the provider of a language model charges" in shown


def test_an_edits_own_search_is_not_counted_as_the_tenants(caller: Caller, visitor: Visitor) -> None:
    memory = caller.post("/v1/memories", {"user_id": "anna", "content": "I sail"}).json["id"]
    assert "What this will reach" in visible(visitor.get(f"/console/users/anna/memories/{memory}/edit"))
    visitor.get("/console/users/anna", q="sail")
    assert caller.get("/v1/usage").json["this_month"]["searches"] == 1


@pytest.mark.parametrize("name", ["x_recollect_uncounted", "x_recollect_is_asked_for", "is_asked_for"])
def test_nothing_that_is_sent_keeps_a_search_out_of_what_is_counted(caller: Caller, name: str) -> None:
    asked = {"user_id": "anna", "query": "boats"}
    sent = [caller.post("/v1/search", asked, **{name: value}).status for value in ("true", "false")] + [
        caller.post(f"/v1/search?{name}=false", {**asked, **more}).status for more in ({}, {name: False})
    ]
    assert sent[:2] == [200, 200]
    assert caller.get("/v1/usage").json["this_month"]["searches"] == sent.count(200)


def test_what_was_asked_for_is_the_tenants_own_and_its_administrators(guarded: Laptop) -> None:
    for key, texts in (("key-a", ("a", "b", "c")), ("key-c", ("d",))):
        for text in texts:
            memory_of(guarded, key, text)
    for key, count in (("key-a", 3), ("key-c", 1)):
        used = Caller(guarded).get("/v1/usage", None, authorization=f"Bearer {key}").json
        assert used["this_month"]["messages"] == used["whole"]["messages"] == count
        assert f"messages {count} under" in visible(signed_in(guarded, key).get("/console/operations"))
    assert Caller(guarded).get("/v1/usage", None, authorization="Bearer key-b").status == 403


def test_all_jobs_are_listed_page_by_page(caller: Caller, visitor: Visitor) -> None:
    jobs = [caller.post("/v1/jobs/reconcile", {}).json["job_id"] for _ in range(23)]
    newest = visitor.get("/console/operations")
    assert 'href="/console/jobs"' in newest.text
    first = visitor.get("/console/jobs").text
    (older,) = re.findall(r'rel="next" href="([^"]*)"', first)
    second = visitor.get(unescape(older)).text
    shown = [[one for one in jobs if f"/console/jobs/{one}" in page] for page in (first, second)]
    assert [len(one) for one in shown] == [20, 3]
    assert sorted(shown[0] + shown[1]) == sorted(jobs)
    assert "Earlier jobs" in second


def test_operations_and_rules_are_for_administrators(guarded: Laptop) -> None:
    visitor = signed_in(guarded, "key-b")
    for path in (
        "/console/operations",
        "/console/operations/retain",
        "/console/rules",
        "/console/jobs",
        "/console/jobs/any",
    ):
        assert visitor.get(path).status == 403, path
    assert "Operations" not in visitor.get("/console").text


def test_a_summary_is_made_and_leads_to_what_was_said(app: App, caller: Caller, visitor: Visitor) -> None:
    newer, older = caller.added("I want to run a marathon", "I live in Lyon")
    visitor.get("/console/users/anna/summaries")
    shown = visitor.follow(visitor.post("/console/users/anna/summaries"))
    assert shown.status == 200
    made = caller.get("/v1/users/anna/summaries").json["summaries"]
    assert ("There is a new summary" in visible(shown)) == bool(made)
    assert "perhaps no longer so" not in visible(shown)
    conflict = OpenConflict(newer=newer, older=older, at=utc_now(), step=Step.JUDGE, rule="judge")
    app.parts.items.write(Scope("local", "anna"), [conflict_write(conflict)], utc_now())
    assert "I live in Lyon. perhaps no longer so" in visible(visitor.get("/console/users/anna/summaries"))


def test_priming_shows_each_page_to_nobody_ends_early_and_stores_nothing(app: App, caller: Caller) -> None:
    assert set(prime(app, lambda: True)) == {200, 404}
    assert prime(app, lambda: False) == []
    assert caller.get("/v1/users").json["users"] == []
