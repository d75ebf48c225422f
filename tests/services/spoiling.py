"""Spoils what is stored, behind the service's back, as a bad disk or a newer release would."""

import json
from collections.abc import Mapping
from typing import Any

from recollect.adapters.aws.item_format import binary, event_in, pack_json
from recollect.adapters.aws.keys import event_key
from recollect.core.event import EventRef
from recollect.core.items import ItemWrite
from recollect.memories.storage import memory_key
from recollect.timeline.record import to_record
from services.serving import LAPTOP, Service, now


def without_a_date(record: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in record.items() if name != "timestamp"}


def of_a_newer_release(record: Mapping[str, Any]) -> dict[str, Any]:
    return {**record, "format": 99}


def without_anything(_record: Mapping[str, Any]) -> list[str]:
    return []


def rewrite_event(service: Service, ref: EventRef, change: Any) -> None:
    """Stores an event's record otherwise; its row, or its item, stays where it is."""
    parts: Any = service.app.parts
    if service.kind == LAPTOP:
        event = parts.timeline.find(service.scope(), ref.id)
        with parts._database.writing(durable=True) as connection:
            connection.execute(
                "UPDATE records SET record = ? WHERE row = (SELECT row FROM events WHERE id = ?)",
                (json.dumps(change(to_record(event))), ref.id),
            )
        return
    place = event_key(service.scope(), ref)
    item = parts.access.get_many([place])[place]
    parts.access.put_many([{**item, "z": binary(pack_json(change(to_record(event_in(item)))))}])


def rewrite_memory(service: Service, memory_id: str, change: Any) -> None:
    items, key = service.app.parts.items, memory_key(memory_id)
    stored = items.get(service.scope(), [key])[key]
    items.write(service.scope(), [ItemWrite(key, change(stored.value))], now())
