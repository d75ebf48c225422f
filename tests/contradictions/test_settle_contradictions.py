"""Contradictions settled by the judge, from what is said to what is recalled (P-24)."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from embedded.contradicting import DAY, MONDAY, on, recalled, remembered, say, settle, statuses
from embedded.setting import ANNA, Memory
from recollect.contradictions.decisions import CONFLICTS
from recollect.contradictions.judge import Relation, Said
from recollect.contradictions.trained import TrainedJudge
from recollect.core.scope import Scope
from recollect.memories.memory import MemoryStatus

ACTIVE, SUPERSEDED = MemoryStatus.ACTIVE, MemoryStatus.SUPERSEDED
PARIS, LYON = "I live in Paris.", "I moved to Lyon."


@pytest.mark.spec("P-24")
def test_in_a_batch_each_is_held_against_what_it_leads_to(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a record ends hangs on no other of its batch: neither of what that one leads to, nor on its being there."""
    held: set[tuple[str, str]] = set()
    judge = TrainedJudge.judge

    def noted(self: TrainedJudge, newer: Said, older: Sequence[Said], least: float = 0.0) -> list[Relation | None]:
        held.update((one.text, newer.text) for one in older)
        return judge(self, newer, older, least)

    monkeypatch.setattr(TrainedJudge, "judge", noted)
    say(memory, on(0, "I bank with Northgate."))
    memory.add(on(1, LYON), on(2, "My accounts are with Coral Bank now."))
    memory.project()
    assert ("I bank with Northgate.", "My accounts are with Coral Bank now.") in held
    assert ("I bank with Northgate.", LYON) in held
    assert (LYON, "My accounts are with Coral Bank now.") in held


@pytest.mark.spec("P-24")
def test_a_mere_reply_asks_the_index_for_nothing(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []
    monkeypatch.setattr(type(memory.app.parts.index), "nominate", lambda *call: asked.append(call))
    memory.add("Thanks!", "Is your boiler still working?")
    memory.project()
    assert asked == []


@pytest.mark.spec("P-24")
def test_what_arrives_late_is_ended_by_what_was_said_since(memory: Memory) -> None:
    """The newer one is projected, and what arrives ends nothing itself: the index leads to what ended it."""
    (new,) = say(memory, on(2, "I no longer eat meat."))
    (old,) = say(memory, on(0, "I eat meat with my brothers."))
    assert statuses(memory, [old, new]) == [SUPERSEDED, ACTIVE]


@pytest.mark.spec("P-11")
def test_other_things_in_the_same_text_stay(memory: Memory) -> None:
    text = "I live in Paris. My grandmother Zelda bakes lemon cakes on Sundays with cardamom."
    old, _ = say(memory, on(0, text), on(2, LYON))
    assert statuses(memory, [old]) == [ACTIVE]
    found = recalled(memory, "grandmother lemon cakes")
    assert any("lemon cakes" in one for one in found)
    assert not any("Paris" in one for one in found)


@pytest.mark.spec("P-24")
def test_speakers_personas_users_and_tenants_are_apart(memory: Memory) -> None:
    old, _ = say(memory, on(0, PARIS), on(2, LYON, speaker="Ben"))
    for other in (Scope("acme", "anna", "coach"), Scope("acme", "ben"), Scope("evil", "anna")):
        say(memory, on(2, LYON), scope=other)
    assert statuses(memory, [old]) == [ACTIVE]


@pytest.mark.spec("P-24")
def test_a_replacement_that_was_taken_back_replaced_nothing(memory: Memory) -> None:
    paris, lyon, _ = say(memory, on(0, PARIS), on(2, LYON), on(3, "I misspoke, I didn't move to Lyon."))
    assert statuses(memory, [lyon]) == [MemoryStatus.RETRACTED]
    assert statuses(memory, [paris]) == [ACTIVE]


@pytest.mark.spec("P-24")
def test_said_again_after_a_change_it_is_current_again(memory: Memory) -> None:
    old, new, again = say(memory, on(0, PARIS), on(2, LYON), on(4, PARIS))
    assert statuses(memory, [old, new, again]) == [SUPERSEDED, SUPERSEDED, ACTIVE]


@pytest.mark.spec("P-24")
def test_off_leaves_what_is_judged_as_open_conflicts(memory: Memory) -> None:
    rules = memory.app.rules.resolved("acme")
    off = replace(rules, conflict=replace(rules.conflict, auto_apply="off"))
    memory.app.rules.resolved = lambda tenant: off  # type: ignore[method-assign]
    old, new = say(memory, on(0, PARIS), on(2, LYON))
    assert statuses(memory, [old]) == [ACTIVE]
    page = memory.app.parts.items.page(ANNA.user, CONFLICTS, 10, None)
    assert [item.key.key for item in page.items] == [f"{new}.{old}"]


@pytest.mark.spec("P-22")
def test_a_deleted_winner_brings_no_older_value_back(memory: Memory) -> None:
    old, new = say(memory, on(0, PARIS), on(2, LYON))
    memory.app.deletion.events.record(ANNA, new, now=memory.now)
    settle(memory)
    assert statuses(memory, [old]) == [SUPERSEDED]
    assert recalled(memory, "where do I live") == []


@pytest.mark.spec("P-24")
@pytest.mark.parametrize("key", [None, "sport"])
def test_what_holds_over_for_a_while_ends_with_its_bound(memory: Memory, key: str | None) -> None:
    _, late = say(memory, on(0, "I lift weights.", key), on(1, "I'm not allowed to lift weights for six weeks.", key))
    assert remembered(memory)[late].valid_to == MONDAY + 43 * DAY
    memory.now = MONDAY + 60 * DAY
    assert recalled(memory, "do I lift weights") == ["I lift weights."]


@pytest.mark.spec("P-24")
@pytest.mark.parametrize(
    ("said", "days"),
    [("til friday I'm at the Horsforth shop", 5), ("hasta el domingo 7 dormimos en otra casa", 7)],
)
def test_what_names_its_end_lapses_though_nothing_is_said_against_it(memory: Memory, said: str, days: int) -> None:
    (until,) = say(memory, on(0, said))
    assert remembered(memory)[until].valid_to == MONDAY.replace(hour=0) + days * DAY
    memory.now = MONDAY + 4 * DAY
    assert recalled(memory, said) == [said]
    memory.now = MONDAY + 8 * DAY
    assert recalled(memory, said) == []


@pytest.mark.spec("P-24")
@pytest.mark.parametrize("later", ["I joined Bosch this week.", "I got my Bosch badge today."])
def test_when_something_happened_is_no_bound_of_a_key(memory: Memory, later: str) -> None:
    old, new = say(memory, on(0, "I work at Siemens.", "employer"), on(2, later, "employer"))
    assert statuses(memory, [old, new]) == [SUPERSEDED, ACTIVE]
    assert remembered(memory)[new].valid_to is None


@pytest.mark.spec("P-24")
def test_a_key_whose_value_is_taken_back_loses_the_one_before_and_no_other(memory: Memory) -> None:
    first, second, _ = say(
        memory,
        on(0, "Hillcrest Primary", "school"),
        on(1, "Oakfield Primary", "school"),
        on(2, "I misspoke, wrong one.", "school"),
    )
    assert statuses(memory, [first, second]) == [SUPERSEDED, MemoryStatus.RETRACTED]
