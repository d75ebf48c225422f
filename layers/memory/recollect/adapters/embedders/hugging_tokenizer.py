"""A model's own tokenizer.json, read by the `tokenizers` package."""

from pathlib import Path
from typing import TYPE_CHECKING

from recollect.adapters.embedders.pieces import Pieces

if TYPE_CHECKING:
    from tokenizers import Tokenizer


class HuggingTokenizer:
    """Splits texts as the file says, without padding. Safe to share between threads."""

    def __init__(self, tokenizer: "Tokenizer", longest: int) -> None:
        tokenizer.no_padding()
        tokenizer.enable_truncation(longest)
        self._tokenizer = tokenizer

    def pieces(self, text: str, prefix: str = "") -> Pieces:
        """The pieces of prefix and text, cut to the length that counts; the prefix's have no span."""
        found = self._tokenizer.encode(prefix + text)
        spans = {
            place: (max(start - len(prefix), 0), end - len(prefix))
            for place, (special, (start, end)) in enumerate(zip(found.special_tokens_mask, found.offsets, strict=True))
            if not special and (end > len(prefix) or not prefix)
        }
        return Pieces(tuple(found.ids), spans)


def read_hugging_tokenizer(path: Path, longest: int) -> HuggingTokenizer:
    """Raises what `tokenizers` raises for a file it cannot read."""
    from tokenizers import Tokenizer

    return HuggingTokenizer(Tokenizer.from_file(str(path)), longest)
