"""`recollect eval`: how much of the evidence the default search finds, on a data set of turns with gold questions.

It goes through the use case behind `POST /v1/search` as that endpoint calls it by default; only `top_k` is the largest
k asked for. Everything happens in a folder that is gone afterwards.
"""

import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from statistics import median
from typing import Annotated, Any, TypeVar

import typer

from recollect.app import App
from recollect.core.errors import InvalidInput
from recollect.core.scope import Scope
from recollect.core.vectors import TextKind
from recollect.entrypoints.cli.console import counting_progress, say, write_json, write_line
from recollect.entrypoints.cli.evaluate_talk import ask_talks, write_talk_json, write_talk_table
from recollect.entrypoints.cli.ingestion import Ingestion
from recollect.entrypoints.cli.opening import ensure_model, opened, settings_of_environment, without_model
from recollect.entrypoints.cli.options import LOCAL_TENANT, AsJson
from recollect.entrypoints.worker import count_pending, drain
from recollect.importing.drafts import Dating, PlacedDraft, drafts_of
from recollect.importing.gold_questions import read_questions
from recollect.importing.natural_talk import Talk, read_talks
from recollect.importing.reading import ExportFile, read_entries
from recollect.retrieval.evaluation import GoldQuestion, recall_by_category
from recollect.retrieval.filters import SearchFilters
from recollect.retrieval.pipeline import RecallRequest
from recollect.retrieval.ranking import Mode
from recollect.settings import Settings

TURNS_FILE, QUESTIONS_FILE = "turns.jsonl", "questions.jsonl"
_MOST = 100
T = TypeVar("T")
_P95 = 0.95


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
    with (
        tempfile.TemporaryDirectory(prefix="recollect-eval-") as folder,
        opened(replace(_settings_here(), home=Path(folder))) as app,
    ):
        _put_in(app, conversations)
        seconds = _Seconds()
        found = _ask(app, questions, {name: _last(turns) for name, turns in conversations.items()}, max(cuts), seconds)
        encoder = app.parts.embedder.generation if app.parts.embedder else "none: by words alone"
    table = recall_by_category(questions, found, cuts)
    (_write_json if as_json else _write_table)(table, questions, seconds, encoder)


def _evaluate_talks(talks: Sequence[Talk], as_json: bool) -> None:
    with (
        tempfile.TemporaryDirectory(prefix="recollect-eval-") as folder,
        opened(replace(_settings_here(), home=Path(folder))) as app,
    ):
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
    """What is read from the file; its name stands before what is wrong with it."""
    if not file.is_file():
        raise InvalidInput(f"there is no file {file}")
    try:
        return read(file)
    except InvalidInput as error:
        raise InvalidInput(f"{file}: {error}") from error


def _check(questions: Sequence[GoldQuestion], conversations: Mapping[str, Sequence[PlacedDraft]]) -> None:
    """Before anything is stored: each question has its conversation, and gold turns are told that none of it has."""
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


def _settings_here() -> Settings:
    given = settings_of_environment()
    settings = replace(given, engines="local", projector="on")
    return settings if ensure_model(given) else without_model(settings)


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
        indexed = bar.add_task("indexing", total=count_pending(app))
        drained = drain(app, lambda count: bar.advance(indexed, count))
    for kind in drained.failures | drained.noted:
        say(f"not everything could be indexed: {kind}")


def _last(turns: Sequence[PlacedDraft]) -> datetime:
    return max(turn.draft.timestamp for turn in turns if turn.draft.timestamp is not None)


def _ask(
    app: App, questions: Sequence[GoldQuestion], asked_at: Mapping[str, datetime], wanted: int, seconds: _Seconds
) -> list[list[str]]:
    """The turn ids that each question's search finds, best first."""
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
        app.parts.embedder.encode([question.text], TextKind.QUERY)
    encoded = time.perf_counter()
    request = RecallRequest(
        text=question.text,
        vector=None,
        mode=Mode.HYBRID,
        filters=SearchFilters(now=now),
        wanted=wanted,
        count=True,
    )
    answer = app.retrieval.search(Scope(LOCAL_TENANT, question.conversation_id), request)
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
    """Of a search, encoding included, and of one encoding of its question."""
    return {"search": _quantiles(seconds.search), "encoding alone": _quantiles(seconds.encoding)}


def _quantiles(seconds: Sequence[float]) -> dict[str, float]:
    ordered = sorted(seconds)
    last = ordered[min(len(ordered) - 1, round(_P95 * (len(ordered) - 1)))]
    return {"p50_ms": round(1000 * median(ordered), 2), "p95_ms": round(1000 * last, 2)}
