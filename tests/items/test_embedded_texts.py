"""Which texts of a document are embedded, by LangGraph's notation of paths."""

import json
from typing import Any

import pytest

from recollect.core.errors import InvalidInput
from recollect.items.embedded_texts import MOST_CHARACTERS, MOST_PATHS, MOST_TEXTS, check_paths, texts_at

DOCUMENT: dict[str, Any] = {
    "name": "test",
    "info": {"age": 25, "tags": ["a", "b"], "made": {"on": "2024-01-01", "again": "2024-01-02"}},
    "items": [{"id": 1, "value": "first", "tags": ["x", "y"]}, {"id": 2, "value": "second", "tags": ["y"]}],
    "empty": None,
    "none": [],
    "yes": True,
}


@pytest.mark.parametrize(
    ("path", "texts"),
    [
        ("$", [json.dumps(DOCUMENT, sort_keys=True)]),
        ("name", ["test"]),
        ("info.age", ["25"]),
        ("info.made.on", ["2024-01-01"]),
        ("info.made.*", ["2024-01-01", "2024-01-02"]),
        ("items[0].value", ["first"]),
        ("items[-1].value", ["second"]),
        ("items[*].value", ["first", "second"]),
        ("items[*].tags[*]", ["x", "y"]),
        ("items[*].{id,value}", ["1", "first", "2", "second"]),
        ("{name,info.age}", ["test", "25"]),
        ("info.tags", ['["a", "b"]']),
        ("none", ["[]"]),
        ("yes", ["True"]),
        *(
            (path, [])
            for path in ("empty", "gone", "name.x", "items[9].value", "items[x]", "items[]", "info[0]", "{", "a[")
        ),
    ],
)
def test_the_texts_at_a_path(path: str, texts: list[str]) -> None:
    assert texts_at(DOCUMENT, [path]) == texts


def test_texts_are_in_order_once_and_bounded() -> None:
    assert texts_at({"a": "x", "b": "y", "c": "x"}, ["b", "a", "c"]) == ["y", "x"]
    assert texts_at({"a": " \n"}, ["a"]) == []
    assert texts_at({"a": "x" * (MOST_CHARACTERS + 1)}, ["a"]) == ["x" * MOST_CHARACTERS]
    assert len(texts_at({"a": list(range(100))}, ["a[*]"])) == MOST_TEXTS


@pytest.mark.parametrize("paths", [["a"] * (MOST_PATHS + 1), [""], ["a" * 513]])
def test_too_many_or_too_long_paths_are_refused(paths: list[str]) -> None:
    with pytest.raises(InvalidInput):
        check_paths(paths)
