"""Which records cue rules read, and what they recognise there (P-19, P-24)."""

import json
from datetime import datetime
from functools import lru_cache

from recollect.contradictions.decisions import BY_KEY
from recollect.core.event import Event, Role, Source
from recollect.domain.claim_reading import read_claims
from recollect.domain.claims import Claim, Relation, RelationKind, Said
from recollect.domain.cue_rules import cue_rules_of
from recollect.memories.memory import Memory
from recollect.rules.groups import Rules
from recollect.timeline.slots import bound_of

RESTATED = "restated"
BOUNDED = "key.bounded"
_KEPT_TEXTS = 2048
_KEPT_SAID = 512
_KEPT_CHARACTERS = 2048  # of longer ones so many would take too much memory


def speaks(event: Event) -> bool:
    """Whether it is a person's own words: not the assistant's, not what was inferred, nothing private."""
    return event.role is Role.USER and event.source is not Source.INFERRED and not event.is_private


def claims_of(event: Event, memory: Memory | None, rules: Rules) -> tuple[Claim, ...]:
    """What a record claims, in the words of its memory; nothing where it is not a person's own words."""
    if not speaks(event):
        return ()
    text = memory.content if memory is not None else event.content
    if len(text) > _KEPT_CHARACTERS:
        return read_claims(text, event.timestamp, rules.conflict.cue_rules)
    return _read(text, event.timestamp, _overlay(rules))


@lru_cache(maxsize=_KEPT_TEXTS)
def _read(text: str, at: datetime, overlay: str) -> tuple[Claim, ...]:
    """A text is looked at again with each newer one that may contradict it."""
    return read_claims(text, at, cue_rules_of(json.loads(overlay)))


def said_by(event: Event, text: str, claims: tuple[Claim, ...], rules: Rules) -> Said:
    """What a record says: the same object again while the texts are kept, with what was found out about its words."""
    if len(text) > _KEPT_CHARACTERS:
        return Said(event.id, text, event.timestamp, event.speaker or "", claims)
    return _said(event.id, text, event.timestamp, event.speaker or "", claims, _overlay(rules))


def _overlay(rules: Rules) -> str:
    """The tenant's own cues as a key: equal ones are one text."""
    return json.dumps(rules.conflict.cues, sort_keys=True)


@lru_cache(maxsize=_KEPT_SAID)
def _said(
    record_id: str,
    text: str,
    at: datetime,
    speaker: str,
    claims: tuple[Claim, ...],
    overlay: str,  # noqa: ARG001 - other rules, other findings
) -> Said:
    return Said(record_id, text, at, speaker, claims)


def key_claim(event: Event) -> Claim | None:
    """What a keyed record says of its slot; None without a key. It is entered only where its words set a bound."""
    if event.key is None or not speaks(event):
        return None
    until = bound_of(event)
    return Claim(
        attribute=f"key:{event.key}",
        exclusive=True,
        strong=until is not None,
        until=until,
        span=(0, len(event.content)),
        rule=BY_KEY,
    )


def held_over(older: Event, newer: Event) -> Relation | None:
    """What a key says beside its slot, which holds no bounded value.

    A bounded one holds over what was said before it, within its bounds; what is said after it without any ends it.
    """
    if newer.key is None or older.key != newer.key:
        return None
    until, ended = bound_of(newer), ((0, len(older.content)),)
    if until is not None:
        return Relation(kind=RelationKind.OVERRIDES, rule=BOUNDED, ended=ended, until=until)
    if bound_of(older) is not None:
        return Relation(kind=RelationKind.SUPERSEDES, rule=BOUNDED, ended=ended)
    return None


def recognised(event: Event, rules: Rules) -> bool:
    """Whether a rule recognises the value of an attribute or its end: that is worth a memory, whatever its score."""
    return any(claim.strong for claim in claims_of(event, None, rules))


def restated(older: Said, newer: Said) -> Relation | None:
    """The same words said again: the value is recalled once, as it was said last."""
    same = older.text.strip().casefold() == newer.text.strip().casefold()
    if not same or not any(claim.strong for claim in newer.claims):
        return None
    return Relation(kind=RelationKind.SUPERSEDES, rule=RESTATED, ended=((0, len(older.text)),))
