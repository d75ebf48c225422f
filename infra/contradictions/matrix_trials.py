"""What is tried of a case: keyed and unkeyed, and its near miss in both ways, each as a user of its own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from matrix_store import Store

from contradictions.cases import Bound, Case, Turn

_SOON = timedelta(hours=1)
_QUESTION = "What do you know about me?"


@dataclass(frozen=True, slots=True)
class Trial:
    """Two turns of one user; `ids` are those of their events once they are said."""

    case: Case
    twin: bool
    keyed: bool
    ids: tuple[str, str] = ("", "")

    @property
    def user(self) -> str:
        """Whose turns they are."""
        return f"{'twin' if self.twin else 'case'}-{'keyed' if self.keyed else 'unkeyed'}"

    @property
    def earlier(self) -> Turn:
        """What is said first."""
        return self.case.twin.earlier if self.twin else self.case.earlier

    @property
    def later(self) -> Turn:
        """What is said then."""
        return self.case.twin.later if self.twin else self.case.later

    @property
    def bound(self) -> Bound | None:
        """Of the case; of a near miss only as far as it lies behind its own later turn."""
        bound = self.case.bound
        return bound if bound is not None and bound.during > self.later.at else None

    @property
    def asked_at(self) -> datetime:
        """When everything has been said; within the bound, where there is one."""
        return self.bound.during if self.bound else self.later.at + _SOON

    @property
    def between(self) -> datetime:
        """An instant when only the first was said."""
        return self.earlier.at + (self.later.at - self.earlier.at) / 2

    def told(self, store: Store) -> Trial:
        """The trial with its ids, both turns said and projected one after the other."""
        first = _said(store, self.user, self.earlier, self.case.keyed if self.keyed else None)
        both = self.keyed and not self.twin
        second = _said(store, self.user, self.later, self.case.keyed if both else None)
        return replace(self, ids=(first, second))


@dataclass(frozen=True, slots=True)
class Seen:
    """What searches and the prompt show at one instant: records with id, content, and sources."""

    records: tuple[dict[str, Any], ...]
    prompt: str


def trials_of(case: Case) -> Iterator[Trial]:
    """The case and its near miss, unkeyed and, where it names a slot, keyed."""
    for twin in (False, True):
        yield Trial(case, twin, keyed=False)
        if case.keyed is not None:
            yield Trial(case, twin, keyed=True)


def seen(store: Store, trial: Trial, at: datetime, as_of: datetime | None = None) -> Seen:
    """By a search with each turn's words, and by a context."""
    queries = (trial.earlier.text, trial.later.text)
    found = [one for query in queries for one in store.search(trial.user, query, at, as_of)]
    context = store.context(trial.user, _QUESTION, at, as_of)
    return Seen((*found, *context["items"]), context["prompt"])


def _said(store: Store, user: str, turn: Turn, key: str | None) -> str:
    event: dict[str, Any] = {"content": turn.text, "role": turn.role}
    event |= {"speaker": turn.speaker} if turn.speaker else {}
    event |= {"key": key} if key else {}
    made = store.say(user, event, turn.at)
    store.project(turn.at)
    return made
