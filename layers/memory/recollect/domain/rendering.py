"""The prompt of the document, byte for byte: web results, memories, current input (K-26 to K-37, P-23)."""

import re
from bisect import bisect_right
from collections.abc import Sequence
from datetime import datetime

from recollect.domain.event import ContentType, Role
from recollect.domain.goals import TrackedGoal
from recollect.domain.relative_time import day_of, time_ago
from recollect.domain.scoring import content_type_of
from recollect.domain.selection import ContextItem
from recollect.domain.tokens import count_tokens

WEB_PREFIX = "Here's current web search information relevant to your question:"
MEMORY_PREFIX = "Here's some relevant context from our previous conversations:"
INPUT_PREFIX = "Current user input: "

LONGEST_NOTE_TOKENS = 300
"""How much of one memory `messages` show."""

_LAST_CHECK_INS = 3
_LINE_BREAK = re.compile("\r\n|[\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_OWN_LINES = re.compile(
    r"\W*(?:current user input|here.s current web search information|here.s some relevant context"
    r"|you said \(|i responded \(|(?:system|developer|assistant|user|human)(?: prompt| message)?\s*[:\]>]"
    r"|(?:end_)?(?:abp_tool|tool_request)\b|recalled-|im_(?:start|end)\b)",
    re.IGNORECASE,
)


def render_prompt(
    web_results: Sequence[str] | None, items: Sequence[ContextItem], user_input: str, now: datetime
) -> str:
    """The prompt; `items` come oldest first (K-34), `now` is what "2 days ago" counts from.

    A block without results or memories is left out (K-29, K-37). Nothing in a memory or a result begins a line of
    its own; the current input stands last and as it is (K-35).
    """
    lines: list[str] = []
    results = web_lines(web_results or ())
    if results:
        lines += [WEB_PREFIX, *results, ""]
    if items:
        lines += [MEMORY_PREFIX, *(memory_line(item, now) for item in items), ""]
    return "\n".join([*lines, INPUT_PREFIX + user_input])


def memory_line(item: ContextItem, now: datetime) -> str:
    """`- {prefix} ({timeAgo}): {content}`: only an assistant's response has "I responded" (K-31 to K-33)."""
    responded = content_type_of(item.content_type) is ContentType.ASSISTANTRESPONSE
    prefix = "I responded" if responded else "You said"
    return f"- {prefix} ({time_ago(item.timestamp, now)}): {one_line(item.content)}"


def memory_note(item: ContextItem, now: datetime) -> str:
    """A memory as `messages` show it: `- [Mon May 6, 2024] Priya: what was said`, on one line.

    The user's own words have no name before them. A text of more than `LONGEST_NOTE_TOKENS` ends with an ellipsis.
    """
    speaker = speaker_of(item)
    named = f"{speaker}: " if speaker else ""
    return f"- [{day_of(item.timestamp, now)}] {named}{_shortened(one_line(item.content))}"


def speaker_of(item: ContextItem) -> str | None:
    """The name of who said it, on one line; `assistant` for an assistant without a name; None for the user."""
    if item.speaker:
        return one_line(item.speaker)
    return "assistant" if item.role == Role.BOT else None


def _shortened(text: str) -> str:
    """The text, cut where it has more than `LONGEST_NOTE_TOKENS`: one long paste must not fill a whole context."""
    if count_tokens(text) <= LONGEST_NOTE_TOKENS:
        return text
    length = bisect_right(range(len(text)), LONGEST_NOTE_TOKENS, key=lambda end: count_tokens(text[:end])) - 1
    return text[:length].rstrip() + " …"


def goal_line(goal: TrackedGoal) -> str:
    """A goal with how often it is checked, and its last check-ins: `Run (check-in weekly; 2024-05-01 missed)`."""
    checked = [f"check-in {goal.check_in_frequency}"] if goal.check_in_frequency else []
    checked += [f"{one.date} {one.status.value}" for one in goal.history[-_LAST_CHECK_INS:]]
    return one_line(f"{goal.goal} ({'; '.join(checked)})" if checked else goal.goal)


def web_lines(results: Sequence[str]) -> list[str]:
    """One line a result, as it is, without blank ones.

    One that looks like a line of our own, somebody's part in a talk, a tool call or a fence is made a list item.
    """
    lines = [one_line(result).strip() for result in results]
    return [f"- {line}" if _OWN_LINES.match(line) else line for line in lines if line]


def one_line(text: str) -> str:
    """The text with every line break, of any kind, made one space (P-23)."""
    return _LINE_BREAK.sub(" ", text)
