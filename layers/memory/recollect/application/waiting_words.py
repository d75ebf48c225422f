"""Records that an index shows by their words before their vector is made, compared by a vector made at read.

The newest 100 that wait have theirs made for every search (`tail_vectors`). Behind them, in a store that shows words
in the transaction which stores the event, a bulk import leaves thousands: a search that asks for a similarity, by mode
or by threshold, compares those of them that its words find first.
"""

from collections.abc import Iterable
from dataclasses import replace

from recollect.application.recalled import OpenRecall
from recollect.domain.candidate import Arm, Candidate
from recollect.domain.errors import Unavailable, UpstreamFailed
from recollect.domain.nomination import Nominations
from recollect.domain.ranking import Mode
from recollect.domain.timeline import Tail
from recollect.ports import SearchIndex

COMPARED = 20
"""How many of them a search makes a vector for, the best by words first.

Right after an import, on every third question of the dev set, evidence recall@10 in semantic mode is .61 with 20, .62
with 40 and .63 with 80; without any it is .14, and .63 when all is projected. Each costs an encoding: 20 of them a
fifth of what the tail's 100 cost.
"""


def asks_for_similarity(opened: OpenRecall) -> bool:
    """Whether a record without a vector cannot be an answer, however well its words fit."""
    alike = opened.query.mode is Mode.SEMANTIC or opened.request.min_similarity is not None
    return alike and opened.query.vector is not None and "vectors" not in opened.missing


class WaitingWords:
    """Asks the index by words where a recall asked by meaning alone."""

    def __init__(self, index: SearchIndex) -> None:
        self._index = index

    def __call__(self, opened: OpenRecall, nominations: Nominations | None, tail: Tail) -> tuple[Candidate, ...]:
        """Those to be compared, best first: none where the tail tells all that wait, or no similarity is asked for."""
        if nominations is None or not nominations.includes_tail or not tail.cut or not asks_for_similarity(opened):
            return ()
        newest = {ref.id for ref in tail.refs}
        hits = self._by_words(opened, nominations)
        waiting = [hit for hit in hits if hit.vector is None and Arm.LEXICAL in hit.arms and hit.ref.id not in newest]
        return tuple(sorted(waiting, key=lambda hit: hit.arms[Arm.LEXICAL])[:COMPARED])

    def _by_words(self, opened: OpenRecall, nominations: Nominations) -> Iterable[Candidate]:
        """The first wave's hits, or a second one's where that asked by meaning alone; none where the engine is away."""
        if opened.nomination.terms or not opened.query.terms:
            return nominations.hits
        asked = replace(opened.nomination, terms=opened.query.terms, vector=None, superseded=0, count=False)
        try:
            return self._index.nominate(opened.scope, asked).hits
        except (Unavailable, UpstreamFailed):
            return ()
