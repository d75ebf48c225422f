"""Fits which messages only ask, and tell nothing: learnt from the talks' questions against their users' turns.

    .venv/bin/python -m infra.tools.ranking.asks [--write]

A request is a question without a mark ("tell me where I live"), in any language. Turns with a question mark are left
out, since many of them ask and tell. Each writer's figures are by the fit of the others.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy

from infra.tools.judge.__main__ import TALKS
from infra.tools.ranking.curves import Floats, logistic_regression, store
from recollect.adapters.embedders.onnx_embedder import ASKS_FILE
from recollect.bootstrap.providers import Embedding
from recollect.core.event import Role
from recollect.core.learned_share import SURELY_ASKS, LearnedShare
from recollect.core.scope import Scope
from recollect.core.time import from_iso
from recollect.core.vectors import TextKind
from recollect.entrypoints.cli.console import settings_of_environment
from recollect.ports import Embedder
from recollect.rules.groups import Rules
from recollect.timeline.record import EventDraft, draft_event

_DECAY = 2e-4
_LEAST_DECAY = 1e-9
_AT_ONCE = 64


@dataclass(frozen=True, slots=True)
class Message:
    """`changes`: something said before does not hold any more because of it."""

    writer: str
    passage: str
    asks: bool
    changes: bool = False


def messages_of(talk: dict[str, Any], writer: str) -> Iterator[Message]:
    """The questions, and the user's turns without a question mark."""
    by = {change["by"] for change in talk["changes"]}
    for question in talk["questions"]:
        yield Message(writer, _passage(question["question"], question["at"]), asks=True)
    for turn in talk["turns"]:
        if turn["role"] == "user" and not any(mark in turn["text"] for mark in "?？؟"):
            yield Message(writer, _passage(turn["text"], turn["at"]), asks=False, changes=turn["id"] in by)


def _passage(text: str, at: str) -> str:
    draft = EventDraft(content=text, role=Role.USER, timestamp=from_iso(at))
    return draft_event(Scope("fit", "user"), draft, "event", "talk", from_iso(at), Rules()).passage


def fitted(vectors: Floats, asks: Floats) -> tuple[Floats, float]:
    """Weights and bias of the curve."""
    mean = vectors.mean(axis=0)
    features = numpy.hstack([vectors - mean, numpy.ones((len(vectors), 1))])
    decay = numpy.append(numpy.full(vectors.shape[1], _DECAY), _LEAST_DECAY)
    found = logistic_regression(features, asks, decay)
    return found[:-1], float(found[-1] - mean @ found[:-1])


def main() -> None:
    """Prints the figures, and with `--write` stores the curve."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    embedder = Embedding(settings_of_environment()).embedder
    if embedder is None:
        raise SystemExit("the default embedder is not built: run `make demo` first")
    talks = ((json.loads(file.read_bytes()), file.stem[0]) for file in sorted(TALKS.glob("*.json")))
    messages = [message for talk, writer in talks for message in messages_of(talk, writer)]
    vectors = _vectors(embedder, [message.passage for message in messages])
    asks = numpy.array([float(message.asks) for message in messages])
    _report(messages, vectors, asks)
    if options.write:
        store(ASKS_FILE, embedder.generation, *fitted(vectors, asks))


def _vectors(embedder: Embedder, passages: Sequence[str]) -> Floats:
    pages = (passages[at : at + _AT_ONCE] for at in range(0, len(passages), _AT_ONCE))
    made = [one.vector for page in pages for one in embedder.encode(page, TextKind.PASSAGE)]
    return numpy.stack(made).astype(numpy.float64)


def _report(messages: Sequence[Message], vectors: Floats, asks: Floats) -> None:
    writers = numpy.array([message.writer for message in messages])
    shares = numpy.zeros(len(messages))
    for writer in sorted(set(writers)):
        left_out = writers == writer
        weights, bias = fitted(vectors[~left_out], asks[~left_out])
        curve = LearnedShare(weights.astype(numpy.float32), bias)
        shares[left_out] = [curve.of(vector) for vector in vectors[left_out].astype(numpy.float32)]
    changing = numpy.array([message.changes for message in messages])
    surely = shares >= SURELY_ASKS
    print(f"of {int(asks.sum())} questions and requests {surely[asks > 0].mean():.3f} reach {SURELY_ASKS}")
    print(f"of {changing.sum()} messages that change something {int(surely[changing].sum())}")
    print(f"of {int((asks == 0).sum())} messages without a question mark {surely[asks == 0].mean():.4f}")


if __name__ == "__main__":
    main()
