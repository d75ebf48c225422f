"""Deleted events are deleted from summaries and goals, by the ids of their sources."""

from types import SimpleNamespace

import pytest

from embedded.setting import ANNA, Memory
from embedded.summarizing import Summaries, answer, summaries_of
from recollect.core.scope import Scope

COACH = Scope("acme", "anna", "coach")
TEXT = "Anna moved to Lyon. Her dog is Rex."
GOALS = ({"goal": "Adopt another dog like Rex"}, {"goal": "Learn Spanish"})


@pytest.fixture
def summaries(memory: Memory) -> Summaries:
    """Two summaries of what was said to two personas."""
    one = summaries_of(memory, [answer(TEXT, *GOALS)])
    for scope in (ANNA, COACH):
        one.memory.add(
            "I moved to Lyon.", "My dog is called Rex, I want to adopt another.", "I learn Spanish now.", scope=scope
        )
        one.made(scope, force=True)
    return one


def texts(summaries: Summaries) -> list[str]:
    """All summaries, the oldest first."""
    return [one.text for one in summaries.stored()]


@pytest.mark.spec("P-5", "P-22")
def test_deleting_an_event_takes_its_sentences_and_goals_at_once(summaries: Summaries) -> None:
    summaries.app.deletion.events.forget(ANNA, event_id=summaries.memory.ids[1], now=summaries.memory.now)
    assert texts(summaries) == ["Anna moved to Lyon.", TEXT]
    assert [goal.goal for goal in summaries.app.summaries.goals.listed(ANNA)] == ["Learn Spanish"]
    assert [[goal.goal for goal in one.tracked_goals] for one in summaries.stored()] == [["Learn Spanish"]] * 1 + [
        [goal["goal"] for goal in GOALS]
    ]
    assert len(summaries.app.summaries.goals.listed(COACH)) == 2


@pytest.mark.spec("P-5", "P-22")
def test_projecting_the_deletion_does_it_where_that_failed(summaries: Summaries) -> None:
    summaries.memory.project()
    summaries.app.summaries.redaction = SimpleNamespace(redact=lambda *given: None)  # type: ignore[assignment]
    summaries.app.deletion.events.forget(ANNA, event_id=summaries.memory.ids[0], now=summaries.memory.now)
    assert texts(summaries) == [TEXT, TEXT]
    fresh = summaries_of(summaries.memory)
    fresh.memory.project()
    assert texts(fresh) == ["Her dog is Rex.", TEXT]


def test_what_names_nothing_of_it_stays(summaries: Summaries) -> None:
    versions = [one.version for one in summaries.app.summaries.goals.listed(ANNA, every_persona=True)]
    summaries.memory.add("Something else.")
    summaries.app.deletion.events.forget(ANNA, event_id=summaries.memory.ids[-1], now=summaries.memory.now)
    assert texts(summaries) == [TEXT, TEXT]
    assert [one.version for one in summaries.app.summaries.goals.listed(ANNA, every_persona=True)] == versions


@pytest.mark.spec("P-5", "P-22")
def test_a_summary_does_not_carry_on_what_is_deleted(summaries: Summaries) -> None:
    summaries.app.deletion.events.forget(ANNA, event_id=summaries.memory.ids[0], now=summaries.memory.now)
    summaries.say(1)
    summaries.made(force=True)
    assert "Lyon" not in summaries.model.last_sent


@pytest.mark.parametrize("which", [0, -1])
@pytest.mark.spec("P-5", "P-22")
def test_what_is_deleted_while_a_summary_is_made_is_not_in_it(summaries: Summaries, which: int) -> None:
    """An event that the summary before speaks of, or one that this one would."""
    summaries.memory.add("I sold the boat for 4711 euros.")
    event_id = summaries.memory.ids[which]

    def meanwhile(_request: object) -> str:
        summaries.app.deletion.events.forget(ANNA, event_id=event_id, now=summaries.memory.now)
        return answer(f"{TEXT} The boat went for 4711 euros.", {"goal": "Sold boat 4711 euros"})

    summaries.model.says = [meanwhile]
    made = summaries.made(force=True)
    lost = "Anna moved to Lyon." if which == 0 else "The boat went for 4711 euros."
    assert lost not in made.text
    assert "Her dog is Rex." in made.text
    assert any("4711" in goal.goal for goal in summaries.app.summaries.goals.listed(ANNA)) == (which == 0)
    assert summaries.stored()[-1] == made
