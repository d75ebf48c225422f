"""The tool `recall_context`: for a model whose context somebody else builds."""

import secrets
from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field

from recollect.context.build import ContextAnswer, ContextRequest
from recollect.context.rendering import Fence, fence_for, instructions_for
from recollect.context.selection import ShownIn
from recollect.context.sources import ContextQuestion
from recollect.entrypoints.tools.tool import Identifier, Invocation, Outcome, Parameters, Said, Tool
from recollect.retrieval.filters import SearchFilters


class RecallContext(Parameters):
    """Of `recall_context`."""

    input: Said = Field(description="What the user says now.")
    conversation_id: Identifier | None = Field(None, description="Absent: of all conversations.")
    token_budget: int | None = Field(None, ge=1, description="At most so many tokens.")
    store: Identifier | None = Field(None, description="Whose vocabulary and rules are meant.")
    form: Literal["prompt", "messages"] = Field("prompt", description="One text, or messages for a model.")


def recall_context(invocation: Invocation, given: RecallContext) -> Outcome:
    """The context for an input; stores nothing. As one text it stands in a fence: recalled text is data."""
    fence = fence_for(secrets.token_hex(16))
    question = ContextQuestion(
        text=given.input,
        filters=SearchFilters(now=invocation.now),
        conversation_id=given.conversation_id or invocation.conversation_id,
        store=given.store,
    )
    request = ContextRequest(question=question, fence=fence, token_budget=given.token_budget)
    rules = invocation.app.begin_rules(invocation.scope.tenant)
    answer = invocation.app.context.model_call.build(invocation.scope, request, rules)
    return Outcome({**_shown(answer, fence, given.form), "tokens": answer.tokens, "missing": list(answer.missing)})


def _shown(answer: ContextAnswer, fence: Fence, form: str) -> dict[str, Any]:
    place = ShownIn(form)
    shown = (one.selected for one in answer.items if place in one.shown_in)
    items = [{"id": one.item.id, "section": one.section.value} for one in shown]
    if place is ShownIn.PROMPT:
        text = f"{instructions_for(fence)}\n{fence.around(answer.prompt.text)}"
        return {"text": text, "prompt": answer.prompt.text, "items": items}
    messages = [{"role": message.role.value, "content": message.content} for message in answer.messages.messages]
    return {"messages": messages, "items": items}


def _say(_given: RecallContext, result: Mapping[str, Any]) -> str:
    count = len(result["items"])
    return f"I remember {count} {'thing' if count == 1 else 'things'} that may matter here."


TOOLS: Mapping[str, Tool] = {"recall_context": Tool(RecallContext, recall_context, _say, lambda _given: False)}
