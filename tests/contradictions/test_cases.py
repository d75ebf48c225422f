"""The collection itself: large enough, well formed, every shape and every near miss present."""

import copy
import json
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from contradictions.cases import PATH, SHAPES, TWIN_KINDS, Case, CaseError, load_cases, parse_case

CASES = load_cases()
RAW: list[dict[str, Any]] = json.loads(PATH.read_text(encoding="utf-8"))


def test_the_collection_has_at_least_a_hundred_cases_each_with_a_twin() -> None:
    assert len(CASES) == len(RAW) >= 100
    assert all(case.twin.later.text for case in CASES)


def test_ids_are_unique() -> None:
    assert len({case.id for case in CASES}) == len(CASES)


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_has_at_least_twenty_cases(shape: str) -> None:
    assert sum(case.shape == shape for case in CASES) >= 20


@pytest.mark.parametrize("kind", TWIN_KINDS)
def test_every_twin_kind_comes_at_least_twelve_times_and_with_every_shape(kind: str) -> None:
    shapes = Counter(case.shape for case in CASES if case.twin.kind == kind)
    assert shapes.total() >= 12
    assert set(shapes) == set(SHAPES)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_earlier_comes_before_later(case: Case) -> None:
    assert case.earlier.at < case.later.at
    assert case.twin.earlier.at < case.twin.later.at


def test_no_later_text_serves_two_cases() -> None:
    texts = Counter(case.later.text for case in CASES)
    assert [text for text, uses in texts.items() if uses > 1] == []


def _drop(field: str) -> Callable[[dict[str, Any]], object]:
    return lambda raw: raw.pop(field)


def _set(field: str, value: object) -> Callable[[dict[str, Any]], object]:
    return lambda raw: raw.update({field: value})


@pytest.mark.parametrize(
    ("spoil", "path"),
    [
        (_drop("twin"), "$"),
        (_drop("until"), "$"),
        (_set("extra", 1), "$"),
        (_set("id", "replacement-mums-house-1"), "$.id"),
        (_set("shape", "swap"), "$"),
        (_set("expect", "superseded"), "$.expect"),
        (_set("attribute", ""), "$.attribute"),
        (_set("keyed", "Home City"), "$.keyed"),
        (_set("until", "2026-03-07"), "$.until"),
        (_set("during", "2026-13-07T00:00:00Z"), "$.during"),
        (_set("after", "2026-03-01T00:00:00Z"), "$.until"),
        (_set("later", {"text": "x", "at": "2000-01-01T00:00:00Z"}), "$.later.at"),
        (_set("later", {"text": "x", "at": "2026-03-03T09:20:00Z", "role": "system"}), "$.later.role"),
        (_set("earlier", {"text": " x", "at": "2026-01-01T00:00:00Z"}), "$.earlier.text"),
        (lambda raw: raw["twin"].update(kind="rumour"), "$.twin.kind"),
        (lambda raw: raw["twin"].update(later=raw["later"]), "$.twin.later"),
    ],
)
def test_a_malformed_case_is_refused_with_its_path(spoil: Callable[[dict[str, Any]], object], path: str) -> None:
    raw = copy.deepcopy(next(item for item in RAW if item["id"] == "bounded-mums-house-1"))
    assert parse_case(raw, "$").bound is not None
    spoil(raw)
    with pytest.raises(CaseError) as refused:
        parse_case(raw, "$")
    assert str(refused.value).startswith(f"{path}: ")
