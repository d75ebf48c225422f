"""`python -m infra.tools.question_encoder`: training needs PyTorch (`pip install torch`), which nothing else does.

    train  --out DIR [--held c,m,p,…] [--start FILE]   writes DIR/question.pt, from the embedder's weights on, or those
    export --out DIR                                   writes the layers that the product builds from

Both take the built model folder (`--model`), the pinned wheel of the embedder (`--wheel`), and `--data`.
"""

import argparse
from collections import Counter
from pathlib import Path

from infra.tools.judge.__main__ import ROOT
from infra.tools.ranking.gathering import of_all, of_talks
from recollect.adapters.embedders.model_folder import read_manifest
from recollect.adapters.embedders.onnx_embedder import centre_of
from recollect.adapters.embedders.unigram import read_unigram

OWN_TALKS = Path(__file__).with_name("talks")
LAYERS = ROOT / "layers/memory/recollect/adapters/embedders/building/question_layers.npz"


def main() -> None:
    """Run one sub-command."""
    given = _parser().parse_args()
    {"train": _train, "export": _export}[given.command](given)


def _train(given: argparse.Namespace) -> None:
    import torch
    from torch import nn

    from infra.tools.judge.bundle import tensors_of
    from infra.tools.judge.encoder import started
    from infra.tools.question_encoder.training import Course, QuestionEncoder, examples, train

    learnt = of_all(given.data, given.model, given.vectors, frozenset(given.held.split(",")), held=False)
    asked = [*learnt, *of_talks(OWN_TALKS, given.model)]
    print(dict(Counter(one.source for one in asked)), flush=True)
    manifest, course = read_manifest(given.model), Course(epochs=given.epochs)
    centre = centre_of(manifest.generation)
    if centre is None:
        raise SystemExit(f"no mean token is known of {manifest.generation}")
    torch.manual_seed(course.seed)
    encoder = started(tensors_of(given.wheel))
    nn.init.zeros_(encoder.segments.weight)
    if given.start is not None:
        encoder.load_state_dict({**encoder.state_dict(), **torch.load(given.start)})
    model = QuestionEncoder(encoder, centre)
    tokenizer = read_unigram(given.model / "unigram.bin", manifest.max_tokens)
    train(model, examples(model, asked, tokenizer, manifest.query_prefix, course.seed), course, given.out)


def _export(given: argparse.Namespace) -> None:
    import torch

    from infra.tools.judge.bundle import tensors_of
    from infra.tools.judge.export import export_question

    export_question(torch.load(given.out / "question.pt"), tensors_of(given.wheel), LAYERS)
    print(f"{LAYERS}: {LAYERS.stat().st_size / 1e6:.1f} MB")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m infra.tools.question_encoder")
    parser.add_argument("command", choices=["train", "export"])
    parser.add_argument("--out", type=Path, default=ROOT / "build/question_encoder/run")
    parser.add_argument("--start", type=Path)
    parser.add_argument("--wheel", type=Path)
    parser.add_argument("--model", type=Path)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared/data")
    parser.add_argument(
        "--vectors", type=Path, default=ROOT / "build/bench", help="where vectors are kept between runs"
    )
    parser.add_argument("--held", default="c,m,p,mc,me,u,oh", help="writers that are left out")
    parser.add_argument("--epochs", type=float, default=1.5)
    return parser


if __name__ == "__main__":
    main()
