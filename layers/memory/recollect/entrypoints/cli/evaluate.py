"""`recollect eval`: how much of the evidence the default search finds; on natural talk, what context and search show.

Every question goes through the use cases behind `POST /v1/search` and `POST /v1/context` with the defaults of those
endpoints; only `top_k` is the largest k asked for. A question of a talk is asked in a new conversation, when the turns
up to its time are in and projected, and is not stored. Everything happens in a folder that is gone afterwards.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from pathlib import Path
from statistics import median
from typing import Annotated, Any, TypeVar

import typer

from recollect.app import App
from recollect.context.build import ContextRequest
from recollect.context.rendering import fence_for
from recollect.context.selection import Selected
from recollect.context.sources import ContextQuestion
from recollect.core.errors import InvalidInput
from recollect.core.scope import Scope
from recollect.core.vectors import TextKind
from recollect.entrypoints.cli.commands import LOCAL_TENANT, AsJson
from recollect.entrypoints.cli.console import counting_progress, passing_app, say, write_json, write_line
from recollect.entrypoints.cli.import_file import Ingestion, index_all, say_what_failed
from recollect.entrypoints.worker import drain
from recollect.importing.gold_data import Talk, read_questions, read_talks
from recollect.importing.reading import ExportFile, read_entries
from recollect.importing.turns import Dating, PlacedDraft, drafts_of
from recollect.memories.memory import MemoryStatus
from recollect.retrieval.evaluation import (
    ContextQuality,
    GoldQuestion,
    SearchQuality,
    Shown,
    ShownLine,
    TalkQuestion,
    context_quality,
    recall_by_category,
    search_quality,
)
from recollect.retrieval.filters import SearchFilters
from recollect.retrieval.pipeline import RecallRequest
from recollect.retrieval.ranking import Mode
from recollect.retrieval.search import SearchResult

TURNS_FILE, QUESTIONS_FILE = "turns.jsonl", "questions.jsonl"
_MOST = 100
T = TypeVar("T")
_P95 = 0.95
CUTS = (3, 10)
_MOST_TURNS = 5_000
_FENCE = fence_for("0" * 32)


@dataclass(slots=True)
class _Seconds:
    """What the calls took, one by one: the search with its encoding, and one encoding of the same question alone."""

    search: list[float] = field(default_factory=list)
    encoding: list[float] = field(default_factory=list)


def evaluate(
    data: Annotated[Path, typer.Argument(help="Folder with turns.jsonl and questions.jsonl, or with talks as *.json.")],
    k: Annotated[str, typer.Option(help="At which places recall is told.")] = "5,10,25,50",
    as_json: AsJson = False,
) -> None:
    """Evidence recall of the default search on DATA, by category, with the times of searching and of encoding.

    Each conversation is a user of its own; a question is asked of its conversation, at the time of its last turn.
    A folder of talks (*.json: turns with times, questions with what each needs and what is stale by then) is evaluated
    by what context and search show for each question at its time.
    """
    cuts = _cuts(k)
    if not (data / TURNS_FILE).exists() and (talks := read_talks(data)):
        _evaluate_talks(talks, as_json)
        return
    questions = _naming(data / QUESTIONS_FILE, read_questions)
    conversations = _naming(data / TURNS_FILE, _conversations)
    _check(questions, conversations)
    with passing_app("recollect-eval-") as app:
        _put_in(app, conversations)
        seconds = _Seconds()
        found = _ask(app, questions, {name: _last(turns) for name, turns in conversations.items()}, max(cuts), seconds)
        encoder = app.parts.embedder.generation if app.parts.embedder else "none: by words alone"
    table = recall_by_category(questions, found, cuts)
    (_write_json if as_json else _write_table)(table, questions, seconds, encoder)


def _evaluate_talks(talks: Sequence[Talk], as_json: bool) -> None:
    with passing_app("recollect-eval-") as app:
        answers = ask_talks(app, talks)
    (write_talk_json if as_json else write_talk_table)(answers)


def _cuts(text: str) -> list[int]:
    try:
        cuts = sorted({int(part) for part in text.split(",")})
    except ValueError:
        raise InvalidInput("--k: numbers with commas between them, such as 5,10") from None
    if not 1 <= cuts[0] <= cuts[-1] <= _MOST:
        raise InvalidInput(f"--k: from 1 to {_MOST}")
    return cuts


def _naming(file: Path, read: Callable[[Path], T]) -> T:
    """What `read` makes of the file; its errors begin with the file's name."""
    if not file.is_file():
        raise InvalidInput(f"there is no file {file}")
    try:
        return read(file)
    except InvalidInput as error:
        raise InvalidInput(f"{file}: {error}") from error


def _check(questions: Sequence[GoldQuestion], conversations: Mapping[str, Sequence[PlacedDraft]]) -> None:
    """Checks before anything is stored that each question has its conversation; names gold turns that are in none."""
    turns = {name: {t.draft.metadata.get("source_id") for t in own} for name, own in conversations.items()}
    for question in questions:
        if question.conversation_id not in turns:
            raise InvalidInput(f"no turn belongs to the conversation {question.conversation_id!r}")
    gold = sum(len(question.evidence) for question in questions)
    absent = sum(len(question.evidence - turns[question.conversation_id]) for question in questions)
    if absent == gold:
        fault = f"`evidence` names no `turn_id` of {TURNS_FILE}" if gold else "the file is empty"
        raise InvalidInput(f"{QUESTIONS_FILE}: {fault}")
    if absent:
        say(f"{absent} of {gold} gold turns are in no conversation asked about: they count as not found")


def _conversations(file: Path) -> dict[str, list[PlacedDraft]]:
    """The turns of each conversation. Raises InvalidInput for one that cannot be stored."""
    found: dict[str, list[PlacedDraft]] = {}
    for entry in drafts_of(Dating()(read_entries(ExportFile(path=file)))):
        if not isinstance(entry, PlacedDraft):
            raise InvalidInput(f"{entry.place.label} is no turn")
        found.setdefault(entry.conversation_id, []).append(entry)
    return found


def _put_in(app: App, conversations: Mapping[str, Sequence[PlacedDraft]]) -> None:
    with counting_progress() as bar:
        stored = bar.add_task("storing", total=sum(map(len, conversations.values())))
        for name, turns in conversations.items():
            Ingestion(app, Scope(LOCAL_TENANT, name)).run(turns, lambda _place, _count: None)
            bar.advance(stored, len(turns))
        drained = index_all(app, bar)
    say_what_failed(drained)


def _last(turns: Sequence[PlacedDraft]) -> datetime:
    return max(turn.draft.timestamp for turn in turns if turn.draft.timestamp is not None)


def _ask(
    app: App, questions: Sequence[GoldQuestion], asked_at: Mapping[str, datetime], wanted: int, seconds: _Seconds
) -> list[list[str]]:
    found = []
    with counting_progress() as bar:
        task = bar.add_task("asking", total=len(questions))
        for question in questions:
            found.append(_search(app, question, asked_at[question.conversation_id], wanted, seconds))
            bar.advance(task)
    return found


def _search(app: App, question: GoldQuestion, now: datetime, wanted: int, seconds: _Seconds) -> list[str]:
    began = time.perf_counter()
    if app.parts.embedder is not None:
        app.parts.embedder.encode([question.text], TextKind.QUESTION)
    encoded = time.perf_counter()
    request = RecallRequest(
        text=question.text,
        vector=None,
        mode=Mode.HYBRID,
        filters=SearchFilters(now=now),
        wanted=wanted,
        count=True,
    )
    answer = app.retrieval.memory.search(Scope(LOCAL_TENANT, question.conversation_id), request)
    seconds.search.append(time.perf_counter() - encoded)
    seconds.encoding.append(encoded - began)
    return [str(result.event.metadata.get("source_id")) for result in answer.results]


def _write_table(
    table: Mapping[str, Mapping[int, float]], questions: Sequence[GoldQuestion], seconds: _Seconds, encoder: str
) -> None:
    counts = {name: sum(1 for q in questions if name in ("all", q.category)) for name in table}
    width = max(map(len, table))
    write_line(f"{'evidence recall':{width}}  questions" + "".join(f"{f'@{k}':>7}" for k in table["all"]))
    for name, recalls in table.items():
        figures = "".join(f"{recall:7.3f}" for recall in recalls.values())
        write_line(f"{name:{width}}  {counts[name]:9}{figures}")
    for name, times in _times(seconds).items():
        write_line(f"{name}: p50 {times['p50_ms']:.1f} ms, p95 {times['p95_ms']:.1f} ms")
    write_line(f"embedder: {encoder}")


def _write_json(
    table: Mapping[str, Mapping[int, float]], questions: Sequence[GoldQuestion], seconds: _Seconds, encoder: str
) -> None:
    recalls = {name: {str(k): round(recall, 4) for k, recall in row.items()} for name, row in table.items()}
    write_json({"questions": len(questions), "recall": recalls, "times": _times(seconds), "embedder": encoder})


def _times(seconds: _Seconds) -> dict[str, dict[str, Any]]:
    return {"search": _quantiles(seconds.search), "encoding alone": _quantiles(seconds.encoding)}


def _quantiles(seconds: Sequence[float]) -> dict[str, float]:
    ordered = sorted(seconds)
    last = ordered[min(len(ordered) - 1, round(_P95 * (len(ordered) - 1)))]
    return {"p50_ms": round(1000 * median(ordered), 2), "p95_ms": round(1000 * last, 2)}


@dataclass(slots=True)
class TalkAnswers:
    """What context, search and search with `rerank` showed, question by question."""

    questions: list[TalkQuestion] = field(default_factory=list)
    messages: list[Shown] = field(default_factory=list)
    prompts: list[Shown] = field(default_factory=list)
    found: list[Shown] = field(default_factory=list)
    reranked: list[Shown] = field(default_factory=list)


def ask_talks(app: App, talks: Sequence[Talk]) -> TalkAnswers:
    """Puts each talk in, as one user's, and asks its questions on the way."""
    answers = TalkAnswers()
    with counting_progress() as bar:
        task = bar.add_task("asking", total=sum(len(talk.questions) for talk in talks))
        for talk in talks:
            for question in as_time_goes(app, talk):
                _ask_talk(app, Scope(LOCAL_TENANT, talk.id), question, answers)
                bar.advance(task)
    return answers


def as_time_goes(app: App, talk: Talk) -> Iterator[TalkQuestion]:
    """Each question, when the turns up to its time are in and projected."""
    scope, stored = Scope(LOCAL_TENANT, talk.id), 0
    for question in talk.questions:
        due = [one for one in talk.drafts[stored:] if one.draft.timestamp and one.draft.timestamp <= question.at]
        _put_in_turns(app, scope, due, question.at)
        stored += len(due)
        yield question


def _ask_talk(app: App, scope: Scope, question: TalkQuestion, answers: TalkAnswers) -> None:
    filters = SearchFilters(now=question.at)
    asked = ContextQuestion(text=question.text, filters=filters, conversation_id=f"question-{question.id}")
    context = app.context.model_call.build(
        scope, ContextRequest(question=asked, fence=_FENCE), app.rules.resolved(scope.tenant)
    )
    request = RecallRequest(text=question.text, vector=None, mode=Mode.HYBRID, filters=filters, wanted=max(CUTS))
    turn_of = turn_ids(app, scope)
    answers.questions.append(question)
    answers.messages.append(_shown(context.messages.parts.memories, context.messages.tokens, turn_of))
    answers.prompts.append(_shown(context.prompt.memories, context.prompt.tokens, turn_of))
    for rerank, shown in ((False, answers.found), (True, answers.reranked)):
        found = app.retrieval.memory.search(scope, replace(request, rerank=rerank)).results
        shown.append(Shown(tuple(_line_of(one, turn_of) for one in found)))


def _put_in_turns(app: App, scope: Scope, due: Sequence[PlacedDraft], now: datetime) -> None:
    Ingestion(app, scope, clock=lambda: now).run(due, lambda _place, _count: None)
    drain(app, lambda _count: None)


def turn_ids(app: App, scope: Scope) -> dict[str, str]:
    stored = app.parts.timeline.newest(scope, _MOST_TURNS)
    return {event.id: str(event.metadata.get("source_id")) for event in stored}


def _shown(memories: Iterable[Selected], tokens: int, turn_of: Mapping[str, str]) -> Shown:
    """A line is marked where it says what may have changed it, or which of its words have ended."""
    marked = ((one, one.item.doubted_at is not None or bool(one.item.ended or one.item.in_doubt)) for one in memories)
    lines = (_line(one.item.source_event_ids, turn_of, mark) for one, mark in marked)
    return Shown(tuple(lines), tokens)


def _line(event_ids: Iterable[str], turn_of: Mapping[str, str], marked: bool = False) -> ShownLine:
    return ShownLine(frozenset(turn_of[i] for i in event_ids if i in turn_of), marked)


def _line_of(result: SearchResult, turn_of: Mapping[str, str]) -> ShownLine:
    memory = result.memory
    marked = memory is not None and memory.status is not MemoryStatus.ACTIVE
    return _line(memory.source_event_ids if memory else (result.event.id,), turn_of, marked)


def write_talk_table(answers: TalkAnswers) -> None:
    """One row a kind of question for the messages of a context, then the prompt and both searches in all."""
    messages = context_quality(answers.questions, answers.messages)
    width = max(map(len, [*messages, "context, messages"]))
    write_line(f"{'context, messages':{width}}  questions  right misled  stale precise  lines tokens")
    for kind, one in messages.items():
        write_line(f"{kind:{width}}  {_context_row(one)}")
    prompt = context_quality(answers.questions, answers.prompts)["all"]
    write_line(f"{'prompt, all':{width}}  {_context_row(prompt)}")
    write_line(f"{'search':{width}}  questions" + "".join(f"{f'@{k}':>7}" for k in CUTS) + "  stale first")
    for kind, found in search_quality(answers.questions, answers.found, CUTS).items():
        write_line(f"{kind:{width}}  {_found_row(found)}")
    reranked = search_quality(answers.questions, answers.reranked, CUTS)["all"]
    write_line(f"{'rerank, all':{width}}  {_found_row(reranked)}")


def _found_row(found: SearchQuality) -> str:
    figures = "".join(f"{_figure(found.right_at[k]):>7}" for k in CUTS)
    return f"{found.questions:9}{figures}{_figure(found.stale_first):>13}"


def _context_row(one: ContextQuality) -> str:
    shares = "".join(f"{_figure(share):>7}" for share in (one.right, one.misled, one.stale))
    return f"{one.questions:9}{shares}{_figure(one.precise):>8}{one.lines:7.1f}{one.tokens:7.0f}"


def _figure(share: float | None) -> str:
    return "–" if share is None else f"{share:.3f}"


def write_talk_json(answers: TalkAnswers) -> None:
    """The same figures as a document."""
    search, reranked = (
        {kind: _search_row(one) for kind, one in search_quality(answers.questions, shown, CUTS).items()}
        for shown in (answers.found, answers.reranked)
    )
    write_json(
        {
            "messages": _rounded(context_quality(answers.questions, answers.messages)),
            "prompt": _rounded(context_quality(answers.questions, answers.prompts)),
            "search": search,
            "search_reranked": reranked,
        }
    )


def _rounded(qualities: Mapping[str, ContextQuality]) -> dict[str, dict[str, Any]]:
    return {kind: {name: _round(value) for name, value in asdict(one).items()} for kind, one in qualities.items()}


def _search_row(one: SearchQuality) -> dict[str, Any]:
    at = {f"right_at_{k}": _round(share) for k, share in one.right_at.items()}
    return {"questions": one.questions, **at, "stale_first": _round(one.stale_first)}


def _round(share: float | None) -> float | None:
    return None if share is None else round(share, 4)
