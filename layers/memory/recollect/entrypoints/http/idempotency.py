"""`Idempotency-Key`: the same key and body give the same answer (api.md, *Twice*)."""

import hashlib
import json
from datetime import timedelta

from recollect.core.errors import InvalidInput
from recollect.core.idempotency import KEPT_FOR, IdempotencyClaim
from recollect.core.ids import IdSeed
from recollect.entrypoints.http.ids import id_fault
from recollect.entrypoints.http.messages import Request
from recollect.timeline.record import body_hash

HEADER = "Idempotency-Key"
REPLAYED = {"Idempotent-Replayed": "true"}


def claim_of(request: Request, route: str, seed: IdSeed) -> IdempotencyClaim | None:
    """The request's claim to its key; None without the header. Raises InvalidInput for a key that is no id.

    Key and route are kept as one hash with the tenant; the claim lapses when this call's own time is over.
    """
    key = request.call.headers.get(HEADER.lower())
    if key is None:
        return None
    fault = id_fault(key)
    if fault is not None:
        raise InvalidInput(fault, ("header", HEADER))
    named = json.dumps([request.principal.tenant, route, key]).encode()
    return IdempotencyClaim(
        key_hash=hashlib.sha256(named).hexdigest(),
        body_hash=body_hash(request.call.body),
        seed=seed,
        now=request.now,
        lapses_at=request.now + timedelta(seconds=request.call.remaining_seconds),
        expires_at=request.now + KEPT_FOR,
    )
