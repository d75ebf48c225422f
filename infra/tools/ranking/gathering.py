"""What a ranking learns from: questions, with the hits that the product's first stage finds for them.

The questions are those of `infra/tools/judge/talks`, further ones of these and of `infra/tools/judge/months` in
`questions`, asked at the end, and those of the data sets in `shared/data`. A group is one writer's talks or months, or
one conversation of a data set: a fold never splits one.
"""

import json
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

from infra.tools.bench.data import DataSet, load
from infra.tools.bench.ours import TENANT, OurMemory, local_variables, open_watched, passage_of
from infra.tools.bench.vectors import BenchEmbedder, StoredVectors
from infra.tools.judge.__main__ import MONTHS, TALKS
from recollect.adapters.embedders.onnx_embedder import OnnxEmbedder, pooled
from recollect.app import App
from recollect.bootstrap import open_app
from recollect.core.scope import Scope
from recollect.core.vectors import TextKind
from recollect.entrypoints.cli.commands import LOCAL_TENANT
from recollect.entrypoints.cli.evaluate import as_time_goes, turn_ids
from recollect.importing.gold_data import Talk, read_talks
from recollect.retrieval.filters import SearchFilters
from recollect.retrieval.pipeline import RecallRequest
from recollect.retrieval.ranking import Mode, Ranked
from recollect.settings import Settings

QUESTIONS = Path(__file__).with_name("questions")
_BEGIN, _BETWEEN = datetime(2025, 9, 1, 8, tzinfo=UTC), timedelta(hours=18)
"""When the messages of a month are said: they have no times of their own."""
_LATER = timedelta(hours=9)
"""So long after a message a question without a time of its own is asked."""

DATA_SETS = ("locomo-dev", "beam-dev", "madial-zh-dev")
_OF_A_QUESTION = ("question", "evidence", "stale", "kind")
_EVERY = 3
HITS = 60
"""Of each question so many are looked at."""
_FIRST_STAGE_ALONE = {"RECOLLECT_JUDGE": "none", "RECOLLECT_RERANK": "none"}


@dataclass(frozen=True, slots=True)
class Hit:
    """A hit of the first stage; `needed` and `stale` by the question's labels."""

    text: str
    ranked: Ranked
    needed: bool
    stale: bool


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with its hits, best first. `answerable`: the data knows what it needs."""

    source: str
    group: str
    question: str
    at: datetime
    hits: tuple[Hit, ...]
    answerable: bool


def of_talks(folder: Path, model: Path) -> Iterator[Asked]:
    """Each question of each talk or month that has some, asked at its time."""
    for group, talk in _with_questions(folder):
        with _app(model) as app:
            yield from _of_talk(app, talk, group, folder.name)


def of_data_set(folder: Path, model: Path, vectors: Path) -> Iterator[Asked]:
    """Each question of a data set, asked at the end of its conversation."""
    data, embedder = load(folder), pooled(OnnxEmbedder(model))
    kept = StoredVectors(vectors, embedder)
    kept.prepare([passage_of(turn) for turn in data.turns], TextKind.PASSAGE)
    kept.prepare([question.text for question in data.questions], TextKind.QUERY)
    watched = BenchEmbedder(embedder, kept)
    watched.live = False
    with tempfile.TemporaryDirectory(prefix="recollect-ranking-") as home:
        memory = OurMemory(open_watched(local_variables(Path(home), model) | _FIRST_STAGE_ALONE, watched))
        memory.load(data.turns)
        yield from _of_questions(memory, data)
        memory.close()


def of_all(data: Path, model: Path, vectors: Path, left_out: frozenset[str], *, held: bool) -> Iterator[Asked]:
    """Of all talks, months and data sets what a training learns from, or what it is held against.

    Held are the writers that are left out, and of each data set every third conversation.
    """
    for folder in (TALKS, MONTHS):
        yield from (one for one in of_talks(folder, model) if (one.group in left_out) is held)
    for name in DATA_SETS:
        found = list(of_data_set(data / name, model, vectors))
        out = set(groups(found)[::_EVERY])
        yield from (one for one in found if (one.group in out) is held)


def _with_questions(folder: Path) -> Iterator[tuple[str, Talk]]:
    """With the writer of each."""
    raws = [_asked_of(json.loads(file.read_bytes())) for file in sorted(folder.glob("*.json"))]
    writers = {raw["id"]: str(raw["writer"]) for raw in raws}
    with tempfile.TemporaryDirectory(prefix="recollect-talks-") as asked_of:
        for raw in raws:
            if raw["questions"]:
                (Path(asked_of) / f"{raw['id']}.json").write_text(json.dumps(raw), "utf-8")
        yield from ((writers[talk.id], talk) for talk in read_talks(Path(asked_of)))


def _asked_of(raw: dict[str, Any]) -> dict[str, Any]:
    """A talk, or a month as one, with the further questions."""
    turns = raw.get("turns") or _turns(raw["messages"])
    own, said = raw.get("questions", ()), {turn["id"]: datetime.fromisoformat(turn["at"]) for turn in turns}
    told = [(one, said[one["after"]] + _LATER) for one in own if "after" in one]
    told += [(one, said[turns[-1]["id"]] + _BETWEEN) for one in _further(raw["id"])]
    further = [
        {**one, "needs": "any", "id": f"{raw['id']}-{place}", "at": at.isoformat()}
        for place, (one, at) in enumerate(told)
    ]
    return {**raw, "turns": turns, "questions": [*(one for one in own if "after" not in one), *further]}


def _turns(messages: Sequence[Mapping[str, str]]) -> list[dict[str, Any]]:
    """The messages of a month as a user's turns."""
    return [
        {**one, "role": "user", "session": place, "at": (_BEGIN + place * _BETWEEN).isoformat()}
        for place, one in enumerate(messages, start=1)
    ]


def _further(talk_id: str) -> Sequence[Mapping[str, Any]]:
    return _by_talk().get(talk_id, ())


@cache
def _by_talk() -> Mapping[str, Sequence[Mapping[str, Any]]]:
    found: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for file in sorted(QUESTIONS.glob("*.jsonl")):
        for row in map(json.loads, file.read_text("utf-8").splitlines()):
            found[row["of"]].append({name: row[name] for name in _OF_A_QUESTION})
    return found


@contextmanager
def _app(model: Path) -> Iterator[App]:
    with tempfile.TemporaryDirectory(prefix="recollect-ranking-") as home:
        app = open_app(Settings.from_environment(local_variables(Path(home), model) | _FIRST_STAGE_ALONE))
        yield app
        app.parts.close()


def _of_talk(app: App, talk: Talk, group: str, source: str) -> Iterator[Asked]:
    scope = Scope(LOCAL_TENANT, talk.id)
    for question in as_time_goes(app, talk):
        turn_of = turn_ids(app, scope)
        filters = SearchFilters(now=question.at)
        hits = [
            Hit(text, ranked, bool(turns & question.evidence), bool(turns & question.stale))
            for text, ranked, turns in _found(app, scope, question.text, filters, turn_of)
        ]
        yield Asked(source, group, question.text, question.at, tuple(hits), bool(question.evidence))


def _of_questions(memory: OurMemory, data: DataSet) -> Iterator[Asked]:
    for question in data.questions:
        scope, filters = Scope(TENANT, question.conversation), SearchFilters(now=question.asked_at)
        hits = [
            Hit(text, ranked, bool(turns & question.evidence), False)
            for text, ranked, turns in _found(memory.app, scope, question.text, filters, memory.turn_ids)
        ]
        yield Asked(data.name, question.conversation, question.text, question.asked_at, tuple(hits), answerable=True)


def _found(
    app: App, scope: Scope, text: str, filters: SearchFilters, turn_of: dict[str, str]
) -> Iterator[tuple[str, Ranked, frozenset[str]]]:
    pipeline = app.retrieval.pipeline
    request = RecallRequest(text=text, vector=None, mode=Mode.HYBRID, filters=filters, wanted=HITS)
    recalled = pipeline.conclude(pipeline.begin(scope, request))
    for ranked in recalled.ranked[:HITS]:
        event_id = ranked.candidate.ref.id
        memory = recalled.memories.get(event_id)
        events = memory.source_event_ids if memory else (event_id,)
        yield recalled.text(ranked), ranked, frozenset(turn_of[one] for one in events if one in turn_of)


def groups(asked: Sequence[Asked]) -> list[str]:
    """Each once, in order."""
    return list(dict.fromkeys(one.group for one in asked))
