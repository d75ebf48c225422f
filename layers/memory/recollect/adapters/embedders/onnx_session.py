"""What the models in the process share: how a graph is opened, what keeps it from it, which texts a tokenizer takes."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from recollect.core.errors import NotReady, missing_package

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

# A text is cut to this many characters a piece before it is split, which bounds the time of a huge one.
_CHARACTERS_PER_PIECE = 64


def open_session(graph: Path) -> "InferenceSession":
    """The graph on one thread. Raises ImportError without onnxruntime, whatever that raises for a damaged file."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(str(graph), options, providers=["CPUExecutionProvider"])


@contextmanager
def loading(folder: Path, model: str, part: str) -> Iterator[None]:
    """Raises NotReady for whatever keeps the files of a model from being loaded; `part` is what lacks a package."""
    try:
        yield
    except ImportError as error:
        raise missing_package(error.name, part) from error
    except Exception as error:  # onnxruntime raises bare Exceptions of its own for a file that it cannot read
        raise NotReady(f"{model} in {folder} cannot be loaded ({type(error).__name__})") from error


def acceptable(text: str, most_pieces: int) -> str:
    """The beginning of a text, enough for so many pieces.

    "?" replaces half a surrogate pair, one character for one, so that spans stay right.
    """
    return text[: most_pieces * _CHARACTERS_PER_PIECE].encode("utf-8", "replace").decode("utf-8")
