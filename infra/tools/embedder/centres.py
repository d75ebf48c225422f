"""Measures a model's mean token vector over neutral sentences and keeps it in the package.

    .venv/bin/python infra/tools/embedder/centres.py FOLDER...

Each folder holds a built model. The sentences are ours; no data set that anything is measured on is among them.
"""

import base64
import json
import sys
from pathlib import Path

import numpy as np

from recollect.adapters.embedders.onnx_embedder import OnnxEmbedder
from recollect.core.vectors import FloatArray, TextKind

SENTENCES = Path(__file__).with_name("neutral_sentences.txt")
KEPT = Path(__file__).parents[3] / "layers/memory/recollect/adapters/embedders/centres.json"


def mean_token(folder: Path) -> tuple[str, FloatArray]:
    """The model's family, and the mean of all token vectors."""
    embedder = OnnxEmbedder(folder)
    texts = [line for line in SENTENCES.read_text("utf-8").splitlines() if line.strip()]
    found = embedder.encode(texts, TextKind.PASSAGE, with_tokens=True)
    tokens = np.concatenate([encoding.tokens.vectors for encoding in found if encoding.tokens is not None])
    return embedder.generation.split(".")[0], tokens.mean(axis=0)


def main() -> None:
    """Adds or replaces the centres of the models in these folders."""
    kept = json.loads(KEPT.read_text("ascii")) if KEPT.exists() else {}
    for folder in sys.argv[1:]:
        family, mean = mean_token(Path(folder))
        kept[family] = base64.b64encode(mean.astype("<f2").tobytes()).decode("ascii")
        print(f"{family}: length {np.linalg.norm(mean):.3f}")
    KEPT.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n", "ascii")


if __name__ == "__main__":
    main()
