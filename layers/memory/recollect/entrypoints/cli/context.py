"""`recollect context`: what the next model call would get, and why."""

import secrets
from datetime import UTC, datetime
from typing import Annotated

import typer

from recollect.app import App
from recollect.context.build import ContextAnswer, ContextRequest
from recollect.context.rendering import MEMORY_TOKENS, MOST_MEMORY_TOKENS, Fence
from recollect.context.sources import ContextQuestion
from recollect.core.scope import Scope
from recollect.entrypoints.cli.console import write_json, write_line
from recollect.entrypoints.cli.missing import warn_of_missing, warn_of_pending
from recollect.entrypoints.cli.opening import opened
from recollect.entrypoints.cli.options import (
    LOCAL_TENANT,
    AsJson,
    Explain,
    Household,
    Persona,
    Tenant,
    User,
    required_text,
    scope_of,
)
from recollect.entrypoints.cli.receipt import show_background, show_receipt, write_messages
from recollect.entrypoints.cli.shapes import context_shape
from recollect.retrieval.filters import SearchFilters


def context(
    text: Annotated[str, typer.Argument(metavar="INPUT", help="What the user says now.")],
    user: User,
    conversation: Annotated[str | None, typer.Option(help="The conversation it is said in.")] = None,
    store: Annotated[str | None, typer.Option(help="Whose vocabulary and rules are meant.")] = None,
    token_budget: Annotated[int | None, typer.Option(min=1, help="Most tokens; absent: no limit.")] = None,
    memory_tokens: Annotated[
        int, typer.Option(min=0, max=MOST_MEMORY_TOKENS, help="Most tokens of the messages' memories.")
    ] = MEMORY_TOKENS,
    messages: Annotated[bool, typer.Option("--messages", help="Shows the messages instead of the prompt.")] = False,
    persona: Persona = None,
    household: Household = None,
    tenant: Tenant = LOCAL_TENANT,
    explain: Explain = False,
    as_json: AsJson = False,
) -> None:
    """Prints the context for an input; --explain adds why each line is there. Stores nothing."""
    scope = scope_of(user, persona, household, tenant)
    now = datetime.now(UTC)
    with opened() as app:
        asked = ContextQuestion(
            text=required_text(text, "the input"),
            filters=SearchFilters(now=now),
            conversation_id=conversation,
            store=store,
        )
        answer = ask(app, scope, asked, token_budget, memory_tokens)
    if as_json:
        write_json(context_shape(answer, explain))
    elif messages:
        write_messages(answer)
    else:
        write_line(answer.prompt.text)
        show_background(answer)
    if explain and not as_json:
        show_receipt(answer)
    warn_of_missing(answer.missing)
    recalled = answer.gathered.recalled
    warn_of_pending(recalled.pending, cut=recalled.tail_cut)


def ask(
    app: App,
    scope: Scope,
    question: ContextQuestion,
    budget: int | None = None,
    memory_tokens: int = MEMORY_TOKENS,
) -> ContextAnswer:
    """The context for a question, with a fence of its own."""
    fence = Fence(secrets.token_hex(16))
    request = ContextRequest(question=question, fence=fence, token_budget=budget, memory_tokens=memory_tokens)
    return app.context.build(scope, request, app.rules.resolved(scope.tenant))
