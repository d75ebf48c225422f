"""Whatever call fails, and however: the trigger stays, nothing is stored twice, and the next try makes it good."""

import pytest

from embedded.setting import ANNA, Away, Memory, with_parts
from embedded.summarizing import Summaries, Ticket, answer, failing_at, summaries_of
from recollect.core.errors import RecollectError, Unavailable


class Killed(BaseException):
    """The process ends: nothing more is done."""


def prepared(memory: Memory) -> Summaries:
    """Sixty messages noted, a summary of the past, and a goal that the next one changes."""
    goal = {"goal": "Meditate daily"}
    one = summaries_of(memory, [answer("Before.", goal)])
    one.say(3)
    one.made(force=True)
    one.say(60)
    one.memory.project()
    one.model.says = [answer("After.", {**goal, "status": "completed"}, {"goal": "Learn Spanish"})]
    return one


def calls_of(memory: Memory) -> int:
    """How many calls of ports a whole run makes."""
    ticket = Ticket(0, Killed())
    with failing_at(prepared(memory), ticket) as watched:
        watched.made()
    return ticket.calls


def check_whole(summaries: Summaries) -> None:
    """One more summary than before, its goals, and nothing that is due."""
    assert [one.text for one in summaries.stored()] == ["Before.", "After."]
    assert [(one.goal, one.status, one.version) for one in summaries.app.summaries.goals.listed(ANNA)] == [
        ("Meditate daily", "completed", 2),
        ("Learn Spanish", "active", 1),
    ]
    assert summaries.due() == []


def test_a_whole_run_makes_so_many_calls(memory: Memory) -> None:
    assert 8 <= calls_of(memory) <= 18


@pytest.mark.spec("H-30", "H-31", "P-5")
@pytest.mark.parametrize("killed", [True, False])
@pytest.mark.parametrize("fatal", range(1, 19))
def test_a_failure_at_any_call_leaves_all_or_nothing(memory: Memory, fatal: int, killed: bool) -> None:
    summaries = prepared(memory)
    assert summaries.due() == [("anna", None)]
    seed = summaries.seed()
    ticket = Ticket(fatal, Killed() if killed else Unavailable("away"))
    with failing_at(summaries, ticket) as broken:
        try:
            broken.run(seed=seed)
        except (Killed, RecollectError):
            pass
        else:
            assert ticket.calls < fatal
            check_whole(summaries)
            return
    assert [one.text for one in summaries.stored()] == ["Before."]
    assert [one.status for one in summaries.app.summaries.goals.listed(ANNA)] == ["active"]
    summaries.wait(minutes=6)
    assert summaries.due() == [("anna", None)]
    summaries.made()
    check_whole(summaries)


@pytest.mark.parametrize("fatal", range(1, 19))
def test_a_retry_with_the_same_seed_goes_on_at_once(memory: Memory, fatal: int) -> None:
    summaries = prepared(memory)
    seed = summaries.seed()
    with failing_at(summaries, Ticket(fatal, Killed())) as broken:
        try:
            first = broken.made(seed=seed)
        except Killed:
            first = None
    again = summaries.made(seed=seed)
    assert first in (None, again)
    assert again.id == seed.nth(0)
    check_whole(summaries)


def test_an_answer_that_was_lost_after_the_write_is_found_again(memory: Memory) -> None:
    summaries = prepared(memory)
    seed = summaries.seed()

    class AfterTheWrite(Away):
        def write(self, owner: object, writes: list[object], now: object) -> object:
            done = summaries.app.parts.items.write(owner, writes, now)  # type: ignore[arg-type]
            if len(writes) > 1:
                raise Unavailable("the answer was lost")
            return done

    items = AfterTheWrite(summaries.app.parts.items, [])
    lossy = Summaries(with_parts(summaries.memory, items=items), summaries.model)
    with pytest.raises(Unavailable):
        lossy.run(seed=seed)
    assert summaries.made(seed=seed).text == "After."
    check_whole(summaries)
