"""The port `IdempotencyStore` on DynamoDB: one write to claim, one to complete."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from botocore.exceptions import ClientError

from recollect.adapters.aws import keys
from recollect.adapters.aws.errors import CONDITION_FAILED, code_of, translated
from recollect.adapters.aws.item_format import (
    Attributes,
    binary,
    instant,
    key_in,
    moment_in,
    number,
    pack_json,
    text,
    unpack_json,
)
from recollect.adapters.aws.table import SERVICE, ItemAccess
from recollect.core.errors import InFlight, KeyReused
from recollect.core.idempotency import Claimed, ClaimOutcome, IdempotencyClaim, Replay
from recollect.core.ids import IdSeed


@dataclass(frozen=True, slots=True)
class DynamoDBIdempotency:
    """`clock` is the real time in seconds since 1970, by which the service deletes records (TTL)."""

    access: ItemAccess
    clock: Callable[[], float] = field(default=time.time)

    def claim(self, claim: IdempotencyClaim) -> ClaimOutcome:
        earlier = self._put(claim)
        return Claimed(claim.seed) if earlier is None else self._outcome(claim, earlier)

    def complete(self, claim: IdempotencyClaim, status: int, body: dict[str, object]) -> None:
        answer = {":status": number(status), ":answer": binary(pack_json(body))}
        self._update(claim, "SET a = :status, z = :answer", "attribute_exists(pk)", answer)

    def release(self, claim: IdempotencyClaim) -> None:
        """Frees the key for the next try, with the same seed; unless another request took the claim over."""
        values = {":now": instant(claim.now), ":mine": instant(claim.lapses_at)}
        self._update(claim, "SET l = :now", "l = :mine", values)

    def _outcome(self, claim: IdempotencyClaim, earlier: Attributes) -> ClaimOutcome:
        if earlier["b"]["S"] != claim.body_hash:
            raise KeyReused("this idempotency key was used with another body")
        if "a" in earlier:
            return Replay(int(earlier["a"]["N"]), unpack_json(earlier["z"]["B"]))
        lapsed = moment_in(earlier, "l") <= claim.now
        if not lapsed or not self._take_over(claim, earlier):
            raise InFlight("a request with this idempotency key is being worked on")
        return Claimed(IdSeed.decode(earlier["s"]["S"]))

    def _take_over(self, claim: IdempotencyClaim, earlier: Attributes) -> bool:
        values = {":lapse": instant(claim.lapses_at), ":lapsed": earlier["l"]}
        return self._update(claim, "SET l = :lapse", "l = :lapsed", values)

    def _record(self, claim: IdempotencyClaim) -> Attributes:
        lasting_seconds = (claim.expires_at - claim.now).total_seconds()
        return {
            **keys.idempotency_key(claim.key_hash).attributes,
            "b": text(claim.body_hash),
            "s": text(claim.seed.encode()),
            "l": instant(claim.lapses_at),
            "f": instant(claim.expires_at),
            "ttl": number(int(self.clock() + lasting_seconds) + 1),
        }

    def _put(self, claim: IdempotencyClaim) -> Attributes | None:
        """Writes the record where none is stored or it expired; else answers the stored one."""
        record = self._record(claim)
        with translated(SERVICE):
            try:
                self.access.client.put_item(
                    TableName=self.access.table,
                    Item=record,
                    ConditionExpression="attribute_not_exists(pk) OR f <= :now",
                    ExpressionAttributeValues={":now": instant(claim.now)},
                    ReturnValuesOnConditionCheckFailure="ALL_OLD",
                )
            except ClientError as error:
                if code_of(error) != CONDITION_FAILED:
                    raise
                return error.response.get("Item") or self.access.get(key_in(record))
        return None

    def _update(self, claim: IdempotencyClaim, expression: str, condition: str, values: Attributes) -> bool:
        """Changes a record that waits for this body's answer; False where there is none or the condition fails."""
        with translated(SERVICE):
            try:
                self.access.client.update_item(
                    TableName=self.access.table,
                    Key=keys.idempotency_key(claim.key_hash).attributes,
                    UpdateExpression=expression,
                    ConditionExpression=f"{condition} AND b = :body AND attribute_not_exists(a)",
                    ExpressionAttributeValues=values | {":body": text(claim.body_hash)},
                )
            except ClientError as error:
                if code_of(error) != CONDITION_FAILED:
                    raise
                return False
        return True
