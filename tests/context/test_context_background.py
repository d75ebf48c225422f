"""Summary, goals and knowledge in a context; and no message both in the summary and in the raw window."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, cast

import pytest

from embedded.memory_items import patch
from embedded.setting import ANNA, NOON, Away, Memory, away, with_parts
from embedded.spoken import said_in
from embedded.summarizing import Summaries, summaries_of
from recollect.core.errors import Unavailable
from recollect.core.event import Role
from recollect.core.items import ItemKey, ItemPath, ItemWrite
from recollect.core.scope import Scope
from recollect.deletion.rejected_values import REJECTIONS
from recollect.ports import Items
from recollect.summaries.goals import CheckIn, CheckInStatus, Goal, GoalStatus, TrackedGoal
from recollect.summaries.storage import GOALS, goal_write, summaries_path, summary_writes
from recollect.summaries.summary import Reason, Summary, SummarySentence
from recollect.timeline.record import EventDraft

VIP = {"condition": "count > 100", "applies_to": ["users"]}


def put_summary(memory: Memory, text: str, until: str, at: datetime, scope: Scope = ANNA, **more: Any) -> Summary:
    """A stored summary up to and with that event of the memory's."""
    event = memory.app.parts.timeline.find(scope, until)
    assert event is not None
    summary = Summary(
        id=f"summary-{until}-{at.isoformat()}",
        text=text,
        sentences=(SummarySentence(text, (until,)),),
        message_count=1,
        covered_from=NOON,
        covered_until=event.timestamp,
        covered_until_id=event.id,
        created_at=at,
        reason=Reason.FORCED,
        model="extractive",
        persona_id=scope.persona_id,
        **{"tracked_goals": (), **more},
    )
    memory.app.parts.items.write(scope.user, summary_writes(summary, [event.ref]), at)
    return summary


def put_goals(memory: Memory, *goals: Goal) -> None:
    memory.app.parts.items.write(ANNA, [goal_write(goal) for goal in goals], NOON)


def raw_window(memory: Memory, text: str = "go on", **changes: Any) -> list[str]:
    messages = memory.context(text, **changes).messages.messages
    return [text for _, text in said_in(messages)][:-1]


def fenced(memory: Memory, heading: str, text: str = "go on", **changes: Any) -> str:
    """What stands under that heading; "" where there is no such part."""
    messages = memory.context(text, **changes).messages.messages
    system = "".join(m.content for m in messages if m.role.value == "system")
    _, found, rest = system.partition(f"{heading}\n")
    return f"{heading}\n{rest.partition('</')[0]}</" if found else ""


@pytest.mark.spec("P-5", "P-23")
@pytest.mark.parametrize("projected", [True, False], ids=["projected again", "at once"])
def test_the_raw_window_says_what_a_person_corrected_it_to(memory: Memory, projected: bool) -> None:
    """The other event that said the same is corrected with it; each message keeps its place."""
    bern, too = EventDraft(content="I live in Bern", importance=0.9, timestamp=NOON), "I live in Bern too, by the way"
    memory.add(bern, "Nice there.", replace(bern, timestamp=NOON + timedelta(seconds=90)), too)
    memory.project()
    patch(memory, memory.ids[0], content="I live in Basel")
    if projected:
        memory.project()
    said = ["I live in Basel", "Nice there.", "I live in Basel", too]
    assert raw_window(memory, conversation_id="c1") == said
    answer = memory.context("go on", conversation_id="c1")
    assert [item.id for item in answer.messages.parts.raw_window] == memory.ids
    assert "I live in Bern\n" not in f"{answer.prompt.text}\n"


@pytest.mark.spec("H-01", "H-13", "H-15", "P-5")
def test_no_message_is_both_summarised_and_raw(memory: Memory) -> None:
    memory.add(*(f"turn {n}" for n in range(14)))
    assert raw_window(memory, conversation_id="c1") == [f"turn {n}" for n in range(4, 14)]
    put_summary(memory, "They spoke of turns.", memory.ids[8], memory.now)
    for asked in ({"conversation_id": "c1"}, {}):
        assert raw_window(memory, **asked) == [f"turn {n}" for n in range(9, 14)]
    put_summary(memory, "They spoke of all turns.", memory.ids[13], memory.now + timedelta(minutes=1))
    assert raw_window(memory, conversation_id="c1") == []


@pytest.mark.spec("H-13")
def test_the_history_sent_is_the_newest_n_in_the_order_said(memory: Memory) -> None:
    memory.add(*(f"turn {n}" for n in range(30)))
    memory.add(EventDraft(content="Of course.", role=Role.BOT, timestamp=memory.now))
    assert raw_window(memory, conversation_id="c1") == [*(f"turn {n}" for n in range(21, 30)), "Of course."]


@pytest.mark.spec("H-14")
def test_only_the_newest_summary_is_sent_as_fenced_data(memory: Memory) -> None:
    memory.add(*(f"turn {n}" for n in range(3)))
    put_summary(memory, "The old story.", memory.ids[0], memory.now)
    newest = put_summary(memory, "The new story.", memory.ids[1], memory.now + timedelta(hours=1))
    answer = memory.context("go on")
    assert answer.summary == newest
    assert "The old story." not in "".join(message.content for message in answer.messages.messages)
    assert fenced(memory, "Summary of earlier conversations:").splitlines()[2:-1] == ["The new story."]
    assert "story" not in answer.prompt.text


@pytest.mark.spec("P-21", "P-23")
def test_a_summary_is_of_a_persona_over_all_conversations(memory: Memory) -> None:
    coach = Scope("acme", "anna", "coach")
    memory.add("to me one", "to me two")
    memory.add("to the coach", conversation="c2", scope=coach)
    put_summary(memory, "The coach's story.", memory.ids[2], memory.now, coach)
    assert memory.context("go on").summary is None
    assert raw_window(memory) == ["to me one", "to me two"]
    assert memory.context("go on", scope=coach).summary is not None
    assert raw_window(memory, scope=coach) == []
    memory.add("to me three")
    put_summary(memory, "My story.", memory.ids[3], memory.now)
    assert raw_window(memory) == []
    assert raw_window(memory, conversation_id="c2") == ["to the coach"]


@pytest.mark.spec("P-5")
def test_of_one_timestamp_the_ids_tell_what_is_covered(memory: Memory) -> None:
    memory.add(*(EventDraft(content=f"at once {n}", timestamp=NOON) for n in range(4)))
    put_summary(memory, "Half of it.", memory.ids[1], memory.now)
    assert raw_window(memory) == ["at once 2", "at once 3"]


def test_a_past_instant_gets_the_summary_that_could_be_known_then(memory: Memory) -> None:
    memory.add(*(f"turn {n}" for n in range(4)))
    early = put_summary(memory, "Early.", memory.ids[0], memory.now, tracked_goals=(TrackedGoal("Run"),))
    put_summary(memory, "Late.", memory.ids[3], memory.now + timedelta(hours=1))
    put_goals(memory, Goal(id="g1", goal="Run", status=GoalStatus.COMPLETED), Goal(id="g2", goal="Swim"))
    assert [goal.goal for goal in memory.context("go on").goals] == ["Swim"]
    then = memory.context("go on", as_of=NOON + timedelta(minutes=2))
    assert (then.summary, [goal.goal for goal in then.goals]) == (early, ["Run"])
    assert memory.context("go on", recorded_as_of=memory.now + timedelta(minutes=1)).summary == early
    assert memory.context("go on", as_of=NOON).summary is None


@pytest.mark.spec("H-03")
def test_active_goals_stand_in_the_messages_with_their_last_check_ins(memory: Memory) -> None:
    history = tuple(CheckIn(f"2024-04-0{n}", CheckInStatus.COMPLETED) for n in range(1, 6))
    meditate = Goal(id="g1", goal="Meditate\ndaily", check_in_frequency="daily", history=history)
    over = Goal(id="g2", goal="Quit smoking", status=GoalStatus.COMPLETED)
    put_goals(memory, meditate, over, Goal(id="g3", goal="Read more"))
    answer = memory.context("go on")
    assert [goal.goal for goal in answer.goals] == ["Meditate\ndaily", "Read more"]
    assert fenced(memory, "Goals that the user follows:").splitlines()[2:-1] == [
        "- Meditate daily (check-in daily; 2024-04-03 completed; 2024-04-04 completed; 2024-04-05 completed)",
        "- Read more",
    ]
    assert memory.context("go on", scope=Scope("acme", "ben")).goals == ()


@pytest.mark.spec("S-31")
def test_knowledge_is_read_for_a_store_alone(memory: Memory) -> None:
    knowledge = memory.app.knowledge
    knowledge.put("acme", "vocabulary", "users:client_name", {"target": "name", "type": "synonym"}, NOON)
    knowledge.put("acme", "rule", "vip_user", VIP, NOON)
    assert fenced(memory, "What terms and rules mean here:") == ""
    answer = memory.context("go on", store="users")
    assert [(entry.namespace, entry.key) for entry in answer.knowledge] == [
        ("rule", "vip_user"), ("vocabulary", "users:client_name"),
    ]  # fmt: skip
    assert "\n".join(fenced(memory, "What terms and rules mean here:", store="users").splitlines()[2:-1]) == (
        "[Semantic Memory]\n"
        "The following terms have special meanings in this database:\n"
        '- "client_name" (users) -> Mapped to field: "name"\n'
        "\n"
        "[Business Rules]\n"
        '- "vip_user": Apply filter "count > 100"'
    )
    assert memory.context("go on", store="users", scope=Scope("other", "anna")).knowledge == ()


@pytest.mark.parametrize(("path", "part"), [(summaries_path(None), "summary"), (GOALS, "goals")])
def test_what_cannot_be_read_any_more_is_named_and_left_out(memory: Memory, path: ItemPath, part: str) -> None:
    memory.add("I have a dog")
    memory.app.parts.items.write(ANNA, [ItemWrite(ItemKey(path, "broken"), {"format": 1})], NOON)
    answer = memory.context("dog?", store="users")
    assert answer.missing == (part,)
    assert "I have a dog" in answer.prompt.text


class OnlyRejections(Away):
    """Of all lists only that of rejected values can be read: without it nothing may be shown."""

    def __getattr__(self, name: str) -> Any:
        return self._page if name == "page" else super().__getattr__(name)

    def _page(self, owner: Scope, path: ItemPath, *rest: Any, **more: Any) -> Any:
        if path != REJECTIONS:
            raise Unavailable("page is away")
        return cast(Items, self._part).page(owner, path, *rest, **more)


def test_without_the_rejected_values_there_is_no_context(memory: Memory) -> None:
    memory.add("I have a dog")
    with away(memory, "items", "page") as broken, pytest.raises(Unavailable):
        broken.context("dog?")


@pytest.mark.spec("K-77")
def test_all_of_it_away_still_gives_a_context(memory: Memory) -> None:
    memory.add("I have a dog")
    broken = with_parts(memory, items=OnlyRejections(memory.app.parts.items, ["page"]))
    answer = broken.context("dog?", store="users")
    assert answer.missing == ("summary", "goals", "knowledge")
    assert "I have a dog" in answer.prompt.text


def test_what_the_budget_cuts_is_not_shown_as_sent(memory: Memory) -> None:
    memory.add("I have a dog")
    put_summary(memory, "A long story. " * 50, memory.ids[0], memory.now)
    put_goals(memory, *(Goal(id=f"g{n}", goal=f"Goal number {n} " * 10) for n in range(5)))
    memory.app.knowledge.put("acme", "rule", "vip_user", VIP, NOON)
    whole = memory.context("go on", store="users")
    assert (len(whole.goals), bool(whole.summary), len(whole.knowledge)) == (5, True, 1)
    shown: list[tuple[int, bool, int]] = []
    for budget in range(whole.tokens, 12, -20):
        answer = memory.context("go on", store="users", token_budget=budget)
        assert answer.tokens <= budget
        state = (len(answer.goals), bool(answer.summary), len(answer.knowledge))
        shown += [state] if state not in shown else []
    assert shown[0] == (5, True, 1)
    assert shown[-1] == (0, False, 0)
    assert shown == sorted(shown, reverse=True)
    assert (0, True, 0) in shown


@pytest.mark.spec("H-13", "H-15", "P-5", "P-21")
def test_a_summary_and_the_raw_window_share_the_conversation_between_them(memory: Memory) -> None:
    summaries, said = summaries_of(memory), [f"I walked to the harbour, day {n}" for n in range(60)]
    memory.add(*said)
    for _ in range(2):
        summary = Summaries(memory, summaries.model).made(force=True)
        answer = memory.context("go on", conversation_id="c1")
        assert answer.summary == summary
        assert raw_window(memory, conversation_id="c1") == said[-memory.app.rules.resolved("acme").summary.raw_window :]
        assert answer.summary.covered_until_id == memory.ids[len(said) - 11]
        said += (rained := [f"Then it rained, day {n}" for n in range(30)])
        memory.add(*rained)
        assert raw_window(memory, conversation_id="c1") == said[-10:]
