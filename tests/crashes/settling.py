"""Scenarios of contradictions by their shapes, where each write is committed by itself; and of the arbiter's word."""

from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from crashes.contradicting import LATER, LYON, PARIS, TUESDAY, on
from crashes.remembering import USER
from crashes.scenario import scenario
from crashes.store import Stored
from crashes.world import BEGIN, World
from embedded.setting import ANNA
from recollect.arbitration.arbiter import Arbitration
from recollect.arbitration.arbitrate import Applying, ArbitrationRequest
from recollect.arbitration.detection import Statement
from recollect.contradictions.decisions import Step, conflict_in, decision_in
from recollect.core.errors import NotFound, VersionMismatch
from recollect.core.ids import IdSeed
from recollect.memories.storage import memory_in
from recollect.timeline.record import EventDraft

NOT_LYON = "I was wrong, I don't live in Lyon."
MEAT, NO_MEAT = "I eat meat.", "I no longer eat meat."
NICE = "I live in Nice until Friday."
ALIKE = ("Anna's blue bicycle stands in the old shed", "Anna's blue bicycle stands in the old barn")
BILLS = ("Pay the first bill at the bank", "Pay the second bill at the bank")
_RULE = {"priority": 1, "arbitration": {"mergeThreshold": 0.3}}


def _stands(*, both: bool = False, **wanted: tuple[str, ...]) -> Callable[[World, Stored], None]:
    """That of each status there are these texts and no others, and each ended one names what is there."""

    def check(_: World, stored: Stored) -> None:
        memories = [memory_in(row.value) for row in stored.of("memories") if "same_as" not in row.value]
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
    memories = [memory_in(row.value) for row in stored.of("memories") if "same_as" not in row.value]
    ended = {(one.superseded_by, one.id) for one in memories if one.superseded_by is not None}
    assert ended <= {(one.winner, one.loser) for one in decisions if one.status.value == "applied"}
    made = [row.value for row in stored.of("audit") if row.value["action"] in ("supersede", "merge")]
    told = Counter((row["target_ids"][1], row["target_ids"][0]) for row in made if len(row["target_ids"]) == 2)
    assert told == Counter((one.winner, one.loser) for one in decisions)


def _shape(
    name: str,
    older: tuple[EventDraft, ...],
    newer: tuple[EventDraft, ...],
    **wanted: Any,
) -> None:
    def prepare(world: World) -> None:
        world.say(*older)
        world.reconcile()
        world.say(*newer)

    def act(world: World) -> None:
        world.app.projection.reconcile(world.now)

    act.__name__ = f"settle_{name}"
    more = {"apart": True, "unlike": frozenset({"items.memory_versions", "items.audit", "vectors"})}
    scenario(prepare=prepare, after=_stands(**wanted), **more)(act)


_shape("a_replacement", (on(0, PARIS),), (on(2, LYON),), superseded=(PARIS,), active=(LYON,))
_shape("an_end", (on(0, MEAT),), (on(2, NO_MEAT),), superseded=(MEAT,), active=(NO_MEAT,))
_shape(
    "a_retraction",
    (on(0, "I have a sister."),),
    (on(2, "I misspoke, I have no sister."),),
    retracted=("I have a sister.",),
    active=("I misspoke, I have no sister.",),
)
_shape(
    "a_retracted_replacement",
    (on(0, PARIS), on(2, LYON)),
    (on(3, NOT_LYON),),
    retracted=(LYON,),
    active=(PARIS, NOT_LYON),
)
_shape("a_part", (on(0, TUESDAY),), (on(2, LATER),), merged=(TUESDAY,), both=True)
_shape("a_bound", (on(0, PARIS),), (on(2, NICE),), bounded=(PARIS,), active=(NICE,))
_shape(
    "a_bound_of_a_key",
    (on(0, PARIS, key="home"),),
    (on(2, NICE, key="home"),),
    bounded=(PARIS,),
    active=(NICE,),
)


def _alike(world: World, **rules: Any) -> None:
    """Two memories that are merely alike, the second not projected yet; no cue rule says anything of them."""
    conflict = {"semantic_threshold": 0.5, **rules}
    world.app.rules.replace("acme", {"conflict": conflict}, world.now, None)
    world.say(on(0, ALIKE[0]))
    world.reconcile()
    world.say(on(0.001, ALIKE[1]))


def alike(world: World) -> None:
    _alike(world)


def alike_and_applied(world: World) -> None:
    _alike(world, auto_apply="all")


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
    world.app.projection.reconcile(world.now)


@scenario(prepare=alike_and_applied, after=_one_decided, apart=True)
def settle_what_is_alike_for_good(world: World) -> None:
    world.app.projection.reconcile(world.now)


def _statement(number: int) -> Statement:
    return Statement(
        id=f"mine-{number}",
        user_id="anna",
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
        applying = Applying(USER, seed, world.now)
        found: Arbitration = world.app.arbitration.arbitrate.applied(
            ANNA, _asked(), world.app.rules.resolved("acme"), applying
        )
        return {"action": found.verdict.action.value, "stored": len(found.stored)}

    return world.once("arbitrate", 3, work)


@scenario(prepare=nothing, reads=True)
def arbitrate(world: World) -> str:
    return world.app.arbitration.arbitrate.weighed(
        "acme", _asked(), world.app.rules.resolved("acme")
    ).verdict.action.value


def ruled(world: World) -> None:
    world.app.arbitration.merge_rules.put("acme", "mine", _RULE, world.now)


@scenario(prepare=nothing)
def merge_rules_put(world: World) -> int:
    if not _known(world):
        ruled(world)
    return len(world.app.arbitration.merge_rules.registry("acme").rules)


def _known(world: World) -> bool:
    return "mine" in [rule.name for rule in world.app.arbitration.merge_rules.registry("acme").rules]


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
