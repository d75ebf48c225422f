"""The sections of samconfig.toml deploy the template as it is, beside each other."""

import re
import tomllib
from typing import Any

import pytest

from deployment.account import Account
from deployment.resolving import Stack, translated
from deployment.template import ROOT, template

SECTIONS: dict[str, Any] = {
    name: one for name, one in tomllib.loads((ROOT / "samconfig.toml").read_text("utf-8")).items() if name != "version"
}


def overrides(section: str, command: str) -> dict[str, str]:
    given = SECTIONS[section][command]["parameters"]["parameter_overrides"]
    return dict(one.split("=", 1) for one in given.split())


def test_there_is_one_for_trying_out_one_for_staging_and_one_for_production() -> None:
    assert list(SECTIONS) == ["default", "staging", "production"]


@pytest.mark.parametrize("section", SECTIONS)
def test_a_section_gives_parameters_that_the_template_takes(section: str) -> None:
    given, declared = overrides(section, "deploy"), template()["Parameters"]
    assert given.keys() <= declared.keys()
    for name, value in given.items():
        assert value in map(str, declared[name].get("AllowedValues", [value]))
        assert re.fullmatch(declared[name].get("AllowedPattern", ".*"), value)
    assert Stack(template(), parameters=given).refusals() == []
    assert "DeletionProtection" not in given, "a first deployment that fails could not be taken away"


@pytest.mark.parametrize("section", SECTIONS)
def test_what_is_built_is_what_is_deployed(section: str) -> None:
    assert overrides(section, "build").items() <= overrides(section, "deploy").items()


def test_their_stacks_stand_in_one_account() -> None:
    account = Account()
    for place, section in enumerate(SECTIONS):
        name = SECTIONS[section]["global"]["parameters"]["stack_name"]
        uuid = f"5{place}af3dc0-da77-11e4-872e-1234567b3ccd"
        account.deploy(Stack(translated(), name, uuid, overrides(section, "deploy")))
    assert len(account.stacks) == len(SECTIONS)
