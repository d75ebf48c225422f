"""What the extras ask for beside what the tests run with: the frameworks are installed without their dependencies, so
that pip itself would not see where one of them asks for another version. Read from the packages, without an index."""

import sys
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.metadata import Distribution, distributions

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from integrations.frameworks import frameworks
from tools.pages import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
EXTRAS: Mapping[str, list[str]] = PROJECT["optional-dependencies"]
OTHERS = {
    "crewai": {"aiosqlite", "mcp", "openai", "pydantic", "regex"},
    "strands": {"mcp", "opentelemetry-semantic-conventions"},
}
"""What an extra gets in another version than the tests run with, where it is alone in an environment."""


@pytest.mark.parametrize("extra", EXTRAS)
def test_an_extra_takes_what_the_tests_run_with_but_for_what_is_known(extra: str) -> None:
    asked = list(asked_for(extra))
    refused = {one.name for one in asked if one.name in installed() and not takes(one, version(one.name))}
    assert refused == OTHERS.get(extra, set())


@pytest.mark.parametrize("extra", EXTRAS)
def test_a_version_suits_us_and_all_that_an_extra_brings(extra: str) -> None:
    """Of each of our own dependencies, by the versions at which ranges begin, which exist, and the pinned one."""
    asked = list(asked_for(extra))
    for ours in {one.name for one in map(Requirement, PROJECT["dependencies"])}:
        ranges = [one.specifier for one in asked if one.name == ours]
        begins = {said.version for each in ranges for said in each if said.operator in (">=", "==", "~=")}
        suits = [one for one in (version(ours), *begins) if all(each.contains(one) for each in ranges)]
        assert suits, (ours, list(map(str, ranges)))


def takes(asked: Requirement, version: str) -> bool:
    return asked.specifier.contains(version, prereleases=True)


def asked_for(extra: str) -> Iterator[Requirement]:
    """All that is asked for along the way, of what is installed here."""
    left = [Requirement(one) for one in (*PROJECT["dependencies"], *EXTRAS[extra])]
    known: set[tuple[str, frozenset[str]]] = set()
    while left:
        asked = left.pop()
        asked.name = canonicalize_name(asked.name)
        yield asked
        if (asked.name, frozenset(asked.extras)) not in known:
            known.add((asked.name, frozenset(asked.extras)))
            left += needs(asked)


def needs(asked: Requirement) -> list[Requirement]:
    if asked.name == PROJECT["name"]:
        return [Requirement(one) for extra in asked.extras for one in EXTRAS[extra]]
    extras = ("", *asked.extras)
    return [
        Requirement(str(one))
        for one in requirements(asked.name)
        if one.marker is None or any(one.marker.evaluate({"extra": extra}) for extra in extras)
    ]


@cache
def requirements(name: str) -> tuple[Requirement, ...]:
    found = installed().get(name)
    return tuple(map(Requirement, found.requires or ())) if found else ()


@cache
def version(name: str) -> str:
    return installed()[name].version


@cache
def installed() -> dict[str, Distribution]:
    """As the path has them for a page's program: our environment first."""
    found: dict[str, Distribution] = {}
    for one in distributions(path=[*sys.path, str(frameworks())]):
        found.setdefault(canonicalize_name(one.metadata["Name"]), one)
    return found
