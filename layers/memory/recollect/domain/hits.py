"""A clause of a newer text that seems to bear on one of an older: what the last look at a relation is given (P-24)."""

from dataclasses import dataclass

from recollect.domain.claims import Claim, RelationKind, Said
from recollect.domain.cue_rules import CueRules


@dataclass(frozen=True, slots=True)
class Hit:
    """Two texts, a clause of each, what the newer clause would do to the older one, and the rules it is read by."""

    kind: RelationKind
    older: Said
    old: Claim
    newer: Said
    new: Claim
    rules: CueRules

    @property
    def is_weak(self) -> bool:
        """Whether no rule knows the attribute: the clauses only have words in common."""
        return self.new.rule == "weak"
