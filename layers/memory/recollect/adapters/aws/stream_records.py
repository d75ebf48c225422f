"""What a record of the table's stream is about. The stream carries keys only: a record is a hint (P-25)."""

from collections.abc import Mapping
from typing import Any

from recollect.adapters.aws import keys
from recollect.domain.timeline import PendingEvent

# The event source mapping's filter: only records about events reach the function.
EVENT_FILTER: Mapping[str, Any] = {"dynamodb": {"Keys": {"sk": {"S": [{"prefix": "E#"}]}}}}


def event_of_record(record: Mapping[str, Any]) -> PendingEvent | None:
    """The event that a stream record is about, and whose it is; None for a record of another kind of item."""
    key = record["dynamodb"]["Keys"]
    ref = keys.event_of(key["sk"]["S"])
    return PendingEvent(keys.user_of(key["pk"]["S"]), ref) if ref else None
