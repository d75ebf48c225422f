"""Which spaces a query reaches: the active one, and those that it names (R-108, R-118, R-P14, R-P15)."""

from dataclasses import dataclass

from recollect.domain.analysis import QueryAnalysis
from recollect.domain.entities import EntityType
from recollect.domain.rules import IntentRules


@dataclass(frozen=True, slots=True)
class SpaceReach:
    """`allowed` None is every space; `mentioned` are those, among the allowed, whose naming counts as a match."""

    allowed: frozenset[str] | None
    mentioned: frozenset[str]
    crosses: bool
    """Whether the query names a space besides the active one, and may look there."""

    def mentions(self, space_id: str | None) -> bool:
        """Whether the query names this space."""
        return space_id is not None and space_id in self.mentioned


def space_reach(analysis: QueryAnalysis, active_space_id: str | None, rules: IntentRules) -> SpaceReach:
    """Without an active space every space is searched; where others are not allowed, naming one changes nothing."""
    named = frozenset(one.normalized for one in analysis.entities if one.type is EntityType.SPACE_NAME)
    own = frozenset() if active_space_id is None else frozenset((active_space_id,))
    if not rules.allow_cross_space and own:
        return SpaceReach(own, named & own, crosses=False)
    return SpaceReach(own | named if own else None, named, crosses=bool(named - own))


def active_alone(active_space_id: str | None) -> SpaceReach:
    """What is reached before, and without, an analysis."""
    allowed = None if active_space_id is None else frozenset((active_space_id,))
    return SpaceReach(allowed, frozenset(), crosses=False)
