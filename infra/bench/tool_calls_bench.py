"""The parser of tool calls over a bare `json.loads` of the same bytes, and what a doubling of the text costs.

python infra/bench/tool_calls_bench.py [--rounds 15]
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from recollect.tool_calls.protocol import ReadingPolicy, read_tool_calls

BYTES = 500_000
_DUAL = ReadingPolicy(dual=True)
_FACT = "Anna moved from Lyon to Paris in May and works as a nurse there; she prefers tea, and her cat is called Mina"


@dataclass(frozen=True)
class Case:
    """A text to parse; the documents that a bare `json.loads` reads instead, with as many bytes or a few fewer."""

    text: str
    documents: list[str]


def one_object(size: int) -> Case:
    """One block with one large object."""
    document = json.dumps({"facts": [_fact(number) for number in range(size // 200)]})
    return Case(_block(document), [document])


def many_blocks(size: int) -> Case:
    """Blocks of a usual size, prose between them."""
    documents = [json.dumps(_fact(number)) for number in range(size // 250)]
    return Case("I will remember that.\n".join(map(_block, documents)), documents)


def cut_blocks(size: int) -> Case:
    """Blocks with ten facts each, every object without its last bracket and quote."""
    documents = [json.dumps({"facts": [_fact(number)] * 10, "by": "model"}) for number in range(size // 2000)]
    return Case("I will remember that.\n".join(_block(document[:-2]) for document in documents), documents)


def noise(unit: str, opening: str = "") -> Callable[[int], Case]:
    """One thing again and again; as the text of one JSON string for `json.loads`."""

    def case(size: int) -> Case:
        text = opening + unit * (size // len(unit))
        return Case(text, [json.dumps(text, ensure_ascii=False)])

    return case


CASES: dict[str, Callable[[int], Case]] = {
    "one object in one block": one_object,
    "many blocks": many_blocks,
    "many blocks, each object cut short": cut_blocks,
    "prose": noise("She said that it rains in Lyon. "),
    'noise `[[ABP_TOOL:x]]{"`': noise('[[ABP_TOOL:x]]{"'),
    'noise `{"a":1 ` in a block': noise('{"a":1 ', "[[ABP_TOOL:x]]"),
    "noise `「始」` in a block": noise("「始」", "<<<[TOOL_REQUEST]>>>"),
}


def _fact(number: int) -> dict[str, Any]:
    return {"content": f"{_FACT} ({number})", "importance": 0.8, "keywords": ["tea", "Paris"], "key": f"fact-{number}"}


def _block(document: str) -> str:
    return f"[[ABP_TOOL:save_memory]]\n{document}\n[[END_ABP_TOOL]]\n"


def tool_calls(rounds: int, size: int = BYTES) -> dict[str, dict[str, float]]:
    """Of each case: milliseconds, over `json.loads`, and over half the text; the best of the rounds, in turns."""
    return {name: _measured(make, size, rounds) for name, make in CASES.items()}


def _measured(make: Callable[[int], Case], size: int, rounds: int) -> dict[str, float]:
    half, whole = make(size), make(2 * size)
    times: dict[str, list[float]] = {"half": [], "whole": [], "json": []}
    for _ in range(rounds):
        times["half"].append(_seconds(lambda: read_tool_calls(half.text, _DUAL)))
        times["whole"].append(_seconds(lambda: read_tool_calls(whole.text, _DUAL)))
        times["json"].append(_seconds(lambda: [json.loads(document) for document in whole.documents]))
    best = {which: min(seconds) for which, seconds in times.items()}
    return {
        "bytes": len(whole.text.encode()),
        "milliseconds": 1000 * best["whole"],
        "over_json": best["whole"] / best["json"],
        "doubling": best["whole"] / best["half"],
    }


def _seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def main() -> None:
    """Prints the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15)
    for name, figures in tool_calls(parser.parse_args().rounds).items():
        print(
            f"{name:36} {figures['bytes'] / 1e6:5.2f} MB {figures['milliseconds']:8.1f} ms "
            f"{figures['over_json']:6.2f}x json.loads   doubling {figures['doubling']:.2f}x"
        )


if __name__ == "__main__":
    main()
