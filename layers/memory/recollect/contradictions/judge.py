"""The door behind which contradictions are judged (P-24): today by cue rules, `recollect.contradictions.cues`."""

from collections.abc import Sequence
from typing import Protocol

from recollect.contradictions.relation import Profile, Relation, Said


class RelationJudge(Protocol):
    """Judges statements by their words alone: it reads no store, and equal statements are judged alike.

    Raises nothing of its own. Who calls it compares only statements of one speaker and scope, which it may take for
    granted.
    """

    def profile(self, said: Said) -> Profile:
        """What the statement says by itself: whether it is worth a comparison, and until when parts of it hold."""

    def judge(self, newer: Said, older: Sequence[Said]) -> list[Relation | None]:
        """What the newer statement does to each of the older ones, in their order; None where it does nothing."""
