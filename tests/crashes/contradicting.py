"""Scenarios of contradictions: settled by cue rules, taken back, resolved by a person."""

from datetime import timedelta
from typing import Any

from crashes.evidence import city
from crashes.remembering import QUOTES, USER
from crashes.scenario import scenario
from crashes.store import Stored
from crashes.world import BEGIN, World
from embedded.setting import ANNA
from recollect.contradictions.decisions import (
    ConflictStatus,
    OpenConflict,
    Step,
    Verdict,
    conflict_document,
    conflict_key,
    decision_in,
)
from recollect.contradictions.ledger import DecisionFilter
from recollect.contradictions.relation import Relation, RelationKind
from recollect.contradictions.resolve import RevertOrder
from recollect.core.errors import Conflict, NotFound
from recollect.core.items import ItemWrite
from recollect.memories.storage import memory_in
from recollect.timeline.record import EventDraft

PARIS, LYON = "I live in Paris.", "I moved to Lyon."
TUESDAY, LATER = "The meeting is on Tuesday at 3pm", "The meeting is still Tuesday but at 4pm now"
UNLIKE = ("The lamp glows at night.", "Rivers bend beyond the hill.")


def on(day: float, content: str, **more: Any) -> EventDraft:
    """What was said so many days before the beginning."""
    return EventDraft(content=content, importance=0.9, timestamp=BEGIN - timedelta(days=30 - day), **more)


def stated(world: World) -> None:
    """What newer words are about to end, and those words, not yet projected."""
    world.say(on(0, PARIS), on(1, "I eat meat every day."), on(2, "I have a sister."), on(3, TUESDAY), on(4, UNLIKE[0]))
    world.say(city("Rome", -9))
    world.reconcile()
    world.say(on(5, LYON), on(6, "I no longer eat meat."), on(7, "I misspoke, I have no sister."), on(8, LATER))
    world.say(city("Oslo", -3), on(9, "I live in Nice until Friday."))


def decided(world: World) -> None:
    """A value that was replaced, one of a key, two parts that were merged; the ids of what was decided."""
    old, part, unlike = world.say(on(0, PARIS), on(1, TUESDAY), on(2, UNLIKE[0]))
    (rome,) = world.say(city("Rome", -9))
    world.reconcile()
    new, whole, other = world.say(on(5, LYON), on(6, LATER), on(7, UNLIKE[1]))
    (oslo,) = world.say(city("Oslo", -3))
    world.reconcile()
    conflict = OpenConflict(newer=other, older=unlike, at=world.now, step=Step.CUE, rule="test")
    write = ItemWrite(conflict_key(conflict.id), conflict_document(conflict))
    world.app.parts.items.write(ANNA, [write], world.now)
    world.known.update(cue=f"{new}.{old}", part=f"{whole}.{part}", key=f"{oslo}.{rome}", conflict=conflict.id)
    world.known.update(older=part, newer=whole)


def resolved(world: World) -> None:
    decided(world)
    winner = world.known["conflict"].partition(".")[0]
    done = world.app.contradictions.resolve(ANNA, world.known["conflict"], winner, USER, world.now)
    world.known["user"] = done.decision_id
    world.reconcile()


def _current(*contents: str) -> Any:
    """That these are active memories, each once, and that every decision of an ended one is told."""

    def check(_: World, stored: Stored) -> None:
        memories = [memory_in(row.value) for row in stored.of("memories") if "same_as" not in row.value]
        active = [one.content for one in memories if one.status.value == "active"]
        assert sorted(one for one in active if one in contents) == sorted(contents), active
        told = {(one.winner, one.loser) for row in stored.of("arbitrations") if (one := decision_in(row.value))}
        ended = {(one.superseded_by, one.id) for one in memories if one.superseded_by is not None}
        assert ended <= told

    return check


@scenario(prepare=stated, after=_current(LYON, "I no longer eat meat.", "Oslo"))
def settle_contradictions(world: World) -> None:
    """What ends, replaces, takes back, bounds and changes a part, all in one round."""
    world.app.projection.reconcile(world.now)


@scenario(prepare=decided, after=_current(PARIS, LYON))
def withdraw_decisions(world: World) -> bool:
    """What a record had decided that turned out never to have been so."""
    winner = world.known["cue"].partition(".")[0]
    for changed in world.app.contradictions.ledger.withdrawn(ANNA, winner, world.now):
        world.app.parts.projections.mark(ANNA, [changed.memory.ref])
    return True


@scenario(prepare=decided)
def leave_open(world: World) -> bool:
    """Nobody can tell which of two counts, and it is noted once."""
    timeline = world.app.parts.timeline
    newer, older = (timeline.find(ANNA, one) for one in world.known["cue"].split("."))
    assert newer is not None
    assert older is not None
    relation = Relation(kind=RelationKind.UNDECIDED, rule="test")
    verdict = Verdict(newer.id, newer.timestamp, relation)
    for _ in range(2):
        world.app.contradictions.apply_verdicts.leave_open(ANNA, older.id, verdict, world.now)
    return True


def _revert(world: World, name: str) -> None:
    world.app.contradictions.revert(ANNA, world.known[name], RevertOrder(actor=USER, now=world.now))


@scenario(prepare=decided, after=_current(PARIS, LYON), done_already=(Conflict,))
def revert_a_cue(world: World) -> None:
    """The older value counts again, and the newer one stays."""
    _revert(world, "cue")


@scenario(prepare=decided, after=_current(TUESDAY, LATER), done_already=(Conflict,))
def revert_a_merger(world: World) -> None:
    """Both have their own words again."""
    _revert(world, "part")


@scenario(prepare=decided, after=_current("Rome"), done_already=(Conflict,), unlike=frozenset({"items.copies"}))
def revert_a_key(world: World) -> None:
    """The older value is written anew, once; an entry of a copy that was never made leads to nothing."""
    _revert(world, "key")


@scenario(prepare=resolved, after=_current(*UNLIKE))
def revert_a_resolution(world: World) -> str:
    """Asked once, and tried again with the same key: the conflict is open again."""
    order = RevertOrder(actor=USER, now=world.now, again=True)
    done = world.app.contradictions.revert(ANNA, world.known["user"], order)
    decision = world.app.contradictions.decisions.one(ANNA, world.known["user"])
    world.app.contradictions.revert.current(ANNA, decision)
    return done.decision.status.value


@scenario(prepare=decided, after=_current(UNLIKE[1]))
def resolve_a_conflict(world: World) -> str:
    """The newer one counts; the same again is the same answer."""
    winner = world.known["conflict"].partition(".")[0]
    done = world.app.contradictions.resolve(ANNA, world.known["conflict"], winner, USER, world.now)
    return done.conflict.status.value


@scenario(prepare=decided, says=QUOTES, after=_current(LATER))
def forget_an_older_part(world: World) -> bool:
    """What took the part up gets its own words back."""
    event = world.app.parts.timeline.find(ANNA, world.known["older"])
    if event is not None:
        world.app.deletion.forget(ANNA, event_id=event.id, now=world.now)
    return True


@scenario(prepare=decided, says=QUOTES)
def forget_a_merged_memory(world: World) -> bool:
    try:
        memory = world.app.memories.keep.one(ANNA, world.known["newer"], world.now)
    except NotFound:
        return True
    world.app.deletion.forget.memory(ANNA, memory, now=world.now)
    return True


@scenario(prepare=decided, reads=True)
def list_decisions(world: World) -> list[Any]:
    page = world.app.contradictions.decisions(ANNA, 50, None, DecisionFilter())
    conflicts = world.app.contradictions.conflicts(ANNA, 50, None, ConflictStatus.OPEN, world.now)
    one = world.app.contradictions.conflicts.one(ANNA, world.known["conflict"], world.now)
    own = world.app.contradictions.decisions.item(ANNA, world.known["cue"])
    item = world.app.contradictions.conflicts.item(ANNA, world.known["conflict"])
    return [len(page.decisions), len(conflicts.conflicts), one.status.value, own.version, item.version]
