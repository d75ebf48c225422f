"""What is published about merge rules (A-124, A-125): names as the document has them."""

from datetime import datetime
from uuid import UUID, uuid5

from recollect.domain.bus import BusEvent
from recollect.domain.event import Json
from recollect.domain.merge_rules import RuleEvent

_NAMESPACE = UUID("5f0c3a86-3d37-5b0e-9a4d-2f6f7b1f9c11")


def rule_published(tenant: str, event: RuleEvent, now: datetime) -> BusEvent:
    """`rule:registered`, `rule:updated` or `rule:deleted` with name and configuration; its id is that of the change."""
    detail: dict[str, Json] = {
        "name": event.name,
        "configuration": dict(event.configuration),
        "version": event.version,
    }
    change = uuid5(_NAMESPACE, f"{tenant}/{event.type}/{event.version}/{event.name}")
    return BusEvent(str(change), event.type, now, detail)
