"""A configured language model is asked about what the judge leaves open, on schedule, and never more than it must."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from embedded.deciding import forget, ledger, now, revert
from embedded.memory_items import USER
from embedded.setting import ANNA, Memory, open_memory, with_parts
from recollect.adapters.judges.table_pairs import TablePairModel
from recollect.context.model_call import Task
from recollect.contradictions.ask_model import MOST_TRIES, RESERVE_SECONDS, OpinionRun
from recollect.contradictions.decisions import ConflictStatus, OpenConflict, Step
from recollect.contradictions.pairs import PairScores
from recollect.contradictions.resolve import Settling
from recollect.core.errors import ConfigurationError, OutOfTime, RecollectError
from recollect.core.scope import Scope
from recollect.memories.memory import MemoryStatus
from recollect.settings import Settings
from samples.scripted import MODEL, NAME, Scripted, says

PARIS, LYON = "I live in Paris.", "Handed over the keys, first night in Lyon."
BOB = Scope("acme", "bob")


@pytest.fixture
def opened(tmp_path: Path) -> Callable[[Scripted], Memory]:
    def open_with(model: Scripted) -> Memory:
        unsure = TablePairModel({(LYON, PARIS): PairScores(changed=0.4)})
        return with_parts(open_memory(tmp_path, **MODEL), model=model, pair_model=unsure)

    return open_with


def left_open(memory: Memory, scope: Scope = ANNA) -> OpenConflict:
    memory.add(PARIS, LYON, scope=scope)
    memory.project()
    (conflict,) = conflicts(memory, scope)
    return conflict


def conflicts(memory: Memory, scope: Scope = ANNA) -> tuple[OpenConflict, ...]:
    return memory.app.contradictions.conflicts.page(scope, 10, None, None, memory.now).conflicts


def ask(memory: Memory, seconds: float = 300.0) -> OpinionRun:
    assert memory.app.contradictions.opinions is not None
    report = memory.app.contradictions.opinions.run(lambda: memory.now, lambda: seconds)
    memory.project()
    return report


@pytest.mark.spec("P-24")
@pytest.mark.parametrize("relation", ["replaced", "ended"])
def test_what_the_model_says_is_over_is_superseded_and_can_be_taken_back(
    opened: Callable[[Scripted], Memory], relation: str
) -> None:
    model = Scripted(says(relation))
    memory = opened(model)
    conflict = left_open(memory)
    assert model.asked == []
    report = ask(memory)
    assert (report.calls, report.settled, report.input_tokens, report.output_tokens) == (1, 1, 120, 12)
    older = now(memory, conflict.older)
    assert (older.status, older.superseded_by) == (MemoryStatus.SUPERSEDED, conflict.newer)
    (decision,) = ledger(memory).values()
    assert (decision.step, decision.rule, decision.confidence) == (Step.MODEL, NAME, 0.95)
    assert memory.found("live Paris") == [LYON]
    revert(memory, decision.id)
    assert now(memory, conflict.older).status is MemoryStatus.ACTIVE
    assert [one.status for one in conflicts(memory)] == [ConflictStatus.OPEN]
    memory.now += timedelta(days=1)
    assert ask(memory).calls == 0


@pytest.mark.spec("P-24")
def test_where_both_hold_the_conflict_is_settled_without_a_winner_and_a_person_may_still_say_otherwise(
    opened: Callable[[Scripted], Memory],
) -> None:
    memory = opened(Scripted(says("both")))
    conflict = left_open(memory)
    assert ask(memory).stood == 1
    (settled,) = conflicts(memory)
    assert (settled.status, settled.winner, settled.step) == (ConflictStatus.SETTLED, None, Step.MODEL)
    assert ledger(memory) == {}
    memory.app.contradictions.resolution.resolve(ANNA, conflict.id, conflict.newer, Settling(actor=USER), memory.now)
    assert now(memory, conflict.older).status is MemoryStatus.SUPERSEDED


@pytest.mark.spec("P-24")
@pytest.mark.parametrize("answer", [says("in_part"), says("replaced", 0.5), says("both", 0.2)])
def test_where_the_model_is_not_sure_either_it_stays_open_and_is_asked_about_once(
    opened: Callable[[Scripted], Memory], answer: str
) -> None:
    memory = opened(Scripted(answer))
    left_open(memory)
    assert ask(memory).unsure == 1
    memory.now += timedelta(days=30)
    assert ask(memory).calls == 0
    assert [one.status for one in conflicts(memory)] == [ConflictStatus.OPEN]


NO_ANSWERS = ["", "I think so", "[]", "{}", says("moved"), says("both", 2), '{"relation": "both", "confidence": true}']


@pytest.mark.spec("P-24")
@pytest.mark.parametrize(
    "answer",
    [*NO_ANSWERS, '{"relation": "both", "confidence": NaN}', "{" * 3000, says("both") + " " * 3000, OutOfTime("slow")],
)
def test_an_answer_that_is_none_costs_nothing_but_its_tokens_and_is_tried_a_few_times(
    opened: Callable[[Scripted], Memory], answer: str | RecollectError
) -> None:
    model = Scripted(answer)
    memory = opened(model)
    left_open(memory)
    for _ in range(MOST_TRIES + 3):
        report = ask(memory)
        assert report.unusable + report.failed.total() == report.calls <= 1
        assert ask(memory).calls == 0
        memory.now += timedelta(days=1)
    assert len(model.asked) == MOST_TRIES
    assert [one.status for one in conflicts(memory)] == [ConflictStatus.OPEN]


@pytest.mark.spec("P-24")
def test_one_that_fails_holds_up_no_other_and_no_other_users(opened: Callable[[Scripted], Memory]) -> None:
    memory = opened(Scripted(OutOfTime("slow"), says("replaced")))
    left_open(memory)
    left_open(memory, BOB)
    report = ask(memory)
    assert (report.calls, report.failed.total(), report.settled) == (2, 1, 1)
    memory.now += timedelta(hours=1)
    assert ask(memory).settled == 1


@pytest.mark.spec("P-24")
def test_no_call_begins_without_time_for_its_end(opened: Callable[[Scripted], Memory]) -> None:
    model = Scripted(says("replaced"))
    memory = opened(model)
    left_open(memory)
    assert ask(memory, seconds=RESERVE_SECONDS - 0.1).calls == 0
    assert ask(memory).calls == 1


@pytest.mark.spec("P-24")
def test_what_was_deleted_or_settled_by_a_person_is_not_asked_about(opened: Callable[[Scripted], Memory]) -> None:
    model = Scripted(says("replaced"))
    memory = opened(model)
    gone, settled = left_open(memory), left_open(memory, BOB)
    forget(memory, gone.older)
    memory.app.contradictions.resolution.resolve(BOB, settled.id, settled.older, Settling(actor=USER), memory.now)
    assert ask(memory).calls == 0
    assert model.asked == []


@pytest.mark.spec("P-24")
def test_a_tenant_whose_rules_settle_by_keys_alone_has_no_model_asked(opened: Callable[[Scripted], Memory]) -> None:
    model = Scripted(says("replaced"))
    memory = opened(model)
    rules = {"conflict": {"auto_apply": "off"}}
    left_open(memory)
    memory.app.rules.replace("acme", rules, memory.now, None)
    assert ask(memory).calls == 0


@pytest.mark.spec("P-23")
def test_the_statements_are_sent_as_fenced_data(opened: Callable[[Scripted], Memory]) -> None:
    model = Scripted(says("both"))
    memory = opened(model)
    left_open(memory)
    ask(memory)
    (request,) = model.asked
    system, user = request.messages
    assert request.task is Task.JUDGE
    assert PARIS not in system.content
    lines = user.content.splitlines()
    inside = lines[1 : lines.index(lines[0].replace("<", "</"))]
    assert [PARIS in inside[0], LYON in inside[1], len(inside)] == [True, True, 2]


@pytest.mark.parametrize("model", ["extractive", "extractive,openai"])
def test_a_judge_that_asks_a_model_needs_one(model: str) -> None:
    with pytest.raises(ConfigurationError) as raised:
        Settings.from_environment({**MODEL, "RECOLLECT_MODEL": model})
    assert raised.value.variable == "RECOLLECT_MODEL"
