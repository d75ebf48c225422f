"""The port `RateLimiter` on DynamoDB: until when writes or turns are paid for is one number, moved on condition."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from botocore.exceptions import ClientError

from recollect.adapters.aws import keys
from recollect.adapters.aws.clients import CONDITION_FAILED, code_of, translated
from recollect.adapters.aws.item_format import Attributes, instant, moment_in, number
from recollect.adapters.aws.table import SERVICE, ItemAccess
from recollect.core.errors import Throttled
from recollect.core.limited import Limited
from recollect.core.time import EARLIEST

_KEPT = timedelta(hours=1)
"""How long a tenant's number stays after it has passed: from then on it says nothing."""


@dataclass(frozen=True, slots=True)
class _Move:
    """One conditional change of a tenant's number `t`."""

    change: str
    condition: str
    values: Attributes


@dataclass(frozen=True, slots=True)
class DynamoDBRateLimiter:
    """One write for a tenant who owes nothing, two for one who does; whatever process asks, all are counted.

    `clock` is the real time in seconds since 1970, by which the service deletes numbers (TTL).
    """

    access: ItemAccess
    clock: Callable[[], float] = field(default=time.time)

    def admit(self, tenant: str, kind: Limited, cost: timedelta, tolerance: timedelta, now: datetime) -> timedelta:
        """Raises Throttled, Unavailable."""
        key, latest, at = keys.rate_key(tenant, kind), now + tolerance, {":now": instant(now)}
        anew = _Move("SET t = :to", "attribute_not_exists(t) OR t < :now", at | {":to": instant(now + cost)})
        bounds = {":latest": instant(latest), ":price": number(cost // timedelta(microseconds=1))}
        more = _Move("SET t = t + :price", "t BETWEEN :now AND :latest", at | bounds)
        for _ in self.access.backoff.attempts():
            if self._refused(key, anew, cost) is None:
                return timedelta(0)
            paid_until = self._refused(key, more, tolerance + cost)
            if paid_until is None:
                return timedelta(0)
            if paid_until > latest:
                return paid_until - latest
        raise Throttled("DynamoDB: too many requests of this tenant at once")

    def _refused(self, key: keys.Key, move: _Move, debt: timedelta) -> datetime | None:
        """None once the number is moved; else what it is, where the condition fails."""
        ttl = int(self.clock() + (debt + _KEPT).total_seconds())
        with translated(SERVICE):
            try:
                self.access.client.update_item(
                    TableName=self.access.table,
                    Key=key.attributes,
                    UpdateExpression=f"{move.change}, #ttl = :ttl",
                    ConditionExpression=move.condition,
                    ExpressionAttributeNames={"#ttl": "ttl"},
                    ExpressionAttributeValues=move.values | {":ttl": number(ttl)},
                    ReturnValuesOnConditionCheckFailure="ALL_OLD",
                )
            except ClientError as error:
                if code_of(error) != CONDITION_FAILED:
                    raise
                stored = error.response.get("Item") or self.access.get(key)
                return moment_in(stored, "t") if stored else EARLIEST
        return None
