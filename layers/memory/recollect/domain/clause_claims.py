"""The claims of one clause, of attributes, things and topics (P-24)."""

from collections.abc import Iterator

from recollect.domain.attribute_claims import (
    attribute_claims,
    excluded_claims,
    raw_claims,
    retraction_cues,
    value_claims,
)
from recollect.domain.claims import Claim
from recollect.domain.clause_reading import Reading
from recollect.domain.cue_rules import CueRules
from recollect.domain.frame_claims import frame_claims, placed_claims
from recollect.domain.modality import Mood
from recollect.domain.predicates import OTHERS
from recollect.domain.rest_claims import kept_claims, weak_claim
from recollect.domain.role_claims import name_claims, replaced_claims
from recollect.domain.thing_claims import thing_claims
from recollect.domain.topic_claims import is_done_to_speaker, topic_claims


def claims_of(reading: Reading, rules: CueRules) -> Iterator[Claim]:
    """What the clause asserts, ends or takes back, and a weak claim of all it says."""
    yield from raw_claims(reading, rules)
    yield from retraction_cues(reading, rules)
    if not reading.unreal:
        yield from _predicate_claims(reading, rules)
        yield from kept_claims(reading, rules)
    yield from weak_claim(reading, rules)


def _predicate_claims(reading: Reading, rules: CueRules) -> Iterator[Claim]:
    said, how = reading.predicate, reading.modality
    if said is None or how is None or how.mood is Mood.UNREAL or how.remote:
        return
    if said.subject in OTHERS:
        if said.subject == "they":
            yield from thing_claims(reading, said, how, rules)
            yield from topic_claims(reading, said, how, rules) if is_done_to_speaker(said) else ()
        return
    if how.mood is Mood.PLAN and not (said.thing or reading.until is not None):
        return
    own = tuple(attribute_claims(reading, said, how, rules))
    things = () if own and said.thing else tuple(thing_claims(reading, said, how, rules))
    found = (*things, *(() if things else own))
    yield from found
    yield from excluded_claims(found, rules)
    known = {claim.attribute for claim in found}
    yield from (claim for claim in value_claims(reading, said, how, rules) if claim.attribute not in known)
    yield from placed_claims(reading, said, how, rules)
    yield from frame_claims(reading, said, how, rules)
    yield from replaced_claims(reading, said, how, rules)
    yield from name_claims(reading, said, rules)
    yield from topic_claims(reading, said, how, rules)
