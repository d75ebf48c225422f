"""What arrives with a time that a summary covers already: summed up once, whenever it arrives and is noted."""

from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from embedded.archiving import exported, imported
from embedded.setting import ANNA, NOON, Memory, open_memory
from embedded.summarizing import ScriptedModel, Summaries, Ticket, answer, failing_at, summaries_of
from recollect.core.items import ItemWrite
from recollect.core.scope import Scope
from recollect.summaries.late import LateSpan
from recollect.summaries.storage import SummaryState, covered_path, state_in, state_key
from recollect.summaries.summarize import NotDue, SummaryMade
from recollect.summaries.summary import Reason, Summary
from recollect.timeline.record import EventDraft

BEN = Scope("acme", "ben")


@pytest.fixture
def summaries(memory: Memory) -> Summaries:
    """Fifty messages a minute apart, of which a summary covers forty; everything is projected."""
    one = summaries_of(memory)
    one.say(50)
    one.made()
    one.memory.project()
    one.run()
    one.wait(days=1)
    return one


def earlier(summaries: Summaries, count: int, days: float = 1, scope: Scope = ANNA) -> list[str]:
    """So many messages of a day long before, projected; their ids."""
    moments = [NOON - timedelta(days=days) + timedelta(seconds=n) for n in range(count)]
    ids = summaries.say_at(*moments, scope=scope)
    summaries.memory.project()
    return ids


def state(summaries: Summaries) -> SummaryState:
    """How far the summaries have come."""
    return state_in(summaries.app.parts.items.get(ANNA, [state_key(None)]).get(state_key(None)), None)


def sent(summaries: Summaries) -> int:
    """How many messages the model was sent in all."""
    return sum(one.role == "user" for request in summaries.model.asked for one in request.evidence)


@pytest.mark.spec("H-05", "H-08", "P-5")
def test_fifty_that_came_late_make_a_summary_of_them_alone_and_only_one(summaries: Summaries) -> None:
    (first,) = summaries.stored()
    earlier(summaries, 49)
    assert summaries.run() == NotDue(49, 1.0)
    assert summaries.due() == []
    earlier(summaries, 1, days=2)
    assert summaries.due() == [("anna", None)]
    made = summaries.made()
    assert (made.reason, made.message_count) == (Reason.MESSAGES, 50)
    assert made.covered_from == NOON - timedelta(days=2)
    assert made.covered == first.covered  # the raw window begins where it began
    assert sent(summaries) == 40 + 50
    summaries.memory.project()
    assert summaries.run(force=True) != NotDue(0, 0.0)  # the ten raw ones
    assert summaries.stored()[-1].message_count == 10
    assert summaries.run(force=True) == NotDue(0, 0.0)


@pytest.mark.spec("P-5")
def test_one_that_came_late_is_covered_with_the_next_or_by_age(summaries: Summaries) -> None:
    (phone,) = earlier(summaries, 1, days=3)
    summaries.say(50, word="more")
    summaries.memory.project()
    made = summaries.made()
    assert (made.message_count, made.covered_from) == (51, NOON - timedelta(days=3))
    assert phone in {one.id for one in summaries.app.parts.timeline.newest(ANNA, 200)}
    earlier(summaries, 1, days=5)
    summaries.wait(days=21)
    assert summaries.due() == [("anna", None)]
    assert (summaries.made().message_count, summaries.stored()[-1].reason) == (1, Reason.AGE)


@pytest.mark.spec("H-03", "P-5")
def test_its_goals_are_made_once(summaries: Summaries) -> None:
    goal = {"goal": "Meditate daily"}
    summaries.model.says = [answer("Anna counts. Anna meditates.", goal)]
    draft = EventDraft(content="I plan to meditate daily", timestamp=NOON - timedelta(days=1))
    for _ in range(2):  # delivered twice
        summaries.memory.add(draft)
        summaries.memory.project()
        summaries.run(force=True)
    (found,) = summaries.app.summaries.goals.listed(ANNA)
    assert (found.goal, found.source_event_ids, found.version) == ("Meditate daily", (summaries.memory.ids[50],), 1)
    asked = [one for request in summaries.model.asked for one in request.evidence if one.text == draft.content]
    assert [one.role for one in asked] == ["user"]


def test_what_is_projected_again_or_only_after_its_summary_is_covered_once(memory: Memory) -> None:
    one = summaries_of(memory)
    one.say(60)
    one.made()
    one.memory.project()  # only now are the fifty noted that it covers
    one.made(force=True)
    assert sent(one) == 60
    timeline = one.app.parts.timeline
    one.app.parts.projections.mark(ANNA, [event.ref for event in timeline.newest(ANNA, 60)])
    one.memory.project()
    assert one.run(force=True) == NotDue(0, 0.0)
    assert (state(one).late, state(one).hint, sent(one)) == (None, 0, 60)


def test_what_arrives_while_one_is_made_is_late_for_the_next(summaries: Summaries) -> None:
    first = summaries.stored()[-1]

    def meanwhile(_request: object) -> str:
        summaries.say_at(first.covered_until + timedelta(seconds=1), NOON - timedelta(days=9))
        summaries.memory.project()
        return answer("Mine.")

    earlier(summaries, 50)
    summaries.say(50, word="more")
    summaries.memory.project()
    summaries.model.says = [meanwhile, answer("Next.")]
    assert summaries.made().message_count == 50 + 50
    assert (summaries.made(force=True).message_count, summaries.stored()[-1].covered_from) == (
        2, NOON - timedelta(days=9),
    )  # fmt: skip


def test_of_an_unfinished_one_the_rest_stays_late(summaries: Summaries) -> None:
    for days in range(1, 10):
        earlier(summaries, 100, days=days)
    left = iter([100.0] * 4 + [1.0] * 100)
    how = replace(summaries.order(), remaining_seconds=lambda: next(left))
    outcome = summaries.app.summaries.conversations.summarize(ANNA, how)
    assert isinstance(outcome, SummaryMade)
    assert outcome.summary.message_count % 400 == 0
    assert summaries.due() == [("anna", None)]
    earlier(summaries, 1, days=12)
    rest = summaries.made()
    assert rest.message_count == 901 - outcome.summary.message_count
    assert sent(summaries) == 40 + 901
    assert summaries.due() == []


def test_users_and_personas_are_looked_through_by_themselves(summaries: Summaries) -> None:
    coach = Scope("acme", "anna", "coach")
    for scope in (BEN, coach):
        summaries.say(50, scope)
        summaries.made(scope)
    earlier(summaries, 3)
    earlier(summaries, 4, scope=BEN)
    earlier(summaries, 5, scope=coach)
    made: list[Summary] = [summaries.made(scope, force=True) for scope in (ANNA, BEN, coach)]
    assert [one.message_count for one in made] == [3, 4, 5]


def test_where_nothing_is_late_nothing_more_is_read(summaries: Summaries) -> None:
    summaries.say(49, word="more")
    summaries.memory.project()
    ticket = Ticket(0, RuntimeError())
    with failing_at(summaries, ticket) as watched:
        watched.run()
    assert ticket.calls == 2  # state and window


@pytest.mark.parametrize("killed_at", range(1, 20))
def test_whatever_call_kills_the_process_late_ones_are_summed_up_once(summaries: Summaries, killed_at: int) -> None:
    earlier(summaries, 50)

    class Killed(BaseException):
        """The process ends."""

    with failing_at(summaries, Ticket(killed_at, Killed())) as broken:
        try:
            broken.made()
        except Killed:
            stored = len(summaries.stored())
            assert (stored, summaries.app.parts.items.page(ANNA, covered_path(None), 9, None).items[stored:]) == (1, ())
            summaries.wait(minutes=30)
            summaries.made()
    assert [one.message_count for one in summaries.stored()] == [40, 50]
    assert summaries.due() == []


def test_what_an_archive_brings_is_summed_up_though_it_was_recorded_long_ago(
    summaries: Summaries, tmp_path: Path
) -> None:
    other = open_memory(tmp_path / "other")
    other.now = NOON - timedelta(days=400)
    other.add(*(f"Long ago {n}." for n in range(30)))
    other.project()
    lines = exported(other)
    for _ in range(2):
        imported(summaries.memory, lines)
        summaries.memory.project()
        summaries.run(force=True)
    assert [one.message_count for one in summaries.stored()] == [40, 30, 10]
    assert summaries.run(force=True) == NotDue(0, 0.0)


def test_without_a_model_what_was_said_first_comes_first_though_it_came_last(memory: Memory) -> None:
    one = Summaries(memory, ScriptedModel())
    one.say_at(NOON)
    memory.add(EventDraft(content="We moved the harbour office to Bergen.", timestamp=NOON))
    one.run(force=True)
    memory.add(EventDraft(content="Ingrid sold the old boathouse.", timestamp=NOON - timedelta(days=30)))
    memory.project()
    text = one.made(force=True).text
    assert 0 <= text.index("boathouse") < text.index("Bergen")


def forget_lists(summaries: Summaries) -> datetime:
    """The store becomes one of before lists were kept; when its last summary was made."""
    items = summaries.app.parts.items
    item = items.get(ANNA, [state_key(None)])[state_key(None)]
    before = {name: value for name, value in item.value.items() if name not in ("format", "late", "unlisted_until")}
    listed = items.page(ANNA, covered_path(None), 100, None).items
    writes = [ItemWrite(item.key, before, item.version, item.due), *(ItemWrite(one.key, None) for one in listed)]
    items.write(ANNA, writes, summaries.memory.now)
    last = state(summaries).last
    assert last is not None
    return last.created_at


def test_a_store_of_before_sums_up_what_came_after_its_last_summary_and_nothing_twice(summaries: Summaries) -> None:
    earlier(summaries, 20)
    made_at = forget_lists(summaries)  # and nobody has noted the twenty
    assert state(summaries).unlisted_until == made_at
    assert state(summaries).late == LateSpan(
        datetime(1900, 1, 1, tzinfo=NOON.tzinfo), summaries.stored()[0].covered_until
    )
    assert summaries.made(force=True).message_count == 20
    earlier(summaries, 5, days=4)
    assert summaries.made(force=True).message_count == 5
    assert summaries.made(force=True).message_count == 10
    assert summaries.run(force=True) == NotDue(0, 0.0)
    assert sent(summaries) == 40 + 20 + 5 + 10
