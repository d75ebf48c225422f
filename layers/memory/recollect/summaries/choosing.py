"""Which of the messages shown a model would remember by themselves: what it is told, and how its list is read.

The messages that it may choose have a number, so it can name nothing else, and it says nothing in words of its own.
Whatever is wrong with the list, the summary beside it counts.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from recollect.core.event import Event, EventRef
from recollect.core.scope import Scope
from recollect.memories.promotion import KeptChoice

MOST_CHOSEN = 20
"""Messages that one answer may name."""

TOKENS_OF_CHOICE = 200
CHOICE_FIELD = ', "memories": [1, 4]'
CHOICE_TOLD = (
    "Some of the messages have a number: these are the user's own. Choose those that are worth remembering by "
    "themselves for months: the user states in them a lasting fact, preference, relationship, decision or plan of "
    "their own, and the words say it without the messages around them. Not what asks, orders or greets, nor what "
    f"passes within days. memories are their numbers, at most {MOST_CHOSEN}, the most important first; an empty list "
    "where there is none."
)


class Unusable(StrEnum):
    """Why a part of a choice is of no use: all that is recorded of it."""

    NO_LIST = "memories_no_list"
    NO_NUMBER = "memories_no_number"
    NOT_SHOWN = "memories_not_shown"
    TOO_MANY = "memories_too_many"


@dataclass(frozen=True, slots=True)
class Choice:
    """The messages that an answer names, in its order, each once; `unusable` counts what else was in its list."""

    messages: tuple[Event, ...] = ()
    unusable: Mapping[str, int] = field(default_factory=dict)


class Remember(Protocol):
    """What makes memories of the messages that a model chose."""

    def choosable(self, tenant: str) -> Callable[[Event], bool]:
        """Which messages it may choose."""

    def keep(self, scope: Scope, refs: Sequence[EventRef], model: str, now: datetime) -> KeptChoice:
        """Makes them; idempotent."""


def numbered(messages: Sequence[Event], choosable: Callable[[Event], bool] | None) -> dict[int, Event]:
    """The messages that may be chosen, by their numbers from 1 on; none where nobody asks for a choice."""
    if choosable is None:
        return {}
    return dict(enumerate(filter(choosable, messages), start=1))


def read_choice(given: object, shown: Mapping[int, Event]) -> Choice:
    """What of an answer's `memories` can be used. `shown` are the messages by their numbers.

    No list at all is unusable where there was something to choose.
    """
    if not shown:
        return Choice()
    if not isinstance(given, list):
        return Choice((), {Unusable.NO_LIST: 1})
    unusable = Counter[str](fault for one in given if (fault := _fault(one, shown)) is not None)
    named = list(dict.fromkeys(one for one in given if _fault(one, shown) is None))
    if len(named) > MOST_CHOSEN:
        unusable[Unusable.TOO_MANY] += len(named) - MOST_CHOSEN
    return Choice(tuple(shown[number] for number in named[:MOST_CHOSEN]), dict(unusable))


def _fault(one: object, shown: Mapping[int, Event]) -> Unusable | None:
    if not isinstance(one, int) or isinstance(one, bool):
        return Unusable.NO_NUMBER
    return None if one in shown else Unusable.NOT_SHOWN
