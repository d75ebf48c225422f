"""The second stage: question and hit are read together, of the best hits, and what is needed moves up.

The first stage looks at each record by itself, in one vector; a model that reads both tells what answers from what is
near. Its word is one signal more beside the first stage's, which knows what is recent and what is outdone.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from recollect.core.learned_share import logistic
from recollect.ports import RelevanceModel
from recollect.retrieval.nomination import rank_order
from recollect.retrieval.ranking import Mode, Query, Ranked, RankingPolicy, timely_shares
from recollect.retrieval.timeliness import SIGNALS as TIMELY

READ_TOGETHER = 30
"""How many of the best hits are read."""

RELEVANCE = "relevance"
"""The signal that the second stage adds."""

Text = Callable[[Ranked], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class SecondStagePolicy:
    """What a logit is worth: `weight` times a share in [0, 1], a half at `midpoint`, by e more likely each `width`.

    The figures are flat around these (docs/adr/0013).
    """

    weight: float = 0.4
    midpoint: float = -3.0
    width: float = 2.0

    def relevance(self, logit: float) -> float:
        """In [0, 1]: how much the model finds that the hit is needed."""
        return logistic((logit - self.midpoint) / self.width)


class SecondStage:
    """Without a model it leaves the order as it is."""

    def __init__(
        self, model: RelevanceModel | None, ranking: RankingPolicy, policy: SecondStagePolicy | None = None
    ) -> None:
        self._model = model
        self._ranking = ranking
        self._policy = policy or SecondStagePolicy()

    @property
    def reads(self) -> bool:
        """Whether there is a model."""
        return self._model is not None

    def ordered(
        self, query: Query, ranked: Sequence[Ranked], text_of: Text, *, as_of_now: bool = False
    ) -> tuple[Ranked, ...]:
        """The first `READ_TOGETHER`, each with its relevance in its score, best first; then the others.

        `as_of_now`: in hybrid mode what holds now is told anew by the new scores, since the model reads no times: of
        what it finds needed the newest stands first, as far as the query asks of now. A context shows what was and what
        is, and does without (docs/adr/0013). Raises NotReady.
        """
        if self._model is None or not query.text.strip():
            return tuple(ranked)
        first, rest = ranked[:READ_TOGETHER], ranked[READ_TOGETHER:]
        logits = self._model.logits(query.text, [text_of(one) for one in first])
        read = [self._as_read(one, logit) for one, logit in zip(first, logits, strict=True)]
        if as_of_now and query.mode is Mode.HYBRID:
            read = self._as_of_now(read, query)
        return (*sorted(read, key=lambda one: rank_order(one.candidate, one.score), reverse=True), *rest)

    def _as_read(self, one: Ranked, logit: float) -> Ranked:
        relevance = round(self._policy.relevance(logit), 6)
        share = self._policy.weight * relevance
        signals, shares = {**one.signals, RELEVANCE: relevance}, {**one.shares, RELEVANCE: share}
        return replace(one, score=one.score + share, signals=signals, shares=shares)

    def _as_of_now(self, read: Sequence[Ranked], query: Query) -> list[Ranked]:
        scores = [one.score - sum(one.shares.get(name, 0.0) for name in TIMELY) for one in read]
        signals, shares = timely_shares([one.candidate for one in read], scores, query, self._ranking)
        return [
            replace(
                one,
                score=score + sum(shares[name][place] for name in TIMELY),
                signals={**one.signals, **{name: signals[name][place] for name in TIMELY}},
                shares={**one.shares, **{name: shares[name][place] for name in TIMELY}},
            )
            for place, (one, score) in enumerate(zip(read, scores, strict=True))
        ]
