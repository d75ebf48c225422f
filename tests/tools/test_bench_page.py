"""The page of figures: a run of a few parts leaves what the others said, with its day, where it was."""

import importlib
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

BENCH = Path(__file__).resolve().parents[2] / "infra" / "bench"
MODULES = ("kept_page", "bench_page")


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> dict[str, ModuleType]:
    monkeypatch.syspath_prepend(str(BENCH))
    return {name: importlib.import_module(name) for name in MODULES}


def test_rows_of_other_parts_are_kept(bench: dict[str, ModuleType]) -> None:
    page = "| part |\n| --- |\n| `--only quality` | then |\n| `--only intent` | then |\n\n## Goals"
    assert bench["kept_page"].kept_rows(page, ["quality"]) == ["| `--only intent` | then |"]


def test_a_part_is_kept_with_its_plots_and_not_where_it_was_never_measured(bench: dict[str, ModuleType]) -> None:
    page = "# B\n\n## One\n\ntext\n\n![a](plots/a.svg)\n\n## Two\n\nNot measured yet: two.\n"
    kept_part = bench["kept_page"].kept_part
    assert kept_part(page, "One") == "## One\n\ntext\n\n![a](plots/a.svg)"
    assert kept_part(page, "Two") is None
    assert kept_part(page, "Three") is None


def test_goals_are_merged_by_their_words(bench: dict[str, ModuleType]) -> None:
    head = "| goal | seen |  |\n| --- | --- | --- |"
    old = f"{head}\n| fast | 2 | met |\n| small | 3 | met |"
    new = f"{head}\n| small | 1 | **missed** |\n| new | 4 | met |"
    merged = bench["kept_page"].merged_goals(old, new)
    assert merged == f"{head}\n| fast | 2 | met |\n| small | 1 | **missed** |\n| new | 4 | met |"
    assert bench["kept_page"].merged_goals("", new) == new


def test_the_page_without_figures_is_the_page_as_it_is(bench: dict[str, ModuleType]) -> None:
    files: dict[str, Any] = {}
    page = bench["bench_page"].page(files, "")
    assert "Not measured yet: quality." in page
    goals = "## Goals\n\n| goal | seen |  |\n| --- | --- | --- |\n| fast | 2 | met |\n"
    before = f"# Benchmarks\n\n{goals}\n## Import time of the functions\n\nas it was\n"
    again = bench["bench_page"].page(files, before)
    assert "| fast | 2 | met |" in again
    assert "## Import time of the functions\n\nas it was" in again
