"""Long texts are shown and changed in parts, of whatever they are made: nothing of them is lost, none is too heavy."""

import re
from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from entrypoints.console.visiting import Visitor, one_memory, visible
from entrypoints.http.calling import Answered, Caller
from recollect.entrypoints.console.words import PART_BYTES, part_of, parts_of, weight, with_part

KINDS = {
    "letters": "ab c",
    "&": "&",
    "quotes": "\"'",
    "CJK": "語",
    "emoji": "🦊",
    "overrides": "\u202e",
    "lines": "a\n",
}


@given(st.text(alphabet="&<\"' \n語🦊a\u202e").map(lambda text: text * 900), st.integers(-1, 40))
def test_parts_are_the_whole_text_and_none_is_heavy(text: str, number: int) -> None:
    parts = parts_of(text)
    assert "".join(parts) == text
    assert max(map(weight, parts)) <= PART_BYTES
    part = part_of(text, str(number))
    assert parts[part.number - 1] == part.text
    assert with_part(text, part.text, str(number)) == text
    assert with_part(text, "", str(part.number)) == "".join(parts[: part.number - 1] + parts[part.number :])


@pytest.mark.parametrize("kind", KINDS)
def test_a_long_memory_is_read_and_edited_in_parts(visitor: Visitor, caller: Caller, kind: str) -> None:
    unit = KINDS[kind]
    content = (unit * (65_500 // len(unit.encode()))).strip()
    path = f"/console/users/anna/memories/{one_memory(caller, content)}"
    parts = parts_of(content)
    read = [words_in(visitor.get(path, part=str(number))) for number in range(1, len(parts) + 1)]
    assert kind == "overrides" or "".join(read) == content
    assert ('rel="next"' in visitor.get(path).text) == (len(parts) > 1)
    visitor.get(f"{path}/edit", part=str(len(parts)))
    visitor.follow(visitor.post(f"{path}/edit", content="The end."))
    shown = caller.get(f"/v1{path.removeprefix('/console')}").json["content"]
    assert shown == "".join([*parts[:-1], "The end."])


def words_in(answer: Answered) -> str:
    """The words that a page quotes."""
    return unescape(
        re.sub("<[^>]*>", "", answer.text.partition("<blockquote")[2].partition(">")[2].partition("</b")[0])
    )


def test_long_memories_are_merged_unseen_where_they_may_be_one(visitor: Visitor, caller: Caller) -> None:
    texts = ["a & b " * 5_000, "c & d " * 5_000, "e & f " * 5_000]
    first, second, third = (one_memory(caller, text.strip()) for text in texts)
    page = visitor.get(f"/console/users/anna/merge?memory={first}&memory={second}")
    assert "both, one after the other" in visible(page)
    assert "Both together" not in page.text
    visitor.follow(visitor.post("/console/users/anna/merge", words="joined"))
    (merged,) = (
        one for one in caller.get("/v1/users/anna/memories?status=active").json["memories"] if one["id"] != third
    )
    assert sorted(merged["content"].split("\n")) == [texts[0].strip(), texts[1].strip()]
    page = visitor.get(f"/console/users/anna/merge?memory={merged['id']}&memory={third}")
    assert "longer than a memory may be" in visible(page)
    assert "joined" not in page.text


def test_keywords_that_are_too_long_for_the_form_stay(visitor: Visitor, caller: Caller) -> None:
    keywords = [f"{'&' * 500}{number}" for number in range(20)]
    memory = one_memory(caller, "I sail", keywords=keywords)
    path = f"/console/users/anna/memories/{memory}/edit"
    assert "20 keywords are too long" in visible(visitor.get(path))
    visitor.follow(visitor.post(path, content="I row"))
    kept = caller.get(f"/v1/users/anna/memories/{memory}").json
    assert (kept["content"], kept["keywords"]) == ("I row", keywords)


def test_what_is_refused_and_too_long_to_be_sent_back_is_told(visitor: Visitor) -> None:
    visitor.get("/console/users/anna/new")
    answer = visitor.post("/console/users/anna/new", content="&" * 70_000)
    assert (answer.status, len(answer.text) < 10_000) == (422, True)
    assert "the form there still has it" in visible(answer)
