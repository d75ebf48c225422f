"""`recollect demo`: five weeks of a conversation go in, the context of the next model call comes out, with reasons.

Everything happens in a folder that is gone afterwards, at an instant that is always the same.
"""

import json
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib.resources import files

from rich.rule import Rule

from recollect.app import App
from recollect.context.sources import ContextQuestion
from recollect.core.event import Role
from recollect.core.scope import Scope
from recollect.core.time import parse_instant
from recollect.entrypoints.cli.console import counting_progress, data_console, passing_app, say, write_line
from recollect.entrypoints.cli.context import ask, request_of, show_prompt, show_receipt
from recollect.entrypoints.cli.import_file import Ingestion, index_all, say_what_failed
from recollect.importing.turns import Place, PlacedDraft
from recollect.retrieval.filters import SearchFilters
from recollect.timeline.record import EventDraft

SCOPE = Scope("local", "mara")
NOW = datetime(2025, 3, 13, 18, 30, tzinfo=UTC)
_AT_ONCE = 8  # turns in a call: as in use, and so that the bar moves
QUESTIONS = (
    "Where do I live now, and where can I run there?",
    "Noor comes to dinner on Saturday. What can I cook, with her tastes and my allergy in mind?",
    "What did Dr. Okafor say about my knee, and when do I see her next?",
)


def demo() -> None:
    """Shows the whole of it on a bundled conversation: ingest, three questions, each with its context and receipt."""
    with passing_app("recollect-demo-") as app:
        _put_in(app)
        for number, question in enumerate(QUESTIONS, start=1):
            _ask(app, number, question)
    say("Next: `recollect import FILE --user you` for your own chats, `recollect serve` for the HTTP API.")


def _put_in(app: App) -> None:
    turns = list(conversation())
    first, last = (turns[end].draft.timestamp for end in (0, -1))
    write_line(f"Mara and her companion, {len(turns)} turns from {first:%B %d} to {last:%B %d, %Y}.")
    started = time.perf_counter()
    with counting_progress() as bar:
        stored = bar.add_task("storing", total=len(turns))
        ingestion = Ingestion(app, SCOPE, clock=lambda: NOW, batch_turns=_AT_ONCE)
        ingestion.run(turns, lambda _, count: bar.update(stored, completed=count))
        drained = index_all(app, bar, clock=lambda: NOW)
    say_what_failed(drained)
    say(f"{len(turns)} turns durable and indexed in {time.perf_counter() - started:.1f} s ({_encoder(app)})")


def _encoder(app: App) -> str:
    embedder = app.parts.embedder
    return embedder.generation if embedder else "no embedding model: by words alone"


def _ask(app: App, number: int, question: str) -> None:
    console = data_console()
    console.print()
    console.print(Rule(f"Question {number}", align="left"))
    answer = ask(app, SCOPE, request_of(ContextQuestion(text=question, filters=SearchFilters(now=NOW))))
    show_prompt(answer)
    show_receipt(answer)


def conversation() -> Iterator[PlacedDraft]:
    """The bundled turns, in the order said."""
    text = files("recollect.entrypoints.cli").joinpath("demo_conversation.jsonl").read_text("utf-8")
    for number, line in enumerate(text.splitlines(), start=1):
        turn = json.loads(line)
        draft = EventDraft(
            content=turn["text"],
            role=Role(turn["role"]),
            timestamp=parse_instant(turn["at"]),
            key=turn.get("key"),
            metadata={"source_id": f"turn-{number}"},
        )
        yield PlacedDraft(Place(f"line {number}", 0), turn["conversation"], draft)
