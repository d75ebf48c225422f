"""What requests and answers are made of: pydantic models, and the types of their fields.

One model is the check of a request, its part of the OpenAPI document, and the JSON of an answer. Models are built when
they are first used (`defer_build`), so that a function pays for its own alone.
"""

import json
import math
import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from enum import Enum
from functools import cache
from types import GenericAlias
from typing import Annotated, Any, ClassVar, NoReturn, Self, TypeVar, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    RootModel,
    ValidationError,
    create_model,
    model_validator,
)
from pydantic_core import PydanticCustomError, core_schema

from recollect.core.errors import InvalidInput
from recollect.core.event import SPOKEN_TYPES, Source
from recollect.core.ids import LONGEST_ID, id_fault
from recollect.core.items import is_deeper
from recollect.core.scope import MOST_LABELS, Labels, namespace_fault
from recollect.core.time import iso, parse_instant
from recollect.settings import Settings


def build_models(types: Iterable[Any]) -> int:
    """Builds models, and those that their fields name, now rather than when they are first used; says how many."""
    built, left = 0, [*types]
    seen: set[Any] = set()
    while left:
        one = left.pop()
        if not (isinstance(one, type) and issubclass(one, BaseModel)):
            left += get_args(one)
        elif one not in seen:
            seen.add(one)
            left += [field.annotation for field in one.model_fields.values()]
            built += one.model_rebuild() is not None
    return built


class NotJson(ValueError):
    """The body is no JSON text in UTF-8; its message repeats nothing of it."""


def parse_json(body: bytes) -> Any:
    """The value that the body stands for. Raises NotJson, for NaN, Infinity and bottomless nesting too."""
    text = utf8(body)
    try:
        return json.loads(text, parse_constant=_no_number)
    except json.JSONDecodeError as error:
        raise NotJson(f"the body is not JSON, from character {error.pos} on") from None
    except ValueError:
        raise NotJson("the body has a number that JSON does not know, or one with too many digits") from None
    except RecursionError:
        raise NotJson("the body is nested too deeply") from None


def utf8(body: bytes) -> str:
    """The text of the body. Raises NotJson where it is not UTF-8."""
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError:
        raise NotJson("the body is not UTF-8") from None


def json_text(value: object) -> str:
    """Compact JSON, to be sent as UTF-8. Raises ValueError for NaN, which no answer may hold."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def _no_number(name: str) -> NoReturn:
    raise ValueError(name)


CONTENT_BYTES = 64 * 1024
LONGEST_VECTOR = 4096
PAGE_BYTES = 4_500_000  # of the 5.5 MB that an answer may have
LARGEST_WHOLE = 2**63 - 1
FAULT = "recollect"
"""The type of pydantic's error that carries a message of ours, as its `message`."""

_DEFAULT_DIMENSION = 384
_CONFIGURED = ("openai", "bedrock", "onnx")
_HALF = "has half of a surrogate pair, which is no Unicode text"
_METADATA_BYTES = 16 * 1024
_METADATA_DEPTH = 8
_ABSENT = object()
_CONDITION_DEPTH = 32
_CONDITIONS_BYTES = 8 * 1024
_LONGEST_NAME = 64
_LONGEST_TIME = 64
_WHOLE = re.compile("-?[0-9]{1,18}")
_NUMBER = re.compile(r"-?[0-9]{1,18}(\.[0-9]{1,18})?")

Schema = dict[str, Any]
T = TypeVar("T")


class RequestModel(BaseModel):
    """A body, a query string, or an object in one: these fields and no others, strictly; null counts as absent."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, defer_build=True, allow_inf_nan=False)
    cleared_by_null: ClassVar[frozenset[str]] = frozenset()
    """Fields to which null is a value."""

    @model_validator(mode="before")
    @classmethod
    def _without_nulls(cls, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        known = _nullable(cls)
        named = ((name if name in known else _shown(name), one) for name, one in value.items())
        return {name: one for name, one in named if one is not None or name not in known}

    def given(self) -> dict[str, Any]:
        """The fields that the request has, by their names here."""
        return {name: getattr(self, name) for name in type(self).model_fields if name in self.model_fields_set}


@cache
def _nullable(model: type[RequestModel]) -> frozenset[str]:
    """The names of the fields that null leaves absent."""
    return frozenset(field.alias or name for name, field in model.model_fields.items()) - model.cleared_by_null


class DocumentModel(RootModel[Any]):
    """A body that the domain reads whole."""

    model_config = ConfigDict(frozen=True, defer_build=True)


class AnswerModel(BaseModel):
    """An answer, or an object in one: made of values of the domain, in JSON without what is absent."""

    model_config = ConfigDict(frozen=True, defer_build=True, from_attributes=True)

    @classmethod
    def made_of(cls, *values: object, **more: Any) -> Self:
        """Each field by its name from `more`, else from the first of the values that has it."""
        names = cls.model_fields
        found = {name: getattr(one, name) for one in reversed(values) for name in names if hasattr(one, name)}
        return cls.model_validate(found | more)

    @classmethod
    def json_of(cls, value: Any) -> dict[str, Any]:
        """The JSON of a value of the domain, as Python has it."""
        return cls.model_validate(value).document()

    def document(self) -> dict[str, Any]:
        """The JSON of it, as Python has it."""
        return self.model_dump(mode="json", by_alias=True)


Item = TypeVar("Item", bound=AnswerModel | Mapping[str, Any])
Place = TypeVar("Place")


def answer_text(body: AnswerModel | Mapping[str, Any]) -> str:
    """Compact JSON, to be sent as UTF-8."""
    return body.model_dump_json(by_alias=True) if isinstance(body, AnswerModel) else json_text(body)


def within_page(items: Sequence[Item]) -> Sequence[Item]:
    """The first items that fit into one answer; the first one always."""
    total = 0
    for position, item in enumerate(items):
        total += len(answer_text(item).encode())
        if total > PAGE_BYTES and position:
            return items[:position]
    return items


def fitted(read: Callable[[int], tuple[Sequence[Item], Place]], limit: int) -> tuple[Sequence[Item], Place]:
    """So many entries and where they end, or fewer of them, read again, where they do not fit into one answer."""
    items, end = read(limit)
    fitting = len(within_page(items))
    return (items, end) if fitting == len(items) else read(fitting)


class _NullIsAbsent:
    """The schema without the null that stands for an absent value in Python."""

    def __get_pydantic_json_schema__(self, schema: Any, handler: Callable[[Any], Schema]) -> Schema:
        found = handler(schema)
        others = [one for one in found.get("anyOf", ()) if one != {"type": "null"}]
        return {**found, "anyOf": others} if len(others) > 1 else others[0] if others else found


def _is_none(value: object) -> bool:
    return value is None


Maybe = Annotated[T | None, Field(exclude_if=_is_none), _NullIsAbsent()]
"""A field that may be absent: None here, in JSON not there."""
Some = Annotated[list[T] | None, Field(exclude_if=operator.not_), _NullIsAbsent()]
"""A list that is absent where it is empty."""
_NextCursor = Maybe[str]


def page_of(name: str, entries: str, model: type[AnswerModel]) -> type[AnswerModel]:
    """The model of a list's answer, by its name: the entries, and the cursor to what follows."""
    fields: dict[str, Any] = {entries: GenericAlias(list, (model,)), "next_cursor": (_NextCursor, None)}
    return create_model(name, __base__=AnswerModel, **fields)


def fault(message: str) -> PydanticCustomError:
    """What is wrong with a value, in words of ours that repeat nothing of it."""
    return PydanticCustomError(FAULT, "{message}", {"message": message})


def refuse_all(faults: Iterable[tuple[tuple[str | int, ...], str]]) -> None:
    """Raises for these places, each with its message; for none it does not."""
    lines = [{"type": fault(message), "loc": loc, "input": None} for loc, message in faults]
    if lines:
        raise ValidationError.from_exception_data("document", lines)  # type: ignore[arg-type]


class Read:
    """A value that a function reads, and the JSON schema of what it takes; the schema may be made when it is needed."""

    def __init__(self, read: Callable[[Any], Any], schema: Schema | Callable[[], Schema]) -> None:
        self._read, self._schema = read, schema

    def __get_pydantic_core_schema__(self, _source: Any, _handler: Any) -> core_schema.CoreSchema:
        return core_schema.no_info_plain_validator_function(self._read)

    def __get_pydantic_json_schema__(self, _schema: Any, _handler: Any) -> Schema:
        return _made(self._schema)


class OneOf:
    """One of these words; where the field's type is an enumeration, its member. `hint` follows in the refusal."""

    def __init__(self, *names: str, hint: str = "") -> None:
        self.names = names
        self._hint = hint

    def __get_pydantic_core_schema__(self, source: Any, _handler: Any) -> core_schema.CoreSchema:
        made = source if isinstance(source, type) and issubclass(source, Enum) else str

        def read(value: Any) -> Any:
            if not isinstance(value, str) or value not in self.names:
                raise fault(f"must be one of {', '.join(self.names)}{self._hint}")
            return made(value)

        return core_schema.no_info_plain_validator_function(read)

    def __get_pydantic_json_schema__(self, _schema: Any, _handler: Any) -> Schema:
        return {"type": "string", "enum": [str(name) for name in self.names]}


class Text:
    """Text of at most `most` bytes of UTF-8; unless `blank`, with more than white space in it."""

    def __init__(self, most: int, *, blank: bool = True) -> None:
        self._most, self._blank = most, blank

    def __get_pydantic_core_schema__(self, _source: Any, _handler: Any) -> core_schema.CoreSchema:
        return core_schema.no_info_after_validator_function(self._check, core_schema.str_schema(strict=True))

    def __get_pydantic_json_schema__(self, _schema: Any, _handler: Any) -> Schema:
        schema: Schema = {"type": "string", "maxLength": self._most}
        return schema if self._blank else {**schema, "minLength": 1}

    def _check(self, value: str) -> str:
        if not is_unicode(value):
            raise fault(_HALF)
        if len(value) > self._most or len(value.encode()) > self._most:
            raise fault(f"must be at most {self._most} bytes of UTF-8")
        if not self._blank and not value.strip():
            raise fault("must not be blank")
        return value


class Shows:
    """An answer's value, described; the bounds are promised, not checked. The schema may be made when it is needed."""

    def __init__(self, schema: Schema | Callable[[], Schema]) -> None:
        self._schema = schema

    def __get_pydantic_json_schema__(self, _schema: Any, _handler: Any) -> Schema:
        return _made(self._schema)


def finite(value: Any) -> int | float:
    """The number as it is. Raises for what is no number, and for 1e999, which is read as infinity."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise fault("must be a number")
    if isinstance(value, int):
        if abs(value) > LARGEST_WHOLE:
            raise fault("is out of range")
    elif not math.isfinite(value):
        raise fault("must be a finite number")
    return value


def _made(schema: Schema | Callable[[], Schema]) -> Schema:
    return dict(schema) if isinstance(schema, dict) else schema()


def _shown(name: str) -> str:
    """A field's name, cut, and such that it can be written as UTF-8."""
    return name[:_LONGEST_NAME].encode("utf-8", "replace").decode()


def _identifier(value: Any) -> str:
    found = id_fault(value)
    if found is not None:
        raise fault(found)
    return str(value)


def _owner(value: Any) -> str:
    if value is _ABSENT:
        raise fault("is required")
    return _identifier(value)


def _namespace(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not value or not all(isinstance(label, str) for label in value):
        raise fault("must be a list of labels")
    found = namespace_fault(value)
    if found is not None:
        raise fault(found)
    return tuple(value)


def _namespace_path(value: Any) -> tuple[str, ...]:
    return _namespace(value.strip("/").split("/") if isinstance(value, str) else value)


def _instant(value: Any) -> datetime:
    if isinstance(value, str) and len(value) > _LONGEST_TIME:
        raise fault("not a time: ISO 8601, epoch seconds or milliseconds")
    try:
        return parse_instant(value)
    except InvalidInput as error:
        raise fault(str(error)) from None


def _number_of_text(value: Any) -> int | float:
    if not isinstance(value, str) or not _NUMBER.fullmatch(value):
        raise fault("must be a number")
    return int(value) if _WHOLE.fullmatch(value) else float(value)


def _scaled(values: list[float]) -> list[float]:
    """A vector that is not all 0, by its largest entry."""
    largest = max(map(abs, values))
    if largest == 0:
        raise fault("must not be all 0")
    return [entry / largest for entry in values]  # so that no length overflows in 32 bits


def _metadata(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise fault("must be an object")
    _check_json(value, _METADATA_DEPTH)
    if len(json_text(value).encode()) > _METADATA_BYTES:
        raise fault(f"must be at most {_METADATA_BYTES} bytes of JSON")
    return value


def check_depth(value: Any, levels: int) -> None:
    """Raises a fault where JSON has more levels of lists and objects than these."""
    if is_deeper(value, levels):
        raise fault("is nested too deeply")


def _check_json(value: Any, levels: int) -> None:
    if isinstance(value, dict | list):
        if levels == 0:
            raise fault("is nested too deeply")
        for part in (*value, *value.values()) if isinstance(value, dict) else value:
            _check_json(part, levels - 1)
    elif isinstance(value, str):
        if not is_unicode(value):
            raise fault(_HALF)
    elif value is not None and not isinstance(value, bool):
        finite(value)


def _conditions(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise fault("must be an object")
    check_depth(value, _CONDITION_DEPTH)
    return value


def _conditions_in(value: Any) -> dict[str, Any]:
    if not isinstance(value, str) or len(value) > _CONDITIONS_BYTES:
        raise fault(f"must be at most {_CONDITIONS_BYTES} characters of JSON")
    try:
        return _conditions(parse_json(value.encode()))
    except NotJson as error:
        raise fault(str(error)) from None


def _time(value: Any) -> str:
    return iso(value) if isinstance(value, datetime) else str(value)


IN_QUERY = BeforeValidator(_number_of_text)
"""A number as it stands in a query string: the text of a JSON number."""
_AN_ID: Schema = {"type": "string", "minLength": 1, "maxLength": LONGEST_ID}
_A_TIME: Schema = {"anyOf": [{"type": "string", "maxLength": _LONGEST_TIME}, {"type": "number"}]}
Identifier = Annotated[str, Read(_identifier, _AN_ID)]
Instant = Annotated[datetime, Read(_instant, _A_TIME)]
"""ISO 8601, epoch seconds, or milliseconds from 10^11 up; in a query string as text."""
Number = Annotated[float, Read(lambda value: float(finite(value)), {"type": "number"})]
_LABELS_SCHEMA: Schema = {
    "type": "array", "items": {"type": "string", "minLength": 1}, "minItems": 1, "maxItems": MOST_LABELS
}  # fmt: skip
NamespaceLabels = Annotated[tuple[str, ...], Read(_namespace, _LABELS_SCHEMA)]
"""A path of labels."""
NamespacePath = Annotated[
    tuple[str, ...], Read(_namespace_path, {"type": "string", "minLength": 1, "format": "labels"})
]
"""The same in a query string: the labels with slashes between."""
Vector = Annotated[list[Number], Field(min_length=1, max_length=LONGEST_VECTOR), AfterValidator(_scaled)]
_CONDITIONS_SCHEMA: Schema = {
    "type": "string", "maxLength": _CONDITIONS_BYTES, "contentMediaType": "application/json"
}  # fmt: skip
Conditions = Annotated[dict[str, Any], Read(_conditions, {"type": "object", "additionalProperties": True})]
"""A filter in the grammar of docs/filters.md, which the domain reads."""
ConditionsText = Annotated[dict[str, Any], Read(_conditions_in, _CONDITIONS_SCHEMA)]
"""The same in a query string, as JSON."""
Metadata = Annotated[dict[str, Any], Read(_metadata, {"type": "object", "additionalProperties": True})]
"""An object of free JSON values: at most 16 KiB as compact JSON, at most 8 levels, itself the first."""
Content = Annotated[str, Text(CONTENT_BYTES, blank=False)]
Keyword = Annotated[str, Text(512, blank=False)]
Keywords = Annotated[list[Keyword], Field(max_length=50, min_length=0)]
Importance = Annotated[float, Field(ge=0, le=1)]
SpokenType = Annotated[str, OneOf(*SPOKEN_TYPES)]
SourceName = Annotated[Source, OneOf(*Source)]
Limit = Annotated[int, Field(ge=1, le=200), IN_QUERY]
Cursor = Annotated[str, Text(4096)]
YesOrNo = Annotated[str, OneOf("true", "false")]

Time = Annotated[datetime | str, Read(_time, {"type": "string", "format": "date-time"})]
Count = Annotated[int, Shows({"type": "integer", "minimum": 0})]
Share = Annotated[float, Shows({"type": "number", "minimum": 0, "maximum": 1})]
Counts = dict[str, Count]
Free = dict[str, Any]


def words_as_keys(*names: str) -> Schema:
    """The schema of counts by these words."""
    keys = {"type": "string", "enum": [str(name) for name in names]}
    return {"type": "object", "propertyNames": keys, "additionalProperties": {"type": "integer", "minimum": 0}}


class Labelled(RequestModel):
    """An agent, an application and a namespace beside a user."""

    agent_id: Maybe[Identifier] = None
    app_id: Maybe[Identifier] = None
    namespace: Maybe[NamespaceLabels] = Field(None, description="A path of at most 16 labels.")

    @property
    def labels(self) -> Labels:
        """What a record of it is labelled with."""
        return Labels(self.agent_id, self.app_id, self.namespace or ())


class Whose(Labelled):
    """A user, or nobody: then an agent, an application or a namespace says whose it is."""

    user_id: Annotated[str | None, Read(_owner, _AN_ID)] = Field(
        None, description="Absent, where an agent, an app or a namespace is named: nobody's, owned by `__shared__`."
    )
    owners: ClassVar[tuple[str, ...]] = ("agent_id", "app_id", "namespace")

    @model_validator(mode="before")
    @classmethod
    def _names_somebody(cls, value: Any) -> Any:
        if not isinstance(value, dict) or any(value.get(name) is not None for name in ("user_id", *cls.owners)):
            return value
        return {**value, "user_id": _ABSENT}


class Narrowed(RequestModel):
    """A query that narrows a user's memory to a persona, to a household."""

    persona_id: Maybe[Identifier] = None
    household_id: Maybe[Identifier] = None


class Paged(RequestModel):
    """A query that asks for a page of a list."""

    limit: Limit = 50
    cursor: Maybe[Cursor] = None


class Nothing(RequestModel):
    """Nothing is asked."""


class Fault(AnswerModel):
    """What is wrong with a part of a request, and where."""

    loc: list[str | int]
    message: str


def is_unicode(value: str) -> bool:
    """Whether it can be written as UTF-8: no lone surrogates."""
    if value.isascii():
        return True
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def embedding_dimension(settings: Settings) -> int:
    """The length of this deployment's vectors, known without loading the model."""
    return settings.embedding_dimension if settings.embedder in _CONFIGURED else _DEFAULT_DIMENSION


def packed(values: list[float] | None, dimension: int, loc: tuple[str, ...]) -> bytes | None:
    """The vector as it is stored. Raises InvalidInput (with `loc`) for another length."""
    if values is None:
        return None
    from recollect.core.vectors import pack_vector, vector_of

    return pack_vector(vector_of(values, dimension, loc))
