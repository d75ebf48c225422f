"""What a newer text leaves as it is, whatever words it shares with the older: the last look at a relation (P-24).

A wrong end of what still holds does more harm than one that is missed: so each of these rules alone is enough.
"""

from dataclasses import replace

from recollect.domain.claims import RelationKind, Said
from recollect.domain.cue_rules import CueRules
from recollect.domain.denied_cues import (
    denies_a_mistake,
    denies_as_well,
    denies_its_cue,
    denies_something_else,
    explains_what_is_denied,
)
from recollect.domain.hits import Hit
from recollect.domain.named_back import takes_back_another
from recollect.domain.other_names import denies_of_another_name, ends_another_name
from recollect.domain.other_people import (
    explains_another,
    has_another_role,
    is_by_another,
    is_denied_of_another,
    is_done_to_another,
    is_done_together,
    is_for_another,
    is_of_a_named_owner,
    is_of_another_owner,
    is_of_anothers,
    is_of_some,
    is_only_of_others,
    is_taken_back_by_another,
    is_theirs,
    is_told_to_another,
)
from recollect.domain.other_things import (
    begins_with_another,
    denies_another_value,
    differs_twice,
    ends_another_object,
    frames_another_object,
    goes_elsewhere,
    is_of_another_thing,
    names_another_thing,
    only_frames_shared,
    takes_up_another,
    tells_other_amounts,
)
from recollect.domain.passing_mentions import (
    asks_what_was_said,
    is_added,
    is_asked,
    is_hoped,
    is_not_instead,
    is_of_before,
    is_on_other_days,
    is_past_state,
    is_quoted,
)
from recollect.domain.told_words import weak_claims

_RULES = (
    denies_its_cue,
    explains_what_is_denied,
    denies_as_well,
    denies_something_else,
    names_another_thing,
    begins_with_another,
    differs_twice,
    only_frames_shared,
    ends_another_object,
    denies_another_value,
    frames_another_object,
    takes_up_another,
    goes_elsewhere,
    tells_other_amounts,
    ends_another_name,
    denies_of_another_name,
    is_of_anothers,
    is_theirs,
    is_done_to_another,
    is_denied_of_another,
    is_by_another,
    is_for_another,
    is_of_some,
    is_done_together,
    is_only_of_others,
    is_told_to_another,
    explains_another,
    is_of_another_owner,
    has_another_role,
    is_hoped,
    is_of_before,
    is_past_state,
    is_added,
    is_quoted,
    is_asked,
    asks_what_was_said,
    is_on_other_days,
    is_not_instead,
)


def leaves_alone(hit: Hit) -> bool:
    """Whether the newer clause does nothing to the older one after all."""
    return any(rule(hit) for rule in _RULES) or (hit.kind is RelationKind.RETRACTS and _takes_nothing_back(hit))


def is_another_part(older: Said, newer: Said, rules: CueRules) -> bool:
    """Whether a clause of the newer text is of another thing of the same kind: then it changes no part of this one."""
    return any(is_of_another_thing(older, newer, one.span, rules) for one in weak_claims(newer))


def _takes_nothing_back(hit: Hit) -> bool:
    """Whether it takes back something else, or nothing: any of its clauses may tell."""
    if is_taken_back_by_another(hit) or denies_a_mistake(hit.newer, hit.rules):
        return True
    if takes_back_another(hit.older, hit.newer, hit.rules):
        return True
    clauses = [replace(hit, new=one) for one in weak_claims(hit.newer)]
    if any(is_of_a_named_owner(one) or denies_its_cue(one) for one in clauses):
        return True
    return any(ends_another_name(replace(one, old=old)) for one in clauses for old in weak_claims(hit.older))
