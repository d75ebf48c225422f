"""The reader of packed 4-bit models, over a file of a few hundred bytes written here by its description."""

import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.adapters.embedders.building.weights import FourBitTable, Q4Model, read_q4

WIDTH, INNER = 32, 64
PIECES = ("<s>", "<pad>", "</s>", "<unk>", "\u2581", "é", "\u2581do")
SCORES = (0.0, 0.0, 0.0, 0.0, -2.5, -3.0, -4.0)
REPLACEMENTS = {"\t": " ", "½": "1⁄2", "\u0007": ""}


def block(scale: float, numbers: list[int]) -> bytes:
    """32 integers of -8 to 7 with their scale."""
    halves = zip(numbers[:16], numbers[16:], strict=True)
    return struct.pack("<e", scale) + bytes((low + 8) | ((high + 8) << 4) for low, high in halves)


def row(first: int, scale: float = 0.5) -> list[int]:
    return [(first + place) % 16 - 8 for place in range(32)]


def vocabulary() -> bytes:
    encoded = [piece.encode() for piece in PIECES]
    starts = [sum(map(len, encoded[:count])) for count in range(len(encoded) + 1)]
    mapped = b"".join(
        struct.pack(f"<IB{len(new)}I", ord(old), len(new), *map(ord, new)) for old, new in REPLACEMENTS.items()
    )
    return b"".join(
        (
            struct.pack("<5iQ", len(PIECES), 0, 2, 1, 3, starts[-1]),
            struct.pack(f"<{len(starts)}I", *starts),
            struct.pack(f"<{len(SCORES)}f", *SCORES),
            b"".join(encoded),
            struct.pack("<iI", len(REPLACEMENTS), len(mapped)) + mapped,
        )
    )


def packed(magic: bytes = b"E5S1", block_size: int = 32, kind: int = 1) -> bytes:
    bodies = [
        ("emb.word", kind, 3 * WIDTH, b"".join(block(0.5 * count, row(count)) for count in (1, 2, 3))),
        ("l0.fo.w", 1, 2 * INNER, b"".join(block(0.25, row(count)) for count in range(4))),
        ("emb.ln.b", 0, WIDTH, np.arange(WIDTH, dtype="<f4").tobytes()),
    ]
    head = magic + struct.pack("<I7ifi", 1, WIDTH, 1, 4, INNER, 7, 16, 1, 1e-12, block_size) + vocabulary()
    at = len(head) + 4 + sum(2 + len(name) + 21 for name, *_ in bodies)
    directory = struct.pack("<i", len(bodies))
    for name, of_kind, count, body in bodies:
        directory += struct.pack("<H", len(name)) + name.encode() + struct.pack("<BIQQ", of_kind, count, at, len(body))
        at += len(body)
    return head + directory + b"".join(body for *_, body in bodies)


@pytest.fixture(scope="module")
def model() -> Q4Model:
    return read_q4(packed())


def test_the_vocabulary(model: Q4Model) -> None:
    read = model.vocabulary
    assert read.pieces == PIECES
    np.testing.assert_array_equal(read.scores, np.array(SCORES, np.float32))
    assert (read.begin, read.end, read.unknown) == (0, 2, 3)
    assert read.replacements == REPLACEMENTS


def test_a_table_in_four_bits(model: Q4Model) -> None:
    table = model.tensors["emb.word"]
    assert isinstance(table, FourBitTable)
    assert (table.pairs.shape, table.scales.shape) == ((3, 16), (3, 1))
    expected = [np.array(row(count)) * 0.5 * count for count in (1, 2, 3)]
    np.testing.assert_array_equal(table.floats(), np.array(expected, np.float32))


def test_the_second_matrix_of_the_inner_layer_has_longer_rows(model: Q4Model) -> None:
    table = model.tensors["l0.fo.w"]
    assert isinstance(table, FourBitTable)
    expected = np.array([row(count) for count in range(4)], np.float32).reshape(2, INNER) * 0.25
    np.testing.assert_array_equal(table.floats(), expected)


def test_floats_as_they_are(model: Q4Model) -> None:
    np.testing.assert_array_equal(model.tensors["emb.ln.b"], np.arange(WIDTH, dtype=np.float32))


@given(st.integers(0, len(packed()) - 1))
def test_a_file_that_is_cut_short_is_refused(length: int) -> None:
    with pytest.raises(ValueError):
        read_q4(packed()[:length])


@pytest.mark.parametrize("content", [packed(magic=b"GGUF"), packed(block_size=64), packed(kind=7)])
def test_another_format_is_refused(content: bytes) -> None:
    with pytest.raises(ValueError):
        read_q4(content)
