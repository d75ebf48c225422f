"""What a model folder says of a model that lies beside the embedder, and whether its files are whole."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from recollect.adapters.embedders.model_folder import how_to_build
from recollect.core.errors import NotReady


def read_about(folder: Path, file: str, name: str) -> Mapping[str, Any]:
    """The JSON of this file, with `version`, `files`, and numbers. Raises NotReady where one is missing or damaged."""
    try:
        about: Mapping[str, Any] = json.loads((folder / file).read_bytes())
        str(about["version"])
        damaged = [one["name"] for one in about["files"] if (folder / one["name"]).stat().st_size != one["size_bytes"]]
    except FileNotFoundError as error:
        raise NotReady(f"no {name} in {folder}; {how_to_build(folder)}") from error
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise unreadable(folder, name, error) from error
    if damaged:
        raise NotReady(f"the {name} in {folder} is damaged ({', '.join(damaged)}); {how_to_build(folder)}")
    return about


def numbers_in(about: Mapping[str, Any], names: tuple[str, ...], folder: Path, name: str) -> tuple[float, ...]:
    """The numbers of these names. Raises NotReady."""
    try:
        return tuple(float(about[one]) for one in names)
    except (ValueError, KeyError, TypeError) as error:
        raise unreadable(folder, name, error) from error


def unreadable(folder: Path, name: str, error: Exception) -> NotReady:
    """The error for a file that is no description of a model."""
    return NotReady(f"the {name} in {folder} cannot be read ({type(error).__name__})")
