"""`recollect context`, `summarize` and `summaries`: what the next model call would get, and why."""

import secrets
import time
from collections import Counter
from dataclasses import replace
from typing import Annotated, Any

import typer
from rich.box import SIMPLE_HEAD
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from recollect.app import App
from recollect.context.build import ContextAnswer, ContextRequest, ShownItem
from recollect.context.formats import MessageFormat, formatted
from recollect.context.relevance import MEMORY_TOKENS, MOST_MEMORY_TOKENS
from recollect.context.rendering import fence_for
from recollect.context.sources import ContextQuestion
from recollect.core.scope import Scope
from recollect.core.time import utc_now
from recollect.deletion.tombstone_log import seconds_from_now
from recollect.entrypoints.cli.commands import AsJson, Explain, PersonaScope
from recollect.entrypoints.cli.console import (
    data_console,
    one_line,
    printable,
    required_text,
    say,
    warn_of_missing,
    warn_of_pending,
    write_json,
    write_line,
    write_list,
)
from recollect.entrypoints.cli.narrowing import Filtered, LastDays, MinSimilarity, Narrowing, Since, Until
from recollect.entrypoints.http.representations import summary_json
from recollect.entrypoints.http.routes.context import NEAR_MISSES, context_shown
from recollect.summaries.summarize import IDS, NotDue, SummaryOrder
from recollect.summaries.summary import Summary

_WIDTH_OF_REASONS = 113
_LONGEST_SUMMARY = 2_000


def context(
    app: App,
    text: Annotated[str, typer.Argument(metavar="INPUT", help="What the user says now.")],
    scope: Scope,
    conversation: Annotated[str | None, typer.Option(help="The conversation it is said in.")] = None,
    store: Annotated[str | None, typer.Option(help="Whose vocabulary and rules are meant.")] = None,
    token_budget: Annotated[int | None, typer.Option(min=1, help="Most tokens; absent: no limit.")] = None,
    memory_tokens: Annotated[
        int, typer.Option(min=0, max=MOST_MEMORY_TOKENS, help="Most tokens of the messages' memories.")
    ] = MEMORY_TOKENS,
    wanted: Filtered = None,
    since: Since = None,
    until: Until = None,
    last_days: LastDays = None,
    min_similarity: MinSimilarity = None,
    messages: Annotated[bool, typer.Option("--messages", help="Shows the messages instead of the prompt.")] = False,
    format_: Annotated[
        MessageFormat | None,
        typer.Option("--format", help="The messages as JSON for this interface; with --json the whole answer."),
    ] = None,
    explain: Explain = False,
    as_json: AsJson = False,
) -> None:
    """Prints the context for an input; --explain adds why each line is there. Stores nothing.

    What narrows it bounds the memories, and not the raw window. With --json it is the answer of `POST /v1/context`.
    """
    asked = ContextQuestion(
        text=required_text(text, "the input"),
        filters=Narrowing(wanted, since, until, last_days).filters(utc_now()),
        conversation_id=conversation,
        store=store,
        min_similarity=min_similarity,
        near_misses=NEAR_MISSES if explain and as_json else 0,
    )
    request = replace(request_of(asked), token_budget=token_budget, memory_tokens=memory_tokens)
    answer = ask(app, scope, request)
    if as_json:
        write_json(context_shown(answer, request.fence, explain, format_ or MessageFormat.OPENAI).document())
    elif format_ is not None:
        write_json(messages_json(answer, format_))
    else:
        _write_text(answer, messages, explain)
    warn_of_missing(answer.missing)
    recalled = answer.gathered.recalled
    warn_of_pending(recalled.pending, cut=recalled.tail_cut)


def _write_text(answer: ContextAnswer, messages: bool, explain: bool) -> None:
    if messages:
        write_messages(answer)
    else:
        write_line(answer.prompt.text)
        show_background(answer)
    if explain:
        show_receipt(answer)


def request_of(question: ContextQuestion) -> ContextRequest:
    """The question with a fence of its own."""
    return ContextRequest(question=question, fence=fence_for(secrets.token_hex(16)))


def ask(app: App, scope: Scope, request: ContextRequest) -> ContextAnswer:
    """The context for a question, by the rules of the tenant."""
    return app.context.model_call.build(scope, request, app.rules.resolved(scope.tenant))


def messages_json(answer: ContextAnswer, form: MessageFormat) -> dict[str, Any]:
    """The messages in that form, and `system` where the system prompt stands beside them."""
    given = formatted(answer.messages.messages, form)
    messages = [{"role": one.role.value, "content": one.content} for one in given.messages]
    return {"messages": messages} if given.system is None else {"system": given.system, "messages": messages}


def show_prompt(answer: ContextAnswer) -> None:
    """What the next model call gets, in a frame."""
    title = f"the next model call gets ({answer.prompt.tokens} tokens)"
    data_console().print(Panel(Text(printable(answer.prompt.text)), title=title, title_align="left", expand=True))


def write_messages(answer: ContextAnswer) -> None:
    """The messages as a model gets them, each under its role."""
    for message in answer.messages.messages:
        write_line(f"── {message.role.value}")
        write_line(message.content)


def show_background(answer: ContextAnswer) -> None:
    """What stands in the messages and not in the prompt: the summary, the goals, what words mean."""
    if answer.summary is not None:
        say(f"the messages begin with a summary of what was said until {answer.summary.covered_until:%Y-%m-%d %H:%M}:")
        say(f"  {one_line(answer.summary.text, _LONGEST_SUMMARY)}")
    for goal in answer.messages.parts.goals:
        say(f"  goal: {goal}")
    for entry in answer.knowledge:
        say(f"  {entry.namespace}: {entry.key}")


def show_receipt(answer: ContextAnswer) -> None:
    """Why each line is there and where it is shown, and how many others are not, by reason."""
    console = data_console()
    room = console.width - _WIDTH_OF_REASONS
    table = Table(title="Why these lines, oldest first", box=SIMPLE_HEAD, pad_edge=False)
    table.title_justify, table.title_style = "left", "bold"
    for column in ("section", "shown in", "when", "importance", "search", "why", *(("memory",) if room > 0 else ())):
        table.add_column(column, justify="right" if column == "importance" else "left")
    for one in answer.items:
        memory = (Text(one_line(one.selected.item.content, room)),) if room > 0 else ()
        table.add_row(*_reasons(answer, one), *memory)
    console.print(table)
    console.print(Text(_left_out(answer), style="dim"))


def _reasons(answer: ContextAnswer, one: ShownItem) -> list[Text]:
    selected, item = one.selected, one.selected.item
    found = answer.found.get(item.id)
    place = f"#{found.place}, {found.ranked.score:.2f}" if found else "–"
    when = f"{item.timestamp:%Y-%m-%d %H:%M}"
    places = ", ".join(one.shown_in)
    weight = f"{item.importance:.2f}"
    return [Text(cell) for cell in (selected.section.value, places, when, weight, place, answer.because(one))]


def _left_out(answer: ContextAnswer) -> str:
    counts = Counter(one.section.value for one in answer.left_out)
    parts = [f"{count} offered as {section}" for section, count in counts.items()]
    return f"Left out: {', '.join(parts)}." if parts else "Nothing was left out."


_SECONDS = 900.0


def summarize(
    app: App,
    scope: PersonaScope,
    force: Annotated[bool, typer.Option("--force", help="Make one before it is due.")] = False,
    as_json: AsJson = False,
) -> None:
    """Makes a summary where one is due, and prints it. Without --persona that of the default persona."""
    order = SummaryOrder(
        now=utc_now(),
        rules=app.rules.resolved(scope.tenant).summary,
        seed=app.ids.seed(int(time.time() * 1000), IDS),
        remaining_seconds=seconds_from_now(_SECONDS),
        force=force,
    )
    made = app.summaries.conversations.summarize(scope, order)
    doubted = app.contradictions.doubts.doubted(scope)
    _show(None if isinstance(made, NotDue) else made.summary.doubted(doubted), as_json)
    if isinstance(made, NotDue):
        say(f"not due: {made.messages_since} messages and {made.days_since:.1f} days since the last summary")
    elif made.choice.remembered:
        count = made.choice.remembered
        say("1 message became a memory" if count == 1 else f"{count} messages became memories")


def _show(summary: Summary | None, as_json: bool) -> None:
    if as_json:
        write_json({"due": False} if summary is None else {"due": True, "summary": summary_json(summary)})
    elif summary is not None:
        write_line(summary.marked.text)
        say(f"{summary.message_count} messages until {summary.covered_until:%Y-%m-%d %H:%M}, by {summary.model}")


def summaries(
    app: App,
    scope: PersonaScope,
    limit: Annotated[int, typer.Option(min=1, max=200, help="How many, the newest first.")] = 10,
    as_json: AsJson = False,
) -> None:
    """Prints the stored summaries of a user, the newest first; without --persona those of every persona."""
    doubted = app.contradictions.doubts.doubted(scope)
    found = [one.doubted(doubted) for one in app.summaries.stored.page(scope, limit, None).summaries]
    write_list("summaries", found, as_json, summary_json, _of_when)


def _of_when(summary: Summary) -> str:
    until = f"{summary.covered_until:%Y-%m-%d %H:%M}"
    return f"{until}  {summary.message_count} messages  {one_line(summary.marked.text, _LONGEST_SUMMARY)}"
