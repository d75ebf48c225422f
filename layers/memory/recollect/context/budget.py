"""Fits prompt and messages into a token budget: what is cut, in which order (P-23)."""

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from functools import cache

from recollect.context.rendering import (
    INPUT_PREFIX,
    ContextParts,
    Fence,
    Message,
    outside_raw_window,
    render_messages,
    render_prompt,
)
from recollect.context.selection import ContextItem, LeftOut, Section, Selected
from recollect.core.errors import InvalidInput
from recollect.text.sentences import count_tokens

_NO_ROOM = "There was no room for it within the token budget."

Counter = Callable[[str], int]
"""A text's size in tokens: `count_tokens`, or a model's own tokenizer."""


class Part(StrEnum):
    """The parts of a context that a budget can cut."""

    MEMORIES = "memories"
    RAW_WINDOW = "raw_window"
    GOALS = "goals"
    KNOWLEDGE = "knowledge"
    SUMMARY = "summary"
    WEB_RESULTS = "web_results"
    INSTRUCTIONS = "instructions"


@dataclass(frozen=True, slots=True)
class Cut:
    """One thing that is cut: an item by its id, a goal or result by its position, a part as a whole by ""."""

    part: Part
    key: str = ""


@dataclass(frozen=True, slots=True)
class FittedPrompt:
    """The prompt with what stands in it, its size, and the memories that the budget cut."""

    text: str
    memories: tuple[Selected, ...]
    web_results: tuple[str, ...]
    left_out: tuple[LeftOut, ...]
    tokens: int


@dataclass(frozen=True, slots=True)
class FittedMessages:
    """The messages with the parts that stand in them, the sum of their contents' sizes, and the cuts."""

    messages: tuple[Message, ...]
    parts: ContextParts
    cuts: tuple[Cut, ...]
    tokens: int


def fit_prompt(
    parts: ContextParts, now: datetime, token_budget: int | None = None, count: Counter = count_tokens
) -> FittedPrompt:
    """The prompt of memories, web results and input, within the budget (tokens; None: no limit).

    Raises InvalidInput where the input's own line exceeds the budget.
    """
    cuts = [*_memory_cuts(parts.memories), *_from_the_end(Part.WEB_RESULTS, parts.web_results)]

    @cache
    def text_after(number: int) -> str:
        kept = without(parts, cuts[:number])
        return render_prompt(kept.web_results, [selected.item for selected in kept.memories], kept.user_input, now)

    number = _fewest_cuts(len(cuts), lambda n: count(text_after(n)), token_budget)
    kept, text = without(parts, cuts[:number]), text_after(number)
    return FittedPrompt(text, kept.memories, kept.web_results, _left_out(parts, kept), count(text))


def fit_messages(
    parts: ContextParts, fence: Fence, now: datetime, token_budget: int | None = None, count: Counter = count_tokens
) -> FittedMessages:
    """The messages within the budget (tokens over all contents; None: no limit).

    Raises InvalidInput where the input alone exceeds the budget.
    """
    parts = replace(parts, memories=outside_raw_window(parts))
    cuts = message_cuts(parts)

    @cache
    def messages_after(number: int) -> tuple[Message, ...]:
        return render_messages(without(parts, cuts[:number]), fence, now)

    def size_after(number: int) -> int:
        return sum(count(message.content) for message in messages_after(number))

    number = _fewest_cuts(len(cuts), size_after, token_budget)
    kept = without(parts, cuts[:number])
    return FittedMessages(messages_after(number), kept, tuple(cuts[:number]), size_after(number))


def check_input(user_input: str, token_budget: int | None, count: Counter = count_tokens) -> None:
    """Raises InvalidInput where the input's own line exceeds the budget, before anything is read or stored for it."""
    _fewest_cuts(0, lambda _: count(INPUT_PREFIX + user_input), token_budget)


def message_cuts(parts: ContextParts) -> list[Cut]:
    """All that can be cut from messages, in order."""
    return [
        *_memory_cuts(parts.memories, parts.raw_window),
        *_from_the_end(Part.GOALS, parts.goals),
        *([Cut(Part.KNOWLEDGE)] if parts.knowledge else []),
        *([Cut(Part.SUMMARY)] if parts.summary else []),
        *_from_the_end(Part.WEB_RESULTS, parts.web_results),
        *([Cut(Part.INSTRUCTIONS)] if parts.instructions else []),
    ]


def without(parts: ContextParts, cuts: Sequence[Cut]) -> ContextParts:
    """The parts without what is cut."""
    if not cuts:
        return parts
    cut_away = frozenset(cuts)
    return replace(
        parts,
        memories=tuple(s for s in parts.memories if Cut(Part.MEMORIES, s.item.id) not in cut_away),
        raw_window=tuple(item for item in parts.raw_window if Cut(Part.RAW_WINDOW, item.id) not in cut_away),
        goals=tuple(g for i, g in enumerate(parts.goals) if Cut(Part.GOALS, str(i)) not in cut_away),
        web_results=tuple(w for i, w in enumerate(parts.web_results) if Cut(Part.WEB_RESULTS, str(i)) not in cut_away),
        knowledge=None if Cut(Part.KNOWLEDGE) in cut_away else parts.knowledge,
        summary=None if Cut(Part.SUMMARY) in cut_away else parts.summary,
        instructions=parts.instructions and Cut(Part.INSTRUCTIONS) not in cut_away,
    )


def _memory_cuts(memories: Sequence[Selected], raw_window: Sequence[ContextItem] = ()) -> list[Cut]:
    """The least important, the weakest hit, then the oldest of recent memories and raw window together."""
    important = [s.item for s in memories if s.section is Section.IMPORTANT]
    semantic = [s.item for s in memories if s.section is Section.SEMANTIC]
    recent = [(s.item, Part.MEMORIES) for s in memories if s.section is Section.RECENT]
    recent += [(item, Part.RAW_WINDOW) for item in raw_window]
    important.sort(key=lambda item: (item.importance, item.timestamp, item.id))
    semantic.sort(key=lambda item: (item.score or 0.0, item.timestamp, item.id))
    recent.sort(key=lambda pair: (pair[0].timestamp, pair[0].id))
    return [
        *(Cut(Part.MEMORIES, item.id) for item in (*important, *semantic)),
        *(Cut(part, item.id) for item, part in recent),
    ]


def _from_the_end(part: Part, entries: Sequence[str]) -> list[Cut]:
    return [Cut(part, str(position)) for position in reversed(range(len(entries)))]


def _fewest_cuts(available: int, size_after: Callable[[int], int], token_budget: int | None) -> int:
    if token_budget is None or size_after(0) <= token_budget:
        return 0
    least = size_after(available)
    if least > token_budget:
        raise InvalidInput(
            f"the input alone takes {least} tokens, the budget is {token_budget}", loc=("body", "token_budget")
        )
    # Each cut makes it smaller, so that a binary search finds the fewest.
    return bisect_left(range(available), True, key=lambda number: size_after(number) <= token_budget)


def _left_out(parts: ContextParts, kept: ContextParts) -> tuple[LeftOut, ...]:
    standing = {selected.item.id for selected in kept.memories}
    cut = (selected for selected in parts.memories if selected.item.id not in standing)
    return tuple(LeftOut(one.item, one.section, "beyond the token budget", _NO_ROOM) for one in cut)
