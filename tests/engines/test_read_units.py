"""What a search, a context and a message take of the table, in AWS's units, for a user of a thousand messages."""

import random
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

import pytest

from engines.conftest import Deployment, on_both, on_the_domain
from infra.tools.bench import aws_calls
from infra.tools.bench.aws_calls import Counter, counted
from infra.tools.bench.engines import dynamodb_of, search_client_of, store_without_transactions
from recollect.adapters.aws.index_documents import PACKED_AFTER
from recollect.adapters.embedders.hashing import HashingEmbedder
from recollect.contracts.examples import NOW, a_write, an_event
from recollect.core.learned_share import LearnedShare, LearnedShares
from recollect.core.scope import Scope
from recollect.core.time import utc_now
from recollect.core.vectors import FloatArray, TextKind
from recollect.retrieval.pipeline import MOST_WISHES
from recollect.search_index.page import index_document
from recollect.timeline.timeline import PendingEvent, Projection

pytestmark = pytest.mark.engines

MESSAGES, AT_ONCE = 1000, 100
WISH = "Two lines at most, always"
THINGS = ("dog", "boat", "garden", "violin", "sister", "bakery", "museum", "train", "kitchen", "letter")
QUESTIONS = ("what about the dog and the boat", "who plays the violin in the garden", "hello")


def a_long_life(deployment: Deployment, count: int, start: int = 0) -> None:
    """Every fourth message is an important one; all are indexed."""
    parts: Any = deployment.app.parts
    scope, chance = Scope("acme", "anna"), random.Random(21 + start)
    said = [
        f"{n} of {' and the '.join(chance.sample(THINGS, 3))}, {' '.join(chance.choices(THINGS, k=30))}"
        for n in range(start, start + count - MOST_WISHES)
    ]
    said += [f"{WISH} x{n}" for n in range(start, start + MOST_WISHES)]
    events = [
        an_event(scope, content=text, importance=0.7 if n % 4 == 0 else 0.4, timestamp=NOW + timedelta(minutes=n))
        for n, text in enumerate(said, start)
    ]
    store = store_without_transactions(deployment.app)
    for first in range(0, count, AT_ONCE):
        some = events[first : first + AT_ONCE]
        vectors = [one.vector for one in parts.embedder.encode([e.passage for e in some], TextKind.PASSAGE)]
        store(scope, [a_write(scope, event) for event in some])
        generation = parts.embedder.generation
        made = [Projection(e.ref, v, generation, segment=1) for e, v in zip(some, vectors, strict=True)]
        parts.projections.save(scope, made)
        assert parts.index.put([index_document(scope, e, v) for e, v in zip(some, vectors, strict=True)]) == []


def _vector(text: str) -> FloatArray:
    return HashingEmbedder().encode([text], TextKind.PASSAGE)[0].vector


def _shown(deployment: Deployment, asked: Mapping[str, str]) -> list[str]:
    """The lines of the system message of a context."""
    answer = deployment.call("context", "POST", "/v1/context", dict(asked))
    found: str = answer.body["messages"][0]["content"]
    return found.splitlines()


@on_both
def test_a_context_reads_at_most_45_units_and_a_search_20(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On the table, while half as many documents wait as ask for packing: as many as do on average.

    What was asked for is written once a minute: before the calls that are counted. The user has told as many wishes as
    a context shows.
    """
    monkeypatch.setattr(HashingEmbedder, "learned", LearnedShares(wishes=LearnedShare(50 * _vector(WISH), -25.0)))
    a_long_life(deployment, MESSAGES)
    parts: Any = deployment.app.parts
    on_table = deployment.app.settings.search_engine == "table"
    if on_table:
        parts.index.pack(lambda: 100.0)
        a_long_life(deployment, PACKED_AFTER // 2, start=MESSAGES)
    monkeypatch.setattr(aws_calls, "HELD_SECONDS", 0.0)
    deployment.found(QUESTIONS[0])
    deployment.call(
        "context", "POST", "/v1/context", {"user_id": "anna", "input": QUESTIONS[0], "conversation_id": "c9"}
    )
    counter = Counter(dynamodb_of(deployment.app), None if on_table else search_client_of(deployment.app))
    for question in QUESTIONS:
        asked = {"user_id": "anna", "input": question, "conversation_id": "c9"}
        context = counted(counter, lambda a=asked: deployment.call("context", "POST", "/v1/context", a))  # type: ignore[misc]
        search = counted(counter, lambda q=question: deployment.found(q))  # type: ignore[misc]
        assert 20 < context["rcu"] <= 45, question
        assert sum(WISH in line for line in _shown(deployment, asked)) == MOST_WISHES
        assert 10 < search["rcu"] <= 20, question
        assert context["wcu"] == search["wcu"] == 0


@on_the_domain
def test_a_message_writes_12_units_and_is_projected_in_16_calls(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that states nothing, in a conversation that is listed: what every message costs."""
    monkeypatch.setattr(aws_calls, "HELD_SECONDS", 0.0)
    counter = Counter(dynamodb_of(deployment.app), search_client_of(deployment.app))
    parts = deployment.app.parts

    def say(text: str) -> object:
        return deployment.ingest(text, timestamp=utc_now().isoformat())

    def project(waiting: Sequence[PendingEvent]) -> None:
        report = deployment.app.projection.events.project(waiting, utc_now())
        assert (report.projected, report.failed) == (1, {})

    say("Hello there!")
    project(parts.projections.pending(10, None).markers)
    ingested = counted(counter, lambda: say("How are you?"))
    waiting = parts.projections.pending(10, None).markers
    projected = counted(counter, lambda: project(waiting))
    assert (ingested["wcu"], projected["wcu"]) == (6, 6)
    assert ingested["rcu"] <= 3
    assert projected["rcu"] <= 11
    assert projected["dynamodb_calls"] <= 16
    assert projected["opensearch_requests"] == 1
