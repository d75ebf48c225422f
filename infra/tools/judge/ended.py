"""`python -m infra.tools.judge.ended`: the model that tells which words of an older statement end, from data to file.

    pack     --out DIR [--shares month=.3 pair=.4]  writes DIR/ended.npz, the examples as pieces, of some kinds a share
    train    --out DIR [--start ENDED.pt] [--epochs 2.36] [--without nothing list-w5]
                                                    writes DIR/ended.pt; run again, it goes on from its checkpoint
    figures  --out DIR                              prints how good DIR/ended.pt is on what it has not learnt from
    export   --out DIR                              writes the layers that the product builds the model from
    evaluate                                        prints how good the built model is on the lists left out

`pack` and `evaluate` take the built folder of the embedder (`--model`), `pack` also `shared/data` (`--data`). The rest
needs PyTorch (`pip install torch`) and the embedder's pinned wheel (`--wheel`); it goes on from the shipped judge.
"""

import argparse
import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from infra.tools.judge.__main__ import LAYERS, MONTHS, ROOT, TALKS
from infra.tools.judge.bundle import tensors_of
from infra.tools.judge.ended_examples import (
    LISTS,
    list_pairs,
    of_lists,
    of_months,
    of_near,
    of_nothing,
    of_pairs,
)
from infra.tools.judge.ended_rows import EndedRows, read, rows_of, write
from infra.tools.judge.ended_scores import ended_lines
from infra.tools.judge.examples import by_name, months, talks, written
from infra.tools.judge.held import HELD_LISTS
from recollect.adapters.embedders.building.build import ENDED_LAYERS_FILE
from recollect.adapters.embedders.unigram import read_unigram
from recollect.adapters.judges.onnx_pairs import OnnxPairModel
from recollect.adapters.judges.pair_pieces import MOST_PIECES, splitting

if TYPE_CHECKING:
    from torch import Tensor

    from infra.tools.judge.ended_training import EndedLayers

_MOST_READ = 512
_CACHED_TEXTS = 8192


def main() -> None:
    """Run one sub-command."""
    given = _parser().parse_args()
    commands: dict[str, Callable[[argparse.Namespace], None]] = {
        "pack": _pack,
        "train": _train,
        "figures": _figures,
        "export": _export,
        "evaluate": _evaluate,
    }
    commands[given.command](given)


def _pack(given: argparse.Namespace) -> None:
    tokenizer = read_unigram(given.model / "unigram.bin", _MOST_READ)
    split = splitting(tokenizer, max(MOST_PIECES), _CACHED_TEXTS)
    told = list(months(MONTHS))
    examples = [*of_lists(list(list_pairs(LISTS))), *of_months(told), *of_near(told), *of_pairs(written(given.data))]
    examples += of_nothing(told, list(talks(TALKS)), split)
    shares, rng = by_name(given.shares), random.Random(given.seed)
    examples = [one for one in examples if rng.random() <= shares.get(one.kind, 1.0)]
    print(len(examples), "examples:", dict(Counter(one.kind for one in examples)))
    write(rows_of(examples, tokenizer), given.out / "ended.npz")


def _train(given: argparse.Namespace) -> None:
    from dataclasses import replace

    from infra.tools.judge.ended_training import SHIPPED, train

    model, rows, states = _begun(given, given.start)
    course = replace(SHIPPED, epochs=given.epochs or SHIPPED.epochs, seed=given.seed)
    train(model, rows, states, course, given.out, frozenset(given.without))


def _figures(given: argparse.Namespace) -> None:
    from infra.tools.judge.ended_training import figure_lines

    print("\n".join(figure_lines(*_begun(given, given.out / "ended.pt"))))


def _begun(given: argparse.Namespace, start: Path | None) -> "tuple[EndedLayers, EndedRows, list[Tensor]]":
    """The model with these weights, or as it begins; the rows, and their states, which are kept in a file."""
    import torch

    from infra.tools.judge.ended_training import EndedLayers, early_states
    from infra.tools.judge.export import shipped_judge

    rows, judge, kept = read(given.out / "ended.npz"), shipped_judge(LAYERS, tensors_of(given.wheel)), _states(given)
    if not kept.exists() or kept.stat().st_mtime < (given.out / "ended.npz").stat().st_mtime:
        torch.save(early_states(judge, rows), kept)
    model = EndedLayers(judge)
    if start is not None:
        model.load_state_dict(torch.load(start))
    return model, rows, torch.load(kept)


def _states(given: argparse.Namespace) -> Path:
    found: Path = given.out / "ended.states.pt"
    return found


def _export(given: argparse.Namespace) -> None:
    import torch

    from infra.tools.judge.export import export_ended

    export_ended(torch.load(given.out / "ended.pt"), LAYERS, tensors_of(given.wheel), ENDED_LAYERS_FILE)
    print(f"{ENDED_LAYERS_FILE}: {ENDED_LAYERS_FILE.stat().st_size / 1e6:.1f} MB")


def _evaluate(given: argparse.Namespace) -> None:
    pairs = [one for one in list_pairs(LISTS) if one.writer in HELD_LISTS]
    print("\n".join(ended_lines(pairs, OnnxPairModel(given.model))))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m infra.tools.judge.ended")
    parser.add_argument("command", choices=["pack", "train", "figures", "export", "evaluate"])
    parser.add_argument("--out", type=Path, default=ROOT / "build/judge/ended")
    parser.add_argument("--wheel", type=Path)
    parser.add_argument("--model", type=Path)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared/data")
    parser.add_argument("--start", type=Path, help="the weights to go on from; without them the judge's")
    parser.add_argument("--epochs", type=float)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--shares", nargs="*", default=(), help="of kinds of examples, as `month=.3`")
    parser.add_argument("--without", nargs="*", default=(), help="kinds and groups that are left out, as `list-w5`")
    return parser


if __name__ == "__main__":
    main()
