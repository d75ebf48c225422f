"""Makes a model folder of any sentence-embedding model in ONNX: python -m recollect.adapters.embedders.adopt FOLDER …

The folder holds model.onnx, its tokenizer.json, and what else the graph names (such as model.onnx_data). The graph
takes input_ids and attention_mask, and token_type_ids if it likes; of its outputs last_hidden_state counts, else the
first. Written is manifest.json, which makes `RECOLLECT_EMBEDDER=onnx` with `RECOLLECT_MODEL_FOLDER=FOLDER` work.
"""

import argparse
import re
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

from recollect.adapters.embedders import model_folder as folders
from recollect.adapters.embedders.model_folder import ModelManifest
from recollect.adapters.embedders.onnx_embedder import OnnxEmbedder
from recollect.core.errors import InvalidInput, NotReady, RecollectError
from recollect.core.vectors import TextKind

_NAME = re.compile(r"[a-z0-9][a-z0-9.-]{0,59}")
_FEWEST_TOKENS = 3


def adopt(folder: Path, wanted: ModelManifest) -> ModelManifest:
    """Writes the manifest; `wanted` says all but dimension and files, which are found out by encoding a word.

    Raises InvalidInput for a generation that no index can carry or too few tokens, NotReady where the model cannot run.
    """
    if not _NAME.fullmatch(wanted.generation):
        raise InvalidInput("a model's name has up to 60 of a-z, 0-9, dot and hyphen")
    if wanted.max_tokens < _FEWEST_TOKENS:
        raise InvalidInput(f"max_tokens is at least {_FEWEST_TOKENS}")
    try:
        found = sorted(path for path in folder.iterdir() if path.is_file() and path.name != folders.MANIFEST_FILE)
    except OSError as error:
        raise NotReady(f"{folder} cannot be read ({type(error).__name__})") from error
    manifest = replace(wanted, files=tuple(folders.describe_file(path) for path in found))
    dimension = _dimension(folder, manifest)
    manifest = replace(manifest, dimension=dimension)
    folders.write_manifest(folder, manifest)
    return manifest


def _dimension(folder: Path, manifest: ModelManifest) -> int:
    missing = {folders.GRAPH_FILE, manifest.tokenizer} - {file.name for file in manifest.files}
    if missing:
        raise NotReady(f"{folder} holds no {', '.join(sorted(missing))}")
    vector = OnnxEmbedder(folder, 1, manifest).encode(["a word"], TextKind.PASSAGE)[0].vector
    return len(vector)


def main(arguments: list[str] | None = None) -> NoReturn:
    """The command line; exits with 0, or with 1, and says on standard error what was made or why not."""
    parser = argparse.ArgumentParser("python -m recollect.adapters.embedders.adopt", description="Make a model folder.")
    parser.add_argument("folder", type=Path, help="with model.onnx and tokenizer.json")
    parser.add_argument("--name", required=True, help="of model, precision, revision, such as bge-small-en.fp32.1")
    parser.add_argument("--max-tokens", type=int, default=512, help="pieces of a text that count (%(default)s)")
    parser.add_argument("--pooling", choices=folders.POOLINGS, default="mean", help="(%(default)s)")
    parser.add_argument("--query-prefix", default="", help="what the model wants before a question")
    parser.add_argument("--passage-prefix", default="", help="and before what is remembered")
    given = parser.parse_args(arguments)
    prefixes = {"query_prefix": given.query_prefix, "passage_prefix": given.passage_prefix}
    wanted = ModelManifest(
        given.name,
        1,
        given.max_tokens,
        "as given",
        str(given.folder),
        "",
        "unknown",
        (),
        **prefixes,
        pooling=given.pooling,
    )
    try:
        manifest = adopt(given.folder, wanted)
    except RecollectError as error:
        parser.exit(1, f"error: {error}\n")
    parser.exit(0, f"{manifest.generation}: {manifest.dimension} dimensions\n")


if __name__ == "__main__":
    main()
