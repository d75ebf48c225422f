"""The values of knowledge: the schemas of the three namespaces, and what a free one may hold (S-02 to S-21, S-39).

Writing is strict: wrong types, missing and unknown fields are refused with their path. Reading is lenient where
nothing is lost by it: a field that we do not know is passed over.
"""

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NoReturn, TypeAlias

from recollect.domain.errors import InvalidInput

VALUE_BYTES = 16 * 1024
VALUE_DEPTH = 8
LONGEST_TARGET = 256
MOST_STORES = 100
_LARGEST_WHOLE = 2**63 - 1
_SHOWN_CHARACTERS = 64

Path: TypeAlias = tuple[str | int, ...]
Check: TypeAlias = Callable[[Any, Path], None]


class Namespace(StrEnum):
    """The namespaces that have a meaning; every other one is free: plain JSON, in no prompt."""

    VOCABULARY = "vocabulary"
    RULE = "rule"
    CORRECTION = "correction"


class KnowledgeSource(StrEnum):
    """Who a mapping comes from (S-10)."""

    USER_INSTRUCTION = "user_instruction"
    INFERENCE = "inference"


@dataclass(frozen=True, slots=True)
class _Field:
    check: Check
    required: bool = False
    default: Any = None


def checked_value(namespace: str, value: Any) -> Any:
    """The value to store. For the three namespaces an object, or the text of one, with every default filled in.

    Raises InvalidInput, its `loc` beginning with "value": over 16 KiB as JSON or 8 levels deep, no JSON, or against
    the namespace's schema.
    """
    if namespace not in SCHEMAS:
        _check_json(value, ("value",), VALUE_DEPTH)
        return _within_size(value)
    given = _object(value)
    _refuse_unknown(given, SCHEMAS[namespace])
    return _within_size(_filled(given, SCHEMAS[namespace]))


def read_value(namespace: Namespace, stored: Any) -> Mapping[str, Any]:
    """A stored value of the three namespaces with every default. Raises InvalidInput for a malformed one (S-02)."""
    return _filled(_object(stored), SCHEMAS[namespace])


def _object(value: Any) -> Mapping[str, Any]:
    """The object that the value is, or is the text of (S-02 speaks of JSON strings)."""
    found = _parsed(value) if isinstance(value, str) else value
    if not isinstance(found, Mapping):
        raise InvalidInput("must be an object, or the text of one", ("value",))
    return found


def _parsed(text: str) -> Any:
    if len(text) > VALUE_BYTES:
        raise _too_large()
    try:
        return json.loads(text, parse_constant=_no_number)
    except (ValueError, RecursionError):
        raise InvalidInput("must be an object, or the text of one: this text is no JSON", ("value",)) from None


def _no_number(name: str) -> NoReturn:
    raise ValueError(name)


def _filled(given: Mapping[str, Any], schema: Mapping[str, _Field]) -> dict[str, Any]:
    """The fields of the schema, in its order, and the defaults of what is absent; null is taken as absent."""
    read: dict[str, Any] = {}
    for name, field in schema.items():
        value = given.get(name)
        if value is not None:
            field.check(value, ("value", name))
            read[name] = value
        elif field.required:
            raise InvalidInput("is required", ("value", name))
        elif field.default is not None:
            read[name] = field.default
    return read


def _refuse_unknown(given: Mapping[str, Any], schema: Mapping[str, _Field]) -> None:
    for name in given:
        if name not in schema:
            shown = name[:_SHOWN_CHARACTERS].encode("utf-8", "replace").decode()
            raise InvalidInput("unknown field", ("value", shown))


def _text(value: Any, path: Path) -> None:
    if not isinstance(value, str):
        raise InvalidInput("must be text", path)
    try:
        value.encode()
    except UnicodeEncodeError:
        raise InvalidInput("has half of a surrogate pair, which is no Unicode text", path) from None


def _said(value: Any, path: Path) -> None:
    _text(value, path)
    if not value.strip():
        raise InvalidInput("must not be blank", path)


def _name(value: Any, path: Path) -> None:
    _said(value, path)
    if len(value) > LONGEST_TARGET:
        raise InvalidInput(f"must have at most {LONGEST_TARGET} characters", path)


def _one_of(*words: str) -> Check:
    def check(value: Any, path: Path) -> None:
        if not isinstance(value, str) or value not in words:
            raise InvalidInput(f"must be one of {', '.join(words)}", path)

    return check


def _share(value: Any, path: Path) -> None:
    _number(value, path)
    if not 0 <= value <= 1:
        raise InvalidInput("must lie within 0 and 1", path)


def _stores(value: Any, path: Path) -> None:
    if not isinstance(value, list) or len(value) > MOST_STORES:
        raise InvalidInput(f"must be a list of at most {MOST_STORES} names of stores", path)
    for position, store in enumerate(value):
        _name(store, (*path, position))


def _number(value: Any, path: Path) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidInput("must be a number", path)
    if isinstance(value, int) and abs(value) > _LARGEST_WHOLE:
        raise InvalidInput("is out of range", path)
    if not math.isfinite(value):
        raise InvalidInput("must be a finite number", path)


def _check_json(value: Any, path: Path, levels: int) -> None:
    if isinstance(value, Mapping | list):
        if levels == 0:
            raise InvalidInput("is nested too deeply", ("value",))
        for part in (*value, *value.values()) if isinstance(value, Mapping) else value:
            _check_json(part, path, levels - 1)
    elif isinstance(value, str):
        _text(value, path)
    elif value is not None and not isinstance(value, bool):
        _number(value, path)


def _within_size(value: Any) -> Any:
    if len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()) > VALUE_BYTES:
        raise _too_large()
    return value


def _too_large() -> InvalidInput:
    return InvalidInput(f"must be at most {VALUE_BYTES} bytes of JSON", ("value",))


SCHEMAS: Mapping[str, Mapping[str, _Field]] = {
    Namespace.VOCABULARY: {
        "target": _Field(_name, required=True),
        "type": _Field(_one_of("synonym"), default="synonym"),
        "description": _Field(_text),
        "confidence": _Field(_share, default=1.0),
        "source": _Field(_one_of(*KnowledgeSource), default=KnowledgeSource.USER_INSTRUCTION.value),
    },
    Namespace.RULE: {
        "condition": _Field(_said, required=True),
        "applies_to": _Field(_stores, default=[]),
        "description": _Field(_text),
    },
    Namespace.CORRECTION: {
        "instruction": _Field(_said, required=True),
        "trigger": _Field(_text, required=True),
    },
}
"""What the values of the three namespaces hold (S-06 to S-10, S-14 to S-16, S-20, S-21)."""
