"""Keys of a stack's API: made and revoked by an operator, known by their hash (docs/operations.md, *Keys*).

A key says which tenant asks, so it is found before there is a tenant: the keys are items of the empty tenant, which no
credentials can name. The key itself is stored nowhere. It is 256 random bits, so that one round of SHA-256 hides it.
"""

import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256

from recollect.core.errors import InvalidInput, NotFound
from recollect.core.items import ABSENT, MOST_CHARACTERS, Item, ItemKey, ItemPath, ItemWrite, of_tenant, pages, reading
from recollect.core.time import from_iso, iso
from recollect.ports import Items
from recollect.settings import Principal

PREFIX = "rk_"
"""What every key begins with; no token does."""
_OWNER = of_tenant("")
_KEYS = ItemPath("api_keys")
_PAGE = 200
_ID_CHARACTERS = 12


@dataclass(frozen=True, slots=True)
class ApiKey:
    """What is known of a key: the SHA-256 of it in hexadecimal digits, for whom it speaks, and what it was made for."""

    hash: str
    principal: Principal
    label: str
    made_at: datetime

    @property
    def id(self) -> str:
        """What lists show and `revoke` takes; nobody can ask with it."""
        return self.hash[:_ID_CHARACTERS]


@dataclass(frozen=True, slots=True)
class ApiKeys:
    """Makes, finds, lists and revokes them."""

    items: Items

    def make(self, principal: Principal, label: str, now: datetime) -> tuple[str, ApiKey]:
        """A new key, which is told this once, and what is stored of it. Raises InvalidInput for a bad tenant."""
        if not 1 <= len(principal.tenant) <= MOST_CHARACTERS or not principal.tenant.isprintable():
            raise InvalidInput(f"a tenant has 1 to {MOST_CHARACTERS} characters", ("tenant",))
        key = PREFIX + secrets.token_urlsafe(32)
        made = ApiKey(_hash(key), principal, label, now)
        value = {"tenant": principal.tenant, "admin": principal.admin, "label": label, "made_at": iso(now)}
        self.items.write(_OWNER, [ItemWrite(_place(made.hash), value, ABSENT)], now)
        return key, made

    def find(self, key: str) -> Principal | None:
        """For whom a key speaks; None for one that was never made, or is revoked. What is no key is not looked up."""
        if not key.startswith(PREFIX):
            return None
        place = _place(_hash(key))
        item = self.items.get(_OWNER, [place]).get(place)
        return _key_in(item).principal if item else None

    def every(self) -> Iterator[ApiKey]:
        """All keys of the deployment, by their hashes."""
        for page in pages(lambda after: self.items.page(_OWNER, _KEYS, _PAGE, after)):
            yield from map(_key_in, page.items)

    def revoke(self, key_id: str, now: datetime) -> ApiKey:
        """Deletes a key by its id, or what of it is one key's alone. Raises NotFound, and InvalidInput for several."""
        found = [one for one in self.every() if key_id and one.hash.startswith(key_id)]
        if not found:
            raise NotFound("no such key")
        if len(found) > 1:
            raise InvalidInput(f"{len(found)} keys begin so", ("key_id",))
        self.items.write(_OWNER, [ItemWrite(_place(found[0].hash), None)], now)
        return found[0]


def _place(key_hash: str) -> ItemKey:
    return ItemKey(_KEYS, key_hash)


def _hash(key: str) -> str:
    return sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


@reading("an API key")
def _key_in(item: Item) -> ApiKey:
    value = item.value
    principal = Principal(value["tenant"], value["admin"])
    return ApiKey(item.key.key, principal, value["label"], from_iso(value["made_at"]))
