"""Providers in order: retries, time, breakers and the fallback list; clock, sleep and chance are the test's.

The last of them is the one without a model.
"""

import json
import logging
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from adapters.embedders.local_server import Reply, Server
from adapters.models.test_bedrock_converse import MODEL_ID, client, failure
from adapters.models.test_bedrock_converse import TROUBLES as BEDROCK_TROUBLES
from adapters.models.test_bedrock_converse import answer as converse_answer
from adapters.models.test_openai_chat import TROUBLES, chat, completion
from recollect.adapters.models.bedrock_converse import BedrockConverse
from recollect.adapters.models.resilient import (
    BreakerPolicy,
    CircuitBreaker,
    ExtractiveModel,
    Provider,
    ResilientModel,
    RetryPolicy,
    Timing,
    resilient,
)
from recollect.context.extractive_answer import NOTHING
from recollect.context.model_call import ModelAnswer, ModelRequest, Task
from recollect.contracts.services import ModelContract, RemoteModelContract, Trouble, a_request
from recollect.core.errors import CutAnswer, NotReady, OutOfTime, RecollectError, Throttled, Unavailable, UpstreamFailed
from recollect.ports import Model


@dataclass
class World:
    """Time that passes only by sleeping and by what a model takes; `chance` is every random number."""

    now: float = 0.0
    chance: float = 1.0
    slept: list[float] = field(default_factory=list)

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds

    @property
    def timing(self) -> Timing:
        return Timing(clock=lambda: self.now, sleep=self.sleep, random=lambda: self.chance)


@dataclass
class Scripted:
    """A model that takes its outcomes in turn, the last for ever; each takes `takes` seconds, or its time is over."""

    world: World
    name: str
    outcomes: list[RecollectError | str]
    takes: float = 0.0
    given: list[float] = field(default_factory=list)

    def generate(self, request: ModelRequest) -> ModelAnswer:
        self.given.append(request.seconds)
        self.world.now += min(self.takes, request.seconds)
        if self.takes > request.seconds:
            raise OutOfTime("late")
        outcome = self.outcomes.pop(0) if len(self.outcomes) > 1 else self.outcomes[0]
        if isinstance(outcome, RecollectError):
            raise outcome
        return ModelAnswer(text=outcome, model=self.name)


def of(world: World, models: Sequence[Scripted], least: float = 5.0, **policy: Any) -> ResilientModel:
    breaking = BreakerPolicy(failures=policy.pop("failures", 100), cool_down_seconds=10)
    providers = [
        Provider(model=m, breaker=CircuitBreaker(breaking, lambda: world.now), least_seconds=least) for m in models
    ]
    return ResilientModel(providers, RetryPolicy(**policy), world.timing)


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def breaker(world: World) -> CircuitBreaker:
    return CircuitBreaker(BreakerPolicy(failures=3, cool_down_seconds=10), lambda: world.now)


def fail(breaker: CircuitBreaker, times: int) -> None:
    for _ in range(times):
        breaker.failed()


def test_it_opens_after_failures_in_a_row(breaker: CircuitBreaker) -> None:
    fail(breaker, 2)
    breaker.succeeded()
    fail(breaker, 2)
    assert breaker.admits()
    assert not breaker.is_open
    fail(breaker, 1)
    assert not breaker.admits()
    assert breaker.is_open


def test_after_the_cool_down_one_call_passes(breaker: CircuitBreaker, world: World) -> None:
    fail(breaker, 3)
    world.now += 9.9
    assert not breaker.admits()
    assert breaker.seconds_closed_off == pytest.approx(0.1)
    world.now += 0.1
    assert breaker.seconds_closed_off == 0
    assert [breaker.admits() for _ in range(3)] == [True, False, False]


def test_a_good_trial_closes_it(breaker: CircuitBreaker, world: World) -> None:
    fail(breaker, 3)
    world.now += 10
    assert breaker.admits()
    breaker.succeeded()
    assert breaker.admits()
    assert not breaker.is_open
    fail(breaker, 2)
    assert breaker.admits()


@pytest.mark.parametrize("ends", [True, False], ids=["a bad trial", "a trial that never ends"])
def test_after_a_trial_it_is_open_for_another_cool_down(breaker: CircuitBreaker, world: World, ends: bool) -> None:
    fail(breaker, 3)
    world.now += 10
    assert breaker.admits()
    if ends:
        world.now += 5
        breaker.failed()
    world.now += 9
    assert not breaker.admits()
    world.now += 1
    assert breaker.admits()


@pytest.mark.spec("H-27")
def test_what_may_pass_is_tried_again_after_growing_pauses(world: World) -> None:
    model = Scripted(world, "a", [Unavailable("x"), OutOfTime("x"), CutAnswer("x"), "good"])
    answer = of(world, [model], attempts=4, base_seconds=1, cap_seconds=3).generate(a_request(30))
    assert (answer.text, world.slept) == ("good", [1, 2, 3])


def test_a_pause_is_a_random_part() -> None:
    world = World(chance=0.25)
    model = Scripted(world, "a", [Unavailable("x")])
    with pytest.raises(Unavailable):
        of(world, [model], attempts=3, base_seconds=1, cap_seconds=8).generate(a_request(30))
    assert world.slept == [0.25, 0.5]


@pytest.mark.spec("H-30")
def test_attempts_are_bounded_and_the_last_error_is_raised(world: World) -> None:
    last = Throttled("second")
    model = Scripted(world, "a", [Unavailable("first"), last])
    with pytest.raises(Throttled) as raised:
        of(world, [model], attempts=3).generate(a_request(30))
    assert raised.value is last
    assert len(model.given) == 3


@pytest.mark.parametrize("error", [UpstreamFailed("refused"), NotReady("not set up")])
def test_what_will_not_pass_is_not_tried_again(world: World, error: RecollectError) -> None:
    model = Scripted(world, "a", [error, "never"])
    with pytest.raises(type(error)):
        of(world, [model]).generate(a_request(30))
    assert (len(model.given), world.slept) == (1, [])


@pytest.mark.spec("H-27")
def test_retry_after_is_waited_out(world: World) -> None:
    model = Scripted(world, "a", [Throttled("slow", 7.0), "good"])
    assert of(world, [model]).generate(a_request(30)).text == "good"
    assert world.slept == [7]


@pytest.mark.spec("H-27", "H-30")
def test_nothing_sleeps_past_the_request(world: World) -> None:
    model = Scripted(world, "a", [Throttled("slow", 31.0), "never"])
    with pytest.raises(Throttled) as raised:
        of(world, [model]).generate(a_request(30))
    assert raised.value.retry_after_seconds == 31
    assert world.slept == []


def test_where_there_is_another_provider_a_long_wait_is_not_waited_out(world: World) -> None:
    busy, free = Scripted(world, "busy", [Throttled("slow", 7.0), "late"]), Scripted(world, "free", ["good"])
    answer = of(world, [busy, free], patience_seconds=3).generate(a_request(30))
    assert (answer.model, world.slept) == ("free", [])


@pytest.mark.spec("K-78")
def test_providers_are_tried_in_their_order(world: World) -> None:
    models = [
        Scripted(world, "a", [UpstreamFailed("x")]),
        Scripted(world, "b", [Unavailable("x")]),
        Scripted(world, "c", ["good"]),
    ]
    model = of(world, models, attempts=2)
    assert model.generate(a_request(30)).model == "c"
    assert [len(m.given) for m in models] == [1, 2, 1]
    assert model.name == "a, b, c"


def test_all_failed_raises_the_last_one_s_error(world: World) -> None:
    models = [Scripted(world, "a", [Throttled("first")]), Scripted(world, "b", [UpstreamFailed("last")])]
    with pytest.raises(UpstreamFailed, match="last"):
        of(world, models).generate(a_request(30))


@pytest.mark.parametrize(
    ("seconds", "least", "given"),
    [
        (30.0, 5.0, [[20, 4.5], [15]]),  # a slow first attempt, what is left of its time, then the next
        (8.0, 5.0, [[4], [4]]),  # too little for all: a fair share
        (30.0, 0.2, [[20, 9.3], [10.7]]),
    ],
)
def test_a_slow_one_leaves_others_time(world: World, seconds: float, least: float, given: list[list[float]]) -> None:
    slow, next_one = Scripted(world, "slow", ["late"], takes=99), Scripted(world, "next", ["good"])
    model = of(world, [slow, next_one], least, attempts=2, attempt_seconds=20, base_seconds=0.5)
    assert model.generate(a_request(seconds)).model == "next"
    assert slow.given == pytest.approx(given[0])
    assert world.now <= seconds


def test_the_time_of_the_request_holds(world: World) -> None:
    model = Scripted(world, "slow", ["late"], takes=99)
    with pytest.raises(OutOfTime):
        of(world, [model], attempts=10, attempt_seconds=8).generate(a_request(30))
    assert world.now <= 30
    assert len(model.given) == 4


def test_without_time_nobody_is_asked(world: World) -> None:
    model = Scripted(world, "a", ["good"])
    with pytest.raises(OutOfTime):
        of(world, [model]).generate(a_request(0.01))
    assert model.given == []


def test_a_provider_that_keeps_failing_is_left_alone_and_tried_again_later(world: World) -> None:
    bad = Scripted(world, "bad", [Unavailable("x")])
    model = of(world, [bad, Scripted(world, "good", ["good"])], attempts=2, failures=3, base_seconds=0.0)
    assert [model.generate(a_request(30)).model for _ in range(4)] == ["good"] * 4
    assert len(bad.given) == 3
    assert model.state == "bad (failed too often; tried again in 10 s), good"
    world.now += 10
    bad.outcomes = ["back"]
    assert [model.generate(a_request(30)).text for _ in range(2)] == ["back", "back"]
    assert model.state == "bad, good"


def test_a_trial_that_fails_is_the_only_one(world: World) -> None:
    bad = Scripted(world, "bad", [Unavailable("x")])
    model = of(world, [bad], attempts=3, failures=3)
    with pytest.raises(Unavailable, match="x"):
        model.generate(a_request(30))
    world.now += 10
    with pytest.raises(Unavailable, match="x"):
        model.generate(a_request(30))
    assert len(bad.given) == 4
    with pytest.raises(Unavailable, match="left alone"):
        model.generate(a_request(30))
    assert len(bad.given) == 4


def test_refusals_do_not_close_a_provider_off(world: World) -> None:
    model = Scripted(world, "a", [*[UpstreamFailed("this request")] * 9, "good"])
    tried = of(world, [model], failures=2)
    for _ in range(9):
        with pytest.raises(UpstreamFailed):
            tried.generate(a_request(30))
    assert tried.generate(a_request(30)).text == "good"


@pytest.mark.spec("H-26", "H-29")
def test_each_failure_is_logged_without_what_was_said(world: World, caplog: pytest.LogCaptureFixture) -> None:
    model = Scripted(world, "openai:m", [Unavailable("x"), Throttled("x", 1.0), "good"])
    with caplog.at_level(logging.DEBUG):
        of(world, [model], base_seconds=0).generate(a_request(30))
    logged = [{n: getattr(r, n) for n in ("provider", "kind", "attempt", "duration_ms")} for r in caplog.records]
    assert logged == [
        {"provider": "openai:m", "kind": "Unavailable", "attempt": 1, "duration_ms": 0.0},
        {"provider": "openai:m", "kind": "Throttled", "attempt": 2, "duration_ms": 0.0},
    ]
    assert not any("lurcher" in str(vars(record)) for record in caplog.records)


def test_it_needs_a_provider() -> None:
    with pytest.raises(ValueError):
        resilient([], RetryPolicy())


ONCE = RetryPolicy(attempts=1)
QUICK = RetryPolicy(attempts=3, base_seconds=0.01, cap_seconds=0.02)


class TestResilientOverHttp(RemoteModelContract):
    @pytest.fixture
    def model(self, server: Server) -> Model:
        server.replies = [Reply(completion("Biscuit."))]
        return resilient([(chat(server, api_key="secret"), 1.0)], ONCE)


class TestWithTheExtractiveProviderLast(ModelContract):
    @pytest.fixture
    def model(self, server: Server) -> Model:
        server.replies = [TROUBLES[Trouble.IN_TROUBLE]]
        return resilient([(chat(server), 1.0), (ExtractiveModel(), 0.1)], QUICK)


def test_errors_then_an_answer_over_http(server: Server, caplog: pytest.LogCaptureFixture) -> None:
    server.replies = [
        Reply({}, 500),
        Reply({}, 429, {"Retry-After": "0"}),
        Reply(completion("Biscuit."), announced=999),
        Reply(completion("Biscuit.")),
    ]
    model = resilient([(chat(server, api_key="secret"), 1.0)], RetryPolicy(attempts=4, base_seconds=0.01))
    with caplog.at_level(logging.DEBUG):
        assert model.generate(a_request()).text == "Biscuit."
    ours = [r for r in caplog.records if r.name.startswith("recollect")]
    assert [vars(r)["kind"] for r in ours] == ["Unavailable", "Throttled", "CutAnswer"]
    assert not any(word in caplog.text for word in ("lurcher", "Biscuit", "secret", "Bearer"))


@pytest.mark.spec("K-78", "K-77")
def test_from_one_kind_of_provider_to_the_next_over_http(server: Server) -> None:
    server.replies = [TROUBLES[Trouble.REFUSED], failure("ThrottlingException", 429), Reply(converse_answer("yes"))]
    providers: list[tuple[Model, float]] = [(chat(server), 1.0), (BedrockConverse(client(server.url), MODEL_ID), 1.0)]
    assert resilient([*providers, (ExtractiveModel(), 0.1)], QUICK).generate(a_request()).model == f"bedrock:{MODEL_ID}"
    assert [path.rsplit("/")[-1] for path, _, _ in server.asked] == ["completions", "converse", "converse"]
    server.replies = [BEDROCK_TROUBLES[Trouble.REFUSED]]
    answer = resilient([*providers, (ExtractiveModel(), 0.1)], QUICK).generate(a_request())
    assert (answer.model, "Biscuit" in answer.text) == ("extractive", True)


class TestExtractive(ModelContract):
    @pytest.fixture
    def model(self) -> Model:
        return ExtractiveModel()


def summarizing(**changes: object) -> ModelRequest:
    return replace(a_request(), task=Task.SUMMARIZE, **changes)  # type: ignore[arg-type]


def test_it_answers_from_the_evidence() -> None:
    answer = ExtractiveModel().generate(a_request())
    assert "“My lurcher is called Biscuit.”" in answer.text
    assert (answer.model, answer.input_tokens) == ("extractive", None)


def test_it_says_when_it_has_nothing() -> None:
    assert ExtractiveModel().generate(replace(a_request(), evidence=())).text == NOTHING
    assert ExtractiveModel().generate(replace(a_request(), user_input="Who?")).text == NOTHING


def test_it_summarizes_as_json_and_as_text() -> None:
    given = json.loads(ExtractiveModel().generate(summarizing(json_answer=True)).text)
    assert given.keys() == {"summary", "tracked_goals"}
    assert "Biscuit" in given["summary"]
    assert isinstance(given["tracked_goals"], list)
    assert ExtractiveModel().generate(summarizing()).text == given["summary"]


def test_the_same_request_gives_the_same_answer() -> None:
    for request in (a_request(), summarizing(json_answer=True)):
        assert ExtractiveModel().generate(request) == ExtractiveModel().generate(request)
