"""JSON from outside, and as it goes out."""

import json
from typing import Any, NoReturn


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


def _no_number(name: str) -> NoReturn:
    raise ValueError(name)
