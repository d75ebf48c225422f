"""What is left of a text without some of its words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.text.omission import OMITTED, left_of, outside, says_something, words_replaced


def cut(marked: str) -> tuple[str, list[tuple[int, int]]]:
    """A text, and where the parts between square brackets are in it."""
    text, spans = "", list[tuple[int, int]]()
    for part in marked.split("["):
        gone, _, kept = part.rpartition("]")
        spans += [(len(text), len(text) + len(gone))] if gone else []
        text += gone + kept
    return text, spans


@pytest.mark.parametrize(
    ("span", "others", "parts"),
    [
        ((2, 8), [], [(2, 8)]),
        ((2, 8), [(0, 2), (8, 9)], [(2, 8)]),
        ((2, 8), [(0, 9)], []),
        ((2, 8), [(4, 5)], [(2, 4), (5, 8)]),
        ((2, 8), [(6, 9), (0, 3)], [(3, 6)]),
        ((2, 8), [(3, 5), (4, 6), (3, 4)], [(2, 3), (6, 8)]),
        ((2, 2), [], []),
    ],
    ids=["none", "beside it", "all", "the middle", "both ends", "one over the other", "empty"],
)
def test_what_is_outside_of_other_parts(
    span: tuple[int, int], others: list[tuple[int, int]], parts: list[tuple[int, int]]
) -> None:
    assert list(outside(span, others)) == parts


def test_marks_and_blanks_say_nothing() -> None:
    assert says_something("a, b.", [(1, 3), (3, 4)])
    assert not says_something("a, b.", [(1, 3), (4, 5)])
    assert not says_something("a", [])


@pytest.mark.spec("P-24")
@pytest.mark.parametrize(
    ("marked", "left"),
    [
        ("abc", None),
        ("[I live in Paris.]", None),
        ("[I live in Paris.] Oh you.", None),
        ("I live in [Leeds].", None),
        ("I'm allergic to nuts [and eggs.]", "I'm allergic to nuts"),
        ("Rex my dog chases squirrels near water[, but I moved].", "Rex my dog chases squirrels near water"),
        ("I work on Mondays, [Wednesdays and] Fridays.", "I work on Mondays, Fridays."),
        ("I [play badminton and] I go swimming.", "I go swimming."),
        ("[I live in Leeds,] my sister bakes bread", "my sister bakes bread"),
        ("I have two cats, [Miso] and Nori", "I have two cats, Nori"),
        ("[I moved twice.] [And I sing.] My sister bakes bread.", "My sister bakes bread."),
        ("我在学校当老师，[喜欢喝咖啡，]养了一只猫", "我在学校当老师，养了一只猫"),
    ],
)
def test_a_part_between_pauses_leaves_nothing(marked: str, left: str | None) -> None:
    assert left_of(*cut(marked)) == left


@pytest.mark.spec("P-24")
@pytest.mark.parametrize(
    ("marked", "left"),
    [
        ("[one two] three four", "[…] three four"),
        ("I work as a nurse in [Leeds].", "I work as a nurse in […]"),
        ("meu irmão Duda mora em [Vitória] e é bombeiro", "meu irmão Duda mora em […] e é bombeiro"),
        (
            "football on [tuesday nights] with the Leeds [Otters], in goal",
            "football on […] with the Leeds […], in goal",
        ),
        ("estamos [mi marido Andrés,] las niñas Lucía y Vera", "estamos […] las niñas Lucía y Vera"),
        ("我和[室友小王]住在浦东，养了一只猫", "我和[…]住在浦东，养了一只猫"),
    ],
)
def test_a_part_in_the_middle_of_a_clause_leaves_a_mark(marked: str, left: str) -> None:
    assert left_of(*cut(marked)) == left


def test_parts_may_overlap_and_come_in_any_order() -> None:
    assert left_of("one two three four", [(2, 7), (0, 3), (0, 3)]) == "[…] three four"


@given(
    words=st.lists(st.sampled_from(["Mondays", "nuts", "and", "in", "Leeds,", "cat.", "但是，", "家"]), max_size=12),
    ends=st.sets(st.integers(min_value=0, max_value=11)),
)
def test_no_word_that_ends_is_left_and_no_other_is_lost(words: list[str], ends: set[int]) -> None:
    numbered = [f"{place}{word}" for place, word in enumerate(words)]
    marked = " ".join(f"[{word}]" if place in ends else word for place, word in enumerate(numbered))
    left = left_of(*cut(marked))
    kept = {word.rstrip(".,，") for place, word in enumerate(numbered) if place not in ends}
    assert left is None or {word.rstrip(".,，") for word in left.replace(OMITTED, " ").split()} == kept


@pytest.mark.parametrize(
    ("before", "after", "replaced"),
    [
        ("Football on tuesday nights", "Football on thursday nights", ["tuesday"]),
        ("At 9:30, on 3 December.", "At 14:30, on 10 December.", ["9", "3"]),
        ("我周五去游泳", "我周六去游泳", ["五"]),
        ("The same", "The same", []),
        ("Rent is 820 a month", "Rent is a month", ["820"]),
        ("Rent is a month", "Rent is 820 a month", []),
    ],
)
def test_words_that_another_version_has_others_for(before: str, after: str, replaced: list[str]) -> None:
    assert [before[start:end] for start, end in words_replaced(before, after)] == replaced
