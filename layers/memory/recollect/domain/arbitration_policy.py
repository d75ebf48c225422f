"""The whole of step 3 for one candidate: detect, arbitrate the most severe conflict, merge (A-69 to A-107, P-24)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from recollect.domain.arbitration import Action, ArbitrationOptions, Verdict, arbitrate
from recollect.domain.conflict_detection import Conflict, DetectionOptions, detect, most_severe
from recollect.domain.merging import MergeOptions, merge
from recollect.domain.statement import Statement


@dataclass(frozen=True, slots=True)
class ArbitrationPolicy:
    """All that decides, and under which rule's name."""

    detection: DetectionOptions = field(default_factory=DetectionOptions)
    arbitration: ArbitrationOptions = field(default_factory=ArbitrationOptions)
    merge: MergeOptions = field(default_factory=MergeOptions)
    rule: str = "default"


@dataclass(frozen=True, slots=True)
class Arbitration:
    """What was found and decided: the conflicts in the order of the existing memories, the verdict, the rule's name.

    `arbitrated` is the conflict that the verdict is about, None where none is about content. `stored` has, of what
    was applied, the memory that each statement is, by the statement's id.
    """

    conflicts: tuple[Conflict, ...]
    arbitrated: Conflict | None
    verdict: Verdict
    rule: str
    stored: Mapping[str, str] = field(default_factory=dict)


def weigh(candidate: Statement, existing: Sequence[Statement], policy: ArbitrationPolicy) -> Arbitration:
    """Decides about a candidate, storing nothing. What is merged has the candidate's id, its own words last.

    Raises InvalidInput as `detect` does.
    """
    conflicts = detect(candidate, existing, policy.detection)
    verdict, arbitrated = arbitrate(candidate, conflicts, policy.arbitration), most_severe(conflicts)
    if verdict.action is Action.MERGE and arbitrated is not None:
        merged = merge(arbitrated.existing, candidate, policy.merge).statement
        verdict = replace(verdict, merged=replace(merged, id=candidate.id))
    return Arbitration(conflicts, arbitrated, verdict, policy.rule)
