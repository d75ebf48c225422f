"""The part of `recollect import` that reads our own exports: ids, times and origins stay as they are."""

import json
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path

from recollect.app import App
from recollect.archive.record_line import is_line
from recollect.archive.transfer import ImportOrder, LineOutcome
from recollect.core.scope import Scope
from recollect.entrypoints.cli.console import counting_progress, say, write_line
from recollect.entrypoints.http.archiving import GivenPage, take_line
from recollect.entrypoints.http.event_drafts import embedding_dimension
from recollect.memories.audit import Actor, ActorKind

_AT_ONCE = 500
_NAMED = 5
_LONGEST_FIRST_LINE = 8 * 1024 * 1024


def is_export(file: Path) -> bool:
    """Whether the file's first line is one of an export of ours."""
    with file.open("rb") as stream:
        first = stream.readline(_LONGEST_FIRST_LINE)
    try:
        return is_line(json.loads(first))
    except (ValueError, RecursionError):
        return False


def import_export(app: App, scope: Scope, file: Path) -> Counter[LineOutcome]:
    """Imports the file, whose progress a bar shows; run again, what is stored is a duplicate."""
    order = ImportOrder(actor=Actor(ActorKind.USER, scope.user_id), via="import", now=datetime.now(UTC))
    counts: Counter[LineOutcome] = Counter()
    dimension = embedding_dimension(app.settings)
    named = 0
    with counting_progress() as bar:
        task = bar.add_task("importing", total=sum(1 for _ in _lines(file)))
        for first, texts in _slices(_lines(file)):
            page = GivenPage()
            for place, text in enumerate(texts, start=first):
                take_line(page, place, text, dimension)
            counts.update(app.archive.import_memories(scope, page.lines, order).counts)
            counts[LineOutcome.INVALID] += len(page.faults)
            for fault in page.faults[: max(0, _NAMED - named)]:
                say(f"invalid: line {fault['line']}: {fault['message']}")
            named += len(page.faults)
            bar.advance(task, len(texts))
    write_line(", ".join(f"{counts[outcome]} {outcome.value}" for outcome in LineOutcome))
    return counts


def _lines(file: Path) -> Iterator[str]:
    with file.open(encoding="utf-8", errors="surrogateescape", newline="\n") as stream:
        yield from stream


def _slices(lines: Iterator[str]) -> Iterator[tuple[int, list[str]]]:
    """So many lines at a time, with the number of the first; empty lines count and are left out by the reader."""
    first = 1
    while texts := list(islice(lines, _AT_ONCE)):
        yield first, texts
        first += len(texts)
