"""Scenarios of contradictions: settled by the judge, by shape, by the arbiter; reverted; resolved by a person."""

from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from functools import partial
from typing import Any

from crashes.evidence import city
from crashes.remembering import QUOTES
from crashes.scenario import scenario
from crashes.store import Stored
from crashes.world import BEGIN, USER, World
from embedded.setting import ANNA
from recollect.arbitration.arbitrate import Applying, ArbitrationRequest
from recollect.arbitration.detection import Statement
from recollect.context.rendering import fence_for
from recollect.contradictions.ask_model import AskAboutConflicts
from recollect.contradictions.candidates import CurrentRecords
from recollect.contradictions.decisions import (
    ConflictStatus,
    OpenConflict,
    Step,
    Verdict,
    conflict_document,
    conflict_in,
    conflict_key,
    conflict_write,
    decision_in,
)
from recollect.contradictions.judge import Relation, RelationKind
from recollect.contradictions.ledger import Deciding, DecisionFilter
from recollect.contradictions.resolve import Resolved, RevertOrder, Settling
from recollect.core.errors import Conflict, NotFound, Unavailable, VersionMismatch
from recollect.core.ids import IdSeed
from recollect.core.items import ItemWrite
from recollect.memories.memory import Memory
from recollect.memories.storage import memory_in
from recollect.rules.groups import ConflictRules
from recollect.timeline.record import EventDraft
from samples.statements import statement

PARIS, LYON = "I live in Paris.", "I moved to Lyon."
TUESDAY, LATER = "The meeting is on Tuesday at 3pm", "The meeting is still Tuesday but at 4pm now"
UNLIKE = ("The lamp glows at night.", "Rivers bend beyond the hill.")
NOT_LYON = "I was wrong, I don't live in Lyon."
MEAT, NO_MEAT = "I eat meat.", "I no longer eat meat."
SISTER, NO_SISTER = "I have a sister.", "I misspoke, I have no sister."
NICE = "I live in Nice until Friday."
ALIKE = ("Anna's blue bicycle stands in the old shed", "Anna's blue bicycle stands in the old barn")
BILLS = ("Pay the first bill at the bank", "Pay the second bill at the bank")
_RULE = {"priority": 1, "arbitration": {"mergeThreshold": 0.3}}


def on(day: float, content: str, **more: Any) -> EventDraft:
    """What was said so many days before the beginning."""
    return EventDraft(content=content, importance=0.9, timestamp=BEGIN - timedelta(days=30 - day), **more)


def stated(world: World) -> None:
    """What newer words are about to end, and those words, not yet projected."""
    world.say(on(0, PARIS), on(1, "I eat meat every day."), on(2, SISTER), on(3, TUESDAY), on(4, UNLIKE[0]))
    world.say(city("Rome", -9))
    world.reconcile()
    world.say(on(5, LYON), on(6, NO_MEAT), on(7, NO_SISTER), on(8, LATER))
    world.say(city("Oslo", -3), on(9, NICE))


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
    world.known.update(verdict=f"{new}.{old}", part=f"{whole}.{part}", key=f"{oslo}.{rome}", conflict=conflict.id)
    world.known.update(older=part, newer=whole)


def _resolve(world: World) -> Resolved:
    """In favour of the newer one."""
    conflict_id = world.known["conflict"]
    winner = conflict_id.partition(".")[0]
    return world.app.contradictions.resolution.resolve(ANNA, conflict_id, winner, Settling(actor=USER), world.now)


def waiting_for_a_model(world: World) -> None:
    """An open conflict about which a model is to be asked."""
    decided(world)
    items, key = world.app.parts.items, conflict_key(world.known["conflict"])
    conflict = conflict_in(items.get(ANNA, [key])[key].value)
    items.write(ANNA, [conflict_write(conflict, ask_at=world.now)], world.now)


def resolved(world: World) -> None:
    decided(world)
    world.known["user"] = _resolve(world).decision_id
    world.reconcile()


def _memories(stored: Stored) -> list[Memory]:
    return [memory_in(value) for value in stored.memories().values()]


def _current(*contents: str) -> Any:
    """That these are active memories, each once, and that every decision of an ended one is told."""

    def check(_: World, stored: Stored) -> None:
        memories = _memories(stored)
        active = [one.content for one in memories if one.status.value == "active"]
        assert sorted(one for one in active if one in contents) == sorted(contents), active
        told = {(one.winner, one.loser) for row in stored.of("arbitrations") if (one := decision_in(row.value))}
        ended = {(one.superseded_by, one.id) for one in memories if one.superseded_by is not None}
        assert ended <= told

    return check


@scenario(
    prepare=waiting_for_a_model,
    says='{"relation": "replaced", "confidence": 0.9}',
    after=_current(LYON, UNLIKE[1]),
    unlike=frozenset({"items.conflicts"}),
)
def ask_about_conflicts(world: World) -> None:
    """The model is asked; the older one is superseded."""
    app = world.app
    current = CurrentRecords(app.parts.timeline, app.parts.items)
    resolution, rules = app.contradictions.resolution, app.rules.resolved
    asking = AskAboutConflicts(
        app.parts.items, current, resolution, app.parts.model, rules, lambda: fence_for("f" * 32)
    )
    report = asking.run(lambda: world.now, lambda: 300.0)
    if report.failed:
        raise Unavailable(", ".join(report.failed))


@scenario(prepare=stated, after=_current(LYON, NO_MEAT, "Oslo"), in_steps=True)
def settle_contradictions(world: World) -> None:
    """What ends, replaces, takes back, bounds and changes a part, all in one round."""
    world.project()


@scenario(prepare=decided, after=_current(PARIS, LYON))
def withdraw_decisions(world: World) -> bool:
    """What a record had decided that turned out never to have been so."""
    winner = world.known["verdict"].partition(".")[0]
    for changed in world.app.contradictions.ledger.withdraw(ANNA, winner, world.now):
        world.app.parts.projections.mark(ANNA, [changed.memory.ref])
    return True


@scenario(prepare=decided)
def leave_open(world: World) -> bool:
    """Nobody can tell which of two counts, and it is noted once."""
    timeline = world.app.parts.timeline
    newer, older = (timeline.find(ANNA, one) for one in world.known["verdict"].split("."))
    assert newer is not None
    assert older is not None
    relation = Relation(kind=RelationKind.UNDECIDED, rule="test")
    verdict = Verdict(newer.id, newer.timestamp, relation)
    for _ in range(2):
        world.app.contradictions.verdicts.open_conflict(Deciding(ANNA, world.now), older.id, verdict, ConflictRules())
    return True


def _revert(world: World, name: str) -> None:
    world.app.contradictions.reversal.revert(ANNA, world.known[name], RevertOrder(actor=USER, now=world.now))


@scenario(prepare=decided, after=_current(PARIS, LYON), done_already=(Conflict,))
def revert_a_verdict(world: World) -> None:
    """The older value counts again, and the newer one stays."""
    _revert(world, "verdict")


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
    reversal, decisions = world.app.contradictions.reversal, world.app.contradictions.decisions
    done = reversal.revert(ANNA, world.known["user"], order)
    reversal.current(ANNA, decisions.one(ANNA, world.known["user"]))
    return done.decision.status.value


@scenario(prepare=decided, after=_current(UNLIKE[1]))
def resolve_a_conflict(world: World) -> str:
    """The newer one counts; the same again is the same answer."""
    return _resolve(world).conflict.status.value


@scenario(prepare=decided, says=QUOTES, after=_current(LATER))
def forget_an_older_part(world: World) -> bool:
    """What took the part up gets its own words back."""
    with suppress(NotFound):
        world.forget(world.known["older"])
    return True


@scenario(prepare=decided, says=QUOTES)
def forget_a_merged_memory(world: World) -> bool:
    with suppress(NotFound):
        memory = world.app.memories.store.one(ANNA, world.known["newer"], world.now)
        world.app.deletion.events.memory(ANNA, memory, now=world.now)
    return True


@scenario(prepare=decided, reads=True)
def list_decisions(world: World) -> list[Any]:
    decisions, conflicts = world.app.contradictions.decisions, world.app.contradictions.conflicts
    made = decisions.page(ANNA, 50, None, DecisionFilter()).decisions
    still_open = conflicts.page(ANNA, 50, None, ConflictStatus.OPEN, world.now).conflicts
    one = conflicts.one(ANNA, world.known["conflict"], world.now)
    own, item = decisions.item(ANNA, world.known["verdict"]), conflicts.item(ANNA, world.known["conflict"])
    return [len(made), len(still_open), one.status.value, own.version, item.version]


# By their shapes, where each write is committed by itself; and the arbiter.


def _stands(*, both: bool = False, **wanted: tuple[str, ...]) -> Callable[[World, Stored], None]:
    """That of each status there are these texts and no others, and each ended one names what is there."""

    def check(_: World, stored: Stored) -> None:
        memories = _memories(stored)
        found: dict[str, list[str]] = {}
        for one in memories:
            if both and len(one.source_event_ids) == 2:
                continue
            found.setdefault("bounded" if one.lapses else one.status.value, []).append(one.content)
        assert {name: sorted(texts) for name, texts in found.items()} == {n: sorted(t) for n, t in wanted.items()}
        assert {one.superseded_by for one in memories} - {None} <= {own for _, _, own in stored.events}
        _decided_once(stored)

    return check


def _decided_once(stored: Stored) -> None:
    """Each end is by a decision that holds, and each decision is told of once."""
    decisions = [decision_in(row.value) for row in stored.of("arbitrations")]
    ended = {(one.superseded_by, one.id) for one in _memories(stored) if one.superseded_by is not None}
    assert ended <= {(one.winner, one.loser) for one in decisions if one.status.value == "applied"}
    made = [row.value for row in stored.of("audit") if row.value["action"] in ("supersede", "merge")]
    told = Counter((row["target_ids"][1], row["target_ids"][0]) for row in made if len(row["target_ids"]) == 2)
    assert told == Counter((one.winner, one.loser) for one in decisions)


def _shape(
    name: str, older: tuple[EventDraft, ...], newer: EventDraft, *, both: bool = False, **wanted: tuple[str, ...]
) -> None:
    def prepare(world: World) -> None:
        world.say(*older)
        world.reconcile()
        world.say(newer)

    def act(world: World) -> None:
        world.project()

    act.__name__ = f"settle_{name}"
    unlike = frozenset({"items.memory_versions", "items.audit", "vectors"})
    scenario(prepare=prepare, after=_stands(both=both, **wanted), apart=True, unlike=unlike)(act)


_shape("a_replacement", (on(0, PARIS),), on(2, LYON), superseded=(PARIS,), active=(LYON,))
_shape("an_end", (on(0, MEAT),), on(2, NO_MEAT), superseded=(MEAT,), active=(NO_MEAT,))
_shape("a_retraction", (on(0, SISTER),), on(2, NO_SISTER), retracted=(SISTER,), active=(NO_SISTER,))
_shape(
    "a_retracted_replacement",
    (on(0, PARIS), on(2, LYON)),
    on(3, NOT_LYON),
    retracted=(LYON,),
    active=(PARIS, NOT_LYON),
)
_shape("a_part", (on(0, TUESDAY),), on(2, LATER), merged=(TUESDAY,), both=True)
_shape("a_bound", (on(0, PARIS),), on(2, NICE), bounded=(PARIS,), active=(NICE,))
_shape("a_bound_of_a_key", (on(0, PARIS, key="home"),), on(2, NICE, key="home"), bounded=(PARIS,), active=(NICE,))


def alike(world: World, **rules: Any) -> None:
    """Two memories that are merely alike, the second not projected yet; the judge says nothing of them."""
    conflict = {"semantic_threshold": 0.5, **rules}
    world.app.rules.replace("acme", {"conflict": conflict}, world.now, None)
    world.say(on(0, ALIKE[0]))
    world.reconcile()
    world.say(on(0.001, ALIKE[1]))


def _one_open(_: World, stored: Stored) -> None:
    (row,) = stored.of("conflicts")
    assert conflict_in(row.value).step is Step.ARBITER
    assert list(stored.of("arbitrations")) == []


def _one_decided(_: World, stored: Stored) -> None:
    (row,) = stored.of("arbitrations")
    decision = decision_in(row.value)
    memories = {one.key: memory_in(one.value) for one in stored.of("memories")}
    assert decision.step is Step.ARBITER
    assert memories[decision.loser].superseded_by == decision.winner
    assert memories[decision.winner].status.value == "active"


@scenario(prepare=alike, after=_one_open, apart=True, unlike=frozenset({"items.conflicts"}))
def settle_what_is_alike(world: World) -> None:
    """A proposal on an open conflict; both stay. How alike they are differs in the last digits of a kept vector."""
    world.project()


@scenario(prepare=partial(alike, auto_apply="all"), after=_one_decided, apart=True)
def settle_what_is_alike_for_good(world: World) -> None:
    world.project()


def _statement(number: int) -> Statement:
    return statement(
        f"mine-{number}",
        content=BILLS[number],
        importance=0.5 + number / 10,
        timestamp=BEGIN - timedelta(days=2 - number),
        source="user",
        keywords=("pay", "bill", "bank"),
    )


def _asked() -> ArbitrationRequest:
    return ArbitrationRequest(_statement(1), (_statement(0),))


def nothing(world: World) -> None:
    world.say(on(0, "I bake bread."))
    world.reconcile()


@scenario(prepare=nothing, after=_one_decided, unlike=frozenset({"items.conflicts"}))
def arbitrate_and_apply(world: World) -> Any:
    """`POST /v1/arbitrations` with a key: both are stored, one of them ends.

    Where it is cut short, the projection of what was stored may have left a conflict open, which is no longer shown.
    """

    def work(seed: IdSeed, _: bool) -> dict[str, Any]:
        found = world.app.arbitration.arbiter.applied(ANNA, _asked(), world.rules, Applying(USER, seed, world.now))
        return {"action": found.verdict.action.value, "stored": len(found.stored)}

    return world.once("arbitrate", 3, work)


@scenario(prepare=nothing, reads=True)
def arbitrate(world: World) -> str:
    return world.app.arbitration.arbiter.weighed("acme", _asked(), world.rules).verdict.action.value


def ruled(world: World) -> None:
    world.app.arbitration.merge_rules.put("acme", "mine", _RULE, world.now)


@scenario(prepare=nothing)
def merge_rules_put(world: World) -> int:
    rules = world.app.arbitration.merge_rules
    if all(rule.name != "mine" for rule in rules.registry("acme").rules):
        ruled(world)
    return len(rules.registry("acme").rules)


@scenario(prepare=ruled, done_already=(VersionMismatch,))
def merge_rules_patch(world: World) -> None:
    world.app.arbitration.merge_rules.patch("acme", "mine", {"enabled": False}, world.now, lambda version: version == 2)


@scenario(prepare=ruled, done_already=(NotFound,))
def merge_rules_delete(world: World) -> None:
    world.app.arbitration.merge_rules.delete("acme", "mine", world.now, lambda _: True)


@scenario(prepare=ruled, done_already=(VersionMismatch,))
def merge_rules_load(world: World) -> None:
    rules: list[tuple[str, dict[str, Any]]] = [("one", _RULE), ("other", {"extends": "one"})]
    if len(world.app.arbitration.merge_rules.registry("acme").rules) < 4:
        world.app.arbitration.merge_rules.load("acme", rules, world.now)
