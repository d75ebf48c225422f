"""Measures what the default embedder's cosines mean, and stores it in the package.

    .venv/bin/python infra/tools/embedder/scale.py FOLDER_OF_TALKS [--kind question] [--write]

The talks are those that `recollect eval` reads; what is asked is encoded as this kind. A pair is a question and a
turn said before it; it is related where the turn is among the question's evidence. The scale is a logistic curve
through the share of related pairs, related and other pairs weighing the same in all. Each talk is also judged by the
curve of the others: how many questions that something answers get an answer at a similarity of 0.7, and how many
turns reach it where nothing answers.
"""

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from recollect.bootstrap.providers import Embedding
from recollect.core.vectors import TextKind
from recollect.entrypoints.cli.console import settings_of_environment
from recollect.importing.gold_data import Talk, read_talks
from recollect.ports import Embedder
from recollect.retrieval.pooling import SimilarityScale

STORED = Path(__file__).parents[3] / "layers/memory/recollect/adapters/embedders/similarity_scales.json"
RELATED = 0.7
_ROUNDS = 50


@dataclass(frozen=True, slots=True)
class Asked:
    """The cosines of one question to all turns before it, and which of them are its evidence."""

    cosines: NDArray[np.float64]
    related: NDArray[np.bool_]


def asked_of(embedder: Embedder, talk: Talk, kind: TextKind) -> list[Asked]:
    """Each question of a talk, with the turns that were said by then."""
    texts = [one.draft.content for one in talk.drafts]
    passages = np.stack([encoding.vector for encoding in embedder.encode(texts, TextKind.PASSAGE)])
    found = []
    for question in talk.questions:
        said = [p for p, one in enumerate(talk.drafts) if one.draft.timestamp and one.draft.timestamp <= question.at]
        (encoding,) = embedder.encode([question.text], kind)
        names = [str(talk.drafts[p].draft.metadata["source_id"]) for p in said]
        related = np.array([name in question.evidence for name in names])
        found.append(Asked((passages[said] @ encoding.vector).astype(np.float64), related))
    return found


def fitted(asked: Sequence[Asked]) -> SimilarityScale:
    """The balanced logistic curve, by Newton's method."""
    cosines = np.concatenate([one.cosines for one in asked])
    related = np.concatenate([one.related for one in asked]).astype(np.float64)
    weights = np.where(related > 0, 0.5 / related.sum(), 0.5 / (1 - related).sum())
    features = np.stack([cosines, np.ones_like(cosines)], axis=1)
    found = np.array([10.0, -3.0])
    for _ in range(_ROUNDS):
        shares = 1 / (1 + np.exp(-(features @ found)))
        slope = features.T @ (weights * (related - shares))
        bend = (features * (weights * shares * (1 - shares))[:, None]).T @ features
        found = found + np.linalg.solve(bend, slope)
    return SimilarityScale(midpoint=round(float(-found[1] / found[0]), 3), slope=round(float(found[0]), 2))


def judged(scale: SimilarityScale, asked: Sequence[Asked]) -> tuple[float, float]:
    """Of questions with evidence the share with any turn at 0.7; of the others the mean number of turns there."""
    least = scale.cosine(RELATED)
    reached = [(one.related.any(), int((one.cosines >= least).sum())) for one in asked]
    answered = [count > 0 for has_evidence, count in reached if has_evidence]
    idle = [count for has_evidence, count in reached if not has_evidence]
    return float(np.mean(answered)), float(np.mean(idle)) if idle else 0.0


def main() -> None:
    """Prints the scale and its judgement, and with `--write` stores it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("talks", type=Path)
    parser.add_argument("--kind", type=TextKind, choices=(TextKind.QUERY, TextKind.QUESTION), default=TextKind.QUESTION)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    embedder = Embedding(settings_of_environment()).embedder
    if embedder is None:
        raise SystemExit("the default embedder is not built: run `make demo` first")
    asked = {talk.id: asked_of(embedder, talk, options.kind) for talk in read_talks(options.talks)}
    for left_out, own in asked.items():
        scale = fitted([one for name, others in asked.items() if name != left_out for one in others])
        answered, idle = judged(scale, own)
        print(f"without {left_out}: {scale}; there {answered:.2f} answered, {idle:.1f} turns where nothing answers")
    scale = fitted([one for own in asked.values() for one in own])
    print(f"all: {scale}; {RELATED} is a cosine of {scale.cosine(RELATED):.3f}")
    if options.write:
        stored = json.loads(STORED.read_text("ascii"))
        own = stored.setdefault(embedder.generation.split(".")[0], {})
        own[options.kind.value] = {"midpoint": scale.midpoint, "slope": scale.slope}
        STORED.write_text(json.dumps(stored) + "\n", "ascii")


if __name__ == "__main__":
    main()
