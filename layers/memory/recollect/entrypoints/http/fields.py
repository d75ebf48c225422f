"""How JSON values from outside are read and what their schemas are: one small declaration serves both.

A field reads a value as it came from `json.loads` (or a text of the query string), strictly: no "5" for 5, no true
for 1, no NaN. It is hand-written, not pydantic: pydantic takes as long to import as all the rest of the function
`ingest` (docs/benchmarks.md), and the messages here can promise never to repeat what was sent.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from recollect.core.errors import InvalidInput
from recollect.core.time import parse_instant
from recollect.entrypoints.http.ids import LONGEST_ID, id_fault
from recollect.timeline.ingest import FieldError

Schema = dict[str, Any]

_NAMED_AT_MOST = 20
_LONGEST_NAME = 64
_LONGEST_TIME = 64
_LARGEST_WHOLE = 2**63 - 1
_WHOLE = re.compile("-?[0-9]{1,18}")
_NUMBER = re.compile(r"-?[0-9]{1,18}(\.[0-9]{1,18})?")


class Refused(Exception):
    """A value breaks rules; each fault has its path from that value and a message without contents."""

    def __init__(self, *faults: FieldError) -> None:
        super().__init__()
        self.faults = faults


def refuse(message: str, *loc: str | int) -> Refused:
    """One fault, of the value itself or of a part of it."""
    return Refused(FieldError(loc, message))


@dataclass(frozen=True, slots=True)
class Field:
    """A value of an object: how it is read, its JSON schema, whether it must be there, what stands for it if not."""

    read: Callable[[Any], Any]
    schema: Mapping[str, Any]
    required: bool = False
    default: Any = None

    def needed(self) -> "Field":
        """The same, required."""
        return replace(self, required=True)

    def described(self, description: str) -> "Field":
        """The same, with a sentence on its meaning."""
        return replace(self, schema={**self.schema, "description": description})


class Shape:
    """An object with these fields and no others. `null` is taken as absent."""

    def __init__(self, name: str, fields: Mapping[str, Field]) -> None:
        self.name = name
        self.fields = fields

    def read(self, value: Any) -> dict[str, Any]:
        """The fields that are there, read, and the defaults. Raises Refused with every fault, unknown names first."""
        if not isinstance(value, dict):
            raise refuse("must be an object")
        faults = [FieldError((_shown(name),), "unknown field") for name in value if name not in self.fields]
        read: dict[str, Any] = {}
        for name, field in self.fields.items():
            _read_into(read, name, field, value.get(name), faults)
        if faults:
            raise Refused(*faults[:_NAMED_AT_MOST])
        return read

    def schema(self) -> Schema:
        """Its JSON schema."""
        required = [name for name, field in self.fields.items() if field.required]
        properties = {name: _with_default(field) for name, field in self.fields.items()}
        schema: Schema = {"type": "object", "properties": properties, "additionalProperties": False}
        return {**schema, "required": required} if required else schema


def _read_into(read: dict[str, Any], name: str, field: Field, value: Any, faults: list[FieldError]) -> None:
    if value is None:
        if field.required:
            faults.append(FieldError((name,), "is required"))
        elif field.default is not None:
            read[name] = field.default
        return
    try:
        read[name] = field.read(value)
    except Refused as refused:
        faults.extend(FieldError((name, *fault.loc), fault.message) for fault in refused.faults)


def _with_default(field: Field) -> Schema:
    return {**field.schema} if field.default is None else {**field.schema, "default": field.default}


def _shown(name: str) -> str:
    """An unknown field's name, cut, and such that it can be written as UTF-8."""
    return name[:_LONGEST_NAME].encode("utf-8", "replace").decode()


def is_unicode(value: str) -> bool:
    """Whether it can be written as UTF-8: no lone surrogates."""
    if value.isascii():
        return True
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def text(*, max_bytes: int, blank: bool = True) -> Field:
    """Text of at most `max_bytes` bytes of UTF-8; unless `blank`, with more than white space in it."""

    def read(value: Any) -> str:
        if not isinstance(value, str):
            raise refuse("must be text")
        if not is_unicode(value):
            raise refuse("has half of a surrogate pair, which is no Unicode text")
        if len(value) > max_bytes or len(value.encode()) > max_bytes:
            raise refuse(f"must be at most {max_bytes} bytes of UTF-8")
        if not blank and not value.strip():
            raise refuse("must not be blank")
        return value

    schema: Schema = {"type": "string", "maxLength": max_bytes}
    return Field(read, schema if blank else {**schema, "minLength": 1})


def identifier() -> Field:
    """An id that a client chose."""

    def read(value: Any) -> str:
        fault = id_fault(value)
        if fault is not None:
            raise refuse(fault)
        return str(value)

    return Field(read, {"type": "string", "minLength": 1, "maxLength": LONGEST_ID})


def instant() -> Field:
    """A time: ISO 8601, epoch seconds, or milliseconds from 10^11 up; in a query string as text."""

    def read(value: Any) -> datetime:
        if isinstance(value, str) and len(value) > _LONGEST_TIME:
            raise refuse("not a time: ISO 8601, epoch seconds or milliseconds")
        try:
            return parse_instant(value)
        except InvalidInput as error:
            raise refuse(str(error)) from None

    return Field(read, {"anyOf": [{"type": "string", "maxLength": _LONGEST_TIME}, {"type": "number"}]})


def choice(*names: str, default: str | None = None) -> Field:
    """One of these words."""

    def read(value: Any) -> str:
        if not isinstance(value, str) or value not in names:
            raise refuse(f"must be one of {', '.join(names)}")
        return value

    return Field(read, {"type": "string", "enum": list(names)}, default=default)


def flag() -> Field:
    """True or false; absent is false."""

    def read(value: Any) -> bool:
        if not isinstance(value, bool):
            raise refuse("must be true or false")
        return value

    return Field(read, {"type": "boolean"})


def whole(minimum: int, maximum: int = _LARGEST_WHOLE, default: int | None = None) -> Field:
    """A whole number, ends inclusive."""

    def read(value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int):
            raise refuse("must be a whole number")
        return int(_within(value, minimum, maximum))

    return Field(read, {"type": "integer", "minimum": minimum, "maximum": maximum}, default=default)


def number(minimum: float, maximum: float) -> Field:
    """A finite number, ends inclusive."""
    return Field(
        lambda value: float(_within(finite(value), minimum, maximum)),
        {"type": "number", "minimum": minimum, "maximum": maximum},
    )


def finite(value: Any) -> int | float:
    """The number as it is. Raises Refused for what is no number, and for 1e999, which is read as infinity."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise refuse("must be a number")
    if isinstance(value, int):
        if abs(value) > _LARGEST_WHOLE:
            raise refuse("is out of range")
    elif not math.isfinite(value):
        raise refuse("must be a finite number")
    return value


def list_of(item: Field, minimum: int, maximum: int) -> Field:
    """So many values, each as `item` reads it."""

    def read(value: Any) -> list[Any]:
        if not isinstance(value, list):
            raise refuse("must be a list")
        if not minimum <= len(value) <= maximum:
            raise refuse(f"must have {minimum} to {maximum} entries")
        return _read_each(item, value)

    schema = {"type": "array", "items": item.schema, "minItems": minimum, "maxItems": maximum}
    return Field(read, schema)


def nested(shape: Shape) -> Field:
    """An object of that shape."""
    return Field(shape.read, shape.schema())


def _read_each(item: Field, values: Sequence[Any]) -> list[Any]:
    read: list[Any] = []
    faults: list[FieldError] = []
    for position, value in enumerate(values):
        try:
            read.append(item.read(value))
        except Refused as refused:
            faults.extend(FieldError((position, *fault.loc), fault.message) for fault in refused.faults)
            if len(faults) >= _NAMED_AT_MOST:
                break
    if faults:
        raise Refused(*faults[:_NAMED_AT_MOST])
    return read


def _within(value: int | float, minimum: float, maximum: float) -> int | float:
    if not minimum <= value <= maximum:
        raise refuse(f"must lie within {minimum} and {maximum}")
    return value


def in_query(field: Field) -> Field:
    """A number as it stands in a query string: the text of a JSON number."""

    def read(value: Any) -> Any:
        if not isinstance(value, str) or not _NUMBER.fullmatch(value):
            raise refuse("must be a number")
        return field.read(int(value) if _WHOLE.fullmatch(value) else float(value))

    return replace(field, read=read)
