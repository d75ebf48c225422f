"""Where summaries, their state and goals are kept: collections of items (P-21), each of a user and a persona.

| collection         | labels  | key                        | item                                              |
|--------------------|---------|----------------------------|---------------------------------------------------|
| `summary_states`   | persona | `state`                    | trigger, coverage, lease; due in queue `summary`  |
| `summaries`        | persona | time it was made, and id   | summary                                           |
| `summary_list`     | none    | the same                   | whose it is: the list over all personas           |
| `summary_failures` | persona | `failures`                 | counts by kind, no text                           |
| `goals`            | none    | id                         | goal                                              |
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from recollect.domain.goals import Goal, goal_document, goal_from
from recollect.domain.instants import sortable
from recollect.domain.items import ABSENT, Due, Item, ItemKey, ItemPath, ItemWrite
from recollect.domain.rules import SummaryRules
from recollect.domain.summary import Summary, summary_document
from recollect.domain.summary_state import SummaryState, state_document, state_from

QUEUE = "summary"
GOALS = ItemPath("goals")
SUMMARIES = ItemPath("summaries")
SUMMARY_STATES = ItemPath("summary_states")
SUMMARY_LIST = ItemPath("summary_list")


def state_key(persona_id: str | None) -> ItemKey:
    """Where the state is."""
    return ItemKey(ItemPath(SUMMARY_STATES.collection, _labels(persona_id)), "state")


def failures_key(persona_id: str | None) -> ItemKey:
    """Where invalid answers of a model are counted."""
    return ItemKey(ItemPath("summary_failures", _labels(persona_id)), "failures")


def summaries_path(persona_id: str | None) -> ItemPath:
    """The summaries of one persona, by the time they were made."""
    return ItemPath(SUMMARIES.collection, _labels(persona_id))


def summary_key(persona_id: str | None, key: str) -> ItemKey:
    """Where a summary is."""
    return ItemKey(summaries_path(persona_id), key)


def goal_key(goal_id: str) -> ItemKey:
    """Where a goal is."""
    return ItemKey(GOALS, goal_id)


def key_of(summary: Summary) -> str:
    """By the time it was made; of one instant, the later one last."""
    return f"{sortable(summary.created_at)}.{summary.id}"


def summary_writes(summary: Summary) -> list[ItemWrite]:
    """A new summary, and its place in the list."""
    key = key_of(summary)
    listed = {"persona_id": summary.persona_id} if summary.persona_id is not None else {}
    return [
        ItemWrite(summary_key(summary.persona_id, key), summary_document(summary), ABSENT),
        ItemWrite(ItemKey(SUMMARY_LIST, key), listed, ABSENT),
    ]


def state_write(state: SummaryState, rules: SummaryRules, now: datetime, expected: int | None) -> ItemWrite:
    """The state, due when its rules say so."""
    at = state.due_at(rules, now)
    due = Due(QUEUE, at) if at else None
    return ItemWrite(state_key(state.persona_id), state_document(state), expected, due)


def state_in(item: Item | None, persona_id: str | None) -> SummaryState:
    """The state that an item holds; a new one without."""
    return state_from(item.value) if item else SummaryState(persona_id=persona_id)


def goal_write(goal: Goal) -> ItemWrite:
    """A goal that was made or changed, conditional on the version it was read at."""
    return ItemWrite(goal_key(goal.id), goal_document(goal), goal.version)


def goal_in(item: Item) -> Goal:
    """The goal that an item holds."""
    return goal_from(item.value, item.version)


def failures_with(document: Mapping[str, Any], kinds: Mapping[str, int], at: str) -> dict[str, Any]:
    """The counts of failures with some more."""
    counts = dict(document.get("kinds", {}))
    for kind, count in kinds.items():
        counts[kind] = counts.get(kind, 0) + count
    return {"kinds": counts, "total": sum(counts.values()), "last": {"at": at, "kinds": dict(kinds)}}


def _labels(persona_id: str | None) -> tuple[str, ...]:
    """The default persona has a label that no chosen persona can have."""
    return ("default",) if persona_id is None else ("persona", persona_id)
