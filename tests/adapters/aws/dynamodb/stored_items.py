"""A small table as a release wrote it: one of each kind of item, kept in `stored/` for every release after it.

Run from `tests/`: `python -m adapters.aws.dynamodb.stored_items stored/items-N.json` writes it with the current code.
A file that was released is never written again.
"""

import base64
import json
import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import MappingProxyType
from typing import Any

from recollect.adapters.aws.item_format import Attributes
from recollect.adapters.aws.items import DynamoDBIdempotency, DynamoDBItems
from recollect.adapters.aws.projections import DynamoDBProjections
from recollect.adapters.aws.publisher import AwsPublisher, BusLog
from recollect.adapters.aws.table import ItemAccess
from recollect.adapters.aws.timeline import DynamoDBTimeline
from recollect.core.event import ContentType, Event, EventType, Role, Source
from recollect.core.idempotency import IdempotencyClaim
from recollect.core.ids import IdSeed
from recollect.core.items import ABSENT, Due, ItemKey, ItemPath, ItemWrite, of_tenant
from recollect.core.scope import Scope
from recollect.core.vectors import pack_vector, unpack_vector
from recollect.timeline.bus import BusEvent, episodic_saved
from recollect.timeline.timeline import EventWrite, Projection, Removal

NOON = datetime(2025, 3, 1, 12, tzinfo=UTC)
SCOPE = Scope("acme#1", "user~/🙂")
SEED = IdSeed(1_740_830_400_000 << 12, 7)
VECTOR = unpack_vector(pack_vector([0.6, 0.0, -0.8, 0.0]))
WARNING = BusEvent("warning-1", "memory:episodic:warning", NOON + timedelta(seconds=9), {"severity": "high"})
CLAIMS = tuple(
    IdempotencyClaim(f"{n}" * 64, "b" * 64, SEED, NOON, NOON + timedelta(seconds=30), NOON + timedelta(days=1))
    for n in range(2)
)
ANSWER: dict[str, object] = {"results": [{"status": "created", "event_id": SEED.nth(0)}]}

FULL = Event(
    id=SEED.nth(0),
    user_id=SCOPE.user_id,
    persona_id="persona",
    household_id="household",
    conversation_id="conversation #1",
    role=Role.USER,
    speaker="Anna",
    content="I live in Paris. 我住在巴黎 🙂\nsecond line",
    content_type=ContentType.USERPREFERENCE,
    event_type=EventType.PREFERENCE,
    source=Source.USER,
    timestamp=NOON,
    recorded_at=NOON + timedelta(microseconds=1),
    importance=0.8,
    tags=("personal", "preference"),
    key="home",
    space_id="space",
    title="title",
    category="category",
    notes="notes",
    views=2,
    is_private=False,
    expires_at=datetime(2199, 1, 1, tzinfo=UTC),
    metadata=MappingProxyType({"source_id": "D1:1", "deep": [1, {"a": None}]}),
    embedding=pack_vector([1.0, 0.0]),
)
NEWER = replace(
    FULL,
    id=SEED.nth(1),
    content="I live in Rome",
    timestamp=NOON + timedelta(days=1),
    recorded_at=NOON + timedelta(days=1),
    importance=0.7,
    embedding=None,
    metadata=MappingProxyType({}),
)
SHORT = Event(
    id=SEED.nth(2),
    user_id=SCOPE.user_id,
    conversation_id="other",
    role=Role.BOT,
    content="Fine.",
    content_type=ContentType.ASSISTANTRESPONSE,
    source=Source.CONVERSATION,
    timestamp=NOON + timedelta(days=2),
    recorded_at=NOON + timedelta(days=2),
    importance=0.3,
)
SUPERSEDED = replace(FULL, superseded_by=NEWER.id, superseded_at=NEWER.timestamp, version=2)
REMOVED = replace(SHORT, id=SEED.nth(3), user_id="removed", key="home")
REMOVED_SCOPE = Scope(SCOPE.tenant, "removed")
REMOVED_WRITE = EventWrite(REMOVED, "9" * 64, "e" * 64)
LONG = "\U00020000" * 128
KEPT = (
    (SCOPE, ItemKey(ItemPath("notes", ("a#~ 🙂", "second")), "key #1")),
    (SCOPE, ItemKey(ItemPath("notes", (LONG,)), LONG)),
    (of_tenant(SCOPE.tenant), ItemKey(ItemPath("rules"), "own")),
)
WRITES = tuple(EventWrite(event, f"{n}" * 64, "f" * 64) for n, event in enumerate((FULL, NEWER, SHORT)))


def write_store(access: ItemAccess) -> None:
    """Two projected events of a slot, the older superseded, and one that waits; bus log and idempotency records."""
    DynamoDBTimeline(access).append(SCOPE, WRITES)
    projections = DynamoDBProjections(access)
    for event in (FULL, NEWER):
        projections.save(SCOPE, [Projection(event.ref, VECTOR, "model.1")])
        projections.fill_slot(SCOPE, event)
        projections.enter_conversation(SCOPE, event.conversation_id, event.recorded_at)
    projections.supersede(SCOPE, FULL, NEWER.ref)
    projections.settle(SCOPE, [FULL.ref, NEWER.ref])
    publisher = AwsPublisher(BusLog(access), clock=lambda: NOON)
    publisher.publish(SCOPE.tenant, [episodic_saved(SUPERSEDED, NOON), WARNING])
    store = DynamoDBIdempotency(access, clock=NOON.timestamp)
    for claim in CLAIMS:
        store.claim(claim)
    store.complete(CLAIMS[1], 201, ANSWER)
    _write_second_format(access)


def _write_second_format(access: ItemAccess) -> None:
    """Items, due and not; an event that was removed, and whose derivations wait to be."""
    for number, (owner, key) in enumerate(KEPT):
        due = Due("jobs", NOON + timedelta(hours=number)) if number else None
        DynamoDBItems(access).write(owner, [ItemWrite(key, {"number": number, "text": "é🙂"}, ABSENT, due)], NOON)
    DynamoDBTimeline(access).append(REMOVED_SCOPE, [REMOVED_WRITE])
    DynamoDBTimeline(access).remove(REMOVED_SCOPE, REMOVED, Removal(empties_slot=True))


def encoded(items: list[Attributes]) -> str:
    readable = [{name: _encoded(value) for name, value in item.items()} for item in items]
    ordered = sorted(readable, key=lambda item: (item["pk"]["S"], item["sk"]["S"]))
    return json.dumps(ordered, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def decoded(text: str) -> list[Attributes]:
    return [{name: _decoded(value) for name, value in item.items()} for item in json.loads(text)]


def _encoded(value: dict[str, Any]) -> dict[str, str]:
    return {"B": base64.b64encode(value["B"]).decode()} if "B" in value else value


def _decoded(value: dict[str, str]) -> dict[str, Any]:
    return {"B": base64.b64decode(value["B"])} if "B" in value else value


def main(path: Path) -> None:
    from adapters.aws.dynamodb.conftest import a_moto_client, a_table
    from recollect.adapters.concurrency import Inline

    with a_moto_client() as client:
        for access in a_table(client, Inline()):
            write_store(access)
            path.write_text(encoded(client.scan(TableName=access.table)["Items"]), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
