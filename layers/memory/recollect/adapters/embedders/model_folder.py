"""The built model on disk: manifest.json, model.onnx, its constants in weights.bin, the vocabulary in unigram.bin.

It is in `~/.cache/recollect/models/<generation>/` on a laptop, in `/opt/recollect-models/<generation>/` on Lambda.
"""

import json
from dataclasses import asdict, dataclass, fields
from hashlib import file_digest
from pathlib import Path
from typing import Final

from recollect.core.errors import NotReady

GENERATION: Final = "e5-small.int8.1"
"""Name, precision and revision of the built multilingual-e5-small; stored vectors carry it."""
GRAPH_FILE, MANIFEST_FILE, UNIGRAM_FILE, WEIGHTS_FILE = "model.onnx", "manifest.json", "unigram.bin", "weights.bin"
JUDGE_FILE, JUDGE_GRAPH_FILE, JUDGE_WEIGHTS_FILE = "judge.json", "judge.onnx", "judge.bin"
JUDGE_EARLY_GRAPH_FILE, JUDGE_EARLY_WEIGHTS_FILE = "judge.early.onnx", "judge.early.bin"
"""The judge's: what is said of it, its graph, its constants; the word table is in WEIGHTS_FILE."""
ENDED_FILE, ENDED_GRAPH_FILE, ENDED_WEIGHTS_FILE = "ended.json", "ended.onnx", "ended.bin"
"""Those of the model that goes on from the judge's early states and tells which words end."""
RELEVANCE_FILE, RELEVANCE_GRAPH_FILE, RELEVANCE_WEIGHTS_FILE = "relevance.json", "relevance.onnx", "relevance.bin"
"""The second stage's, the same."""
QUESTION_FILE, QUESTION_GRAPH_FILE, QUESTION_WEIGHTS_FILE = "question.json", "question.onnx", "question.bin"
"""Those of the encoder of questions, which goes on from the states of the embedder's first layers."""
_POOLED = "own1"


def pooled_generation(generation: str) -> str:
    """The generation of the vectors that `pooled` makes of a model's tokens; known without numpy."""
    return f"{generation}.{_POOLED}"


@dataclass(frozen=True, slots=True)
class ModelFile:
    """A file of the folder, its size and hash when it was written."""

    name: str
    size_bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class ModelManifest:
    """The files of a model folder and their source.

    `generation` is part of index names, [a-z0-9.-]+; `max_tokens` counts word pieces with the model's two marks and the
    prefix that it needs before a query or a passage.
    """

    generation: str
    dimension: int
    max_tokens: int
    source: str
    source_sha256: str
    licence: str
    files: tuple[ModelFile, ...]
    query_prefix: str
    passage_prefix: str


def describe_file(path: Path) -> ModelFile:
    """Size and sha256 of a file."""
    with path.open("rb") as stream:
        return ModelFile(path.name, path.stat().st_size, file_digest(stream, "sha256").hexdigest())


def write_manifest(folder: Path, manifest: ModelManifest) -> None:
    """Write manifest.json, which makes the folder complete."""
    (folder / MANIFEST_FILE).write_text(json.dumps(asdict(manifest), indent=2) + "\n", encoding="utf-8")


def read_manifest(folder: Path) -> ModelManifest:
    """The manifest, its files present in their full sizes. Raises NotReady otherwise; hashes are `verify_folder`'s."""
    try:
        manifest = _parse((folder / MANIFEST_FILE).read_bytes())
        damaged = [file.name for file in manifest.files if (folder / file.name).stat().st_size != file.size_bytes]
    except FileNotFoundError as error:
        raise NotReady(f"no embedding model: {error.filename} is missing; {how_to_build(folder)}") from error
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise NotReady(f"the embedding model in {folder} cannot be read ({type(error).__name__})") from error
    if damaged:
        raise NotReady(f"the embedding model in {folder} is damaged ({', '.join(damaged)}); {how_to_build(folder)}")
    return manifest


def _parse(content: bytes) -> ModelManifest:
    data = json.loads(content)
    data["files"] = tuple(ModelFile(**file) for file in data["files"])
    manifest = ModelManifest(**{field.name: data[field.name] for field in fields(ModelManifest)})
    missing = {GRAPH_FILE, UNIGRAM_FILE} - {file.name for file in manifest.files}
    if missing:
        raise KeyError(*missing)
    if manifest.dimension < 1 or manifest.max_tokens < 3:
        raise ValueError("dimension or max_tokens out of range")
    return manifest


def verify_folder(folder: Path) -> ModelManifest:
    """As `read_manifest`, with the hash of every file checked (some 20 ms). Raises NotReady."""
    manifest = read_manifest(folder)
    changed = [file.name for file in manifest.files if describe_file(folder / file.name) != file]
    if changed:
        raise NotReady(f"the embedding model in {folder} is damaged ({', '.join(changed)}); {how_to_build(folder)}")
    return manifest


def how_to_build(folder: Path) -> str:
    """The command that puts the model into the folder."""
    return f"build it with: python -m recollect.adapters.embedders.building.build --target {folder}"
