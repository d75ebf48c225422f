"""`recollect search`: what memory holds about a question, best first."""

from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated

import typer
from rich.text import Text

from recollect.core.scope import Scope
from recollect.entrypoints.cli.console import one_line, say, write_json, write_line
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
from recollect.entrypoints.cli.shapes import search_shape
from recollect.entrypoints.http.intent_searching import INTENT, intent_json
from recollect.entrypoints.http.questions import MOST_DAYS
from recollect.entrypoints.http.searching import NEAR_MISSES
from recollect.intent.retrieve import IntentAnswer, IntentQuestion
from recollect.retrieval.filters import SearchFilters
from recollect.retrieval.pipeline import RecallRequest
from recollect.retrieval.pooling import RELATED
from recollect.retrieval.ranking import Mode
from recollect.retrieval.search import SearchAnswer, SearchDiagnostics, SearchResult
from recollect.timeline.listing import GivenWindow

_TOP_K, _TOP_K_SEMANTIC = 10, 3
_SHOWN = 400


class SearchMode(StrEnum):
    """The modes of the HTTP surface."""

    HYBRID = Mode.HYBRID.value
    SEMANTIC = Mode.SEMANTIC.value
    LEXICAL = Mode.LEXICAL.value
    INTENT = INTENT


def search(
    query: str,
    user: User,
    mode: Annotated[SearchMode, typer.Option(help="How to rank.")] = SearchMode.HYBRID,
    top_k: Annotated[int | None, typer.Option(min=1, max=100, help="How many; 10, in semantic mode 3.")] = None,
    min_similarity: Annotated[
        float | None, typer.Option(min=-1, max=1, help="Least similarity; in semantic mode 0.7, which means related.")
    ] = None,
    conversation: Annotated[str | None, typer.Option(help="Only this conversation.")] = None,
    last_days: Annotated[float | None, typer.Option(min=0, max=MOST_DAYS, help="Days back; by intent 14.")] = None,
    space: Annotated[str | None, typer.Option(help="The active space; only by intent.")] = None,
    persona: Persona = None,
    household: Household = None,
    tenant: Tenant = LOCAL_TENANT,
    explain: Explain = False,
    as_json: AsJson = False,
) -> None:
    """Searches a user's memory."""
    scope = scope_of(user, persona, household, tenant)
    semantic, now = mode is SearchMode.SEMANTIC, datetime.now(UTC)
    window = GivenWindow(last_days=last_days).resolve(now, None)
    filters = SearchFilters(now=now, window=window, conversation_id=conversation)
    text = required_text(query, "the query")
    if mode is SearchMode.INTENT:
        asked = IntentQuestion(text=text, filters=filters, active_space_id=space, wanted=top_k or _TOP_K)
        _by_intent(scope, asked, explain, as_json)
        return
    request = RecallRequest(
        text=text,
        vector=None,
        mode=Mode(mode.value),
        filters=filters,
        count=True,
        wanted=top_k or (_TOP_K_SEMANTIC if semantic else _TOP_K),
        min_similarity=RELATED if semantic and min_similarity is None else min_similarity,
        near_misses=NEAR_MISSES if explain else 0,
    )
    with opened() as app:
        answer = app.retrieval.search(scope, request)
    if as_json:
        write_json(search_shape(answer, explain))
    else:
        _show(answer, explain)
        _show_near_misses(answer)
    _warn(answer.diagnostics)


def _by_intent(scope: Scope, asked: IntentQuestion, explain: bool, as_json: bool) -> None:
    with opened() as app:
        answer = app.intent(scope, asked, app.rules.resolved(scope.tenant))
    if as_json:
        write_json(intent_json(answer, explain))
    else:
        _show(answer, explain)
    if answer.fallback is not None:
        say(f"the newest records, not by intent: {answer.fallback.value.replace('_', ' ')}")
    if answer.suggestion is not None:
        say(answer.suggestion)


def _show(answer: SearchAnswer | IntentAnswer, explain: bool) -> None:
    for result in answer.results:
        write_line(_line(result))
        if explain:
            write_line(Text(f"     {_why(result)}", style="dim"))
    if not answer.results:
        say("nothing found")


def _show_near_misses(answer: SearchAnswer) -> None:
    if answer.near_misses:
        write_line(Text("near misses, which are no results:", style="dim"))
    for result in answer.near_misses:
        write_line(_line(result))
        write_line(Text(f"     {_why(result)}", style="dim"))


def _line(result: SearchResult) -> Text:
    event, memory = result.event, result.memory
    said_at = event.timestamp.strftime("%Y-%m-%d %H:%M")
    line = Text(f"{result.place:>3}  {result.ranked.score:.3f}  {said_at}  ")
    by = "memory" if event.is_carrier else event.speaker or event.role
    line.append(one_line(f"{by}: ", 70) + " ", style="bold")
    return line.append(one_line(memory.content if memory else event.content, _SHOWN))


def _why(result: SearchResult) -> str:
    ranked = result.ranked
    shares = {name: f" ({share:.3f} of the score)" for name, share in ranked.shares.items() if share}
    signals = [f"{name} {value:.3f}{shares.get(name, '')}" for name, value in ranked.signals.items() if value]
    arms = [f"{arm.value} arm, place {rank}" for arm, rank in ranked.candidate.arms.items()]
    return "; ".join([*signals, *arms])


def _warn(diagnostics: SearchDiagnostics) -> None:
    warn_of_missing(diagnostics.missing, by_words=diagnostics.fallback == "lexical")
    warn_of_pending(diagnostics.pending, cut=diagnostics.tail_cut)
