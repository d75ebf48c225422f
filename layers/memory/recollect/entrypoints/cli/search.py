"""`recollect search` and `recollect timeline`: what memory holds about a question, and everything that was said."""

from collections.abc import Iterator
from datetime import datetime
from enum import StrEnum
from itertools import islice
from time import perf_counter
from typing import Annotated

import typer
from rich.text import Text

from recollect.app import App
from recollect.core.event import Event, EventRef
from recollect.core.scope import Scope
from recollect.core.time import utc_now
from recollect.entrypoints.cli.commands import AsJson, Explain
from recollect.entrypoints.cli.console import (
    one_line,
    pages,
    printable,
    required_text,
    say,
    warn_of_missing,
    warn_of_pending,
    write_each,
    write_json,
    write_line,
)
from recollect.entrypoints.cli.narrowing import Filtered, Narrowing, Since, Until
from recollect.entrypoints.http.representations import MOST_DAYS, event_json
from recollect.entrypoints.http.routes.retrieval import INTENT, NEAR_MISSES, Took, intent_shown, search_shown
from recollect.intent.retrieve import IntentAnswer, IntentQuestion
from recollect.memories.representation import replacement_note
from recollect.memories.storage import memory_json
from recollect.retrieval.filters import TimeWindow
from recollect.retrieval.pipeline import RecallRequest
from recollect.retrieval.ranking import Mode
from recollect.retrieval.reasons import RELATED
from recollect.retrieval.search import SearchAnswer, SearchDiagnostics, SearchResult
from recollect.timeline.timeline import WindowQuery

_TOP_K, _TOP_K_SEMANTIC = 10, 3
_SHOWN = 400
_PAGE = 200


class SearchMode(StrEnum):
    """The modes of the HTTP surface."""

    HYBRID = Mode.HYBRID.value
    SEMANTIC = Mode.SEMANTIC.value
    LEXICAL = Mode.LEXICAL.value
    INTENT = INTENT


def search(
    app: App,
    query: str,
    scope: Scope,
    mode: Annotated[SearchMode, typer.Option(help="How to rank.")] = SearchMode.HYBRID,
    top_k: Annotated[int | None, typer.Option(min=1, max=100, help="How many; 10, in semantic mode 3.")] = None,
    min_similarity: Annotated[
        float | None, typer.Option(min=-1, max=1, help="Least similarity; in semantic mode 0.7, which means related.")
    ] = None,
    conversation: Annotated[str | None, typer.Option(help="Only this conversation.")] = None,
    wanted: Filtered = None,
    since: Since = None,
    until: Until = None,
    last_days: Annotated[
        float | None, typer.Option(min=0, max=MOST_DAYS, help="Days back; 14 by default in intent mode.")
    ] = None,
    space: Annotated[str | None, typer.Option(help="The active space; only by intent.")] = None,
    rerank: Annotated[
        bool, typer.Option(help="In hybrid mode a second stage reads the best hits: better, and 0.2 s more.")
    ] = True,
    explain: Explain = False,
    as_json: AsJson = False,
) -> None:
    """Searches a user's memory; with --json it is the answer of `POST /v1/search`."""
    semantic, now, started = mode is SearchMode.SEMANTIC, utc_now(), perf_counter()
    filters = Narrowing(wanted, since, until, last_days).filters(now, conversation)
    text = required_text(query, "the query")
    if mode is SearchMode.INTENT:
        asked = IntentQuestion(text=text, filters=filters, active_space_id=space, wanted=top_k or _TOP_K)
        _by_intent(app, scope, asked, explain, as_json)
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
        rerank=rerank and mode is SearchMode.HYBRID,
    )
    answer = app.retrieval.memory.search(scope, request)
    explained = text if explain else None
    if as_json:
        took = Took.since(started, app.rules.resolved(scope.tenant))
        write_json(search_shown(answer, explained, took).document())
    else:
        _show(answer, explained)
        _show_near_misses(answer, text)
    _warn(answer.diagnostics)


def _by_intent(app: App, scope: Scope, asked: IntentQuestion, explain: bool, as_json: bool) -> None:
    started, rules = perf_counter(), app.rules.resolved(scope.tenant)
    answer = app.intent.retrieve(scope, asked, rules)
    explained = asked.text if explain else None
    if as_json:
        write_json(intent_shown(answer, explained, Took.since(started, rules)).document())
    else:
        _show(answer, explained)
    if answer.fallback is not None:
        say(f"the newest records, not by intent: {answer.fallback.value.replace('_', ' ')}")
    if answer.suggestion is not None:
        say(answer.suggestion)


def _show(answer: SearchAnswer | IntentAnswer, asked: str | None) -> None:
    for result in answer.results:
        write_line(_line(result))
        note = replacement_note(result.replaces)
        if note is not None:
            write_line(Text(f"     {note}", style="dim"))
        if asked is not None:
            write_line(Text(f"     {_why(result, asked)}", style="dim"))
    if not answer.results:
        say("nothing found")


def _show_near_misses(answer: SearchAnswer, asked: str) -> None:
    if answer.near_misses:
        write_line(Text("near misses, which are no results:", style="dim"))
    for result in answer.near_misses:
        write_line(_line(result))
        write_line(Text(f"     {_why(result, asked)}", style="dim"))


def _line(result: SearchResult) -> Text:
    event, memory = result.event, result.memory
    said_at = event.timestamp.strftime("%Y-%m-%d %H:%M")
    line = Text(f"{result.place:>3}  {result.ranked.score:.3f}  {said_at}  ")
    by = "memory" if event.is_carrier else event.speaker or event.role
    line.append(one_line(f"{by}: ", 70) + " ", style="bold")
    return line.append(one_line(memory.content if memory else event.content, _SHOWN))


def _why(result: SearchResult, asked: str) -> str:
    ranked = result.ranked
    shares = {name: f" ({share:.3f} of the score)" for name, share in ranked.shares.items() if share}
    signals = [f"{name} {value:.3f}{shares.get(name, '')}" for name, value in ranked.signals.items() if value]
    arms = [f"{arm.value} arm, place {rank}" for arm, rank in ranked.candidate.arms.items()]
    return f"{one_line(result.because(asked), _SHOWN)} {'; '.join([*signals, *arms])}"


def _warn(diagnostics: SearchDiagnostics) -> None:
    warn_of_missing(diagnostics.missing, by_words=diagnostics.fallback == "lexical")
    warn_of_pending(diagnostics.pending, cut=diagnostics.tail_cut)


def timeline(
    app: App,
    scope: Scope,
    conversation: Annotated[str | None, typer.Option(help="Only this conversation.")] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="How many at most; absent: all.")] = None,
    ids: Annotated[bool, typer.Option("--ids", help="Show each event's id before it.")] = False,
    as_json: AsJson = False,
    camel_case: Annotated[bool, typer.Option(help="With --json: the names other stores use, such as userId.")] = False,
) -> None:
    """Prints the timeline, newest first; with --json as JSON Lines, which `recollect import` reads."""
    shape = memory_json if camel_case else event_json
    shown = islice(walk(app, scope, conversation), limit)
    write_each("events", shown, as_json, shape, lambda one: write_line(_event_line(one, ids)))


def walk(app: App, scope: Scope, conversation_id: str | None = None) -> Iterator[Event]:
    """Every event of the scope, newest first, a page of 200 in memory."""
    now = utc_now()
    for page in pages(lambda after: app.timeline.listing.window(scope, _query(now, conversation_id, after))):
        yield from page.events


def _query(now: datetime, conversation_id: str | None, after: EventRef | None) -> WindowQuery:
    return WindowQuery(now=now, window=TimeWindow(), limit=_PAGE, conversation_id=conversation_id, after=after)


def _event_line(event: Event, with_id: bool) -> Text:
    line = Text(f"{event.id}  " if with_id else "", style="dim")
    line.append(event.timestamp.strftime("%Y-%m-%d %H:%M  "), style="dim")
    line.append(one_line(f"{event.speaker or event.role}: ", 70) + " ", style="bold")
    return line.append(" ".join(printable(event.content).split()), style="not dim")
