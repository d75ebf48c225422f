"""The port `PairModel` on a table: for tests, and for a deployment that wants no model."""

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType

from recollect.contradictions.pairs import EndedPiece, PairScores, StatementPair


class TablePairModel:
    """`rows`: scores by the texts of newer and older; other pairs stand. `lasting`: texts that hold for good; `ended`:
    by the same texts the words that end; `done`: texts that tell of what is done."""

    version = "table"

    def __init__(
        self,
        rows: Mapping[tuple[str, str], PairScores],
        lasting: Collection[str] = (),
        ended: Mapping[tuple[str, str], str] = MappingProxyType({}),
        done: Collection[str] = (),
    ) -> None:
        self._rows = dict(rows)
        self._lasting = frozenset(lasting)
        self._ended = dict(ended)
        self._done = frozenset(done)
        self._newer = {newer for newer, _ in rows}

    def may_change(self, texts: Sequence[str]) -> list[bool]:
        """Whether the table has it as a newer statement."""
        return [text in self._newer for text in texts]

    def may_pass(self, texts: Sequence[str]) -> list[bool]:
        """Whether it is not among the lasting ones."""
        return [text not in self._lasting for text in texts]

    def worth_keeping(self, texts: Sequence[str]) -> list[float]:
        """A table forgets nothing: 1.0."""
        return [1.0] * len(texts)

    def tells_done(self, texts: Sequence[str]) -> list[float]:
        """1.0 of those in `done`."""
        return [float(text in self._done) for text in texts]

    def relate(self, pairs: Sequence[StatementPair]) -> list[PairScores]:
        """The scores of each pair, in order."""
        return [self._rows.get((pair.newer, pair.older), PairScores(changed=0.0)) for pair in pairs]

    def beside(self, changed: Sequence[float]) -> list[float]:
        """As they are: a table has no doubts."""
        return list(changed)

    def ended_pieces(self, pairs: Sequence[StatementPair]) -> list[tuple[EndedPiece, ...]]:
        """The words of `ended`; of other pairs it knows none."""
        return [self._pieces(pair, self._ended.get((pair.newer, pair.older), "")) for pair in pairs]

    def _pieces(self, pair: StatementPair, words: str) -> tuple[EndedPiece, ...]:
        start = pair.older.index(words)
        return (EndedPiece(start, start + len(words), 1.0),) if words else ()
