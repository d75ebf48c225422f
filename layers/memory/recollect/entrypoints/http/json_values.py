"""JSON from outside: the body of a request, and free JSON values inside of it."""

import json
from typing import Any, NoReturn

from recollect.entrypoints.http.fields import Field, finite, is_unicode, refuse

METADATA_BYTES = 16 * 1024
METADATA_DEPTH = 8


class NotJson(ValueError):
    """The body is no JSON text in UTF-8; its message repeats nothing of it."""


def parse_json(body: bytes) -> Any:
    """The value that the body stands for. Raises NotJson, for NaN, Infinity and bottomless nesting too."""
    try:
        return json.loads(body.decode("utf-8"), parse_constant=_no_number)
    except UnicodeDecodeError:
        raise NotJson("the body is not UTF-8") from None
    except json.JSONDecodeError as error:
        raise NotJson(f"the body is not JSON, from character {error.pos} on") from None
    except ValueError:
        raise NotJson("the body has a number that JSON does not know, or one with too many digits") from None
    except RecursionError:
        raise NotJson("the body is nested too deeply") from None


def json_text(value: object) -> str:
    """Compact JSON, to be sent as UTF-8. Raises ValueError for NaN, which no answer may hold."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def metadata() -> Field:
    """An object of free JSON values: at most 16 KiB as compact JSON, at most 8 levels, itself the first."""

    def read(value: Any) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise refuse("must be an object")
        check_json(value, METADATA_DEPTH)
        if len(json_text(value).encode()) > METADATA_BYTES:
            raise refuse(f"must be at most {METADATA_BYTES} bytes of JSON")
        return value

    return Field(read, {"type": "object", "additionalProperties": True})


def check_json(value: Any, levels: int) -> None:
    """Raises Refused for more levels than that, for text that is no Unicode, and for numbers out of range."""
    if isinstance(value, dict | list):
        if levels == 0:
            raise refuse("is nested too deeply")
        for part in (*value, *value.values()) if isinstance(value, dict) else value:
            check_json(part, levels - 1)
    elif isinstance(value, str):
        if not is_unicode(value):
            raise refuse("has half of a surrogate pair, which is no Unicode text")
    elif value is not None and not isinstance(value, bool):
        finite(value)


def _no_number(name: str) -> NoReturn:
    raise ValueError(name)
