"""`recollect context`: what the next model call would get, and why."""

import secrets
from datetime import UTC, datetime
from typing import Annotated

import typer

from recollect.app import App
from recollect.application.build_context import ContextAnswer, ContextRequest
from recollect.application.context_sources import ContextQuestion
from recollect.domain.filters import SearchFilters
from recollect.domain.messages import Fence
from recollect.domain.scope import Scope
from recollect.entrypoints.cli.console import say, write_json, write_line
from recollect.entrypoints.cli.opening import WORDS_ALONE, opened
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
from recollect.entrypoints.cli.receipt import show_receipt
from recollect.entrypoints.cli.shapes import context_shape


def context(
    text: Annotated[str, typer.Argument(metavar="INPUT", help="What the user says now.")],
    user: User,
    conversation: Annotated[str | None, typer.Option(help="The conversation it is said in.")] = None,
    token_budget: Annotated[int | None, typer.Option(min=1, help="Most tokens; absent: no limit.")] = None,
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
        answer = ask(app, scope, required_text(text, "the input"), now, conversation, token_budget)
    if as_json:
        write_json(context_shape(answer))
    else:
        write_line(answer.prompt.text)
    if explain and not as_json:
        show_receipt(answer)
    if answer.gathered.recalled.missing:
        missing = ", ".join(answer.gathered.recalled.missing)
        say(f"did not answer: {missing}, so {WORDS_ALONE}; `recollect doctor` says more")


def ask(
    app: App, scope: Scope, text: str, now: datetime, conversation_id: str | None = None, budget: int | None = None
) -> ContextAnswer:
    """The context for an input at an instant, with a fence of its own."""
    question = ContextQuestion(text=text, filters=SearchFilters(now=now), conversation_id=conversation_id)
    request = ContextRequest(question=question, fence=Fence(secrets.token_hex(16)), token_budget=budget)
    return app.context(scope, request, app.rules(scope.tenant))
