"""What commands print with `--json`: the shapes of the HTTP surface (api.md, *Shapes*), without what is absent."""

from typing import Any

from recollect.context.build import ContextAnswer
from recollect.entrypoints.http.memory_json import result_json
from recollect.entrypoints.http.representations import knowledge_json
from recollect.entrypoints.http.routes.context import context_summary_json, item_json
from recollect.entrypoints.http.summary_json import goal_json
from recollect.retrieval.search import SearchAnswer

Shape = dict[str, Any]


def search_shape(answer: SearchAnswer, explain: bool) -> Shape:
    """Results and diagnostics of a search."""
    found = answer.diagnostics
    near = {"near_misses": [result_json(result, explain) for result in answer.near_misses]} if explain else {}
    return {
        "results": [result_json(result, explain) for result in answer.results],
        **near,
        "diagnostics": _present(
            matched_count=found.matched_count,
            filtered_count=found.filtered_count,
            returned_count=found.returned_count,
            dropped={reason.value: count for reason, count in found.dropped.items()},
            exact=found.exact,
            fallback=found.fallback,
            missing=list(found.missing) or None,
            tail=found.tail,
            tail_cut=found.tail_cut,
            pending=found.pending,
        ),
    }


def context_shape(answer: ContextAnswer, explain: bool) -> Shape:
    """The prompt, the messages and their receipt."""
    return {
        "prompt": answer.prompt.text,
        "messages": [{"role": m.role.value, "content": m.content} for m in answer.messages.messages],
        "items": [item_json(one, answer.found.get(one.selected.item.id), explain) for one in answer.items],
        "summary": context_summary_json(answer.summary) if answer.summary else None,
        "goals": [goal_json(goal) for goal in answer.goals],
        "knowledge": [knowledge_json(entry) for entry in answer.knowledge],
        "left_out": [{"id": o.id, "section": o.section.value, "reason": o.reason} for o in answer.left_out],
        "missing": list(answer.missing),
        "pending": answer.gathered.recalled.pending,
        "tokens": answer.tokens,
    }


def _present(**fields: Any) -> Shape:
    return {name: value for name, value in fields.items() if value is not None}
