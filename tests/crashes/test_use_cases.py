"""The matrix leaves no use case out: one that is not in it fails here."""

from pathlib import Path

from crashes.page import PAGE, rows_of
from crashes.scenarios import OMITTED, SCENARIOS
from crashes.use_cases import names, use_cases, without_methods
from crashes.world import World, local_plan


def covered() -> set[str]:
    return {name for scenario in SCENARIOS.values() for name in scenario.covers}


def test_every_use_case_is_in_the_matrix_or_left_out_for_a_reason(tmp_path: Path) -> None:
    world = World(local_plan(tmp_path))
    known = {*use_cases(world.app), *without_methods(world.app)}
    world.close()
    assert known - covered() - OMITTED.keys() == set(), "give each a scenario in tests/crashes"
    assert (covered() | OMITTED.keys()) - known == set(), "these are no use cases any more"


def test_what_is_left_out_is_in_no_scenario_and_has_a_reason() -> None:
    assert covered() & OMITTED.keys() == set()
    assert all(reason.strip() for reason in OMITTED.values())


def test_the_use_cases_of_the_mixed_in_classes_are_found() -> None:
    assert {"ingest", "memories", "index_states"} <= set(names())


def test_the_page_names_every_scenario() -> None:
    assert rows_of(PAGE.read_text(encoding="utf-8")).keys() == SCENARIOS.keys(), "python tests/crashes/page.py"
