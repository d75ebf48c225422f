"""A deployment after a change of the code changes what the functions run.

SAM uploads a layer under the hash of its files, and makes a layer version's logical id of that address: what is built,
and how the template is translated, decides whether a function ever sees new code.
"""

import copy
import shutil
from pathlib import Path
from typing import Any

import pytest

from deployment.built import LAYERS
from deployment.resolving import in_sam, translated, translation
from deployment.template import FUNCTIONS, ROOT, layers, resources, template

_CHECKSUM = "import sys; from samcli.lib.utils.hash import dir_checksum; print(dir_checksum(sys.stdin.read()))"


def deployed(layer: str, content: str) -> dict[str, Any]:
    """The resources of a deployment whose layer has this content."""
    source = copy.deepcopy(template())
    source["Resources"][layer]["Properties"]["ContentUri"] = f"s3://bucket/{content}"
    made: dict[str, Any] = translation(source)["Resources"]
    return made


def versions(made: dict[str, Any], name: str) -> list[str]:
    return [one["Ref"] for one in made[f"{name.capitalize()}Function"]["Properties"]["Layers"]]


@pytest.mark.parametrize("layer", LAYERS)
def test_other_contents_are_another_version_which_the_functions_then_have(layer: str) -> None:
    before, after = translated()["Resources"], deployed(layer, "other")
    for name in FUNCTIONS:
        places = [place for place, one in enumerate(layers(name)) if one == layer]
        changed = [old != new for old, new in zip(versions(before, name), versions(after, name), strict=True)]
        assert [place for place, one in enumerate(changed) if one] == places
        assert set(versions(after, name)) <= set(after)


def test_every_function_has_its_code_from_the_layer_of_the_package() -> None:
    assert all(layers(name)[0] == "MemoryLayer" for name in FUNCTIONS)


def test_no_function_has_an_alias_of_sam_s_making_that_would_stay_at_old_parameters() -> None:
    """SAM publishes for other code, and does not see that a parameter has another value."""
    every = [template()["Globals"]["Function"], *(one["Properties"] for one in functions())]
    assert not [one for one in every if "AutoPublishAlias" in one]


def functions() -> list[dict[str, Any]]:
    return list(resources("AWS::Serverless::Function").values())


@pytest.mark.built
def test_one_changed_line_is_other_contents_and_a_second_build_is_not(built: Path, tmp_path: Path) -> None:
    """By the hash that `sam deploy` takes, of what `sam build` made."""
    layer = Path(shutil.copytree(built / "MemoryLayer", tmp_path / "layer"))
    assert checksum(layer) == checksum(built / "MemoryLayer")
    with (layer / "python/recollect/app.py").open("a") as module:
        module.write("# changed\n")
    assert checksum(layer) != checksum(built / "MemoryLayer")


def checksum(folder: Path) -> str:
    return in_sam(_CHECKSUM, str(folder))


@pytest.mark.built
@pytest.mark.parametrize("layer", LAYERS)
def test_the_same_sources_are_the_same_layer_on_any_machine(built: Path, layer: str) -> None:
    """A compiled module carries the path that it was compiled under: that of Lambda, not that of the build."""
    compiled = list((built / layer).rglob("*.pyc"))
    assert bool(compiled) is (built / layer / "python").exists()
    assert not [path for path in compiled if str(ROOT).encode() in path.read_bytes()]
