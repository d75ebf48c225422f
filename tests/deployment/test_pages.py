"""What the commands of `README.md` and `docs/operations.md` name is there: outputs and parameters of the template."""

import os
import re

import jmespath  # type: ignore[import-untyped]
import pytest

from deployment.template import ROOT, template

PAGES = ("README.md", "docs/operations.md")


def page(name: str) -> str:
    return (ROOT / name).read_text("utf-8")


@pytest.mark.parametrize("name", PAGES)
def test_outputs_that_are_read_are_outputs_of_the_template(name: str) -> None:
    read = set(re.findall(r"\(output (\w+)\)", page(name)))
    assert read
    assert read <= set(template()["Outputs"])


def test_a_newcomer_is_told_how_to_get_a_token_and_where_the_api_is() -> None:
    assert {"NewUserCommand", "TokenCommand", "ApiUrl"} <= set(re.findall(r"\(output (\w+)\)", page("README.md")))
    asked = {name for one in ("NewUserCommand", "TokenCommand") for name in _variables(template()["Outputs"][one])}
    told = re.findall(r"(?m)^\$ export (.*?)(?: +#|$)", page("README.md"))
    assert asked <= {name for line in told for name in re.findall(r"([A-Z_]+)=", line)}


def _variables(output: object) -> set[str]:
    return set(re.findall(r"\$([A-Z_]+)", str(output)))


@pytest.mark.parametrize("name", PAGES)
def test_parameters_that_a_deployment_is_given_are_parameters_of_the_template(name: str) -> None:
    lines = re.findall(r"(?m)^\$ \S*sam\S* deploy.*--parameter-overrides (.*?)(?: +#|$)", page(name))
    given = {found for line in lines for found in re.findall(r"(\w+)=", line)}
    assert given
    assert given <= set(template()["Parameters"])


@pytest.mark.parametrize("name", PAGES)
def test_scripts_that_are_run_are_there(name: str) -> None:
    run = set(re.findall(r"(?m)^\$ (infra/\S+)|`(infra/\S+\.sh)", page(name)))
    assert run
    assert all(os.access(ROOT / one, os.X_OK) for pair in run for one in pair if one)


def test_what_takes_the_bucket_away_names_every_version_and_marker() -> None:
    (query,) = re.findall(r"--query '(\{Objects:.*?\})' --output", page("docs/operations.md"))
    listed = {
        "Versions": [{"Key": "a", "VersionId": "1", "Size": 2}],
        "DeleteMarkers": [{"Key": "b", "VersionId": "3"}],
    }
    objects = [{"Key": "a", "VersionId": "1"}, {"Key": "b", "VersionId": "3"}]
    assert jmespath.search(query, listed) == {"Objects": objects, "Quiet": True}
    assert jmespath.search(query, {**listed, "Versions": None})["Objects"] == objects[1:]
