"""Training of the second stage with PyTorch, which nothing else needs: the judge's layers, and one logit.

Each list is a question with one hit that it needs and hits that it does not; questions without an answer have only
those. What is stale by then is in no list: whether it is cannot be told from the two texts. The loss is the softmax
over a list, so that the needed one comes first, and a binary one, so that a logit means the same in every list.
"""

import math
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from infra.tools.judge.encoder import PairEncoder
from infra.tools.judge.training import share_of_rate
from infra.tools.ranking.gathering import Asked, Hit
from infra.tools.relevance.pieces import Encoded, batch_of
from recollect.adapters.embedders.unigram import Unigram
from recollect.adapters.judges.pair_pieces import joined
from recollect.adapters.relevance.onnx_relevance import QUESTION_PIECES, window_of

_AMONG_THE_BEST, _OF_THE_BEST = 20, 0.6
_MOST_NEEDED = 3
_FEWEST_OTHERS = 3
_BINARY_SHARE = 1 / 3
_TOLD_EVERY, _SAVED_EVERY = 50, 250
_CHUNK = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """AdamW with a warm-up and a cosine; the head learns `head_times` as fast."""

    epochs: float = 0.7
    lists: int = 4
    others: int = 11
    rate: float = 8e-5
    head_times: float = 6.0
    warm: float = 0.06
    seed: int = 1


@dataclass(frozen=True, slots=True)
class _List:
    question: str
    needed: Hit | None
    others: tuple[Hit, ...]


def train(model: PairEncoder, asked: Sequence[Asked], tokenizer: Unigram, course: Course, out: Path) -> None:
    """Writes `relevance.pt` into `out`."""
    _new_head(model, course)
    rng, began = random.Random(course.seed), time.monotonic()
    steps = round(course.epochs * len(_lists(asked, rng, course)) / course.lists)
    optimizer = _optimizer(model, course)
    rates = [group["lr"] for group in optimizer.param_groups]
    out.mkdir(parents=True, exist_ok=True)
    losses: list[float] = []
    for step, batch in enumerate(_batches(asked, tokenizer, rng, course), start=1):
        if step > steps:
            break
        for group, rate in zip(optimizer.param_groups, rates, strict=True):
            group["lr"] = rate * share_of_rate(step, steps, course.warm)
        losses.append(_step(model, optimizer, batch, tokenizer))
        if step % _TOLD_EVERY == 0:
            each = (time.monotonic() - began) / step
            print(f"step {step} of {steps}: loss {np.mean(losses[-_TOLD_EVERY:]):.4f}, {each:.2f} s each", flush=True)
        if step % _SAVED_EVERY == 0:
            torch.save(model.state_dict(), out / "relevance.pt")
    torch.save(model.state_dict(), out / "relevance.pt")


def encode(tokenizer: Unigram, question: str, text: str) -> Encoded:
    """A question and a text as the product reads them."""
    asked = tokenizer.pieces(question).ids[1:-1][-QUESTION_PIECES:]
    pieces = joined(asked, window_of(tokenizer.pieces(text).ids[1:-1], asked))
    return Encoded(np.array(pieces.ids, np.int32), np.array(pieces.segments, np.int8))


def _new_head(model: PairEncoder, course: Course) -> None:
    torch.manual_seed(course.seed)
    model.early_hidden.reset_parameters()
    model.early.reset_parameters()


def _lists(asked: Sequence[Asked], rng: random.Random, course: Course) -> list[_List]:
    return [one for each in asked for one in _of(each, rng, course)]


def _of(asked: Asked, rng: random.Random, course: Course) -> Iterator[_List]:
    needed = [hit for hit in asked.hits if hit.needed][:_MOST_NEEDED]
    others = [hit for hit in asked.hits if not hit.needed and not hit.stale]
    if len(others) < _FEWEST_OTHERS or (asked.answerable and not needed):
        return
    shown: list[Hit | None] = [*needed] or [None]
    for hit in shown:
        best, rest = others[:_AMONG_THE_BEST], others[_AMONG_THE_BEST:] or others
        most = min(course.others, len(others))
        first = rng.sample(best, min(len(best), math.ceil(_OF_THE_BEST * most)))
        yield _List(asked.question, hit, (*first, *rng.sample(rest, min(most - len(first), len(rest)))))


def _batches(
    asked: Sequence[Asked], tokenizer: Unigram, rng: random.Random, course: Course
) -> Iterator[Sequence[_List]]:
    """Lists of like length together, in random order, for ever."""
    while True:
        lists = _lists(asked, rng, course)
        rng.shuffle(lists)
        found: list[Sequence[_List]] = []
        for at in range(0, len(lists), course.lists * _CHUNK):
            chunk = sorted(lists[at : at + course.lists * _CHUNK], key=lambda one: _length(one, tokenizer))
            found += [chunk[start : start + course.lists] for start in range(0, len(chunk), course.lists)]
        rng.shuffle(found)
        yield from found


def _length(one: _List, tokenizer: Unigram) -> int:
    return sum(len(row.ids) for row in _rows(one, tokenizer))


def _rows(one: _List, tokenizer: Unigram) -> list[Encoded]:
    hits = (*([one.needed] if one.needed else []), *one.others)
    return [encode(tokenizer, one.question, hit.text) for hit in hits]


def _step(model: PairEncoder, optimizer: torch.optim.Optimizer, batch: Sequence[_List], tokenizer: Unigram) -> float:
    model.train()
    rows = [_rows(one, tokenizer) for one in batch]
    ids, segments = (torch.from_numpy(one) for one in batch_of([row for each in rows for row in each]))
    with torch.autocast("cpu", torch.bfloat16):
        logits = model.read_early(model.seen(ids, segments)[0]).float()
    parts = logits.split([len(each) for each in rows])
    loss = torch.stack([_loss(part, one) for part, one in zip(parts, batch, strict=True)]).mean()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    return float(loss.detach())


def _loss(logits: Tensor, one: _List) -> Tensor:
    target = torch.zeros_like(logits)
    target[0] = float(one.needed is not None)
    binary = functional.binary_cross_entropy_with_logits(logits, target, reduction="sum")
    first = functional.cross_entropy(logits[None], torch.tensor([0])) if one.needed else logits.new_zeros(())
    return first + _BINARY_SHARE * binary


def _optimizer(model: PairEncoder, course: Course) -> torch.optim.Optimizer:
    new = [*model.early_hidden.parameters(), *model.early.parameters()]
    known = {id(one) for one in new}
    old = [one for one in model.parameters() if id(one) not in known]
    groups = [{"params": old, "lr": course.rate}, {"params": new, "lr": course.rate * course.head_times}]
    return torch.optim.AdamW(groups, weight_decay=0.01)
