"""What holds no more is quoted by no summary, and ends the goals that rest on it (P-5, P-24)."""

import json
from typing import Any

import pytest

from embedded.contradicting import on, say, settle
from embedded.failing import Fault, Faults, with_faults
from embedded.setting import ANNA, Memory, with_parts
from embedded.summarizing import Summaries, answer, summaries_of
from recollect.adapters.judges.table_pairs import TablePairModel
from recollect.adapters.models.resilient import ExtractiveModel
from recollect.context.model_call import ModelRequest
from recollect.contradictions.pairs import PairScores
from recollect.contradictions.resolve import Settling
from recollect.core.errors import Unavailable
from recollect.memories.audit import Action, Actor, ActorKind
from recollect.memories.audit_log import AuditFilter
from recollect.summaries.goals import GoalStatus
from recollect.summaries.summary import IN_DOUBT
from recollect.timeline.record import EventDraft
from samples.judged import REMAINS

PARIS, LYON = "I live in Paris.", "I moved to Lyon."


def quoting(memory: Memory) -> Summaries:
    """Summaries of quotes, without a model."""
    return summaries_of(memory, [lambda request: ExtractiveModel().generate(request).text])


SUPERSEDED = [
    pytest.param([on(0, PARIS), on(1, LYON)], "Lyon", "Paris", id="by the judge"),
    pytest.param([on(0, "I sleep in Paris", "home"), on(1, "I sleep in Lyon", "home")], "Lyon", "Paris", id="by a key"),
    pytest.param([on(0, f"{PARIS} {REMAINS}"), on(1, LYON)], "cardamom", "Paris", id="in part"),
    pytest.param([on(0, LYON), on(1, "I misspoke, I never moved to Lyon.")], "never moved", "I moved", id="taken back"),
]


@pytest.mark.spec("P-24")
@pytest.mark.parametrize(("said", "kept", "lost"), SUPERSEDED)
def test_a_summary_quotes_nothing_that_is_superseded_by_then(
    memory: Memory, said: list[EventDraft], kept: str, lost: str
) -> None:
    summaries = quoting(memory)
    say(summaries.memory, *said)
    text = summaries.made(force=True).text
    assert (kept in text, lost in text) == (True, False)


@pytest.mark.spec("P-24")
@pytest.mark.parametrize(("said", "kept", "lost"), SUPERSEDED[:2])
def test_a_summary_loses_what_is_superseded_later(memory: Memory, said: list[EventDraft], kept: str, lost: str) -> None:
    summaries = quoting(memory)
    say(summaries.memory, on(-1, "My kettle is red."), said[0])
    assert lost in summaries.made(force=True).text
    say(summaries.memory, said[1])
    (shown,) = summaries.stored()
    assert lost not in shown.text
    assert "kettle" in shown.text
    summaries.memory.now = said[1].timestamp or memory.now
    text = summaries.made(force=True).text
    assert (kept in text, lost in text) == (True, False)


@pytest.mark.spec("P-24")
def test_a_summary_loses_what_is_superseded_though_the_first_try_to_redact_it_fails(memory: Memory) -> None:
    summaries = quoting(memory)
    ids = say(summaries.memory, on(-1, "My kettle is red."), on(0, PARIS))
    summaries.made(force=True)
    broken = with_faults(summaries.memory, Faults({ids[1]: Fault("steps.summaries", Unavailable)}))
    broken.add(on(1, LYON))
    assert broken.app.projection.reconciliation.run(broken.now).failed
    settle(summaries.memory)
    assert summaries.stored()[0].text == "User (31 March 2024): My kettle is red."


UNSURE = "Lyon is home these days."
IN_PARIS = f"{PARIS} {IN_DOUBT}"


def doubting(memory: Memory) -> Summaries:
    """A summary that quotes what later words put in doubt."""
    judge = TablePairModel({(UNSURE, PARIS): PairScores(changed=0.4)})
    summaries = quoting(with_parts(memory, pair_model=judge))
    say(summaries.memory, on(-1, "My kettle is red."), on(0, PARIS))
    summaries.made(force=True)
    say(summaries.memory, on(1, UNSURE))
    return summaries


def system_prompt(summaries: Summaries, question: str, **asked: Any) -> str:
    return summaries.memory.context(question, conversation_id="another", **asked).messages.messages[0].content


@pytest.mark.spec("P-24")
@pytest.mark.parametrize("least", [None, 0.99], ids=["among hits", "with nothing found"])
def test_a_context_marks_the_sentence_of_a_summary_that_later_words_put_in_doubt(
    memory: Memory, least: float | None
) -> None:
    shown = system_prompt(doubting(memory), "Where do I live?", min_similarity=least)
    assert IN_PARIS in shown
    assert f"kettle is red. {IN_DOUBT}" not in shown


@pytest.mark.spec("P-24")
@pytest.mark.parametrize("counts", [UNSURE, PARIS])
def test_what_a_person_decides_takes_the_mark_away_or_the_sentence(memory: Memory, counts: str) -> None:
    summaries = doubting(memory)
    doubts = summaries.app.contradictions.doubts
    (conflict,) = doubts.about(ANNA, [], doubts.newest(ANNA))
    winner = conflict.newer if counts == UNSURE else conflict.older
    who = Settling(actor=Actor(ActorKind.USER, "anna"))
    summaries.app.contradictions.resolution.resolve(ANNA, conflict.id, winner, who, summaries.memory.now)
    settle(summaries.memory)
    shown = system_prompt(summaries, "Where do I live?")
    assert IN_DOUBT not in shown
    assert (PARIS in summaries.stored()[0].text) is (counts == PARIS)


@pytest.mark.spec("P-24")
def test_what_is_superseded_while_a_summary_is_made_is_not_in_it(memory: Memory) -> None:
    summaries = summaries_of(memory)
    say(summaries.memory, on(0, PARIS), on(0.5, "My kettle is red."))

    def meanwhile(_request: ModelRequest) -> str:
        say(summaries.memory, on(1, LYON))
        return answer("Anna lives in Paris. Her kettle is red.", {"goal": "Live in Paris"})

    summaries.model.says = [meanwhile]
    assert summaries.made(force=True).text == "Her kettle is red."
    assert summaries.app.summaries.goals.listed(ANNA) == []


def with_goals(memory: Memory, *goals: str) -> Summaries:
    """A memory with goals that a summary named."""
    summaries = summaries_of(memory, [answer("Anna has goals.", *({"goal": goal} for goal in goals))])
    say(summaries.memory, on(0, PARIS), on(0.5, "I want to paint the kettle red."))
    summaries.made(force=True)
    return summaries


def goals_of(summaries: Summaries) -> dict[str, GoalStatus]:
    return {goal.goal: goal.status for goal in summaries.app.summaries.goals.listed(ANNA)}


@pytest.mark.spec("P-24")
def test_a_goal_ends_with_what_it_rests_on(memory: Memory) -> None:
    summaries = with_goals(memory, "Live in Paris", "Paint the kettle", "Zzz")
    say(summaries.memory, on(1, LYON))
    ended = {"Live in Paris": GoalStatus.ABANDONED, "Paint the kettle": GoalStatus.ACTIVE, "Zzz": GoalStatus.ACTIVE}
    assert goals_of(summaries) == ended
    (goal,) = [one for one in summaries.app.summaries.goals.listed(ANNA) if one.status is GoalStatus.ABANDONED]
    found = summaries.app.memories.audit.page(ANNA, 10, None, AuditFilter(target_id=goal.id, action=Action.PATCH))
    assert [(one.actor.id, one.reason) for one in found.entries] == [("project", "superseded")]
    assert "Live in Paris" not in json.dumps([one.content for one in summaries.memory.context("hi").messages.messages])


@pytest.mark.spec("P-24")
def test_a_goal_whose_status_a_person_set_stays(memory: Memory) -> None:
    summaries = with_goals(memory, "Live in Paris")
    (goal,) = summaries.app.summaries.goals.listed(ANNA)
    active = {"status": GoalStatus.ACTIVE}
    summaries.app.summaries.goals.patch(ANNA, goal.id, active, lambda _version: True, summaries.memory.now)
    say(summaries.memory, on(1, LYON))
    assert goals_of(summaries) == {"Live in Paris": GoalStatus.ACTIVE}
