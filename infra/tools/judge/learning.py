"""`python -m infra.tools.judge.learning`: what needs PyTorch and numpy alone, on any machine, over a bundle.

    train   --bundle B --out DIR [--seed 1] [--epochs 3] [--rate 8e-5] [--weigh written=2 month=.5 ya=0]
            [--start JUDGE.pt] [--teacher T.npy --taught .6] [--upper]
                                                            writes DIR/judge.pt; on a CPU, run again, it goes on
    thin    --bundle B --out B2 --weigh turned=1 written=.3 writes the bundle with these shares of the training pairs
    average --out DIR --of A.pt B.pt                            writes DIR/judge.pt, the mean of weights
    teach   --bundle B --out T.npy --of A.pt B.pt               writes what models together say of the training pairs
    unpack  --bundle B --out DIR --of LAYERS.npz                writes DIR/judge.pt, the shipped judge's weights
    calibrate --bundle B --out DIR                              of DIR/judge.pt writes DIR/calibration.json
    figures --bundle B --of A.pt B.pt                           prints how good each is on the held-out sets

`python -m infra.tools.judge pack` writes the bundle.
"""

import argparse
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from infra.tools.judge.bundle import Bundle, read
from infra.tools.judge.bundle import write as write_bundle
from infra.tools.judge.calibration import CHANGES, FOR_A_WHILE, calibrated, write
from infra.tools.judge.encoder import PairEncoder, started
from infra.tools.judge.examples import by_name
from infra.tools.judge.export import shipped_judge
from infra.tools.judge.training import Course, factors, logits_of, train
from recollect.core.vectors import FloatArray

TRAIN = "train"
_NOT_MEASURED = {TRAIN, CHANGES, FOR_A_WHILE}
_HIDDEN = 0.04
_FIRST = (50, 100, 200)
"""How many of the surest are counted."""


def main() -> None:
    """Run one sub-command."""
    given = _parser().parse_args()
    {
        "train": _train,
        "thin": _thin,
        "average": _average,
        "teach": _teach,
        "unpack": _unpack,
        "calibrate": _calibrate,
        "figures": _figures,
    }[given.command](given)


def _train(given: argparse.Namespace) -> None:
    bundle = read(given.bundle)
    course = Course(
        epochs=given.epochs,
        seed=given.seed,
        rate=given.rate,
        weigh=by_name(given.weigh),
        taught=given.taught,
        graphs=not given.plain,
        upper=given.upper,
    )
    model = started(bundle.tensors)
    if given.start:
        model.load_state_dict({**model.state_dict(), **torch.load(given.start)})
    train(model, bundle, course, given.out, np.load(given.teacher) if given.teacher else None)


def _thin(given: argparse.Namespace) -> None:
    bundle, rng = read(given.bundle), np.random.default_rng(given.seed)
    told = bundle.sets[TRAIN]
    taken = told.only(rng.random(len(told)) < factors(told, by_name(given.weigh)))
    write_bundle(replace(bundle, sets={**bundle.sets, TRAIN: taken}), given.out)
    print(len(taken), "of", len(told), dict(Counter(taken.kinds.tolist()).most_common(16)))


def _average(given: argparse.Namespace) -> None:
    given.out.mkdir(parents=True, exist_ok=True)
    torch.save(mean_of([torch.load(one) for one in given.of]), given.out / "judge.pt")


def mean_of(states: Sequence[dict[str, Tensor]]) -> dict[str, Tensor]:
    """The mean of the weights of models that began alike."""
    return {name: sum((state[name].float() for state in states), torch.tensor(0.0)) / len(states) for name in states[0]}


def _teach(given: argparse.Namespace) -> None:
    bundle = read(given.bundle)
    told = [logits_of(_model(bundle, one), bundle, bundle.sets[TRAIN]) for one in given.of]
    mean = np.exp(np.mean([one - one.max(1, keepdims=True) for one in told], axis=0))
    np.save(given.out, (mean / mean.sum(1, keepdims=True)).astype(np.float32))


def _unpack(given: argparse.Namespace) -> None:
    given.out.mkdir(parents=True, exist_ok=True)
    torch.save(shipped_judge(given.of[0], read(given.bundle).tensors).state_dict(), given.out / "judge.pt")


def _calibrate(given: argparse.Namespace) -> None:
    bundle = read(given.bundle)
    found = calibrated(_model(bundle, given.out / "judge.pt"), bundle)
    write(found, given.out)
    print(f"p = sigmoid({found.scale:.3f} * logit {found.shift:+.3f})")


def _figures(given: argparse.Namespace) -> None:
    bundle = read(given.bundle)
    for path in given.of:
        model = _model(bundle, path)
        told = {name: logits_of(model, bundle, bundle.sets[name]) for name in sorted({*bundle.sets} - _NOT_MEASURED)}
        print(path.parent.name, *(line for name, one in told.items() for line in _lines(bundle, name, one)), flush=True)


def _lines(bundle: Bundle, name: str, logits: FloatArray) -> Iterator[str]:
    pairs = bundle.sets[name]
    scores, labels = changed_logit(logits), pairs.labels > 0
    yield f"| {name}: ap {average_precision(scores, labels):.3f}"
    if labels.mean() > _HIDDEN * 3:
        yield f"missed {missed_at(scores, labels, _HIDDEN):.3f}"
    else:
        best = labels[np.argsort(-scores, kind="stable")]
        yield "right of " + ", ".join(f"{most}: {int(best[:most].sum())}" for most in _FIRST)


def changed_logit(logits: FloatArray) -> FloatArray:
    """Of changed against stands."""
    found: FloatArray = np.logaddexp.reduce(logits[:, 1:], axis=1) - logits[:, 0]
    return found


def average_precision(scores: FloatArray, labels: NDArray[np.bool_]) -> float:
    """The mean, over the changes, of the share of changes among what is at least as sure."""
    right = labels[np.argsort(-scores, kind="stable")]
    return float((np.cumsum(right) / np.arange(1, len(right) + 1))[right].mean())


def missed_at(scores: FloatArray, labels: NDArray[np.bool_], hidden: float) -> float:
    """The share of changes below the score at which this share of standing statements is hidden."""
    return float(np.mean(scores[labels] < np.quantile(scores[~labels], 1 - hidden)))


def _model(bundle: Bundle, path: Path) -> PairEncoder:
    model = started(bundle.tensors)
    model.load_state_dict({**model.state_dict(), **torch.load(path)})
    return model.to("cuda" if torch.cuda.is_available() else "cpu")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m infra.tools.judge.learning")
    parser.add_argument("command", choices=["train", "thin", "average", "teach", "unpack", "calibrate", "figures"])
    parser.add_argument("--bundle", type=Path)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--of", type=Path, nargs="*", default=(), help="weights of models")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--epochs", type=float, default=3.0)
    parser.add_argument("--rate", type=float, default=8e-5)
    parser.add_argument(
        "--weigh", nargs="*", default=(), help="factors, or shares, of kinds of examples and of groups, as `month=.5`"
    )
    parser.add_argument("--start", type=Path, help="the weights to go on from; without them the embedder's")
    parser.add_argument("--upper", action="store_true", help="only the layers above the first look learn")
    parser.add_argument("--plain", action="store_true", help="without CUDA graphs")
    parser.add_argument("--teacher", type=Path, help="what `teach` wrote")
    parser.add_argument("--taught", type=float, default=0.6, help="the teacher's share in what is learnt")
    return parser


if __name__ == "__main__":
    main()
