"""Summaries and goals as JSON (api.md, *Summaries*). What is None is left out."""

from typing import Any

from recollect.core.time import iso
from recollect.summaries.goals import Goal, tracked_document
from recollect.summaries.summary import Summary


def summary_json(summary: Summary) -> dict[str, Any]:
    """A summary, with the sources of each of its sentences."""
    known: dict[str, Any] = {
        "id": summary.id,
        "persona_id": summary.persona_id,
        "conversation_id": summary.conversation_id,
        "summary": summary.text,
        "sentences": [{"text": one.text, "source_event_ids": list(one.source_event_ids)} for one in summary.sentences],
        "tracked_goals": [tracked_document(goal) for goal in summary.tracked_goals],
        "message_count": summary.message_count,
        "covered_from": iso(summary.covered_from),
        "covered_until": iso(summary.covered_until),
        "created_at": iso(summary.created_at),
        "reason": summary.reason.value,
        "model": summary.model,
        "source_event_ids": list(summary.source_event_ids),
    }
    return {name: value for name, value in known.items() if value is not None}


def goal_json(goal: Goal) -> dict[str, Any]:
    """A goal with its version."""
    known = {"id": goal.id, **tracked_document(goal.tracked), "version": goal.version}
    known["source_event_ids"] = list(goal.source_event_ids)
    if goal.source is not None:
        known["source"] = goal.source.value
    return known if goal.persona_id is None else {**known, "persona_id": goal.persona_id}
