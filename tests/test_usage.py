"""What was asked for is counted through every door, written now and then, and names nobody."""

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from embedded.setting import ANNA, NOON, Memory, away, with_parts
from recollect.bootstrap import open_app
from recollect.context.model_call import ModelAnswer, ModelRequest
from recollect.core.errors import Unavailable
from recollect.core.scope import Scope
from recollect.memories.audit import Actor, ActorKind
from recollect.usage import CountUsage

FEBRUARY, MARCH = datetime(2026, 2, 28, 23, 59, tzinfo=UTC), datetime(2026, 3, 1, 8, tzinfo=UTC)


class Store:
    """Counts in memory; `away` while it does not answer."""

    def __init__(self) -> None:
        self.found: dict[tuple[str, date], dict[str, int]] = {}
        self.writes = 0
        self.away = False

    def add(self, tenant: str, day: date, counts: dict[str, int]) -> None:
        """As the port's."""
        if self.away:
            raise Unavailable("not now")
        self.writes += 1
        there = self.found.setdefault((tenant, day), {})
        for kind, count in counts.items():
            there[kind] = there.get(kind, 0) + count

    def days(self, tenant: str) -> dict[date, dict[str, int]]:
        """As the port's."""
        return {day: counts for (whose, day), counts in self.found.items() if whose == tenant}


class Clock:
    """A clock that a test sets."""

    now = MARCH

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def counting() -> tuple[CountUsage, Store, Clock]:
    store, clock = Store(), Clock()
    return CountUsage(lambda: store, clock), store, clock  # type: ignore[arg-type, return-value] # its add takes a dict


def test_many_requests_are_one_write_a_minute(counting: tuple[CountUsage, Store, Clock]) -> None:
    usage, store, clock = counting
    for second in range(180):
        clock.now = MARCH + timedelta(seconds=second)
        usage.of("search")("acme", 1)
        usage.write_due()
    assert store.writes == 3
    assert usage.report("acme", clock.now).whole.counts["search"] == 180


def test_a_month_is_summed_by_itself_and_each_tenant_too(counting: tuple[CountUsage, Store, Clock]) -> None:
    usage, _, clock = counting
    clock.now = FEBRUARY
    usage.of("turn")("acme", 3)
    clock.now = MARCH
    usage.of("turn")("acme", 2)
    usage.of("turn")("other", 5)
    report = usage.report("acme", MARCH)
    assert (report.since, report.month.counts["turn"], report.whole.counts["turn"]) == (FEBRUARY.date(), 2, 5)
    assert usage.report("third", MARCH).since is None


def test_what_cannot_be_written_waits_and_a_request_never_fails_for_it(
    counting: tuple[CountUsage, Store, Clock], caplog: pytest.LogCaptureFixture
) -> None:
    usage, store, clock = counting
    store.away = True
    usage.of("context")("acme", 1)
    usage.write_due()
    assert "usage could not be written" in caplog.text
    with pytest.raises(Unavailable):
        usage.write()
    store.away = False
    usage.of("context")("acme", 1)
    clock.now += usage.pause
    usage.write_due()
    assert store.found == {("acme", MARCH.date()): {"context": 2}}


def test_where_a_thread_writes_no_request_does_and_a_warm_up_is_not_counted(
    counting: tuple[CountUsage, Store, Clock],
) -> None:
    usage, store, _ = counting
    usage.in_background = True
    usage.of("search")("acme", 1)
    usage.write_due()
    assert store.writes == 0
    assert usage.write() == 1
    usage.in_background = False
    usage.of("search")("", 1)
    usage.write_due()
    assert (usage.write(), store.writes) == (0, 1)


def used(memory: Memory, tenant: str = "acme") -> dict[str, int]:
    """The counts that are not 0."""
    report = memory.app.usage.report(tenant, datetime.now(UTC))
    assert report.month == report.whole
    return {kind: count for kind, count in report.whole.counts.items() if count}


class Talking:
    """A language model that answers and says how many tokens that was."""

    name = "openai:llama3.2"

    def generate(self, request: ModelRequest) -> ModelAnswer:
        """Always the same."""
        assert request.tenant == "acme"
        return ModelAnswer(text="Lyon, you said.", model=self.name, input_tokens=70, output_tokens=4)


def take_turn(memory: Memory) -> None:
    """As a chat does."""
    from recollect.context.build import ContextRequest
    from recollect.context.rendering import fence_for
    from recollect.context.sources import ContextQuestion
    from recollect.context.turn import IDS_OF_A_TURN, TurnRequest
    from recollect.entrypoints.tools.registry import TurnTools
    from recollect.retrieval.filters import SearchFilters

    question = ContextQuestion(text="Where do I live?", filters=SearchFilters(now=memory.now), conversation_id="c9")
    request = TurnRequest(context=ContextRequest(question=question, fence=fence_for("f" * 32)), seconds=20.0)
    seed = memory.app.ids.seed(int(memory.now.timestamp() * 1000), IDS_OF_A_TURN)
    rules = memory.app.rules.resolved("acme")
    memory.app.context.turn.take(ANNA, request, seed, memory.now, rules, TurnTools(memory.app))


def test_each_kind_is_counted_once_whatever_it_is_made_of(memory: Memory) -> None:
    own = with_parts(memory, model=Talking())
    own.add("I live in Lyon", "I like tea")
    own.add("of another", scope=Scope("other", "anna"))
    own.project()
    assert used(own) == {"message": 2}
    own.search("Lyon")
    own.context("Where do I live?")
    assert used(own) == {"message": 2, "search": 1, "context": 1}
    take_turn(own)
    assert used(own) == {"message": 2, "search": 1, "context": 1, "turn": 1}
    (model,) = own.app.usage.report("acme", datetime.now(UTC)).whole.models
    assert (model.model, model.calls, model.input_tokens, model.output_tokens) == (Talking.name, 1, 70, 4)
    assert used(own, "other") == {"message": 1}


def test_the_provider_without_a_model_is_no_model_call(memory: Memory) -> None:
    take_turn(memory)
    report = memory.app.usage.report("acme", datetime.now(UTC))
    assert (report.whole.counts["turn"], report.whole.models) == (1, ())


def test_what_is_said_twice_is_one_message(memory: Memory) -> None:
    from recollect.timeline.record import EventDraft

    for _ in range(2):
        memory.add(EventDraft(content="I live in Lyon", timestamp=NOON))
    assert used(memory) == {"message": 1}


def test_counts_outlive_the_process_and_an_erased_user_is_in_none(memory: Memory) -> None:
    memory.add("I live in Lyon")
    memory.app.close()
    app = open_app(memory.app.settings)
    again = Memory(app)
    assert used(again) == {"message": 1}
    now = datetime.now(UTC)
    app.deletion.users.erase(ANNA, now, now, Actor(ActorKind.USER, "anna"), lambda: 60.0)
    assert used(again) == {"message": 1}
    counts: Any = app.parts.usage.days("acme")
    assert "anna" not in str(counts)
    app.close()


def test_a_store_that_is_away_costs_no_answer(memory: Memory) -> None:
    memory.add("I live in Lyon")
    with away(memory, "usage", "add") as broken:
        broken.search("Lyon")
        broken.app.usage.write_due()
        broken.app.usage.write_quietly()
    assert used(memory)["message"] == 1
