"""Deleting is exact: one of three plans is deleted with its sentence and its goal, and no other (P-22)."""

import pytest

from embedded.setting import ANNA, Memory, with_parts
from embedded.summarizing import ScriptedModel, Summaries, answer, summaries_of
from recollect.adapters.models.resilient import ExtractiveModel
from recollect.core.scope import Scope
from recollect.summaries.goals import Goal, GoalStatus

PLANS = (
    "I plan to run the Lyon marathon in May.",
    "I plan to learn Spanish by June.",
    "I plan to visit Oslo in July.",
)
SENTENCES = (
    "The user wants to take part in the marathon in Lyon in May.",
    "By June they hope to speak Spanish.",
    "A trip to Oslo is planned for July.",
)
GOALS = ("Take part in the marathon in Lyon", "Speak Spanish by June", "Travel to Oslo in July")
MARATHONS = tuple(f"I plan to run a marathon in {city} this spring." for city in ("Lyon", "Oslo", "Rome"))
OF_MARATHONS = tuple(f"The user plans to run a marathon in {city} this spring." for city in ("Lyon", "Oslo", "Rome"))
MARATHON_GOALS = tuple(f"Run a marathon in {city} in spring" for city in ("Lyon", "Oslo", "Rome"))
CHATTER = tuple(f"The bakery on street {n} sells bread." for n in range(100, 140))
COACH = Scope("acme", "anna", "coach")


def planned(memory: Memory, said: tuple[str, ...], sentences: tuple[str, ...], goals: tuple[str, ...]) -> Summaries:
    """A summary by a model that says each plan in its own words."""
    summaries = summaries_of(memory, [answer(" ".join(sentences), *({"goal": goal} for goal in goals))])
    summaries.memory.add(*said, *CHATTER)
    summaries.made(force=True)
    return summaries


def forget(summaries: Summaries, place: int) -> None:
    summaries.app.deletion.events.forget(ANNA, event_id=summaries.memory.ids[place], now=summaries.memory.now)


def goals_of(summaries: Summaries, scope: Scope = ANNA) -> dict[str, Goal]:
    return {goal.goal: goal for goal in summaries.app.summaries.goals.listed(scope)}


def without(texts: tuple[str, ...], place: int) -> list[str]:
    return [text for n, text in enumerate(texts) if n != place]


@pytest.mark.spec("P-5", "P-22")
@pytest.mark.parametrize("place", range(3))
@pytest.mark.parametrize(
    ("said", "sentences", "goals"), [(PLANS, SENTENCES, GOALS), (MARATHONS, OF_MARATHONS, MARATHON_GOALS)]
)
def test_deleting_one_of_three_plans_takes_that_one(
    memory: Memory, said: tuple[str, ...], sentences: tuple[str, ...], goals: tuple[str, ...], place: int
) -> None:
    summaries = planned(memory, said, sentences, goals)
    ids = summaries.memory.ids
    before = goals_of(summaries)
    assert [before[goal].source_event_ids for goal in goals] == [(ids[n],) for n in range(3)]
    forget(summaries, place)
    (summary,) = summaries.stored()
    assert [one.text for one in summary.sentences] == without(sentences, place)
    assert [one.source_event_ids for one in summary.sentences] == [(ids[n],) for n in range(3) if n != place]
    assert list(goals_of(summaries).values()) == [before[goal] for goal in without(goals, place)]
    assert [goal.goal for goal in summary.tracked_goals] == without(goals, place)


@pytest.mark.spec("P-5", "P-22")
@pytest.mark.parametrize("place", range(3))
@pytest.mark.parametrize("said", [PLANS, MARATHONS])
def test_without_a_model_too(memory: Memory, said: tuple[str, ...], place: int) -> None:
    summaries = Summaries(with_parts(memory, model=ExtractiveModel()), ScriptedModel())
    summaries.memory.add(*said)
    summaries.made(force=True)
    before = list(goals_of(summaries).values())
    assert len(before) == 3
    forget(summaries, place)
    (summary,) = summaries.stored()
    assert [text in summary.text for text in said] == [n != place for n in range(3)]
    assert list(goals_of(summaries).values()) == [goal for n, goal in enumerate(before) if n != place]


@pytest.mark.spec("P-22")
def test_who_speaks_of_a_plan_later_is_no_source_of_all_of_it(memory: Memory) -> None:
    """What only the first message said must not outlive it in the wording of the goal."""
    goal = "Run the Lyon marathon with Clara"
    summaries = planned(memory, ("I plan to run the Lyon marathon with Clara.",), ("Bread is sold.",), (goal,))
    first, second = summaries.memory.ids[0], len(summaries.memory.ids)
    summaries.memory.add("I ran for an hour, the marathon training goes well.", *CHATTER)
    summaries.made(force=True)
    assert goals_of(summaries)[goal].source_event_ids == (first,)
    forget(summaries, second)
    assert goals_of(summaries)[goal].source_event_ids == (first,)
    forget(summaries, 0)
    assert goals_of(summaries) == {}


@pytest.mark.spec("P-22")
@pytest.mark.parametrize("place", range(2))
def test_a_goal_put_together_of_two_messages_goes_with_either(memory: Memory, place: int) -> None:
    said, goal = ("I will run a marathon.", "My race is in Lyon."), "Run a marathon in Lyon"
    summaries = planned(memory, said, ("Bread is sold.",), (goal,))
    assert goals_of(summaries)[goal].source_event_ids == tuple(summaries.memory.ids[:2])
    forget(summaries, 5)
    assert list(goals_of(summaries)) == [goal]
    forget(summaries, place)
    assert goals_of(summaries) == {}


FREE = ("Ella quiere viajar.", "Ponerse en forma")


@pytest.mark.spec("P-5", "P-22")
def test_what_no_message_accounts_for_goes_with_any_that_is_covered(memory: Memory) -> None:
    summaries = planned(memory, PLANS, (*SENTENCES, FREE[0]), (*GOALS, FREE[1]))
    for scope in (COACH, ANNA):
        summaries.app.summaries.goals.track(scope, "Sing", GoalStatus.ACTIVE, None, summaries.memory.now)
    assert not goals_of(summaries)[FREE[1]].supported
    assert goals_of(summaries)[FREE[1]].source_event_ids == ()
    forget(summaries, 10)  # of the chatter
    assert [one.text for one in summaries.stored()[0].sentences] == list(SENTENCES)
    assert [goal.goal for goal in summaries.stored()[0].tracked_goals] == list(GOALS)
    assert list(goals_of(summaries)) == [*GOALS, "Sing"]
    assert list(goals_of(summaries, COACH)) == ["Sing"]


@pytest.mark.spec("P-5", "P-22")
def test_what_no_message_accounts_for_stays_while_only_newer_ones_go(memory: Memory) -> None:
    summaries = planned(memory, PLANS, (*SENTENCES, FREE[0]), (*GOALS, FREE[1]))
    summaries.wait(hours=1)
    summaries.memory.add("Something new.")
    summaries.app.deletion.events.forget(ANNA, event_id=summaries.memory.ids[-1], now=summaries.memory.now)
    assert FREE[1] in goals_of(summaries)
    assert FREE[0] in summaries.stored()[0].text


@pytest.mark.spec("P-22")
@pytest.mark.parametrize(
    ("place", "goals", "sentences"),
    [(0, (GOALS[1:]), SENTENCES[1:]), (10, GOALS, SENTENCES)],
)
def test_what_is_deleted_while_a_summary_is_made_takes_no_more_either(
    memory: Memory, place: int, goals: tuple[str, ...], sentences: tuple[str, ...]
) -> None:
    summaries = summaries_of(memory)
    summaries.memory.add(*PLANS, *CHATTER)

    def meanwhile(_request: object) -> str:
        forget(summaries, place)
        return answer(" ".join((*SENTENCES, FREE[0])), *({"goal": goal} for goal in (*GOALS, FREE[1])))

    summaries.model.says = [meanwhile]
    made = summaries.made(force=True)
    assert tuple(one.text for one in made.sentences) == sentences
    assert tuple(goals_of(summaries)) == goals
    assert tuple(goal.goal for goal in made.tracked_goals) == goals


@pytest.mark.spec("P-22")
def test_a_goal_that_is_deleted_while_a_model_sees_it_does_not_come_back(memory: Memory) -> None:
    summaries = planned(memory, PLANS, SENTENCES, GOALS)

    def meanwhile(_request: object) -> str:
        forget(summaries, 0)
        return answer("Bread is sold.", *({"goal": goal} for goal in GOALS))

    summaries.model.says = [meanwhile]
    summaries.memory.add(*CHATTER)
    summaries.made(force=True)
    assert list(goals_of(summaries)) == list(GOALS[1:])


@pytest.mark.spec("P-22")
def test_a_source_deleted_while_a_summary_is_made_keeps_no_goal(memory: Memory) -> None:
    """Two messages say it; one is deleted at once, one later."""
    summaries = summaries_of(memory)
    summaries.memory.add(PLANS[1], PLANS[1].replace("I plan", "Again: I plan"), *CHATTER)

    def meanwhile(_request: object) -> str:
        forget(summaries, 0)
        return answer(SENTENCES[1], {"goal": GOALS[1]})

    summaries.model.says = [meanwhile]
    summaries.made(force=True)
    assert goals_of(summaries)[GOALS[1]].source_event_ids == (summaries.memory.ids[1],)
    forget(summaries, 1)
    assert goals_of(summaries) == {}


def test_every_goal_of_a_full_answer_is_written_in_one_step(memory: Memory) -> None:
    """19 goals, the summary, its place in the list, what it covers, the state, two entries of the audit: 25 writes."""
    named = [f"Visit harbour{n}" for n in range(10)]
    summaries = planned(memory, tuple(f"I plan to visit harbour{n}." for n in range(20)), ("Harbours.",), tuple(named))
    again = [{"goal": goal, "status": "completed"} for goal in named]
    fresh = [{"goal": f"Visit harbour{n}"} for n in range(10, 19)]
    summaries.model.says = [answer("All harbours.", *again, *fresh)]
    summaries.memory.add("More harbours.", *CHATTER)
    summaries.made(force=True)
    assert [goal.status.value for goal in goals_of(summaries).values()] == ["completed"] * 10 + ["active"] * 9
