"""A built model on disk: manifest.json, model.onnx (a large one's numbers in weights.bin), and the tokenizer.

That is tokenizer.json, read by the package `tokenizers`, or unigram.bin, read by our own module `unigram`.
It lies in `RECOLLECT_HOME/models/<generation>/` on a laptop, in `/opt/recollect-models/<generation>/` on Lambda.
"""

import json
from dataclasses import asdict, dataclass
from hashlib import file_digest
from pathlib import Path

from recollect.core.errors import NotReady

GRAPH_FILE, MANIFEST_FILE = "model.onnx", "manifest.json"
TOKENIZER_FILE, UNIGRAM_FILE, WEIGHTS_FILE = "tokenizer.json", "unigram.bin", "weights.bin"
FILES = frozenset({GRAPH_FILE, MANIFEST_FILE, TOKENIZER_FILE, UNIGRAM_FILE, WEIGHTS_FILE})
"""All that a folder may hold."""
POOLINGS = ("mean", "first")
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
    """What a model folder holds and where it came from.

    `generation` is part of index names, [a-z0-9.-]+; `max_tokens` counts word pieces, the model's two marks and the
    prefix included, which some models want before a query or a passage. `pooling` is `mean` of all states, or `first`.
    """

    generation: str
    dimension: int
    max_tokens: int
    precision: str
    source: str
    source_sha256: str
    licence: str
    files: tuple[ModelFile, ...]
    query_prefix: str = ""
    passage_prefix: str = ""
    pooling: str = "mean"

    @property
    def tokenizer(self) -> str:
        """Name of the tokenizer's file."""
        return UNIGRAM_FILE if UNIGRAM_FILE in {file.name for file in self.files} else TOKENIZER_FILE


def describe_file(path: Path) -> ModelFile:
    """Size and sha256 of a file as it is now."""
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
    files = tuple(ModelFile(**file) for file in data.pop("files"))
    manifest = ModelManifest(**data, files=files)
    missing = {GRAPH_FILE, manifest.tokenizer} - {file.name for file in files}
    if missing:
        raise KeyError(*missing)
    if manifest.dimension < 1 or manifest.max_tokens < 3 or manifest.pooling not in POOLINGS:
        raise ValueError("dimension, max_tokens or pooling out of range")
    return manifest


def verify_folder(folder: Path) -> ModelManifest:
    """As `read_manifest`, and every file has the hash it was written with (some 20 ms). Raises NotReady."""
    manifest = read_manifest(folder)
    changed = [file.name for file in manifest.files if describe_file(folder / file.name) != file]
    if changed:
        raise NotReady(f"the embedding model in {folder} is damaged ({', '.join(changed)}); {how_to_build(folder)}")
    return manifest


def how_to_build(folder: Path) -> str:
    """The command that puts a model into the folder, the one after whose generation the folder is called."""
    model = "minilm" if folder.name.startswith("minilm") else "e5-small"
    return f"build it with: python -m recollect.adapters.embedders.build --target {folder} --model {model}"
