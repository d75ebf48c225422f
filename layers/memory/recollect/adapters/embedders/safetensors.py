"""Reading a .safetensors file: 8 bytes of length, a JSON header, then the tensors' bytes."""

import json
import struct
from typing import Any

import numpy as np

from recollect.core.vectors import FloatArray


def read_float_tensors(content: bytes) -> dict[str, FloatArray]:
    """The float32 tensors by name, each in its shape. Raises ValueError, KeyError or struct.error on another format."""
    (header_length,) = struct.unpack_from("<Q", content)
    header: dict[str, dict[str, Any]] = json.loads(content[8 : 8 + header_length])
    body = memoryview(content)[8 + header_length :]
    return {name: _tensor(body, entry) for name, entry in header.items() if entry.get("dtype") == "F32"}


def _tensor(body: memoryview, entry: dict[str, Any]) -> FloatArray:
    start, end = entry["data_offsets"]
    return np.frombuffer(body[start:end], dtype="<f4").reshape(entry["shape"]).astype(np.float32)
