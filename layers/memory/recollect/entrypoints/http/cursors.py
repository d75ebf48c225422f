"""Opaque cursors: where a list goes on, signed and bound to the list they come from.

The key is derived from the deployment and the tenant, with no secret in it: the signature tells a foreign, cut or
edited cursor from a good one. It guards no data: a cursor holds a place only, and what is read there is decided by
the request's own credentials, user and filters.
"""

import base64
import binascii
import hashlib
import hmac
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from recollect.app import App
from recollect.core.errors import InvalidInput
from recollect.core.scope import Scope
from recollect.entrypoints.http.messages import Reply
from recollect.entrypoints.http.models import AnswerModel, Paged, RequestModel

LOC = ("query", "cursor")
_MAC_BYTES = 16
_LONGEST = 4096
_NO_FILTERS = {"limit", "top_k", "cursor"}


@dataclass(frozen=True, slots=True)
class Listing:
    """The list that a cursor belongs to: deployment, route, whose it is, and the filters as the client gave them."""

    deployment: str
    route: str
    scope: Scope
    filters: Mapping[str, Any] = field(default_factory=dict)


def listing_of(app: App, name: str, scope: Scope, query: RequestModel | None = None) -> Listing:
    """The list of that name; a cursor stays good for another limit, and for nothing else in the query."""
    filters = query.model_dump(exclude=_NO_FILTERS, exclude_none=True, by_alias=True) if query else {}
    return Listing(f"{app.settings.engines}:{app.settings.table}", name, scope, filters)


def start_of(query: Paged, listing: Listing) -> str | None:
    """The id after which the page begins; None for the first page."""
    return None if query.cursor is None else str(open_cursor(query.cursor, listing, 1)[0])


def cursor_to(more: str | None, listing: Listing) -> str | None:
    """The cursor to what follows that id; None where nothing does."""
    return None if more is None else seal([more], listing)


def page_reply(model: type[AnswerModel], entries: Sequence[object], more: str | None, listing: Listing) -> Reply:
    """A page of the list by its model: the entries under the name that they have there, and the cursor."""
    shown = {next(iter(model.model_fields)): entries, "next_cursor": cursor_to(more, listing)}
    return Reply(200, model.model_validate(shown), log={"returned": len(entries)})


def seal(place: list[str | None], listing: Listing) -> str:
    """A cursor for the place."""
    payload = json.dumps(place, ensure_ascii=False, separators=(",", ":")).encode()
    return _spelt(_mac(payload, listing) + payload)


def open_cursor(cursor: str, listing: Listing, length: int) -> list[Any]:
    """The place, of that many parts. Raises InvalidInput for a cursor of another list, and for a broken one."""
    sealed = _sealed(cursor)
    mac, payload = sealed[:_MAC_BYTES], sealed[_MAC_BYTES:]
    place = json.loads(payload) if hmac.compare_digest(mac, _mac(payload, listing)) else []
    if len(place) != length:
        raise InvalidInput("is no cursor of this list", LOC)
    return list(place)


def _sealed(cursor: str) -> bytes:
    """The bytes of the one spelling that a cursor has; none for anything else."""
    try:
        sealed = base64.urlsafe_b64decode(cursor[:_LONGEST] + "=" * (-len(cursor) % 4))
    except (ValueError, binascii.Error):
        return b""
    return sealed if _spelt(sealed) == cursor else b""


def _spelt(sealed: bytes) -> str:
    return base64.urlsafe_b64encode(sealed).decode().rstrip("=")


def _mac(payload: bytes, listing: Listing) -> bytes:
    scope = listing.scope
    key = hashlib.sha256(f"recollect cursor 1\x00{listing.deployment}\x00{scope.tenant}".encode()).digest()
    bound = [listing.route, scope.user_id, scope.persona_id, scope.household_id, dict(listing.filters)]
    message = json.dumps(bound, sort_keys=True, default=str).encode() + b"\x00" + payload
    return hmac.new(key, message, hashlib.sha256).digest()[:_MAC_BYTES]
