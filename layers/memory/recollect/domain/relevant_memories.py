"""Which memories `messages` show: what a search finds for the input, best first, as much as is asked for.

`prompt` goes by the document's places instead (K-15 to K-25); this is free to serve the question (api.md, *Context*).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from recollect.domain.rendering import memory_note
from recollect.domain.selection import ContextItem, Section, Selected
from recollect.domain.tokens import count_tokens

MEMORY_TOKENS = 800
"""How many tokens the memories of `messages` may take where a request says nothing."""

MOST_MEMORY_TOKENS = 32_000
_LEAST_TOKENS_A_LINE = 20
_MOST_LINES = 200


@dataclass(frozen=True, slots=True)
class Setting:
    """What stands in the messages besides: `input` as it is said, the raw window's identities, the input's own ids."""

    input: str
    raw_window: frozenset[str] = frozenset()
    own: frozenset[str] = frozenset()


def lines_wanted(memory_tokens: int) -> int:
    """How many records a search is asked for, so that they fill so many tokens: at most 200."""
    return min(-(-memory_tokens // _LEAST_TOKENS_A_LINE), _MOST_LINES)


def choose_relevant(
    found: Iterable[ContextItem], setting: Setting, memory_tokens: int, now: datetime
) -> tuple[Selected, ...]:
    """Of what was found, best first, all that fits; answered oldest first. One too long leaves room for the next.

    What repeats the input, and what the raw window shows, is left out: the model sees that already.
    """
    chosen: list[Selected] = []
    left = memory_tokens
    for rank, item in enumerate(_new_to_a_reader(found, setting), start=1):
        size = count_tokens(memory_note(item, now) + "\n")
        if size <= left:
            chosen.append(Selected(item, Section.SEMANTIC, _reason(item, rank)))
            left -= size
    return tuple(sorted(chosen, key=lambda one: (one.item.timestamp, one.item.id)))


def _new_to_a_reader(found: Iterable[ContextItem], setting: Setting) -> Sequence[ContextItem]:
    """Each once, of those with a score above 0."""
    asked = _words(setting.input)
    distinct: dict[str, ContextItem] = {}
    for item in found:
        shown = not setting.own.isdisjoint((item.id, item.identity)) or item.identity in setting.raw_window
        if not shown and (item.score or 0.0) > 0 and _words(item.content) != asked:
            distinct.setdefault(item.identity, item)
    return list(distinct.values())


def _words(text: str) -> str:
    """The text's letters and digits alone: how it is marked and spaced makes no difference."""
    return "".join(character for character in text.casefold() if character.isalnum())


def _reason(item: ContextItem, rank: int) -> str:
    return f"search rank {rank}, score {item.score or 0.0:.2f}"
