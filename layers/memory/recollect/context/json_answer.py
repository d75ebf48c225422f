"""The one JSON object that a model was asked for, out of its answer: outside data, of which nothing is trusted."""

import json
from collections.abc import Mapping
from typing import Any, NoReturn

_FENCE = "```"


def object_in(answer: str) -> Mapping[str, Any] | None:
    """Code fences and words around the object are tolerated; None where there is none, or one with NaN in it."""
    inner = answer.strip()
    if inner.startswith(_FENCE) and inner.endswith(_FENCE):
        inner = inner[inner.find("\n") + 1 : -len(_FENCE)]
    for candidate in (inner, inner[inner.find("{") : inner.rfind("}") + 1]):
        value = _parsed(candidate)
        if isinstance(value, dict):
            return value
    return None


def _parsed(text: str) -> object:
    try:
        return json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)
