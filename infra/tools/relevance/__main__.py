"""`python -m infra.tools.relevance`: training needs PyTorch (`pip install torch`), which nothing else does.

    train  --out DIR --start JUDGE.pt [--held c,m,p]   writes DIR/relevance.pt, from the judge's weights on
    export --out DIR                                   writes the layers that the product builds its second stage from

Both take the built model folder (`--model`), the pinned wheel of the embedder (`--wheel`), and `--data`.
"""

import argparse
from collections import Counter
from pathlib import Path

from infra.tools.judge.__main__ import ROOT
from infra.tools.ranking.gathering import of_all
from recollect.adapters.embedders.unigram import read_unigram

LAYERS = ROOT / "layers/memory/recollect/adapters/embedders/building/relevance_layers.npz"


def main() -> None:
    """Run one sub-command."""
    given = _parser().parse_args()
    {"train": _train, "export": _export}[given.command](given)


def _train(given: argparse.Namespace) -> None:
    import torch

    from infra.tools.judge.bundle import tensors_of
    from infra.tools.judge.encoder import started
    from infra.tools.relevance.training import Course, train

    left_out = frozenset(given.held.split(","))
    asked = list(of_all(given.data, given.model, given.vectors, left_out, held=False))
    print(dict(Counter(one.source for one in asked)), flush=True)
    model = started(tensors_of(given.wheel))
    model.load_state_dict({**model.state_dict(), **torch.load(given.start)})
    train(model, asked, read_unigram(given.model / "unigram.bin", 2_048), Course(epochs=given.epochs), given.out)


def _export(given: argparse.Namespace) -> None:
    import torch

    from infra.tools.judge.bundle import tensors_of
    from infra.tools.judge.export import export_relevance

    export_relevance(torch.load(given.out / "relevance.pt"), tensors_of(given.wheel), LAYERS)
    print(f"{LAYERS}: {LAYERS.stat().st_size / 1e6:.1f} MB")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m infra.tools.relevance")
    parser.add_argument("command", choices=["train", "export"])
    parser.add_argument("--out", type=Path, default=ROOT / "build/relevance/run")
    parser.add_argument("--wheel", type=Path)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared/data")
    parser.add_argument(
        "--vectors", type=Path, default=ROOT / "build/bench", help="where vectors are kept between runs"
    )
    parser.add_argument("--start", type=Path, help="the judge's weights (`infra/tools/judge`)")
    parser.add_argument("--held", default="c,m,p", help="writers that are left out")
    parser.add_argument("--epochs", type=float, default=0.7)
    return parser


if __name__ == "__main__":
    main()
