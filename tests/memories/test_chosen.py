"""With `RECOLLECT_EXTRACTION=model` a model chooses which messages become memories, in the words that were said."""

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from embedded.archiving import exported, imported
from embedded.memory_items import USER, delete, kept_of, reject, shown, states, whole
from embedded.reindexing import run_job
from embedded.setting import ANNA, Instead, Memory, away, open_memory, with_parts
from embedded.summarizing import Summaries, Ticket, answer, failing_at, summaries_of
from recollect.context.model_call import ModelRequest
from recollect.core.errors import ConfigurationError, RecollectError, Unavailable, UpstreamFailed
from recollect.core.event import QUOTING_MODEL, Role
from recollect.core.items import ItemWrite
from recollect.core.scope import Scope
from recollect.memories.audit import Action, ActorKind
from recollect.memories.audit_log import AuditFilter
from recollect.memories.deferred_promotion import Signal, SignalType
from recollect.memories.memory import MemoryStatus, Origin
from recollect.memories.promotion import KeptChoice
from recollect.settings import Settings
from recollect.summaries.storage import SUMMARIES, failures_key
from recollect.summaries.summarize import NotDue, SummaryMade
from recollect.timeline.record import EventDraft

BEN = Scope("acme", "ben")
IDA, TEA, BUS = "My sister Ida lives in Bergen.", "I never drink coffee.", "The bus was late today."
CHOOSING = {
    "RECOLLECT_EXTRACTION": "model",
    "RECOLLECT_MODEL": "openai",
    "RECOLLECT_OPENAI_BASE_URL": "http://127.0.0.1:9/v1",
    "RECOLLECT_OPENAI_MODEL": "scripted",
}


@pytest.fixture
def choosing(tmp_path: Path) -> Iterator[Summaries]:
    """A memory whose model chooses what to remember."""
    opened = open_memory(tmp_path / "choosing", **CHOOSING)
    yield summaries_of(opened)
    opened.app.parts.close()


def said(content: str, **more: Any) -> EventDraft:
    """Something of little importance, which becomes no memory by itself."""
    return EventDraft(content=content, importance=0.2, **more)


def tell(summaries: Summaries, *contents: str | EventDraft, scope: Scope = ANNA) -> list[str]:
    """What was said a minute apart, projected; the ids."""
    memory = summaries.memory
    before = len(memory.ids)
    for content in contents:
        memory.now += timedelta(minutes=1)
        draft = said(content, timestamp=memory.now) if isinstance(content, str) else content
        memory.add(draft, scope=scope)
    memory.project()
    return memory.ids[before:]


def chooses(*numbers: object, text: str = "Fine.") -> str:
    return json.dumps({**json.loads(answer(text)), "memories": list(numbers)})


def summarized(summaries: Summaries, *says: Any, scope: Scope = ANNA) -> KeptChoice:
    """A forced summary whose model says that; what became of its choice."""
    summaries.model.says = list(says)
    made = summaries.run(scope, force=True)
    assert isinstance(made, SummaryMade)
    return made.choice


def decided(memory: Memory, event_id: str, scope: Scope = ANNA) -> list[tuple[Any, ...]]:
    """What the ledger tells of an event, oldest first."""
    page = memory.app.memories.audit.page(scope, 200, None, AuditFilter(event_id=event_id, decisions=True))
    return [(one.outcome, one.actor.kind, one.actor.id, one.via, one.rule) for one in reversed(page.entries)]


@pytest.mark.spec("P-10", "A-58")
def test_what_the_model_chooses_becomes_a_memory_in_its_own_words(choosing: Summaries) -> None:
    ida, bus, _tea = tell(choosing, IDA, BUS, TEA)
    assert kept_of(choosing.memory) == {}
    assert summarized(choosing, chooses(1)) == KeptChoice(remembered=1)
    (kept,) = kept_of(choosing.memory).values()
    assert (kept.id, kept.content, kept.source_event_ids, kept.origin) == (ida, IDA, (ida,), Origin.EVENT)
    assert kept.embedding_id == f"hashing.1/{ida}"
    assert decided(choosing.memory, ida) == [("promoted", ActorKind.MODEL, "extraction", "extraction", "scripted")]
    assert decided(choosing.memory, bus) == []
    assert shown(choosing.memory, IDA)[0] == IDA
    assert [one.text for one in choosing.stored()] == ["Fine."]
    assert len(choosing.model.asked) == 1
    whole(choosing.memory)


@pytest.mark.spec("A-59", "P-25")
def test_the_next_reconciliation_tells_the_bus_once(choosing: Summaries) -> None:
    tell(choosing, IDA, BUS)
    summarized(choosing, chooses(1))
    memory, kind = choosing.memory, "memory:semantic:saved"
    assert [item.due is None for item in states(memory).values()] == [False]
    assert memory.app.parts.publisher.published("acme", kind, None) == []
    assert [memory.project(), memory.project()] == [1, 0]
    assert [item.due for item in states(memory).values()] == [None]
    assert len(memory.app.parts.publisher.published("acme", kind, None)) == 1
    assert isinstance(choosing.run(force=True), NotDue)
    assert len(kept_of(memory)) == 1


def test_off_by_default_nothing_is_asked_and_nothing_chosen(memory: Memory) -> None:
    summaries = summaries_of(memory, [chooses(1)])
    tell(summaries, IDA)
    assert Settings.from_environment({}).extraction == "off"
    assert summarized(summaries, chooses(1)) == KeptChoice()
    assert "memories" not in summaries.model.last_sent
    assert summaries.model.asked[0].max_tokens == 4 * summaries.rules.max_words + 1_500
    assert kept_of(memory) == {}


@pytest.mark.parametrize("model", ["extractive", "extractive,openai"])
def test_without_a_language_model_nothing_starts_and_the_variable_is_named(model: str) -> None:
    with pytest.raises(ConfigurationError, match="RECOLLECT_EXTRACTION=model") as raised:
        Settings.from_environment({**CHOOSING, "RECOLLECT_MODEL": model})
    assert raised.value.variable == "RECOLLECT_MODEL"
    with pytest.raises(ConfigurationError) as raised:
        Settings.from_environment({"RECOLLECT_EXTRACTION": "always"})
    assert raised.value.variable == "RECOLLECT_EXTRACTION"


def test_only_a_users_own_statements_can_be_chosen(choosing: Summaries) -> None:
    bot = said("You live in Bergen, I see.", role=Role.BOT, timestamp=choosing.memory.now)
    quiet = said("Log line seven.", derive=False, timestamp=choosing.memory.now)
    private = said("My pin is 1234.", is_private=True, timestamp=choosing.memory.now)
    ids = tell(choosing, bot, quiet, private, "When does the bus leave?", IDA)
    assert summarized(choosing, chooses(1, 2, 3, 4, 5)) == KeptChoice(remembered=1)
    assert list(kept_of(choosing.memory)) == [ids[-1]]
    key = failures_key(None)
    counted = choosing.app.parts.items.get(ANNA, [key])[key].value
    assert counted["kinds"] == {"memories_not_shown": 4}
    assert IDA not in str(counted)


@pytest.mark.parametrize("memories", ["all of them", None, [[1]], [1.5]])
def test_a_bad_choice_is_counted_and_the_good_summary_kept(choosing: Summaries, memories: object) -> None:
    tell(choosing, IDA)
    text = json.dumps({"summary": "Fine.", "memories": memories})
    assert summarized(choosing, text) == KeptChoice()
    assert [one.text for one in choosing.stored()] == ["Fine."]
    key = failures_key(None)
    assert choosing.app.parts.items.get(ANNA, [key])[key].value["total"] == 1
    assert kept_of(choosing.memory) == {}


@pytest.mark.spec("H-31")
@pytest.mark.parametrize("failure", [UpstreamFailed("no"), "no JSON"])
def test_a_model_that_fails_loses_nothing(choosing: Summaries, failure: Any) -> None:
    (ida,) = tell(choosing, IDA)
    choosing.model.says = [failure]
    with pytest.raises(UpstreamFailed):
        choosing.run(force=True)
    assert (kept_of(choosing.memory), choosing.stored()) == ({}, [])
    assert summarized(choosing, chooses(1)).remembered == 1
    assert list(kept_of(choosing.memory)) == [ida]


def test_a_provider_that_quotes_chooses_nothing_and_is_no_fault(choosing: Summaries) -> None:
    tell(choosing, IDA)
    choosing.model.name = QUOTING_MODEL
    assert summarized(choosing, answer("User: My sister.")) == KeptChoice()
    assert failures_key(None) not in choosing.app.parts.items.get(ANNA, [failures_key(None)])


@pytest.mark.spec("P-22")
def test_deleting_the_message_deletes_the_memory_and_the_other_way_round(choosing: Summaries) -> None:
    ida, tea = tell(choosing, IDA, TEA)
    summarized(choosing, chooses(1, 2))
    memory = choosing.memory
    memory.app.deletion.events.forget(ANNA, event_id=ida, now=memory.now)
    assert list(kept_of(memory)) == [tea]
    assert delete(memory, tea) == (tea,)
    memory.project()
    assert (kept_of(memory), shown(memory, IDA), shown(memory, TEA)) == ({}, [], [])
    whole(memory)


@pytest.mark.spec("P-22")
def test_what_is_deleted_or_rejected_while_the_model_is_at_work_is_not_remembered(choosing: Summaries) -> None:
    ida, _ = tell(choosing, IDA, TEA)
    memory = choosing.memory

    def meanwhile(_request: ModelRequest) -> str:
        memory.app.deletion.events.forget(ANNA, event_id=ida, now=memory.now)
        reject(memory, TEA)
        return chooses(1, 2)

    assert summarized(choosing, meanwhile) == KeptChoice(left=2)
    assert kept_of(memory) == {}


@pytest.mark.spec("P-22")
def test_a_rejected_value_is_neither_shown_to_the_model_nor_chosen(choosing: Summaries) -> None:
    tell(choosing, IDA, TEA)
    reject(choosing.memory, IDA)
    assert summarized(choosing, chooses(1)).remembered == 1
    assert "Ida" not in choosing.model.last_sent
    assert [one.content for one in kept_of(choosing.memory).values()] == [TEA]


@pytest.mark.spec("P-22")
def test_rejecting_the_value_later_hides_the_memory(choosing: Summaries) -> None:
    tell(choosing, IDA, TEA)
    summarized(choosing, chooses(1))
    reject(choosing.memory, IDA)
    choosing.memory.project()
    assert IDA not in shown(choosing.memory, IDA)


@pytest.mark.spec("A-59")
def test_a_run_that_is_cut_short_after_it_chose_is_made_good_by_the_next(choosing: Summaries) -> None:
    (ida,) = tell(choosing, IDA)
    choosing.model.says = [chooses(1)]

    def write(real: Any, scope: Scope, writes: Sequence[ItemWrite], now: datetime) -> Any:
        if any(one.key.path.collection == SUMMARIES.collection for one in writes):
            raise Unavailable("away")
        return real(scope, writes, now)

    cut = with_parts(choosing.memory, items=Instead(choosing.app.parts.items, write=write), model=choosing.model)
    with pytest.raises(Unavailable):
        Summaries(cut, choosing.model).run(force=True)
    before = states(choosing.memory)
    assert (list(before), choosing.stored()) == ([ida], [])
    assert summarized(choosing, chooses(1)) == KeptChoice(left=1)
    assert states(choosing.memory) == before
    assert len(decided(choosing.memory, ida)) == 1
    assert len(choosing.stored()) == 1


def test_where_a_memory_cannot_be_written_the_summary_waits_for_it(choosing: Summaries) -> None:
    (ida,) = tell(choosing, IDA)
    choosing.model.says = [chooses(1)]
    with away(choosing.memory, "timeline", "read") as broken, pytest.raises(Unavailable):
        Summaries(broken, choosing.model).run(force=True)
    assert (kept_of(choosing.memory), choosing.stored()) == ({}, [])
    assert summarized(choosing, chooses(1)).remembered == 1
    assert list(kept_of(choosing.memory)) == [ida]


def prepared(choosing: Summaries) -> Summaries:
    """Two messages, of which the model chooses one."""
    tell(choosing, IDA, BUS)
    choosing.model.says = [chooses(1)]
    return choosing


def test_a_whole_run_makes_so_many_calls(choosing: Summaries) -> None:
    ticket = Ticket(0, Unavailable("away"))
    with failing_at(prepared(choosing), ticket) as watched:
        watched.run(force=True)
    assert 16 <= ticket.calls <= 28


@pytest.mark.spec("H-31", "P-25")
@pytest.mark.parametrize("fatal", range(1, 29))
def test_a_failure_at_any_call_is_made_good_by_the_next_run(choosing: Summaries, fatal: int) -> None:
    one = prepared(choosing)
    ticket = Ticket(fatal, Unavailable("away"))
    with failing_at(one, ticket) as broken, suppress(RecollectError):
        broken.run(force=True)
    if ticket.calls >= fatal:
        assert one.stored() == []
        one.run(force=True)
    one.memory.project()
    assert [kept.content for kept in kept_of(one.memory).values()] == [IDA]
    assert [made.text for made in one.stored()] == ["Fine."]
    assert [entry[0] for entry in decided(one.memory, one.memory.ids[0])] == ["promoted"]
    assert len(one.app.parts.publisher.published("acme", "memory:semantic:saved", None)) == 1
    whole(one.memory)


@pytest.mark.spec("P-22")
def test_erasing_the_user_erases_what_was_chosen(choosing: Summaries) -> None:
    tell(choosing, IDA)
    summarized(choosing, chooses(1))
    memory, real = choosing.memory, datetime.now(UTC)
    erasure = memory.app.deletion.users.erase(ANNA, memory.now, real, USER, lambda: 60.0)
    memory.app.job_runs.one("acme", erasure.id, lambda: real, lambda: 60.0)
    memory.project()
    assert (states(memory), shown(memory, IDA)) == ({}, [])


def test_a_reindex_keeps_what_was_chosen(choosing: Summaries) -> None:
    tell(choosing, IDA, BUS)
    summarized(choosing, chooses(1))
    before = kept_of(choosing.memory)
    run_job(choosing.memory, "reindex")
    choosing.memory.project()
    assert kept_of(choosing.memory) == before
    assert shown(choosing.memory, IDA)[0] == IDA


def test_an_export_carries_what_was_chosen_into_another_store(choosing: Summaries, memory: Memory) -> None:
    tell(choosing, IDA, BUS)
    summarized(choosing, chooses(1))
    imported(memory, exported(choosing.memory))
    memory.project()
    assert kept_of(memory) == kept_of(choosing.memory)
    assert len(kept_of(memory)) == 1


@pytest.mark.spec("A-21")
def test_the_same_words_again_join_the_memory_that_has_them(choosing: Summaries) -> None:
    first, second = tell(choosing, IDA, IDA)
    assert summarized(choosing, chooses(1, 2)).remembered == 2
    (kept,) = kept_of(choosing.memory).values()
    assert (kept.id, kept.source_event_ids) == (first, (first, second))
    assert [one[0] for one in decided(choosing.memory, second)] == ["duplicate"]
    whole(choosing.memory)


@pytest.mark.spec("P-24")
def test_what_a_newer_message_ended_is_not_brought_back(choosing: Summaries) -> None:
    paris, lyon = tell(choosing, "I live in Paris.", "I moved to Lyon.")
    memory = choosing.memory
    before = states(memory)  # both have a memory since the judge settled them
    assert kept_of(memory)[paris].status is MemoryStatus.SUPERSEDED
    choice = memory.app.memories.chosen.keep(ANNA, [kept_of(memory)[one].ref for one in (paris, lyon)], "m", memory.now)
    assert choice == KeptChoice(left=2)
    assert states(memory) == before
    summarized(choosing, chooses(1))
    assert states(memory) == before


@pytest.mark.spec("P-24")
def test_what_was_chosen_is_superseded_by_a_newer_message_like_any_memory(choosing: Summaries) -> None:
    (paris,) = tell(choosing, "I live in Paris.")
    assert summarized(choosing, chooses(1)).remembered == 1
    (lyon,) = tell(choosing, "I moved to Lyon.")
    kept = kept_of(choosing.memory)[paris]
    assert (kept.status, kept.superseded_by) == (MemoryStatus.SUPERSEDED, lyon)


@pytest.mark.spec("P-10", "A-67")
def test_while_the_bridge_is_suspended_a_choice_waits(choosing: Summaries) -> None:
    (ida,) = tell(choosing, said(IDA, timestamp=choosing.memory.now - timedelta(days=1)))
    memory = choosing.memory
    signals, warned = memory.app.memories.signals, Signal(memory.app.ids.fresh(), SignalType.WARNING, "test")
    signals.receive("acme", warned, memory.now)
    assert summarized(choosing, chooses(1)) == KeptChoice(waiting=1)
    assert kept_of(memory) == {}
    assert decided(memory, ida) == [("deferred", ActorKind.MODEL, "extraction", "extraction", "scripted")]
    signals.receive("acme", Signal(memory.app.ids.fresh(), SignalType.HEALTHY, "test"), memory.now)
    assert memory.app.memories.deferred.promote(memory.now, "acme").promoted == 1
    assert list(kept_of(memory)) == [ida]


def test_a_tenant_whose_bridge_is_off_has_no_model_choose(choosing: Summaries) -> None:
    choosing.app.rules.replace("acme", {"bridge": {"enabled": False}}, choosing.memory.now, None)
    tell(choosing, IDA)
    assert summarized(choosing, chooses(1)) == KeptChoice()
    assert "memories" not in choosing.model.last_sent


def test_two_users_have_each_their_own(choosing: Summaries) -> None:
    (anna,) = tell(choosing, IDA)
    (ben,) = tell(choosing, IDA, scope=BEN)
    assert summarized(choosing, chooses(1)).remembered == 1
    assert (list(kept_of(choosing.memory)), kept_of(choosing.memory, BEN)) == ([anna], {})
    assert summarized(choosing, chooses(1), scope=BEN).remembered == 1
    assert list(kept_of(choosing.memory, BEN)) == [ben]
    assert "Ida" in choosing.model.last_sent


def test_in_many_steps_each_numbers_its_own_messages(choosing: Summaries) -> None:
    ids = choosing.say(401)
    choosing.memory.project()
    choosing.rules = choosing.rules.__class__(raw_window=0)
    assert summarized(choosing, chooses(400), chooses(1)).remembered == 2
    assert list(kept_of(choosing.memory)) == [ids[399], ids[400]]


def test_the_scheduled_run_counts_what_is_remembered(choosing: Summaries) -> None:
    choosing.say(50)
    choosing.memory.project()
    choosing.model.says = [chooses(3, 4)]
    run = choosing.app.summaries.rounds.run(lambda: choosing.memory.now, lambda: 900.0)
    assert run.counts == {"made": 1, "not_due": 0, "busy": 0, "failed": 0, "remembered": 2}
    assert run.seen == 1


def test_the_audit_tells_of_a_memory_by_a_model(choosing: Summaries) -> None:
    (ida,) = tell(choosing, IDA)
    summarized(choosing, chooses(1))
    page = choosing.app.memories.audit.page(ANNA, 10, None, AuditFilter(target_id=ida))
    assert [(one.action, one.rule, one.event_ids) for one in page.entries] == [(Action.CREATE, "scripted", (ida,))]
