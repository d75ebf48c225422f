"""What changed in a text is shown wherever it is, and what is not shown is counted."""

import re
from html import unescape

from hypothesis import given
from hypothesis import strategies as st

from entrypoints.console.visiting import Visitor, one_memory, visible
from entrypoints.http.calling import Caller
from recollect.entrypoints.console.passages import changed, marked
from recollect.entrypoints.console.rendering import changes, rows

LONG = " ".join(f"Paragraph {n}: we sailed & talked about the harbour." for n in range(1_100))
TEXTS = st.lists(st.sampled_from(["cats", "猫", "犬", " ", ".", "\n", "x" * 200, "purr and sleep "]), max_size=120).map(
    "".join
)


@given(TEXTS, TEXTS)
def test_a_change_has_all_of_the_text_before_and_all_of_it_after(before: str, after: str) -> None:
    passages = changed(before, after)
    assert "".join(one.text for one in passages if one.element != "ins") == before or before == after
    assert "".join(one.text for one in passages if one.element != "del") == after
    assert not [one for one in passages if not one.text]


@given(TEXTS, st.lists(st.tuples(st.integers(0, 400), st.integers(0, 40)), max_size=4))
def test_marks_stand_where_they_are_said_to(text: str, places: list[tuple[int, int]]) -> None:
    spans = [(start, start + length) for start, length in places]
    passages = marked(text, spans, "mark")
    assert "".join(one.text for one in passages) == text
    inside = {at for start, end in spans for at in range(start, end) if at < len(text)}
    assert sum(len(one.text) for one in passages if one.element) == len(inside)


def test_far_changes_of_a_long_text_are_each_shown_with_what_is_around_and_how_much_is_not() -> None:
    after = LONG.replace("Paragraph 500: we sailed", "Paragraph 500: nobody sailed").replace("Paragraph 900: ", "")
    shown = str(changes(LONG, after, 2_000))
    words = unescape(re.sub("<[^>]*>", "", shown))
    assert '<del><bdi dir="auto">we</bdi></del><ins><bdi dir="auto">nobody</bdi>' in shown
    assert "Paragraph 900" in words
    assert len(words) < 1_000
    left_out = [int(one.replace(",", "")) for one in re.findall(r"\[… ([\d,]+) characters that stay …\]", words)]
    told = re.sub(r"\[…[^\]]*\] ", "", words)
    assert sum(left_out) + len(told) == len(LONG) + len("nobody")


def test_of_more_changes_than_a_page_takes_the_others_are_counted() -> None:
    after = re.sub(r"Paragraph (\d+):", r"Part \1:", LONG)
    words = re.sub("<[^>]*>", "", str(changes(LONG, after, 500)))
    assert re.search(r"\[… \d+ more places …\] $", words)
    assert len(words) < 1_000


def test_a_field_is_as_high_as_its_text_up_to_a_screen() -> None:
    assert [rows(text) for text in ("I sail", "a\n" * 10, "a" * 16_000)] == [4, 12, 24]


def test_an_edit_far_down_in_a_long_memory_is_in_its_history_and_before_it_is_put_back(
    caller: Caller, visitor: Visitor
) -> None:
    path = f"/console/users/anna/memories/{one_memory(caller, LONG)}"
    asked = visitor.get(f"{path}/edit", part="3")
    found = re.search(r'rows="24">\n(.*?)</textarea>', asked.text, re.DOTALL)
    assert found is not None
    edited = visitor.follow(visitor.post(f"{path}/edit", content=f"NOBODY SAILED. {unescape(found[1])}"))
    assert "NOBODY SAILED" in edited.text.partition("</blockquote>")[0], "it comes back to the part that was edited"
    for page in (edited, visitor.get(f"{path}/undo/1")):
        assert "NOBODY SAILED" in visible(page).replace("It is long", ""), page
        assert re.search(r"<(ins|del)><bdi dir=\"auto\">NOBODY SAILED", page.text)
        assert "characters that stay" in visible(page)
