"""Writing an ONNX graph operator by operator. Needs the `onnx` package, at build time only."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

_OPSET, _IR_VERSION = 20, 10


class GraphWriter:
    """Collects nodes and constants; every method returns the name of what it added."""

    def __init__(self) -> None:
        self._nodes: list[NodeProto] = []
        self._constants: list[TensorProto] = []

    def constant(self, values: "NDArray[Any] | np.generic") -> str:
        name = f"constant_{len(self._constants)}"
        self._constants.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def add(self, operator: str, *inputs: str, **attributes: Any) -> str:
        return self.add_many(operator, 1, *inputs, **attributes)[0]

    def add_many(self, operator: str, outputs: int, *inputs: str, **attributes: Any) -> list[str]:
        names = [f"{operator}_{len(self._nodes)}_{index}" for index in range(outputs)]
        self._nodes.append(helper.make_node(operator, list(inputs), names, **attributes))
        return names

    def as_float(self, x: str) -> str:
        return self.add("Cast", x, to=TensorProto.FLOAT)

    def finished(self, name: str, outputs: dict[str, tuple[str, int]]) -> ModelProto:
        """The model of inputs input_ids and attention_mask.

        `outputs` is {name: (tensor, width)}; each comes out as (batch, sequence, width).
        """
        nodes = [*self._nodes, *(helper.make_node("Identity", [tensor], [out]) for out, (tensor, _) in outputs.items())]
        axes = ["batch", "sequence"]
        given = [helper.make_tensor_value_info(x, TensorProto.INT64, axes) for x in ("input_ids", "attention_mask")]
        told = [helper.make_tensor_value_info(x, TensorProto.FLOAT, [*axes, w]) for x, (_, w) in outputs.items()]
        graph = helper.make_graph(nodes, name, given, told, self._constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", _OPSET)], ir_version=_IR_VERSION)
