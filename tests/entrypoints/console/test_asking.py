"""What would it say? The context in each form, each line's reason, what nearly came in, and other moments."""

import re
from html import unescape

import pytest

from entrypoints.console.visiting import Visitor, one_memory, visible
from entrypoints.http.calling import Caller

ASK = "/console/users/anna/ask"


def test_each_line_says_why_it_is_there_and_leads_to_its_evidence(caller: Caller, visitor: Visitor) -> None:
    memory = one_memory(caller, "My sister is called Ada")
    shown = visitor.get(ASK, q="What is my sister called?")
    assert "My sister is called Ada" in visible(shown)
    assert "hares the words “sister” and “called” with" in visible(shown)
    assert f"/console/users/anna/records/{memory}" in shown.text


@pytest.mark.parametrize("form", ["prompt", "openai", "anthropic", "converse"])
def test_the_context_stands_there_in_each_form(caller: Caller, visitor: Visitor, form: str) -> None:
    one_memory(caller, "My sister is called Ada")
    whole = visible(visitor.get(ASK, q="my sister?", format=form)).partition(f"The context, as {form}")[2]
    assert "Ada" in whole
    assert ('"role"' in whole) == (form != "prompt")


def test_every_line_is_explained_or_one_click_away(caller: Caller, visitor: Visitor) -> None:
    caller.put("/v1/rules", {"context": {"total": 50, "recent": 50}}, if_match="*")
    long = ", & whatever else was told of it that day in the harbour" * 8
    for start in range(0, 60, 20):
        caller.added(*[f"boat number {n} sails{long}" for n in range(start, start + 20)])
    asked = {"user_id": "anna", "input": "Which boat sails?", "explain": True, "web_search": "never"}
    lines = caller.post("/v1/context", asked).json["items"]
    assert len(lines) > 40
    shown = visitor.get(ASK, q="Which boat sails?").text
    explained = []
    for _ in range(9):
        part = shown.partition('id="lines"')[2].partition('id="near"')[0]
        explained += re.findall(r"boat number \d+", part)
        more = re.findall(r'rel="next" href="([^"]*)"', part)
        if not more:
            break
        shown = visitor.get(unescape(more[0])).text
    assert explained == [re.findall(r"boat number \d+", one["content"])[0] for one in lines]


def test_what_nearly_came_in_stands_behind_it(caller: Caller, visitor: Visitor) -> None:
    caller.added(*[f"green tea number {n}" for n in range(60)])
    near = (
        visible(visitor.get(ASK, q="green tea number 3"))
        .partition("What nearly came in")[2]
        .partition("The context")[0]
    )
    assert near.count("green tea number") > 0
    assert near.count("Shares the words “green”") > 0
    left = visible(visitor.page).partition("Left out of the context")[2] if visitor.page else ""
    assert "green tea number 54 The prompt takes the newest 5 alone." in left


def test_it_answers_as_of_another_moment(caller: Caller, visitor: Visitor) -> None:
    one_memory(caller, "I live in Oslo", key="city", timestamp="2024-01-01T00:00:00Z")
    one_memory(caller, "I live in Lyon", key="city", timestamp="2025-01-01T00:00:00Z")
    then = visible(visitor.get(ASK, q="where do I live?", as_of="2024-06-01T12:00"))
    now = visible(visitor.get(ASK, q="where do I live?"))
    assert ("Oslo" in then, "I live in Lyon" in then) == (True, False)
    assert "I live in Lyon" in now


def test_a_question_that_breaks_a_rule_is_told_so(visitor: Visitor) -> None:
    refused = visitor.get(ASK, q="where?", as_of="yesterday")
    assert refused.status == 422
    assert "as_of" in visible(refused)


def test_the_lines_are_counted_in_the_form_that_is_shown_and_no_two_hits_have_one_reason(
    caller: Caller, visitor: Visitor
) -> None:
    one_memory(caller, "My sister is called Ada")
    caller.added(*(f"{name} sails" for name in ("Bo", "Cy", "Di", "Ed", "Flo", "Gus", "Hal", "Ida", "Jo", "Kim", "Lu")))
    for form, place in (("prompt", "prompt"), ("openai", "messages")):
        asked = {"user_id": "anna", "input": "Where is my sister?", "explain": True, "web_search": "never"}
        lines = caller.post("/v1/context", asked).json["items"]
        shown = visitor.get(ASK, q="Where is my sister?", format=form).text
        assert f"<small>{sum(place in one['shown_in'] for one in lines)}" in shown
    reasons = [one["because"] for one in lines]
    assert len(set(reasons)) == len(reasons) > 3


def test_the_numbers_that_make_a_score_stand_apart_from_those_beside_it(caller: Caller, visitor: Visitor) -> None:
    one_memory(caller, "My sister is called Ada")
    shown = visitor.get(ASK, q="What is my sister called?").text
    shares = [float(one) for one in re.findall(r"<td>([+-]\d\.\d{3})</td></tr>", shown)]
    assert shares == sorted(shares, reverse=True)
    assert len(shares) > 2
    (score,) = re.findall(r"Its score of (\d\.\d{3}) makes it number 1", shown)
    assert abs(sum(shares) - float(score)) < 0.01
    assert "Measured too, and not in the score:" in shown
