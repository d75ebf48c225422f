"""`python -m infra.tools.judge`: the judge's data in, its layers out; what trains it is `infra.tools.judge.learning`.

    pack      --out DIR [--held w3,x1,q]                   writes DIR/bundle.npz, all that training needs
    export    --out DIR                                    writes the layers that the product builds its judge from
    evaluate  [--held w3,x1,q]                             prints how good the built model (`--model`) is on those

All take the pinned wheel of the embedder (`--wheel`), its built folder (`--model`), and `shared/data` (`--data`).
`export` needs PyTorch (`pip install torch`). Held out is by default what the shipped judge has not learnt from.
"""

import argparse
from collections import Counter
from pathlib import Path

from infra.tools.judge.bundle import pack, tensors_of
from infra.tools.judge.bundle import write as write_bundle
from infra.tools.judge.ended_examples import LISTS, list_pairs
from infra.tools.judge.examples import PAIRS, Example, cases, for_a_while, months, talks, written
from infra.tools.judge.held import HELD_LISTS, NOT_LEARNT, PERSONS, PLAIN
from infra.tools.judge.nearest import Nearest
from infra.tools.judge.sampling import Sampling, held_out, sampled, turned
from recollect.adapters.embedders.unigram import read_unigram

ROOT = Path(__file__).parents[3]
LAYERS = ROOT / "layers/memory/recollect/adapters/embedders/building/judge_layers.npz"
TALKS, CASES, MONTHS, LASTING = (Path(__file__).with_name(name) for name in ("talks", "cases", "months", "lasting"))


def main() -> None:
    """Run one sub-command."""
    given = _parser().parse_args()
    nearest = Nearest(given.model, given.out.parent / "vectors.npz")
    commands = {"pack": _pack, "export": _export, "evaluate": _evaluate}
    commands[given.command](given, nearest)
    nearest.save()


def _pack(given: argparse.Namespace, nearest: Nearest) -> None:
    sampling = Sampling(
        data=given.data,
        cases=CASES,
        talks=TALKS,
        pairs=(given.data / "relation-pairs", PAIRS, *given.own),
        months=MONTHS,
        lasting=LASTING,
        lists=LISTS,
        held=_held(given),
        cases_share=given.cases,
        seed=given.seed,
    )
    sets = {"train": sampled(sampling, nearest), **held_out(sampling, nearest)}
    sets["changes"] = [one for one in (*written(given.data), *cases(CASES)) if one.label]
    lapsing = for_a_while(given.data, CASES, months(MONTHS), _held(given))
    sets["for_a_while"] = [Example("", "", text, "", int(value), "alone") for text, value in lapsing.items()]
    nearest.save()
    for name, told in sets.items():
        print(name, len(told), "pairs:", dict(Counter(one.kind for one in told).most_common(12)), flush=True)
    tokenizer = read_unigram(given.model / "unigram.bin", 512)
    write_bundle(
        pack(sets, lambda text: tokenizer.pieces(text).ids[1:-1], tensors_of(given.wheel)), given.out / "bundle.npz"
    )


def _export(given: argparse.Namespace, _: Nearest) -> None:
    import torch

    from infra.tools.judge.calibration import read
    from infra.tools.judge.export import export

    export(torch.load(given.out / "judge.pt"), read(given.out), tensors_of(given.wheel), LAYERS)
    print(f"{LAYERS}: {LAYERS.stat().st_size / 1e6:.1f} MB")


def _evaluate(given: argparse.Namespace, nearest: Nearest) -> None:
    from infra.tools.judge.ended_scores import ended_lines
    from infra.tools.judge.evaluate import (
        calibration_lines,
        changed_by,
        natural_lines,
        pair_lines,
        scores_of,
        standing_line,
        talk_lines,
    )
    from infra.tools.judge.lapsing import lapsing_lines
    from infra.tools.judge.month_scores import month_lines
    from recollect.adapters.judges.onnx_pairs import OnnxPairModel

    model, held = OnnxPairModel(given.model), _held(given)
    for name, groups in (("pairs", held - PLAIN - PERSONS), ("plain pairs", held & PLAIN), ("persons", held & PERSONS)):
        pairs = [one for one in written(given.data) if one.group in groups]
        if pairs:
            print("\n".join([name, *pair_lines(pairs, changed_by(model, pairs))]))
    others = list(turned([one for one in written(given.data) if one.group in held]))
    print("of others, or of another thing, under one's own change:", standing_line(others, changed_by(model, others)))
    own = [talk for talk in talks(TALKS) if held & {talk.group, talk.id}]
    found = [scores_of(model, talk, nearest) for talk in own]
    print("\n".join([*talk_lines(own, found), *calibration_lines(own, found)]))
    own_months = [month for month in months(MONTHS) if held & {month.group, month.id}]
    if own_months:
        print("\n".join(month_lines(own_months, model, nearest)))
    print("\n".join(lapsing_lines(given.data, list(months(MONTHS)), model, held)))
    lists = [pair for pair in list_pairs(LISTS) if pair.writer in HELD_LISTS]
    print("\n".join(["which words end, of messages of several things", *ended_lines(lists, model)]))
    natural = list(talks(given.data / "natural-dev"))
    scores = [scores_of(model, talk, nearest) for talk in natural]
    print("\n".join(natural_lines(given.data / "natural-dev", natural, scores, given.shown)))


def _held(given: argparse.Namespace) -> frozenset[str]:
    return frozenset(filter(None, given.held.split(",")))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m infra.tools.judge")
    parser.add_argument("command", choices=["pack", "export", "evaluate"])
    parser.add_argument("--out", type=Path, default=ROOT / "build/judge/run")
    parser.add_argument("--wheel", type=Path)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared/data")
    parser.add_argument(
        "--held",
        default=",".join(sorted(NOT_LEARNT)),
        help="writers and talks that are left out, with commas between them",
    )
    parser.add_argument(
        "--own", type=Path, nargs="*", default=(), help="folders of pairs that `recollect decisions corrections` wrote"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cases", type=float, default=0.5, help="the share of the project's own cases, which are easy")
    parser.add_argument("--shown", type=float, default=0.7, help="from which score on a decision is printed")
    return parser


if __name__ == "__main__":
    main()
