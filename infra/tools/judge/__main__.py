"""`python -m infra.tools.judge`: training needs PyTorch (`pip install torch`), which nothing else does.

    train    --out DIR [--held w3,w6,c,f] [--epochs 3]     writes DIR/judge.pt; run again, it goes on
             [--start JUDGE.pt --rate 5e-5]                from an earlier model's weights, for data that came since
    average --out DIR --of A.pt B.pt                       writes DIR/judge.pt, the mean of the weights of runs in a row
    calibrate --out DIR [--held w3,w6,c,f]                 writes DIR/calibration.json, from the held-out talks
    export --out DIR                                       writes the layers that the product builds its judge from
    evaluate [--held w3,w6,c,f]                            prints how good the built model (`--model`) is on those

All take the pinned wheel of the embedder (`--wheel`), its built folder (`--model`), and `shared/data` (`--data`).
"""

import argparse
from collections import Counter
from pathlib import Path

from infra.tools.judge.examples import PAIRS, cases, for_a_while, months, talks, written
from infra.tools.judge.nearest import Nearest
from infra.tools.judge.sampling import Sampling, of_talk, sampled
from recollect.adapters.embedders.unigram import read_unigram
from recollect.contradictions.candidates import JUDGED

ROOT = Path(__file__).parents[3]
LAYERS = ROOT / "layers/memory/recollect/adapters/embedders/building/judge_layers.npz"
TALKS, CASES, MONTHS, LASTING = (Path(__file__).with_name(name) for name in ("talks", "cases", "months", "lasting"))


def main() -> None:
    """Run one sub-command."""
    given = _parser().parse_args()
    nearest = Nearest(given.model, given.out.parent / "vectors.npz")
    commands = {"train": _train, "average": _average, "calibrate": _calibrate, "export": _export, "evaluate": _evaluate}
    commands[given.command](given, nearest)
    nearest.save()


def _train(given: argparse.Namespace, nearest: Nearest) -> None:
    import torch

    from infra.tools.judge.encoder import started
    from infra.tools.judge.training import Course, train

    sampling = Sampling(
        data=given.data,
        cases=CASES,
        talks=TALKS,
        pairs=(given.data / "relation-pairs", PAIRS, *given.own),
        months=MONTHS,
        lasting=LASTING,
        held=_held(given),
        cases_share=given.cases,
        seed=given.seed,
    )
    examples = sampled(sampling, nearest)
    nearest.save()
    print(len(examples), "pairs:", dict(Counter(one.group.split("-")[0] for one in examples)), flush=True)
    course = Course(epochs=given.epochs, seed=given.seed, rate=given.rate)
    model = started(given.wheel)
    if given.start:
        model.load_state_dict({**model.state_dict(), **torch.load(given.start)})
    train(model, examples, read_unigram(given.model / "unigram.bin", 512), course, given.out)


def _average(given: argparse.Namespace, _: Nearest) -> None:
    import torch

    states = [torch.load(one) for one in given.of]
    mean = {name: sum(state[name].float() for state in states) / len(states) for name in states[0]}
    given.out.mkdir(parents=True, exist_ok=True)
    torch.save(mean, given.out / "judge.pt")


def _calibrate(given: argparse.Namespace, nearest: Nearest) -> None:
    import torch

    from infra.tools.judge.calibration import calibrated, write
    from infra.tools.judge.encoder import started

    tokenizer, model, held = read_unigram(given.model / "unigram.bin", 512), started(given.wheel), _held(given)
    model.load_state_dict(torch.load(given.out / "judge.pt"))
    told = [one for talk in talks(TALKS) if held & {talk.group, talk.id} for one in of_talk(talk, nearest, JUDGED)]
    found = calibrated(
        model,
        tokenizer,
        told,
        [*written(given.data), *cases(CASES)],
        for_a_while(given.data, CASES, months(MONTHS), held),
    )
    write(found, given.out)
    print(f"p = sigmoid({found.scale:.3f} * logit {found.shift:+.3f}), from {len(told)} pairs")


def _export(given: argparse.Namespace, _: Nearest) -> None:
    import torch

    from infra.tools.judge.calibration import read
    from infra.tools.judge.export import export

    export(torch.load(given.out / "judge.pt"), read(given.out), LAYERS)
    print(f"{LAYERS}: {LAYERS.stat().st_size / 1e6:.1f} MB")


def _evaluate(given: argparse.Namespace, nearest: Nearest) -> None:
    from infra.tools.judge.evaluate import (
        HELD,
        calibration_lines,
        changed_by,
        natural_lines,
        pair_lines,
        scores_of,
        talk_lines,
    )
    from infra.tools.judge.month_scores import month_lines
    from recollect.adapters.judges.onnx_pairs import OnnxPairModel

    model, held = OnnxPairModel(given.model), _held(given) or HELD
    pairs = [one for one in written(given.data) if one.group in held]
    if pairs:
        print("\n".join(pair_lines(pairs, changed_by(model, pairs))))
    own = [talk for talk in talks(TALKS) if held & {talk.group, talk.id}]
    found = [scores_of(model, talk, nearest) for talk in own]
    print("\n".join([*talk_lines(own, found), *calibration_lines(own, found)]))
    own_months = [month for month in months(MONTHS) if held & {month.group, month.id}]
    if own_months:
        print("\n".join(month_lines(own_months, model, nearest)))
    natural = list(talks(given.data / "natural-dev"))
    scores = [scores_of(model, talk, nearest) for talk in natural]
    print("\n".join(natural_lines(given.data / "natural-dev", natural, scores, given.shown)))


def _held(given: argparse.Namespace) -> frozenset[str]:
    return frozenset(filter(None, given.held.split(",")))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m infra.tools.judge")
    parser.add_argument("command", choices=["train", "average", "calibrate", "export", "evaluate"])
    parser.add_argument("--out", type=Path, default=ROOT / "build/judge/run")
    parser.add_argument("--wheel", type=Path)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared/data")
    parser.add_argument("--held", default="", help="writers and talks that are left out, with commas between them")
    parser.add_argument(
        "--own", type=Path, nargs="*", default=(), help="folders of pairs that `recollect decisions corrections` wrote"
    )
    parser.add_argument("--of", type=Path, nargs="*", default=(), help="the weights that are averaged")
    parser.add_argument("--epochs", type=float, default=3.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rate", type=float, default=8e-5)
    parser.add_argument("--start", type=Path, help="the weights to go on from; without it the embedder's")
    parser.add_argument("--cases", type=float, default=0.5, help="the share of the project's own cases, which are easy")
    parser.add_argument("--shown", type=float, default=0.7, help="from which score on a decision is printed")
    return parser


if __name__ == "__main__":
    main()
