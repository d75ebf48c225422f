"""Fits which messages only ask, and tell nothing: questions and requests against what people tell.

    .venv/bin/python -m infra.tools.ranking.asks [--write]

A request is a question without a mark ("tell me where I live"), in any language, so each question is learnt from
without its mark too. What is told is the talks' turns, most of them long, and the statements of the judge's pairs,
most of them short: of turns alone a curve learns that what is short asks. Statements with a question mark are left
out, since many of them ask and tell. Printed are the figures of writers who were left out, a quarter of them at a
time, and of those whom the judge has not learnt from.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy

from infra.tools.judge.__main__ import TALKS
from infra.tools.judge.examples import PAIRS, Example, relation_pairs
from infra.tools.judge.held import NOT_LEARNT
from infra.tools.ranking.curves import Chosen, Curve, Floats, curve_over, shares_of, shares_of_left_out, store
from infra.tools.ranking.passages import default_embedder, passage_of, vectors_of
from recollect.adapters.embedders.onnx_embedder import ASKS_FILE
from recollect.core.learned_share import SURELY_ASKS

_DECAY = 2e-4

_REQUESTS = "requests"
REQUESTS_FILE = Path(__file__).with_name("requests.jsonl")
_MARKS = "?？؟¿"
_NO_MARKS = str.maketrans("", "", _MARKS)
_STATEMENT_WEIGHT = 0.15
"""Of a statement of the pairs, of which there are seven times as many as turns of talks."""
_FOLDS = 4
_QUESTION = "question"
_UNSURE = frozenset({"hypothetical", "instruction", "joke", "quote"})
"""Kinds of pairs whose newer message may ask or tell."""


@dataclass(frozen=True, slots=True)
class Message:
    """`changes`: something said before does not hold any more because of it."""

    writer: str
    passage: str
    asks: bool
    changes: bool = False
    weight: float = 1.0

    @property
    def is_request(self) -> bool:
        return self.writer.startswith(_REQUESTS)


def requests() -> Iterator[Message]:
    """What people type who want something done, without a mark; a language is a writer."""
    for line in REQUESTS_FILE.read_text("utf-8").splitlines():
        request = json.loads(line)
        yield Message(f"{_REQUESTS} {request['lang']}", passage_of(request["text"]), asks=True)


def messages_of_talk(talk: dict[str, Any], writer: str) -> Iterator[Message]:
    """The questions, and the user's turns without a question mark."""
    by = {change["by"] for change in talk["changes"]}
    for question in talk["questions"]:
        yield from _asked(writer, question["question"])
    for turn in talk["turns"]:
        if turn["role"] == "user" and not _is_marked(turn["text"]):
            yield Message(writer, passage_of(turn["text"]), asks=False, changes=turn["id"] in by)


def messages_of_pairs(examples: Iterable[Example]) -> Iterator[Message]:
    """The questions among the newer messages, and what is told by older and newer ones."""
    for one in examples:
        told = [(one.old, False)]
        if one.kind == _QUESTION:
            yield from _asked(one.group, one.new)
        elif one.kind not in _UNSURE:
            told.append((one.new, one.label > 0))
        for text, changes in told:
            if not _is_marked(text):
                yield Message(one.group, passage_of(text), asks=False, changes=changes, weight=_STATEMENT_WEIGHT)


def _asked(writer: str, text: str) -> Iterator[Message]:
    """As it was asked, and without its mark."""
    yield Message(writer, passage_of(text), asks=True)
    yield Message(writer, passage_of(text.translate(_NO_MARKS).strip()), asks=True)


def _is_marked(text: str) -> bool:
    return any(mark in text for mark in _MARKS)


def main() -> None:
    """Prints the figures, and with `--write` stores the curve."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    embedder = default_embedder()
    messages = _messages()
    told = _Told(messages, vectors_of(embedder, [message.passage for message in messages]))
    curve = told.fitted(~told.of(NOT_LEARNT))
    _report(told, curve)
    if options.write:
        store(ASKS_FILE, embedder.generation, *curve)


def _messages() -> list[Message]:
    """Each text once."""
    talks = ((json.loads(file.read_bytes()), file.stem[0]) for file in sorted(TALKS.glob("*.json")))
    found = [message for talk, writer in talks for message in messages_of_talk(talk, f"talk {writer}")]
    found += [*messages_of_pairs(relation_pairs(PAIRS)), *requests()]
    once: dict[str, Message] = {}
    for message in found:
        earlier = once.setdefault(message.passage, message)
        if message.changes and not earlier.changes:
            once[message.passage] = message
    return list(once.values())


@dataclass(frozen=True, slots=True)
class _Told:
    """The messages with their vectors, (messages, width)."""

    messages: Sequence[Message]
    vectors: Floats

    def of(self, writers: Set[str]) -> Chosen:
        """Those of these writers."""
        return numpy.array([message.writer in writers for message in self.messages])

    def fitted(self, chosen: Chosen) -> Curve:
        """Learnt from these."""
        asks = numpy.array([float(message.asks) for message in self.messages])[chosen]
        weights = numpy.array([message.weight for message in self.messages])[chosen]
        return curve_over(self.vectors[chosen], asks, _DECAY, weights)


def _report(told: _Told, curve: Curve) -> None:
    """`curve` is the one that has learnt from all who are not held out."""
    held = told.of(NOT_LEARNT)
    writers = sorted({message.writer for message in told.messages} - NOT_LEARNT)
    fold_of = {writer: place % _FOLDS for place, writer in enumerate(writers)}
    folds = numpy.array([fold_of.get(message.writer, -1) for message in told.messages])
    shares = shares_of_left_out(told.vectors, folds, lambda left_out: told.fitted(~held & ~left_out))
    shares[held] = shares_of(told.vectors[held], curve)
    for name, chosen in (("learnt from, by the fit of other writers", ~held), ("never learnt from", held)):
        print(f"{name}:")
        for part, is_of_it in _PARTS.items():
            some = chosen & numpy.array([is_of_it(message) for message in told.messages])
            if some.any():
                print(f"  {part}: {int((shares[some] >= SURELY_ASKS).sum())} of {int(some.sum())} reach {SURELY_ASKS}")


_PARTS: dict[str, Callable[[Message], bool]] = {
    "questions": lambda message: message.asks and not message.is_request,
    "requests": lambda message: message.is_request,
    "turns": lambda message: not message.asks and message.weight == 1,
    "statements of pairs": lambda message: message.weight < 1,
    "changes": lambda message: message.changes,
}


if __name__ == "__main__":
    main()
