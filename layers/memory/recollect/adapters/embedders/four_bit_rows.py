"""Rows of a table that stays in 4 bits inside the graph: a number takes half a byte on disk and in memory."""

from collections.abc import Callable

import numpy as np

from recollect.adapters.embedders.graph_writer import GraphWriter
from recollect.adapters.embedders.q4_file import BLOCK, FourBitTable

_LOW_HALF, _HALF_BITS, _OFFSET = np.uint8(0x0F), np.uint8(4), np.float32(8)


def four_bit_rows(table: FourBitTable) -> Callable[[GraphWriter, str], str]:
    """Writes the rows at a tensor of ids (batch, sequence) as (batch, sequence, width) float32."""

    def write(graph: GraphWriter, ids: str) -> str:
        blocks = table.scales.shape[1]
        pairs = graph.add("Gather", graph.constant(table.pairs), ids)
        split = graph.add("Reshape", pairs, graph.constant(np.array([0, 0, blocks, BLOCK // 2])))
        low = graph.add("BitwiseAnd", split, graph.constant(_LOW_HALF))
        high = graph.add("BitShift", split, graph.constant(_HALF_BITS), direction="RIGHT")
        integers = graph.add("Sub", graph.as_float(graph.add("Concat", low, high, axis=3)), graph.constant(_OFFSET))
        scales = graph.as_float(graph.add("Gather", graph.constant(table.scales[:, :, None]), ids))
        numbers = graph.add("Mul", integers, scales)
        return graph.add("Reshape", numbers, graph.constant(np.array([0, 0, blocks * BLOCK])))

    return write
