"""Examples of requests with the answers that they got, by operation: made by `infra/tools/api_examples.py`."""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

EXAMPLES_FILE: Final = Path(__file__).with_name("examples.json")


@cache
def examples() -> Mapping[str, Mapping[str, Any]]:
    """Of each operation `path`, `query`, `headers`, `body` or `lines` as far as it takes them, `status`, `answer`."""
    found: Mapping[str, Mapping[str, Any]] = json.loads(EXAMPLES_FILE.read_text("utf-8"))
    return found
