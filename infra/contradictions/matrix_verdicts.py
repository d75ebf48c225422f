"""Who is right: what a trial's answers say of its two turns."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from matrix_store import Store
from matrix_trials import Seen, Trial, seen

from contradictions.cases import Expect

RIGHT, STALE, LOST, WRONG = "right", "stale", "lost", "wrongly superseded"
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Verdict:
    """Right, stale (what no longer counts is shown), lost (what counts is not), or wrongly superseded (a near miss).

    `why` says what was seen; `left` is what stays of a turn that says other things too.
    """

    verdict: str
    why: str = ""
    left: str = ""


@dataclass(frozen=True, slots=True)
class _Look:
    """What is shown at one instant of a trial's two turns."""

    trial: Trial
    what: Seen

    def shows(self, turn: int) -> bool:
        """Its words as they were said, as a current record or in the prompt."""
        text, other = (_plain(one.text) for one in _turns(self.trial, turn))
        records = [one for one in self.what.records if one["id"] != self.trial.ids[1 - turn]]
        quoted = text not in other and text in _plain(self.what.prompt)
        return quoted or any(text in _plain(one["content"]) for one in records)

    def keeps(self, turn: int) -> bool:
        """The record itself, unchanged."""
        text = _plain(_turns(self.trial, turn)[0].text)
        own = [one for one in self.what.records if one["id"] == self.trial.ids[turn]]
        return bool(own) and all(_plain(one["content"]) == text for one in own)

    def recalls(self, turn: int) -> bool:
        """The record, one that names it as its source, or its words."""
        own = self.trial.ids[turn]
        named = any(own == one["id"] or own in one.get("source_event_ids", ()) for one in self.what.records)
        return named or self.shows(turn)

    def left(self, turn: int) -> str:
        """What is still shown of a turn under its own id."""
        own = (one for one in self.what.records if one["id"] == self.trial.ids[turn])
        return next((str(one["content"]) for one in own), "")

    def merged(self) -> bool:
        """One record that names both turns and holds words that only the later has, and words of the earlier."""
        first, second = (set(_words(one.text)) for one in _turns(self.trial, 0))
        both = [one for one in self.what.records if {*self.trial.ids} <= {*one.get("source_event_ids", ())}]
        held = [set(_words(one["content"])) for one in both]
        return any(words & first and words & (second - first) for words in held)


def judge(store: Store, trial: Trial) -> Verdict:
    """The verdict on a trial whose turns are said and projected."""
    if trial.twin:
        return _twin(store, trial)
    return _JUDGES[trial.case.expect](store, trial)


def past_kept(store: Store, trial: Trial) -> bool:
    """Whether `as_of` an instant before the later turn the earlier one is current; a retracted one must not be."""
    shown = _look(store, trial, trial.asked_at, trial.between).shows(0)
    return shown != (trial.case.expect == "retracted" and not trial.twin)


def _superseded(store: Store, trial: Trial) -> Verdict:
    return _judged(_hidden(_look(store, trial, trial.asked_at), 0, ""), _listed(store, trial))


def _retracted(store: Store, trial: Trial) -> Verdict:
    between = _look(store, trial, trial.asked_at, trial.between)
    never = Verdict(STALE, "as_of shows what never was") if between.shows(0) else None
    return _judged(_hidden(_look(store, trial, trial.asked_at), 0, ""), _listed(store, trial), never)


def _bounded(store: Store, trial: Trial) -> Verdict:
    bound = trial.case.bound
    assert bound is not None
    during = _hidden(_look(store, trial, bound.during), 0, "within the bound")
    after = _hidden(_look(store, trial, bound.after), 1, "after the bound")
    again = _hidden(_look(store, trial, bound.after, bound.during), 0, "as_of within the bound")
    return _judged(during, after, again)


def _partial(store: Store, trial: Trial) -> Verdict:
    look = _look(store, trial, trial.asked_at)
    if look.merged():
        return Verdict(STALE, "the older one is shown beside the merged one") if look.keeps(0) else Verdict(RIGHT, "")
    if look.keeps(0) and look.recalls(1):
        return Verdict(RIGHT, "open conflict") if _open(store, trial) else Verdict(STALE, "both stay, none says why")
    if trial.keyed and not look.shows(0) and look.recalls(1):
        return Verdict(RIGHT, "by the key")
    return Verdict(STALE, "the older one is shown") if look.shows(0) else Verdict(LOST, "one of the parts is gone")


def _twin(store: Store, trial: Trial) -> Verdict:
    bound = trial.bound
    for at in (trial.asked_at, *((bound.after,) if bound else ())):
        look = _look(store, trial, at)
        if not look.keeps(0):
            return Verdict(WRONG, "cut" if look.left(0) else "gone", look.left(0))
    return Verdict(RIGHT)


_JUDGES: dict[Expect, Callable[[Store, Trial], Verdict]] = {
    "superseded": _superseded,
    "retracted": _retracted,
    "bounded": _bounded,
    "partial": _partial,
}


def _hidden(look: _Look, turn: int, when: str) -> Verdict:
    """That turn does not count, the other one does."""
    name, other = ("the earlier", "the later") if turn == 0 else ("the later", "the earlier")
    if look.shows(turn):
        return Verdict(STALE, " ".join(filter(None, [name, "is shown", when])))
    if not look.recalls(1 - turn):
        return Verdict(LOST, " ".join(filter(None, [other, "is not shown", when])))
    return Verdict(RIGHT, "in part" if look.left(turn) else "", look.left(turn))


def _listed(store: Store, trial: Trial) -> Verdict | None:
    """`GET …/memories` calls active what is shown nowhere."""
    own = [one for one in store.memories(trial.user, trial.asked_at) if one["id"] == trial.ids[0]]
    text = _plain(trial.earlier.text)
    listed = any(one["status"] == "active" and _plain(one["content"]) == text for one in own)
    return Verdict(STALE, "the earlier is listed as active") if listed else None


def _open(store: Store, trial: Trial) -> bool:
    conflicts = store.open_conflicts(trial.user, trial.asked_at)
    return any(all(one in str(conflict) for one in trial.ids) for conflict in conflicts)


def _judged(*found: Verdict | None) -> Verdict:
    """The first that is not right, stale before lost; else the first."""
    verdicts = [one for one in found if one is not None]
    ranked = sorted(verdicts, key=lambda one: (STALE, LOST, RIGHT).index(one.verdict))
    return ranked[0] if ranked[0].verdict != RIGHT else verdicts[0]


def _look(store: Store, trial: Trial, at: datetime, as_of: datetime | None = None) -> _Look:
    return _Look(trial, seen(store, trial, at, as_of))


def _turns(trial: Trial, first: int) -> tuple[Any, Any]:
    turns = (trial.earlier, trial.later)
    return turns[first], turns[1 - first]


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()


def _words(text: str) -> Iterator[str]:
    return (word.casefold() for word in _WORD.findall(text))
