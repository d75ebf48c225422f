"""`recollect eval` on natural talk: what context and search show for each question, at the time it was asked.

Each question goes through the use cases behind `POST /v1/context` and `POST /v1/search` with their defaults, in a new
conversation, and is not stored; the turns up to its time are in and projected.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from recollect.app import App
from recollect.context.build import ContextAnswer, ContextRequest
from recollect.context.rendering import fence_for
from recollect.context.sources import ContextQuestion
from recollect.core.scope import Scope
from recollect.entrypoints.cli.console import counting_progress, write_json, write_line
from recollect.entrypoints.cli.ingestion import Ingestion
from recollect.entrypoints.cli.options import LOCAL_TENANT
from recollect.entrypoints.worker import drain
from recollect.importing.drafts import PlacedDraft
from recollect.importing.natural_talk import Talk
from recollect.memories.memory import MemoryStatus
from recollect.retrieval.evaluation import (
    ContextQuality,
    SearchQuality,
    Shown,
    ShownLine,
    TalkQuestion,
    context_quality,
    search_quality,
)
from recollect.retrieval.filters import SearchFilters
from recollect.retrieval.pipeline import RecallRequest
from recollect.retrieval.ranking import Mode
from recollect.retrieval.search import SearchResult

CUTS = (3, 10)
_MOST_TURNS = 5_000
_FENCE = fence_for("0" * 32)


class TalkAnswers:
    """What context and search showed, question by question."""

    def __init__(self) -> None:
        self.questions: list[TalkQuestion] = []
        self.messages: list[Shown] = []
        self.prompts: list[Shown] = []
        self.found: list[Shown] = []


def ask_talks(app: App, talks: Sequence[Talk]) -> TalkAnswers:
    """Puts each talk in, as one user's, and asks its questions on the way."""
    answers = TalkAnswers()
    with counting_progress() as bar:
        task = bar.add_task("asking", total=sum(len(talk.questions) for talk in talks))
        for talk in talks:
            for question in _as_time_goes(app, talk):
                _ask(app, Scope(LOCAL_TENANT, talk.id), question, answers)
                bar.advance(task)
    return answers


def _as_time_goes(app: App, talk: Talk) -> Iterator[TalkQuestion]:
    """Each question, when the turns up to its time are in and projected."""
    scope, said = Scope(LOCAL_TENANT, talk.id), 0
    for question in talk.questions:
        due = [one for one in talk.drafts[said:] if one.draft.timestamp and one.draft.timestamp <= question.at]
        _put_in(app, scope, due, question.at)
        said += len(due)
        yield question


def _ask(app: App, scope: Scope, question: TalkQuestion, answers: TalkAnswers) -> None:
    filters = SearchFilters(now=question.at)
    asked = ContextQuestion(text=question.text, filters=filters, conversation_id=f"question-{question.id}")
    context = app.context.build(scope, ContextRequest(question=asked, fence=_FENCE), app.rules.resolved(scope.tenant))
    request = RecallRequest(text=question.text, vector=None, mode=Mode.HYBRID, filters=filters, wanted=max(CUTS))
    turn_of = _turn_ids(app, scope)
    answers.questions.append(question)
    answers.messages.append(_shown_in_messages(context, turn_of))
    answers.prompts.append(_shown_in_prompt(context, turn_of))
    answers.found.append(Shown(tuple(_line_of(one, turn_of) for one in app.retrieval.search(scope, request).results)))


def _put_in(app: App, scope: Scope, due: Sequence[PlacedDraft], now: datetime) -> None:
    Ingestion(app, scope, clock=lambda: now).run(due, lambda _place, _count: None)
    drain(app, lambda _count: None)


def _turn_ids(app: App, scope: Scope) -> dict[str, str]:
    """The turn that each stored event is, by the event's id."""
    stored = app.parts.timeline.newest(scope, _MOST_TURNS)
    return {event.id: str(event.metadata.get("source_id")) for event in stored}


def _shown_in_prompt(context: ContextAnswer, turn_of: Mapping[str, str]) -> Shown:
    items = [selected.item for selected in context.prompt.memories]
    return Shown(tuple(_line(item.source_event_ids, turn_of) for item in items), context.prompt.tokens)


def _shown_in_messages(context: ContextAnswer, turn_of: Mapping[str, str]) -> Shown:
    items = [selected.item for selected in context.messages.parts.memories]
    return Shown(tuple(_line(item.source_event_ids, turn_of) for item in items), context.messages.tokens)


def _line(event_ids: Iterable[str], turn_of: Mapping[str, str], marked: bool = False) -> ShownLine:
    return ShownLine(frozenset(turn_of[i] for i in event_ids if i in turn_of), marked)


def _line_of(result: SearchResult, turn_of: Mapping[str, str]) -> ShownLine:
    memory = result.memory
    marked = memory is not None and memory.status is not MemoryStatus.ACTIVE
    return _line(memory.source_event_ids if memory else (result.event.id,), turn_of, marked)


def write_talk_table(answers: TalkAnswers) -> None:
    """One row a kind of question for the messages of a context, then the prompt and the search in all."""
    messages = context_quality(answers.questions, answers.messages)
    width = max(map(len, messages), default=0)
    write_line(f"{'context, messages':{width}}  questions  right misled  stale precise  lines tokens")
    for kind, one in messages.items():
        write_line(f"{kind:{width}}  {_context_row(one)}")
    prompt = context_quality(answers.questions, answers.prompts)["all"]
    write_line(f"{'prompt, all':{width}}  {_context_row(prompt)}")
    write_line(f"{'search':{width}}  questions" + "".join(f"{f'@{k}':>7}" for k in CUTS) + "  stale first")
    for kind, found in search_quality(answers.questions, answers.found, CUTS).items():
        figures = "".join(f"{_figure(found.right_at[k]):>7}" for k in CUTS)
        write_line(f"{kind:{width}}  {found.questions:9}{figures}{_figure(found.stale_first):>13}")


def _context_row(one: ContextQuality) -> str:
    shares = "".join(f"{_figure(share):>7}" for share in (one.right, one.misled, one.stale))
    return f"{one.questions:9}{shares}{_figure(one.precise):>8}{one.lines:7.1f}{one.tokens:7.0f}"


def _figure(share: float | None) -> str:
    return "–" if share is None else f"{share:.3f}"


def write_talk_json(answers: TalkAnswers) -> None:
    """The same figures as a document."""
    search = search_quality(answers.questions, answers.found, CUTS)
    write_json(
        {
            "messages": _rounded(context_quality(answers.questions, answers.messages)),
            "prompt": _rounded(context_quality(answers.questions, answers.prompts)),
            "search": {kind: _search_row(one) for kind, one in search.items()},
        }
    )


def _rounded(qualities: Mapping[str, ContextQuality]) -> dict[str, dict[str, Any]]:
    return {
        kind: {k: round(v, 4) if v is not None else None for k, v in asdict(q).items()} for kind, q in qualities.items()
    }


def _search_row(one: SearchQuality) -> dict[str, Any]:
    at = {f"right_at_{k}": round(share, 4) if share is not None else None for k, share in one.right_at.items()}
    first = round(one.stale_first, 4) if one.stale_first is not None else None
    return {"questions": one.questions, **at, "stale_first": first}
