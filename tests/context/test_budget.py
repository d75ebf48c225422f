"""Prompt and messages inside a token budget."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.context.budget import Cut, Part, check_input, fit_messages, fit_prompt, message_cuts
from recollect.context.rendering import ContextParts, fence_for, render_prompt
from recollect.context.selection import ContextItem, Section, Selected
from recollect.core.errors import InvalidInput
from recollect.text.sentences import count_tokens
from samples.context_items import NOW, item

FENCE = fence_for("a1b2c3d4e5f60718")


def sized(name: str, hours: int, size: int = 40, **changes: Any) -> ContextItem:
    return item(name, hours, content=(name + " ") * (size // (len(name) + 1)), **changes)


PARTS = ContextParts(
    user_input="What now?",
    memories=(
        Selected(sized("i1", 90, importance=0.9), Section.IMPORTANT, ""),
        Selected(sized("i2", 80, importance=0.7), Section.IMPORTANT, ""),
        Selected(sized("s1", 70, score=0.9), Section.SEMANTIC, ""),
        Selected(sized("s2", 60, score=0.3), Section.SEMANTIC, ""),
        Selected(sized("r1", 9), Section.RECENT, ""),
        Selected(sized("r2", 2), Section.RECENT, ""),
    ),
    raw_window=(sized("w1", 5), sized("w2", 1)),
    summary="We spoke of tea. " * 4,
    goals=("walk daily", "read more"),
    knowledge="[Semantic Memory]\nnone",
    web_results=("result one", "result two"),
)
ORDER = [
    Cut(Part.MEMORIES, "i2"), Cut(Part.MEMORIES, "i1"), Cut(Part.MEMORIES, "s2"), Cut(Part.MEMORIES, "s1"),
    Cut(Part.MEMORIES, "r1"), Cut(Part.RAW_WINDOW, "w1"), Cut(Part.MEMORIES, "r2"), Cut(Part.RAW_WINDOW, "w2"),
    Cut(Part.GOALS, "1"), Cut(Part.GOALS, "0"), Cut(Part.KNOWLEDGE), Cut(Part.SUMMARY),
    Cut(Part.WEB_RESULTS, "1"), Cut(Part.WEB_RESULTS, "0"), Cut(Part.INSTRUCTIONS),
]  # fmt: skip


def test_without_a_budget_nothing_goes() -> None:
    prompt = fit_prompt(PARTS, NOW)
    items = [s.item for s in PARTS.memories]
    assert prompt.text == render_prompt(PARTS.web_results, items, PARTS.user_input, NOW)
    assert (prompt.left_out, prompt.tokens) == ((), count_tokens(prompt.text))
    assert fit_messages(PARTS, FENCE, NOW).cuts == ()


def test_messages_give_way_in_the_order_of_the_specification() -> None:
    assert message_cuts(PARTS) == ORDER
    whole = fit_messages(PARTS, FENCE, NOW).tokens
    for budget in range(whole, count_tokens(PARTS.user_input) - 1, -1):
        fitted = fit_messages(PARTS, FENCE, NOW, budget)
        assert list(fitted.cuts) == ORDER[: len(fitted.cuts)]
        assert fitted.tokens == sum(count_tokens(m.content) for m in fitted.messages) <= budget
        assert fitted.messages[-1].content.endswith("What now?")
    assert list(fitted.cuts) == ORDER


def test_no_more_is_cut_than_needed() -> None:
    whole = fit_messages(PARTS, FENCE, NOW).tokens
    assert fit_messages(PARTS, FENCE, NOW, whole).cuts == ()
    once = fit_messages(PARTS, FENCE, NOW, whole - 1)
    assert once.cuts == (ORDER[0],)
    assert fit_messages(PARTS, FENCE, NOW, once.tokens).cuts == (ORDER[0],)


def test_the_prompt_gives_way_in_the_same_order() -> None:
    left: list[list[str]] = []
    for budget in range(fit_prompt(PARTS, NOW).tokens, count_tokens("Current user input: What now?") - 1, -1):
        fitted = fit_prompt(PARTS, NOW, budget)
        assert fitted.tokens == count_tokens(fitted.text) <= budget
        names = sorted(s.item.id for s in fitted.memories)
        left += [names] if not left or left[-1] != names else []
    assert left[:4] == [
        ["i1", "i2", "r1", "r2", "s1", "s2"],
        ["i1", "r1", "r2", "s1", "s2"],
        ["r1", "r2", "s1", "s2"],
        ["r1", "r2", "s1"],
    ]
    assert fitted.text == "Current user input: What now?"
    assert {entry.id for entry in fitted.left_out} == {"i1", "i2", "s1", "s2", "r1", "r2"}
    assert fitted.web_results == ()


def test_an_input_over_the_budget_is_refused() -> None:
    with pytest.raises(InvalidInput) as messages:
        fit_messages(PARTS, FENCE, NOW, 2)
    with pytest.raises(InvalidInput) as prompt:
        fit_prompt(PARTS, NOW, 3)
    assert messages.value.loc == prompt.value.loc == ("body", "token_budget")


def test_another_tokenizer_may_count() -> None:
    words = fit_prompt(PARTS, NOW, 8, count=lambda text: len(text.split()))
    assert words.text == "Current user input: What now?"
    assert words.tokens == 5


def test_work_is_bounded_by_halving() -> None:
    many = tuple(Selected(sized(f"m{n:04}", n), Section.RECENT, "") for n in range(1_000))
    calls = 0

    def counting(text: str) -> int:
        nonlocal calls
        calls += 1
        return count_tokens(text)

    fitted = fit_prompt(ContextParts(user_input="x", memories=many), NOW, 500, counting)
    assert 0 < len(fitted.memories) < 1_000
    assert calls <= 15


TEXTS = st.text(max_size=60)


@st.composite
def parts(draw: st.DrawFn) -> ContextParts:
    sections = draw(st.lists(st.sampled_from(Section), max_size=8))
    memories = tuple(
        Selected(
            sized(f"n{n}", draw(st.integers(0, 99)), draw(st.integers(0, 90)), importance=draw(st.floats(0, 1))), s, ""
        )
        for n, s in enumerate(sections)
    )
    return ContextParts(
        user_input=draw(TEXTS),
        memories=memories,
        raw_window=tuple(sized(f"n{n + 5}", n) for n in range(draw(st.integers(0, 5)))),
        summary=draw(st.none() | TEXTS),
        goals=tuple(draw(st.lists(TEXTS, max_size=3))),
        knowledge=draw(st.none() | TEXTS),
        web_results=tuple(draw(st.lists(TEXTS, max_size=3))),
    )


@settings(max_examples=200, deadline=None)
@given(parts(), st.integers(0, 400))
def test_never_over_the_budget(given_parts: ContextParts, budget: int) -> None:
    line = "Current user input: " + given_parts.user_input
    if count_tokens(line) <= budget:
        assert fit_prompt(given_parts, NOW, budget).tokens <= budget
    else:
        with pytest.raises(InvalidInput):
            fit_prompt(given_parts, NOW, budget)
    if count_tokens(given_parts.user_input) <= budget:
        fitted = fit_messages(given_parts, FENCE, NOW, budget)
        assert sum(count_tokens(m.content) for m in fitted.messages) == fitted.tokens <= budget
    else:
        with pytest.raises(InvalidInput):
            fit_messages(given_parts, FENCE, NOW, budget)


def test_an_input_must_fit_the_budget_by_itself_before_anything_is_read() -> None:
    line = "Current user input: What now?"
    check_input("What now?", None)
    check_input("What now?", len(line), len)
    check_input("What now?", count_tokens(line))
    for budget, count in ((len(line) - 1, len), (count_tokens(line) - 1, count_tokens)):
        with pytest.raises(InvalidInput) as refused:
            check_input("What now?", budget, count)
        assert refused.value.loc == ("body", "token_budget")
