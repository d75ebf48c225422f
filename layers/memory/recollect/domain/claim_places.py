"""Where claims are entered, so that what may contradict a record is found by its attributes, without its words.

| collection | labels    | key       | value                                                                      |
|------------|-----------|-----------|----------------------------------------------------------------------------|
| `claims`   | attribute | record id | `{t}`: a record that says something of that attribute                      |
| `cues`     | owner     | record id | `{t}`: a record that changes, ends or takes something back                 |

An attribute's label is a keyed hash of scope, speaker, subject and attribute: an entry tells nothing once its record is
gone, and one that leads to nothing is no harm.
"""

import hashlib
import json
from collections.abc import Sequence

from recollect.core.event import Event, EventRef
from recollect.core.items import Item, ItemKey, ItemPath, ItemWrite
from recollect.core.time import from_iso, iso
from recollect.domain.claims import Claim, ClaimKind

_HASH_LENGTH = 32


def attribute_path(event: Event, claim: Claim) -> ItemPath:
    """Where the records of one attribute are entered."""
    owner = [event.persona_id, event.household_id, event.speaker]
    return ItemPath("claims", (_hash([*owner, claim.subject, claim.attribute, event.user_id]),))


def cues_path(event: Event) -> ItemPath:
    """Where those of one scope and speaker are that change, end or take back something."""
    return ItemPath("cues", (_hash([event.persona_id, event.household_id, event.speaker]),))


def claim_writes(event: Event, claims: Sequence[Claim]) -> list[ItemWrite]:
    """The entries of a record; written again they are the same."""
    strong = [claim for claim in claims if claim.strong]
    paths = dict.fromkeys(attribute_path(event, claim) for claim in strong)
    entered = [ItemWrite(ItemKey(path, event.id), {"t": iso(event.timestamp)}) for path in paths]
    if any(_may_end(claim) for claim in claims):
        entered.append(ItemWrite(ItemKey(cues_path(event), event.id), {"t": iso(event.timestamp)}))
    return entered


def entered_ref(item: Item) -> EventRef:
    """The record that an entry names."""
    return EventRef(item.key.key, from_iso(item.value["t"]))


def _may_end(claim: Claim) -> bool:
    """Whether it may end what was said in other words, and comes about seldom enough to be listed."""
    seldom = claim.kind in (ClaimKind.PARTIAL, ClaimKind.RETRACTION)
    return seldom or (claim.strong and claim.kind is not ClaimKind.STATE)


def _hash(parts: list[str | None]) -> str:
    return hashlib.sha256(json.dumps(parts).encode("utf-8", "surrogatepass")).hexdigest()[:_HASH_LENGTH]
