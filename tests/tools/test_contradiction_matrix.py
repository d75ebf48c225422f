"""The matrix of docs/contradictions.md: it is not stale, some of it is seen again, and what its judge sees."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from contradictions.cases import SHAPES, Case, load_cases

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "contradictions.md"
MODULES = ("matrix_inputs", "matrix_page", "matrix_run", "matrix_trials", "matrix_verdicts")
PER_SHAPE = 2
CASES = load_cases()


@pytest.fixture
def matrix(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    monkeypatch.syspath_prepend(str(ROOT / "infra" / "contradictions"))
    return SimpleNamespace(**{name: importlib.import_module(name) for name in MODULES})


def some() -> Iterator[Case]:
    for shape in SHAPES:
        own = [case for case in CASES if case.shape == shape]
        yield from own[:: len(own) // PER_SHAPE][:PER_SHAPE]


@pytest.mark.spec("P-24")
@pytest.mark.parametrize("case", list(some()), ids=lambda case: case.id)
def test_a_case_is_as_the_page_says_in_every_state(matrix: SimpleNamespace, case: Case) -> None:
    run = matrix.matrix_run.run_case(case, matrix.matrix_run.embedder_of(hashing=True))
    seen = matrix.matrix_page.failures(matrix.matrix_run.document([run]))
    told = re.findall(rf"^- ({re.escape(case.id)}[ ,].*)$", PAGE.read_text("utf-8"), re.MULTILINE)
    assert seen == told
    assert len(run.outcomes) == 4 * len(matrix.matrix_run.STATES)


Shown = Callable[..., Any]


@pytest.fixture
def shown(matrix: SimpleNamespace) -> Shown:
    """A verdict on a case without a key, whose answers are all these records (`e` the earlier, `l` the later)."""

    def judged(case: Case, *records: dict[str, Any], twin: bool = False, prompt: str = "", conflicts: Any = ()) -> Any:
        store = SimpleNamespace(
            search=lambda *_: list(records),
            context=lambda *_: {"items": [], "prompt": prompt},
            memories=lambda *_: [],
            open_conflicts=lambda *_: list(conflicts),
        )
        trial = matrix.matrix_trials.Trial(case, twin, keyed=False, ids=("e", "l"))
        return matrix.matrix_verdicts.judge(store, trial)

    return judged


def of_shape(shape: str) -> Case:
    return next(case for case in CASES if case.shape == shape)


def record(case: Case, turn: str, **more: Any) -> dict[str, Any]:
    return {
        "id": turn,
        "content": (case.earlier if turn == "e" else case.later).text,
        "source_event_ids": [turn],
    } | more


def test_the_judge_calls_stale_what_is_shown_in_any_way_and_lost_what_is_not(shown: Shown) -> None:
    case = of_shape("replacement")
    earlier, later = record(case, "e"), record(case, "l")
    assert shown(case, later).verdict == "right"
    assert shown(case, earlier, later).verdict == "stale"
    assert shown(case, later, {**earlier, "id": "another"}).verdict == "stale"
    assert shown(case, later, prompt=f"- {case.earlier.text}").verdict == "stale"
    assert shown(case).verdict == "lost"
    assert shown(case, later, {**earlier, "content": "near the canal"}).left == "near the canal"


def test_the_judge_wants_both_parts_and_both_sources_or_an_open_conflict(shown: Shown) -> None:
    case = of_shape("partial")
    earlier, later = record(case, "e"), record(case, "l")
    both = {"id": "l", "content": f"{case.earlier.text}; {case.later.text}", "source_event_ids": ["e", "l"]}
    assert shown(case, both).verdict == "right"
    assert shown(case, both, earlier).verdict == "stale"
    assert shown(case, {**both, "source_event_ids": ["l"]}).verdict == "lost"
    assert shown(case, later).verdict == "lost"
    assert shown(case, earlier, later).verdict == "stale"
    assert shown(case, earlier, later, conflicts=[{"newer": "l", "older": "e"}]).verdict == "right"


def test_the_judge_wants_a_near_miss_left_word_for_word(shown: Shown) -> None:
    case = of_shape("polarity")
    earlier = {"id": "e", "content": case.twin.earlier.text, "source_event_ids": ["e"]}
    assert shown(case, earlier, twin=True).verdict == "right"
    assert shown(case, twin=True).why == "gone"
    assert shown(case, {**earlier, "content": "I eat"}, twin=True).why == "cut"


def test_a_bound_is_asked_within_and_behind(matrix: SimpleNamespace) -> None:
    case = of_shape("bounded")
    assert case.bound is not None
    bound = case.bound

    def judged(shown: Callable[[Any, Any], list[dict[str, Any]]]) -> str:
        store = SimpleNamespace(
            search=lambda _user, _query, at, as_of: shown(at, as_of),
            context=lambda *_: {"items": [], "prompt": ""},
        )
        trial = matrix.matrix_trials.Trial(case, False, keyed=False, ids=("e", "l"))
        return str(matrix.matrix_verdicts.judge(store, trial).verdict)

    earlier, later = [record(case, "e")], [record(case, "l")]
    assert judged(lambda at, as_of: later if (as_of or at) < bound.until else earlier) == "right"
    assert judged(lambda at, as_of: later if at < bound.until else earlier) == "stale", "as_of is asked too"
    assert judged(lambda at, as_of: later) == "stale"
    assert judged(lambda at, as_of: earlier) == "stale"
    assert judged(lambda at, as_of: later if (as_of or at) < bound.until else []) == "lost"
