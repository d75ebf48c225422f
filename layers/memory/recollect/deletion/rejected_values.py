"""Rejected values: each is stored as a keyed hash of the folded value, never as text (P-22).

A value is rejected for one user, persona and household. The key is the tenant's and can be rotated: a new hash uses
the newest key, an old one stays comparable with its own, since hashing again would need the text. A rejected value is
also searched among the sentences of longer texts.
"""

import hashlib
import hmac
import itertools
import json
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from recollect.core.items import ItemKey, ItemPath, document_of, reading
from recollect.core.scope import Scope
from recollect.core.time import from_iso
from recollect.text.phrases import CJK_CLASS, folded, is_invisible, may_hide

REJECTIONS = ItemPath("rejections")
VALUE_KEYS = ItemKey(ItemPath("value_keys"), "ring")
KEYS = "keys"
"""The kind of the tombstone that holds a tenant's keys."""

LONGEST_RUN = 40
"""Sentences of the longest value that is looked for inside of other texts."""

# Finer than `split_sentences`, after abbreviations too: a value of several pieces is compared as a run of them.
_PIECE_END = re.compile(
    rf"[.!?\u2026。！？．｡]+[\"'”’»)\]]*(?=\s|$|[{CJK_CLASS}])|[。！？｡]+|[\r\n\x0b\x0c\x1c-\x1e\x85\u2028\u2029]+"
)
_BULLET = re.compile(r"^(?:[-*\u2022\u00b7>]+ )+")
_CLOSING = " .!。！…"


@dataclass(frozen=True, slots=True)
class ValueKey:
    """One key of a tenant: 32 random bytes under a name."""

    id: str
    secret: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class RejectedValue:
    """A stored rejection: its owner, time, hash and its key's id; `pieces` ≥ 1 is the value's number of sentences."""

    id: str
    at: datetime
    persona_id: str | None
    household_id: str | None
    key: str
    hash: str
    pieces: int

    @property
    def owner(self) -> tuple[str | None, str | None]:
        return self.persona_id, self.household_id


def fold_value(text: str) -> str:
    """The value as compared: folded, without a leading bullet and trailing full stops."""
    plain = folded(text)
    return _BULLET.sub("", plain).rstrip(_CLOSING) or plain


def value_hash(key: ValueKey, owner: Scope, text: str) -> str:
    """64 hex digits: the HMAC, under a tenant's key, of a value of that user, persona and household."""
    return hmac.digest(key.secret, _named(owner, text), hashlib.sha256).hex()


def fingerprint_of(keys: Sequence[ValueKey], owner: Scope, text: str) -> str:
    """The fingerprint that an append compares with the rejected values: the hash under the newest key.

    Without a key the tenant has rejected nothing so far: see `unkeyed_fingerprint`.
    """
    return value_hash(keys[0], owner, text) if keys else unkeyed_fingerprint(owner, text)


def unkeyed_fingerprint(owner: Scope, text: str) -> str:
    """The fingerprint of an append that began before the tenant had a key: one of 256, so it reveals no value.

    A rejection refuses it too, for an append that read no key and commits after the rejection. An append refused this
    way may hold another value; it retries with the key that exists by then.
    """
    return f"unkeyed-{hashlib.sha256(_named(owner, text)).hexdigest()[:2]}"


def _named(owner: Scope, text: str) -> bytes:
    return json.dumps([owner.user_id, owner.persona_id, owner.household_id, fold_value(text)]).encode()


def pieces_of(text: str) -> list[tuple[int, int]]:
    """The start and end of each sentence, in order; together they cover the text.

    Invisible characters hide no end of a sentence.
    """
    ends = _ends_as_shown(text) if may_hide(text) else [match.end() for match in _PIECE_END.finditer(text)]
    cuts = sorted({0, len(text), *ends})
    return list(itertools.pairwise(cuts))


def _ends_as_shown(text: str) -> list[int]:
    seen = [place for place, character in enumerate(text) if not is_invisible(character)]
    shown = "".join(text[place] for place in seen)
    return [seen[match.end()] if match.end() < len(seen) else len(text) for match in _PIECE_END.finditer(shown)]


def count_pieces(text: str) -> int:
    """The number of sentences of a value that have a letter or digit, at least 1."""
    return max(1, sum(1 for start, end in pieces_of(text) if _says_something(text[start:end])))


def without_rejected(text: str, is_rejected: Callable[[str], bool], runs: Collection[int] = (1,)) -> str | None:
    """The text without its rejected sentences; unchanged where none is rejected, None where nothing is left.

    `runs` are the numbers of sentences that a rejected value can have. A text that is rejected as a whole is None.
    """
    if is_rejected(text):
        return None
    pieces = [text[start:end] for start, end in pieces_of(text)]
    lost = rejected_places(pieces, is_rejected, runs)
    if not lost:
        return text
    kept = "".join(piece for place, piece in enumerate(pieces) if place not in lost).strip()
    return kept if _says_something(kept) else None


def rejected_places(pieces: Sequence[str], is_rejected: Callable[[str], bool], runs: Collection[int]) -> set[int]:
    """The places of the pieces that are rejected, alone or as a run of neighbours; blank pieces are skipped."""
    said = [place for place, piece in enumerate(pieces) if _says_something(piece)]
    lost: set[int] = set()
    for length in runs:
        for start in range(len(said) - length + 1):
            run = said[start : start + length]
            if is_rejected("".join(pieces[run[0] : run[-1] + 1])):
                lost.update(range(run[0], run[-1] + 1))
    return lost


def rejection_key(rejection_id: str) -> ItemKey:
    return ItemKey(REJECTIONS, rejection_id)


def hash_key(value: str) -> ItemKey:
    """The item that exists once per rejected hash of a user: of two concurrent rejections one wins."""
    return ItemKey(ItemPath("rejected_hashes"), value)


def rejection_document(value: RejectedValue) -> dict[str, Any]:
    return document_of(value, without=("id",))


@reading("a rejection")
def rejection_in(rejection_id: str, document: Mapping[str, Any]) -> RejectedValue:
    return RejectedValue(
        id=rejection_id,
        at=from_iso(document["at"]),
        persona_id=document.get("persona_id"),
        household_id=document.get("household_id"),
        key=document["key"],
        hash=document["hash"],
        pieces=document["pieces"],
    )


def keys_document(keys: Sequence[ValueKey]) -> dict[str, Any]:
    """The stored form of a tenant's keys, newest first."""
    return {"keys": [{"id": key.id, "secret": key.secret.hex()} for key in keys]}


def keys_tombstone(document: Mapping[str, Any]) -> dict[str, Any]:
    return {"kind": KEYS, "keys": dict(document)}


@reading("a tenant's keys")
def keys_in(document: Mapping[str, Any]) -> tuple[ValueKey, ...]:
    return tuple(ValueKey(one["id"], bytes.fromhex(one["secret"])) for one in document["keys"])


def _says_something(piece: str) -> bool:
    return any(character.isalnum() for character in piece)
