"""Training of the encoder of questions with PyTorch, which nothing else needs: the embedder's layers from the sixth on.

The vectors of what was said stay as they are. Of each question the loss is the softmax over its first hits, once over
the cosines alone and once over the first stage's score with the cosine added, so that what is needed comes first by
both. Of a quarter of the questions the words without stop words are asked too, since people search by words as well.
"""

import random
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from infra.tools.judge.encoder import PairEncoder
from infra.tools.judge.training import share_of_rate
from infra.tools.ranking.gathering import HITS, Asked
from recollect.adapters.embedders.building.weights import DIMENSION, EARLY_LAYERS, LAYERS
from recollect.adapters.embedders.unigram import Unigram
from recollect.core.vectors import FloatArray
from recollect.retrieval.pooling import token_weights
from recollect.text.terms import terms

WEIGHTS = {"talks": 1.0, "months": 0.7, "locomo-dev": 1.0, "beam-dev": 1.5, "madial-zh-dev": 2.0}
"""What a question of each source weighs."""
_BY_WORDS, _WEIGHT_BY_WORDS = 0.25, 0.4
_FEWEST_WORDS, _MOST_WORDS = 2, 12
_MOST_PIECES = 96
_OUTSIDE = -1e9
_CHUNK, _TOLD_EVERY = 20, 20
_WORD = re.compile(r"\w+")
_WITHOUT_BLANKS = re.compile(r"[　-鿿]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """AdamW with a warm-up and a cosine over questions of like length together."""

    epochs: float = 1.5
    batch: int = 32
    rate: float = 4e-5
    warm: float = 0.06
    seed: int = 1


@dataclass(frozen=True, slots=True)
class Example:
    """A question in pieces with their weights, after the lower half; vectors and scores of its hits, what is needed."""

    states: Tensor
    shares: Tensor
    vectors: Tensor
    scores: Tensor
    needed: Tensor
    weight: float


class QuestionEncoder(nn.Module):
    """Pools as the product does: each token less the mean token, stop words at half."""

    def __init__(self, encoder: PairEncoder, centre: FloatArray) -> None:
        super().__init__()
        self.lower, self.upper = encoder, encoder.layers[EARLY_LAYERS:]
        self.centre = torch.from_numpy(np.array(centre, np.float32))
        self.sharpness = nn.Parameter(torch.tensor([15.0, 12.0, 0.5]))

    @torch.no_grad()
    def lower_states(self, ids: Sequence[int]) -> Tensor:
        """(tokens, width) of one text, which training does not change."""
        encoder = self.lower
        x = encoder.norm(encoder.words[torch.tensor([ids])].float() + encoder.places(torch.arange(len(ids))))
        for layer in encoder.layers[:EARLY_LAYERS]:
            x = layer(x, None)
        return x[0].detach()

    def forward(self, states: Tensor, shown: Tensor, shares: Tensor) -> Tensor:
        with torch.autocast("cpu", torch.bfloat16):
            for layer in self.upper:
                states = layer(states, shown[:, None, None, :])
        tokens = functional.normalize(functional.normalize(states.float(), dim=-1) - self.centre, dim=-1)
        return functional.normalize((tokens * shares[:, :, None]).sum(1), dim=-1)


def examples(
    model: QuestionEncoder, asked: Sequence[Asked], tokenizer: Unigram, prefix: str, seed: int
) -> list[Example]:
    """Of each question that something answers and not all hits do; by its words too, of a share of them."""
    rng, found = random.Random(seed), []
    model.eval()
    for one in asked:
        needed = [hit.needed for hit in one.hits]
        if any(needed) and not all(needed):
            found.append(_example(model, one, one.question, tokenizer, prefix, WEIGHTS[one.source]))
            words = _words_of(one.question)
            if rng.random() < _BY_WORDS and words:
                weight = WEIGHTS[one.source] * _WEIGHT_BY_WORDS
                found.append(_example(model, one, words, tokenizer, prefix, weight))
    return found


def _words_of(question: str) -> str | None:
    words = [word for word in _WORD.findall(question) if terms(word)]
    said = " ".join(words)
    fits = _FEWEST_WORDS <= len(words) <= _MOST_WORDS and not _WITHOUT_BLANKS.search(said)
    return said if fits and said != question else None


def _example(
    model: QuestionEncoder, asked: Asked, text: str, tokenizer: Unigram, prefix: str, weight: float
) -> Example:
    pieces = tokenizer.pieces(text, prefix)
    shares = torch.zeros(len(pieces.ids))
    shares[list(pieces.spans)] = torch.tensor(token_weights(text, list(pieces.spans.values()), lambda _terms: 1.0))
    hits = asked.hits[:HITS]
    vectors = [np.zeros(DIMENSION) if (v := hit.ranked.candidate.vector) is None else v for hit in hits]
    return Example(
        states=model.lower_states(pieces.ids)[:_MOST_PIECES],
        shares=shares[:_MOST_PIECES],
        vectors=functional.normalize(torch.from_numpy(np.array(vectors, np.float32)), dim=-1),
        scores=torch.tensor([hit.ranked.score for hit in hits], dtype=torch.float32),
        needed=torch.tensor([hit.needed for hit in hits]),
        weight=weight,
    )


def train(model: QuestionEncoder, learnt: Sequence[Example], course: Course, out: Path) -> None:
    """Writes `question.pt` into `out`."""
    torch.manual_seed(course.seed)
    rng, began = random.Random(course.seed), time.monotonic()
    steps = int(course.epochs * len(learnt) / course.batch)
    optimizer = _optimizer(model, course)
    rates = [group["lr"] for group in optimizer.param_groups]
    model.train()
    losses: list[float] = []
    for step, batch in enumerate(_batches(learnt, rng, course), start=1):
        if step > steps:
            break
        for group, rate in zip(optimizer.param_groups, rates, strict=True):
            group["lr"] = rate * share_of_rate(step, steps, course.warm)
        losses.append(_step(model, optimizer, batch))
        if step % _TOLD_EVERY == 0:
            each = (time.monotonic() - began) / step
            print(f"step {step} of {steps}: loss {np.mean(losses[-_TOLD_EVERY:]):.4f}, {each:.2f} s each", flush=True)
    out.mkdir(parents=True, exist_ok=True)
    torch.save(model.lower.state_dict(), out / "question.pt")


def _batches(learnt: Sequence[Example], rng: random.Random, course: Course) -> Iterator[Sequence[Example]]:
    while True:
        order = list(learnt)
        rng.shuffle(order)
        found: list[Sequence[Example]] = []
        for at in range(0, len(order), course.batch * _CHUNK):
            chunk = sorted(order[at : at + course.batch * _CHUNK], key=lambda one: len(one.states))
            found += [chunk[start : start + course.batch] for start in range(0, len(chunk), course.batch)]
        rng.shuffle(found)
        yield from found


def _step(model: QuestionEncoder, optimizer: torch.optim.Optimizer, batch: Sequence[Example]) -> float:
    states, shares = (
        nn.utils.rnn.pad_sequence([getattr(x, name) for x in batch], True) for name in ("states", "shares")
    )
    shown = nn.utils.rnn.pad_sequence([torch.ones(len(one.states), dtype=torch.bool) for one in batch], True)
    vectors, scores = (
        nn.utils.rnn.pad_sequence([getattr(x, name) for x in batch], True) for name in ("vectors", "scores")
    )
    there = nn.utils.rnn.pad_sequence([torch.zeros(len(one.scores)) for one in batch], True, _OUTSIDE)
    needed = nn.utils.rnn.pad_sequence([one.needed for one in batch], True)
    cosines = torch.einsum("lk,lhk->lh", model(states, shown, shares), vectors)
    alone, together, added = model.sharpness
    loss = _loss(alone * cosines, there, needed) + _loss(together * (scores + added * cosines), there, needed)
    total = (loss / 2 * torch.tensor([one.weight for one in batch])).mean()
    optimizer.zero_grad(set_to_none=True)
    total.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    return float(total.detach())


def _loss(logits: Tensor, there: Tensor, needed: Tensor) -> Tensor:
    shown = logits + there
    return shown.logsumexp(1) - shown.masked_fill(~needed, _OUTSIDE).logsumexp(1)


def _optimizer(model: QuestionEncoder, course: Course) -> torch.optim.Optimizer:
    parts = list(model.upper.parameters())
    groups = [
        {"params": [one for one in parts if one.ndim > 1], "weight_decay": 0.01},
        {"params": [one for one in parts if one.ndim == 1], "weight_decay": 0.0},
        {"params": [model.sharpness], "weight_decay": 0.0, "lr": 0.02},
    ]
    return torch.optim.AdamW(groups, lr=course.rate)


TRAINED = range(EARLY_LAYERS, LAYERS)
"""The layers that move."""
