"""Which texts of a document are embedded: those at the paths that its `index` names, in LangGraph's notation of paths.

`$` is the whole document as JSON; `a.b` goes through objects, `a[0]`, `a[-1]` and `a[*]` through lists, `*` through
either, `{a,b.c}` takes several. A number or a boolean at the end is its text, a list or an object its JSON, null
nothing.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from recollect.core.errors import InvalidInput

WHOLE = "$"
MOST_PATHS = 32
"""Paths of one item's index."""
MOST_TEXTS = 64
"""Texts of one item that are embedded: the first ones."""
MOST_CHARACTERS = 8_000
"""Characters of one text that are embedded: the first ones; a model reads fewer still."""

_CLOSING = {"[": "]", "{": "}"}


def texts_at(document: Mapping[str, Any], paths: Sequence[str]) -> list[str]:
    """The texts at these paths, in order, each once."""
    found = (text[:MOST_CHARACTERS] for path in paths for text in _texts(document, path))
    return list(islice(dict.fromkeys(text for text in found if text.strip()), MOST_TEXTS))


def check_paths(paths: Sequence[str]) -> None:
    """Raises InvalidInput for more than 32 paths, and for one of more than 512 characters."""
    if len(paths) > MOST_PATHS or any(not path or len(path) > 512 for path in paths):
        raise InvalidInput(f"an index names at most {MOST_PATHS} paths of 1 to 512 characters", ("index",))


def _texts(document: Mapping[str, Any], path: str) -> Iterator[str]:
    if path in ("", WHOLE):
        yield _json(document)
    else:
        yield from _walk(document, _steps(path))


def _walk(value: Any, steps: Sequence[str]) -> Iterator[str]:
    if not steps:
        yield from _text(value)
        return
    step, rest = steps[0], steps[1:]
    if step.startswith("{"):
        for field in filter(None, map(str.strip, step.strip("{}").split(","))):
            yield from _walk(value, [*_steps(field), *rest])
        return
    for inner in _entered(value, step):
        yield from _walk(inner, rest)


def _entered(value: Any, step: str) -> Sequence[Any]:
    """What one step leads to."""
    if step.startswith("["):
        return _members(value, step[1:].removesuffix("]")) if isinstance(value, list) else ()
    if step == "*":
        return list(value.values()) if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    return (value[step],) if isinstance(value, Mapping) and step in value else ()


def _members(value: list[Any], named: str) -> Sequence[Any]:
    if named == "*":
        return value
    digits = named.removeprefix("-")
    if not (digits.isascii() and digits.isdecimal() and len(digits) < 10):
        return ()
    place = int(named)
    return (value[place],) if -len(value) <= place < len(value) else ()


def _steps(path: str) -> list[str]:
    steps: list[str] = []
    name, place = "", 0
    while place < len(path):
        character = path[place]
        if character in _CLOSING:
            end = path.find(_CLOSING[character], place)
            end = len(path) - 1 if end < 0 else end
            steps += [name] if name else []
            steps.append(path[place : end + 1])
            name, place = "", end
        elif character == ".":
            steps += [name] if name else []
            name = ""
        else:
            name += character
        place += 1
    return [*steps, name] if name else steps


def _text(value: Any) -> Iterator[str]:
    if isinstance(value, list | Mapping):
        yield _json(value)
    elif value is not None:
        yield str(value)


def _json(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)
