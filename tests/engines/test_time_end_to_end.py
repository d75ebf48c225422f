"""What holds, held, was known: the same answers on the real engines as on a laptop (P-24)."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from embedded.setting import NOON, Memory, open_memory
from embedded.timing import DAY, HOUR, by_words, change, found, items, kept, lapse, supersede
from engines.conftest import Deployment, on_both
from recollect.core.scope import Scope
from recollect.memories.memory import Lapse, MemoryStatus
from recollect.retrieval.ranking import Mode
from recollect.timeline.record import EventDraft

pytestmark = pytest.mark.engines

PLACES = ["The walrus choir rehearses in the harbour chapel", "Walrus rehearsals: the lighthouse", "Walrus: the pier"]
REST = "my sister Anna bakes rye bread every Sunday morning."
Answers = list[object]


@pytest.fixture
def laptop(tmp_path: Path) -> Iterator[Memory]:
    """The same code over SQLite."""
    opened = open_memory(tmp_path)
    yield opened
    opened.app.parts.close()


def lived(memory: Memory, project: Callable[[], object]) -> Iterator[str]:
    """A life in which things change; stops at its stations, before and after the index follows."""
    places = [kept(memory, text, days) for days, text in enumerate(PLACES)]
    bread = kept(memory, f"The walrus sleeps in the cellar, and {REST}", 3)
    trip = kept(memory, "Walrus biscuits come from the ginger shop on the corner", 3)
    instead = kept(memory, "Walrus biscuits come from the tin", 4)
    wrong = kept(memory, "The walrus owns a bicycle", 4)
    right = kept(memory, "No bicycle was ever owned by a walrus", 5)
    month = kept(memory, f"The walrus sings at the regatta this month, and {REST}", 4)
    for number in range(4):
        draft = EventDraft(content=f"walrus mood alpha{number}", timestamp=NOON + number * HOUR, key="mood")
        memory.add(draft)
    memory.now = NOON + 5 * DAY
    project()
    yield "before"
    supersede(memory, places[0], places[1])
    supersede(memory, places[1], places[2])
    supersede(memory, wrong, right, MemoryStatus.RETRACTED)
    lapse(memory, bread, bread, None, bread.content.index(","))
    lapse(memory, trip, instead, NOON + 9 * DAY)
    over = Lapse(by=month.id, start=0, end=month.content.index(","), since=NOON + 5 * DAY, rule="until")
    change(memory, month.id, lapses=(over,))
    change(memory, instead.id, valid_to=NOON + 9 * DAY)
    memory.now = NOON + 6 * DAY
    memory.add(EventDraft(content="walrus mood alpha9 until Friday", timestamp=memory.now, key="mood"))
    yield "pending"
    project()
    yield "projected"
    memory.now = NOON + 20 * DAY
    yield "later"


def answers(memory: Memory) -> Answers:
    """What searches and contexts show, now and of the past, and the counts; each text at one of four days."""
    seen: Answers = []
    now = {"chapel harbour", "lighthouse", "bicycle", "cellar", "regatta", "ginger corner", "alpha0 alpha2", "walrus"}
    for number, text in enumerate(sorted(now)):
        seen += [sorted(found(memory, text)), by_words(memory, text), sorted(items(memory, text))]
        seen.append(found(memory, text, mode=Mode.SEMANTIC, min_similarity=0.3))
        then = NOON + (0, 2, 4, 6)[number % 4] * DAY + HOUR / 2
        seen.append((text, then, sorted(found(memory, text, as_of=then)), sorted(items(memory, text, as_of=then))))
        seen.append(sorted(found(memory, text, recorded_as_of=then)))
    return seen


def following(memory: Memory) -> Callable[[], None]:
    """What was derived follows, by the memory's clock: that of a stream's reader is the real one."""

    def follow() -> None:
        assert memory.app.projection.reconciliation.run(memory.now).failed == {}

    return follow


@pytest.mark.spec("P-24", "P-19")
def test_the_past_and_the_present_are_the_same_on_both_engines(deployment: Deployment, laptop: Memory) -> None:
    cloud = Memory(deployment.app)
    for station, _ in zip(lived(laptop, following(laptop)), lived(cloud, following(cloud)), strict=True):
        ours, theirs = answers(laptop), answers(cloud)
        assert [(a, b) for a, b in zip(ours, theirs, strict=True) if a != b] == [], station


@on_both
@pytest.mark.spec("P-22", "P-24")
def test_a_slot_is_deleted_with_the_values_that_hold_over_it(deployment: Deployment) -> None:
    cloud = Memory(deployment.app)
    for number, text in enumerate(("walrus chapel", "walrus pier", "walrus lighthouse until Friday")):
        cloud.add(EventDraft(content=text, timestamp=NOON + number * HOUR, key="place"))
    cloud.now = NOON + 3 * HOUR
    following(cloud)()
    assert found(cloud, "walrus") == ["walrus lighthouse until Friday"]
    gone = cloud.app.deletion.events.forget(Scope("acme", "anna"), key="place", now=cloud.now)
    assert set(gone.event_ids) == set(cloud.ids)
    assert found(cloud, "walrus", include_superseded=True) == []
