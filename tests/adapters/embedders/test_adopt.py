"""Somebody's own ONNX model becomes a model folder: any graph of token states with its tokenizer."""

import shutil
from pathlib import Path

import numpy as np
import onnx
import pytest

from recollect.adapters.embedders.adopt import adopt, main
from recollect.adapters.embedders.model_folder import ModelManifest, verify_folder
from recollect.adapters.embedders.onnx_embedder import OnnxEmbedder
from recollect.core.errors import InvalidInput, NotReady
from recollect.core.vectors import TextKind

DIMENSION = 8


def wanted(name: str = "own.fp32.1", **more: str) -> ModelManifest:
    return ModelManifest(name, 1, 64, "as given", "here", "", "unknown", (), **more)


@pytest.fixture
def folder(tmp_path: Path, int8_folder: Path) -> Path:
    """A graph as others export it: three inputs, an output of another name. State: a row of a table plus the type's."""
    made = tmp_path / "own"
    made.mkdir()
    shutil.copy(int8_folder / "tokenizer.json", made)
    table = np.random.default_rng(3).standard_normal((30_522, DIMENSION)).astype(np.float32)
    types = np.array([[0.0] * DIMENSION, [9.0] * DIMENSION], np.float32)
    helper, float_, int_ = onnx.helper, onnx.TensorProto.FLOAT, onnx.TensorProto.INT64
    nodes = [
        helper.make_node("Gather", ["table", "input_ids"], ["words"]),
        helper.make_node("Gather", ["types", "token_type_ids"], ["kinds"]),
        helper.make_node("Add", ["words", "kinds"], ["token_embeddings"]),
    ]
    names = ("input_ids", "attention_mask", "token_type_ids")
    inputs = [helper.make_tensor_value_info(name, int_, ["batch", "sequence"]) for name in names]
    output = helper.make_tensor_value_info("token_embeddings", float_, ["batch", "sequence", DIMENSION])
    constants = [onnx.numpy_helper.from_array(values, name) for values, name in ((table, "table"), (types, "types"))]
    graph = helper.make_graph(nodes, "own", inputs, [output], constants)
    opset = [helper.make_opsetid("", 20)]
    onnx.save_model(helper.make_model(graph, opset_imports=opset, ir_version=10), made / "model.onnx")
    return made


def test_a_model_of_ones_own_encodes(folder: Path) -> None:
    assert adopt(folder, wanted()).dimension == DIMENSION
    assert verify_folder(folder).generation == "own.fp32.1"
    own = OnnxEmbedder(folder)
    encoding = own.encode(["tea for two"], TextKind.PASSAGE, with_tokens=True)[0]
    assert (own.generation, own.dimension, encoding.vector.shape) == ("own.fp32.1", DIMENSION, (DIMENSION,))
    assert encoding.tokens is not None
    assert encoding.tokens.spans == ((0, 3), (4, 7), (8, 11))


def test_its_prefixes_stand_before_a_text_and_move_no_span(folder: Path) -> None:
    adopt(folder, wanted(query_prefix="find: ", passage_prefix=""))
    own = OnnxEmbedder(folder)
    asked = own.encode(["tea"], TextKind.QUERY, with_tokens=True)[0]
    told = own.encode(["find: tea"], TextKind.PASSAGE)[0]
    np.testing.assert_array_equal(asked.vector, told.vector)
    assert asked.tokens is not None
    assert asked.tokens.spans == ((0, 3),)


def test_its_first_state_may_be_its_vector(folder: Path) -> None:
    adopt(folder, wanted(pooling="first"))
    tea, coffee = OnnxEmbedder(folder).encode(["tea", "coffee"], TextKind.QUERY)
    np.testing.assert_array_equal(tea.vector, coffee.vector)


def test_what_cannot_be_a_model_folder_is_refused(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="name"):
        adopt(folder, wanted("Own Model"))
    with pytest.raises(NotReady, match="cannot be read"):
        adopt(tmp_path / "none", wanted())
    (folder / "tokenizer.json").unlink()
    with pytest.raises(NotReady, match=r"holds no tokenizer\.json"):
        adopt(folder, wanted())
    assert not (folder / "manifest.json").exists()


def test_the_command_says_what_it_made(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main([str(folder), "--name", "own.fp32.1", "--query-prefix", "find: "])
    assert left.value.code == 0
    assert capsys.readouterr().err == "own.fp32.1: 8 dimensions\n"
    with pytest.raises(SystemExit) as left:
        main([str(folder), "--name", "own.fp32.1", "--max-tokens", "2"])
    assert left.value.code == 1
    assert "max_tokens is at least 3" in capsys.readouterr().err
