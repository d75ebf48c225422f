"""`recollect search`: what memory holds about a question, best first."""

from datetime import UTC, datetime
from typing import Annotated

import typer
from rich.text import Text

from recollect.application.recalled import RecallRequest
from recollect.application.search_memory import SearchAnswer, SearchDiagnostics, SearchResult
from recollect.domain.filters import SearchFilters
from recollect.domain.ranking import Mode
from recollect.entrypoints.cli.console import one_line, say, write_json, write_line
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
from recollect.entrypoints.cli.shapes import search_shape

_TOP_K, _TOP_K_SEMANTIC, _SEMANTIC_FLOOR = 10, 3, 0.7
_SHOWN = 400


def search(
    query: str,
    user: User,
    mode: Annotated[Mode, typer.Option(help="How to rank.")] = Mode.HYBRID,
    top_k: Annotated[int | None, typer.Option(min=1, max=100, help="How many; 10, in semantic mode 3.")] = None,
    min_similarity: Annotated[float | None, typer.Option(min=-1, max=1, help="Least cosine.")] = None,
    conversation: Annotated[str | None, typer.Option(help="Only this conversation.")] = None,
    persona: Persona = None,
    household: Household = None,
    tenant: Tenant = LOCAL_TENANT,
    explain: Explain = False,
    as_json: AsJson = False,
) -> None:
    """Searches a user's memory."""
    scope = scope_of(user, persona, household, tenant)
    semantic = mode is Mode.SEMANTIC
    request = RecallRequest(
        text=required_text(query, "the query"),
        vector=None,
        mode=mode,
        filters=SearchFilters(now=datetime.now(UTC), conversation_id=conversation),
        count=True,
        wanted=top_k or (_TOP_K_SEMANTIC if semantic else _TOP_K),
        min_similarity=_SEMANTIC_FLOOR if semantic and min_similarity is None else min_similarity,
    )
    with opened() as app:
        answer = app.search(scope, request)
    if as_json:
        write_json(search_shape(answer, explain))
    else:
        _show(answer, explain)
    _warn(answer.diagnostics)


def _show(answer: SearchAnswer, explain: bool) -> None:
    for result in answer.results:
        write_line(_line(result))
        if explain:
            write_line(Text(f"     {_why(result)}", style="dim"))
    if not answer.results:
        say("nothing found")


def _line(result: SearchResult) -> Text:
    event, memory = result.event, result.memory
    said_at = event.timestamp.strftime("%Y-%m-%d %H:%M")
    line = Text(f"{result.place:>3}  {result.ranked.score:.3f}  {said_at}  ")
    by = "memory" if event.is_carrier else event.speaker or event.role
    line.append(one_line(f"{by}: ", 70) + " ", style="bold")
    return line.append(one_line(memory.content if memory else event.content, _SHOWN))


def _why(result: SearchResult) -> str:
    ranked = result.ranked
    signals = [f"{name} {value:.3f}" for name, value in ranked.signals.items() if value]
    arms = [f"{arm.value} arm, place {rank}" for arm, rank in ranked.candidate.arms.items()]
    return "; ".join([*signals, *arms])


def _warn(diagnostics: SearchDiagnostics) -> None:
    if diagnostics.fallback == "lexical":
        say(f"no embedding model: {WORDS_ALONE}; `recollect init` builds it, `recollect doctor` says more")
    elif diagnostics.missing:
        say(f"did not answer: {', '.join(diagnostics.missing)}; `recollect doctor` says more")
    if diagnostics.tail_cut:
        say("more than 100 events wait to be projected; of those, search sees the newest 100")
