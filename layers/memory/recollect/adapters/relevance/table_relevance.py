"""The port `RelevanceModel` on a table: for tests."""

from collections.abc import Mapping, Sequence

_UNKNOWN = -8.0


class TableRelevance:
    """`rows`: logits by question and text; a text that is not in it is of no use."""

    version = "table"

    def __init__(self, rows: Mapping[tuple[str, str], float]) -> None:
        self._rows = dict(rows)

    def logits(self, question: str, texts: Sequence[str]) -> list[float]:
        """One of each text, in order."""
        return [self._rows.get((question, text), _UNKNOWN) for text in texts]
