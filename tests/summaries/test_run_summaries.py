"""The check by `project` and the scheduled run: everybody who is due, each once, one's failure nobody else's."""

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from embedded.setting import ANNA, NOON, Away, Memory, away, with_parts
from embedded.summarizing import Summaries, answer, summaries_of
from recollect.context.model_call import ModelRequest
from recollect.core.errors import Conflict, Unavailable, UpstreamFailed
from recollect.core.items import Due
from recollect.core.scope import Scope
from recollect.rules.groups import SummaryRules
from recollect.summaries.run import LostWords, NoteMessages, RedactLostWords, SummaryRun
from recollect.summaries.storage import QUEUE, state_key
from recollect.timeline.record import EventDraft
from recollect.timeline.timeline import PendingEvent, WindowPage, WindowQuery
from summaries.test_goals import Contended

BEN = Scope("acme", "ben")
COACH = Scope("acme", "anna", "coach")


@pytest.fixture
def summaries(memory: Memory) -> Summaries:
    """A memory whose model answers well."""
    return summaries_of(memory)


def hint(summaries: Summaries, scope: Scope = ANNA) -> int:
    """The count of the state."""
    key = state_key(scope.persona_id)
    return int(summaries.app.parts.items.get(scope.user, [key])[key].value["hint"])


def run(summaries: Summaries, seconds: float = 900.0) -> SummaryRun:
    """A scheduled run."""
    return summaries.app.summaries.rounds.run(lambda: summaries.memory.now, lambda: seconds)


def said_by(summaries: Summaries, users: int, messages: int) -> list[Scope]:
    """So many users have said so much, and it is projected."""
    scopes = [Scope("acme", f"user{n}") for n in range(users)]
    for scope in scopes:
        summaries.say(messages, scope)
    summaries.memory.project()
    return scopes


@pytest.mark.spec("H-05", "H-09", "H-10")
def test_projecting_the_fiftieth_message_makes_a_summary_due(summaries: Summaries) -> None:
    summaries.say(49)
    summaries.memory.project()
    assert (hint(summaries), summaries.due()) == (49, [])
    summaries.say(1)
    assert summaries.due() == []
    summaries.memory.project()
    assert summaries.due() == [("anna", None)]
    assert run(summaries).counts == {"made": 1, "not_due": 0, "busy": 0, "failed": 0}
    assert (hint(summaries), summaries.due()) == (0, [])
    assert len(summaries.stored()) == 1


def test_who_goes_on_talking_keeps_the_place_in_the_queue(summaries: Summaries) -> None:
    """And a message costs no move in the index of what is due."""

    def due() -> Due | None:
        return summaries.app.parts.items.get(ANNA, [state_key(None)])[state_key(None)].due

    summaries.say(1)
    summaries.memory.project()
    by_age = due()
    for messages, hours in ((48, 1), (1, 2), (5, 3)):
        summaries.say(messages)
        summaries.memory.now = NOON + timedelta(hours=hours)
        summaries.memory.project()
        expected = by_age if hours == 1 else Due(QUEUE, NOON + timedelta(hours=2))
        assert due() == expected
    assert hint(summaries) == 55


@pytest.mark.spec("H-06", "H-10")
def test_a_user_who_is_silent_is_due_by_age(summaries: Summaries) -> None:
    summaries.say(2)
    summaries.memory.project()
    summaries.memory.now = NOON + timedelta(minutes=1, days=21, microseconds=-1)
    assert (summaries.due(), run(summaries).made) == ([], 0)
    summaries.wait(microseconds=1)
    assert run(summaries).made == 1
    summaries.wait(days=100)
    assert (summaries.due(), run(summaries).made) == ([], 0)


@pytest.mark.spec("P-21")
def test_personas_and_users_are_due_by_themselves(summaries: Summaries) -> None:
    for scope in (ANNA, COACH, BEN):
        summaries.say(50 if scope is not COACH else 49, scope)
    summaries.memory.project()
    assert sorted(summaries.due(), key=str) == [("anna", None), ("ben", None)]
    summaries.say(1, COACH, word="last")
    summaries.memory.project()
    assert run(summaries).made == 3
    assert [one.persona_id for one in summaries.stored(COACH)] == ["coach"]


def test_projecting_twice_counts_too_much_and_the_check_puts_it_right(summaries: Summaries) -> None:
    summaries.say(30)
    refs = summaries.app.parts.timeline.tail(ANNA).refs
    for _ in range(2):
        summaries.app.projection.events.project([PendingEvent(ANNA, ref) for ref in refs], summaries.memory.now)
    assert (hint(summaries), summaries.due()) == (60, [("anna", None)])
    assert run(summaries).counts == {"made": 0, "not_due": 1, "busy": 0, "failed": 0}
    assert (hint(summaries), summaries.due(), summaries.model.asked) == (30, [], [])


def test_what_counts_for_nothing_is_not_counted_and_not_written(summaries: Summaries) -> None:
    summaries.memory.add(EventDraft(content="secret", timestamp=NOON, is_private=True))
    summaries.memory.add(EventDraft(content="gone", timestamp=NOON, expires_at=NOON))
    summaries.memory.project()
    assert summaries.app.parts.items.get(ANNA, [state_key(None)]) == {}
    summaries.say(50)
    summaries.memory.project()
    run(summaries)
    before = summaries.app.parts.items.get(ANNA, [state_key(None)])
    summaries.memory.add(EventDraft(content="a late secret", timestamp=NOON - timedelta(days=1), is_private=True))
    summaries.memory.project()
    assert summaries.app.parts.items.get(ANNA, [state_key(None)]) == before


def test_where_the_count_cannot_be_stored_the_events_stay_pending(summaries: Summaries) -> None:
    summaries.say(1)
    with away(summaries.memory, "items", "write") as broken:
        report = broken.app.projection.reconciliation.run(summaries.memory.now)
        assert report.failed == dict.fromkeys(summaries.memory.ids, "Unavailable")
    assert summaries.memory.project() == 1
    assert hint(summaries) == 1


def test_counting_side_by_side_loses_nothing(summaries: Summaries) -> None:
    summaries.say(40)
    events = summaries.app.parts.timeline.newest(ANNA, 40)
    note = NoteMessages(summaries.app.parts.items)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: note.note(ANNA, events[n::8], SummaryRules(), summaries.memory.now), range(8)))
    assert hint(summaries) == 40


def test_a_count_that_others_change_all_the_time_raises_conflict(summaries: Summaries) -> None:
    summaries.say(1)
    events = summaries.app.parts.timeline.newest(ANNA, 1)
    contended: Any = Contended(summaries.app.parts.items, 100)
    with pytest.raises(Conflict):
        NoteMessages(contended).note(ANNA, events, SummaryRules(), summaries.memory.now)


@pytest.mark.spec("H-11")
def test_the_tenants_own_thresholds_count(summaries: Summaries) -> None:
    own = {"summary": {"messages": 4, "raw_window": 1}}
    summaries.app.rules.replace("acme", own, summaries.memory.now, None)
    summaries.say(4)
    summaries.memory.project()
    assert run(summaries).made == 1
    assert summaries.stored()[0].message_count == 3


@pytest.mark.spec("H-31")
def test_ones_failure_is_counted_put_off_and_stops_nobody(summaries: Summaries) -> None:
    for scope in (ANNA, BEN):
        summaries.say(50, scope)
    summaries.memory.project()
    summaries.model.says = [UpstreamFailed("no"), answer("Good.")]
    report = run(summaries)
    assert (report.made, dict(report.failed), report.complete) == (1, {"UpstreamFailed": 1}, True)
    assert run(summaries).counts == {"made": 0, "not_due": 0, "busy": 0, "failed": 0}
    summaries.wait(minutes=5)
    assert run(summaries).made == 1
    assert [len(summaries.stored(scope)) for scope in (ANNA, BEN)] == [1, 1]


def test_a_defect_at_one_user_stops_nobody_and_is_put_off(summaries: Summaries) -> None:
    for scope in (ANNA, BEN):
        summaries.say(50, scope)
    summaries.memory.project()

    class Defective(Away):
        def window(self, scope: Scope, query: WindowQuery) -> WindowPage:
            if scope.user_id == "anna":
                raise ZeroDivisionError
            return summaries.app.parts.timeline.window(scope, query)

    timeline = Defective(summaries.app.parts.timeline, [])
    broken = Summaries(with_parts(summaries.memory, timeline=timeline), summaries.model)
    assert run(broken).counts == {"made": 1, "not_due": 0, "busy": 0, "failed": 1}
    assert summaries.due() == []
    summaries.wait(minutes=15)
    assert summaries.due() == [("anna", None)]
    assert run(summaries).made == 1


def test_a_run_stops_a_minute_before_its_time_is_over_and_the_next_goes_on(summaries: Summaries) -> None:
    users = said_by(summaries, 5, 50)
    left = [600.0]

    def slow(request: ModelRequest) -> str:
        assert 0 < request.seconds <= left[0] - 60
        left[0] -= 200
        return answer("Good.")

    summaries.model.says = [slow]
    report = summaries.app.summaries.rounds.run(lambda: summaries.memory.now, lambda: left[0])
    assert (report.made, report.complete) == (3, False)
    assert summaries.app.summaries.rounds.run(lambda: summaries.memory.now, lambda: 59.9).made == 0
    left[0] = 900.0
    assert summaries.app.summaries.rounds.run(lambda: summaries.memory.now, lambda: left[0]).complete
    assert [len(summaries.stored(user)) for user in users] == [1] * 5


def test_two_runs_at_once_do_nothing_twice(summaries: Summaries) -> None:
    users = said_by(summaries, 4, 50)
    gate = threading.Barrier(2)

    def one(_number: int) -> SummaryRun:
        gate.wait()
        return run(summaries)

    with ThreadPoolExecutor(2) as pool:
        reports = list(pool.map(one, range(2)))
    assert sum(report.made for report in reports) == 4
    assert all(not report.failed for report in reports)
    assert len(summaries.model.asked) == 4
    assert [len(summaries.stored(user)) for user in users] == [1] * 4


def test_due_users_are_found_page_by_page(summaries: Summaries, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recollect.summaries.run._PAGE", 2)
    own = {"summary": {"messages": 1, "raw_window": 0}}
    summaries.app.rules.replace("acme", own, summaries.memory.now, None)
    said_by(summaries, 5, 1)
    assert run(summaries).counts == {"made": 5, "not_due": 0, "busy": 0, "failed": 0}


def test_a_queue_that_does_not_answer_fails_the_run(summaries: Summaries) -> None:
    with away(summaries.memory, "items", "due") as broken, pytest.raises(Unavailable):
        run(Summaries(broken, summaries.model))


def test_summaries_are_redacted_only_where_something_was_deleted(summaries: Summaries) -> None:
    told: list[object] = []
    redaction = SimpleNamespace(redact=lambda *given: told.append(given))
    RedactLostWords(redaction).follow(ANNA, LostWords(), NOON)  # type: ignore[arg-type]
    assert told == []
