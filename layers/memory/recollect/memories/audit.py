"""The audit: every mutation and refusal of a user's memory, append-only, without content (`docs/memories.md`).

It is the bridge's ledger too: an entry with an outcome decides about the events that it names. Entries are items of the
user, written atomically with the change; they outlive deletions. An entry's key is its instant and its id, so that
entries list by `at` however late they were written. The oldest entries have their id alone as key, which sorts first.
"""

import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from recollect.core.items import ABSENT, ItemKey, ItemPath, ItemWrite
from recollect.core.time import from_iso, iso, sortable

AUDIT = ItemPath("audit")
OUTCOMES = ("promoted", "duplicate", "deferred", "refused", "failed", "pruned", "reconciled")
"""Outcomes of events in the ledger."""

_APPENDED = ItemPath("audit_ids")
_BETWEEN = "."


class ActorKind(StrEnum):
    USER = "user"
    ADMIN = "admin"
    BOT = "bot"
    MODEL = "model"
    JOB = "job"


@dataclass(frozen=True, slots=True)
class Actor:
    """Who acted. `id` is the user's id, the bot's route (`events`), the model's tool, or the job's name."""

    kind: ActorKind
    id: str


class Action(StrEnum):
    CREATE = "create"
    SUPERSEDE = "supersede"
    MERGE = "merge"
    PATCH = "patch"
    DELETE = "delete"
    REJECT = "reject"
    REFUSE = "refuse"
    RESTORE = "restore"
    REVERT = "revert"
    ERASE = "erase"


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEntry:
    """One entry. `id` is a UUIDv7; entries are ordered by `at`, then by id.

    `via` is the route (an operation of the API, `bridge`, `retain`, …), `rule` what decided, `reason` a word of ours.
    `event_ids` and `outcome` make it an entry of the ledger. `before` and `after` are versions with a keyed hash of the
    content, never the content. `also` is the version of another memory that the same change made: of one that took up
    another, or gave it back.
    """

    id: str
    at: datetime
    actor: Actor
    action: Action
    target_ids: tuple[str, ...]
    via: str
    rule: str | None = None
    reason: str | None = None
    event_ids: tuple[str, ...] = ()
    outcome: str | None = None
    before: Mapping[str, Any] | None = None
    after: Mapping[str, Any] | None = None
    also: Mapping[str, Any] | None = None


def audit_key(entry_id: str, at: datetime) -> ItemKey:
    return ItemKey(AUDIT, f"{sortable(at)}{_BETWEEN}{entry_id}")


def audit_write(entry: AuditEntry) -> ItemWrite:
    """The write that appends the entry; it fails where the entry exists."""
    return ItemWrite(audit_key(entry.id, entry.at), audit_json(entry), ABSENT)


def audit_once(entry: AuditEntry) -> list[ItemWrite]:
    """The writes that append an entry whose id a retry repeats at another instant; they fail after an earlier try."""
    return [audit_write(entry), ItemWrite(ItemKey(_APPENDED, entry.id), {}, ABSENT)]


def audit_json(entry: AuditEntry) -> dict[str, Any]:
    """The form stored and shown; absent values are left out."""
    document = {
        "at": iso(entry.at),
        "actor": {"kind": entry.actor.kind.value, "id": entry.actor.id},
        "action": entry.action.value,
        "target_ids": list(entry.target_ids),
        "via": entry.via,
        "rule": entry.rule,
        "reason": entry.reason,
        "event_ids": list(entry.event_ids) or None,
        "outcome": entry.outcome,
        "before": dict(entry.before) if entry.before else None,
        "after": dict(entry.after) if entry.after else None,
        "also": dict(entry.also) if entry.also else None,
    }
    return {name: value for name, value in document.items() if value is not None}


def audit_entry(key: str, document: Mapping[str, Any]) -> AuditEntry:
    """Reads what `audit_write` wrote: the key of the entry's item, and its value."""
    actor = document["actor"]
    return AuditEntry(
        id=key.rpartition(_BETWEEN)[2],
        at=from_iso(document["at"]),
        actor=Actor(ActorKind(actor["kind"]), actor["id"]),
        action=Action(document["action"]),
        target_ids=tuple(document["target_ids"]),
        via=document["via"],
        rule=document.get("rule"),
        reason=document.get("reason"),
        event_ids=tuple(document.get("event_ids", ())),
        outcome=document.get("outcome"),
        before=document.get("before"),
        after=document.get("after"),
        also=document.get("also"),
    )


def content_hash(tenant: str, user_id: str, content: str) -> str:
    """16 hex digits of a content, keyed by its owner: equal texts of two users have different hashes."""
    key = hashlib.sha256(f"{tenant}\x1f{user_id}".encode("utf-8", "surrogatepass")).digest()
    return hmac.new(key, content.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()[:16]
