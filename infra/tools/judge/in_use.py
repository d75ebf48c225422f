"""What the product's judge makes of messages, each held against the nearest of those before it, as in use."""

from collections.abc import Iterator, Sequence

from infra.tools.judge.nearest import Nearest
from recollect.contradictions.candidates import JUDGED
from recollect.contradictions.judge import Relation, Said
from recollect.contradictions.trained import TrainedJudge
from recollect.ports import PairModel


def relations(
    said: Sequence[Said], model: PairModel, nearest: Nearest, least: float = 0.0
) -> Iterator[tuple[Said, Said, Relation]]:
    """Newer, older, and what the newer does to the older, of each pair of which the judge says something.

    `said`: in the order of time. `least`: as the judge takes it.
    """
    judge = TrainedJudge(model)
    for place, newer in enumerate(said):
        if judge.states(newer):
            near = [said[at] for at in nearest.of(newer.text, [one.text for one in said[:place]], JUDGED)]
            found = zip(near, judge.judge(newer, near, least), strict=True)
            yield from ((newer, older, relation) for older, relation in found if relation is not None)
