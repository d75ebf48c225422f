"""Writes the generated documents, or with --check says which of them are stale.

Generated: docs/settings.md (from recollect.settings), docs/openapi.json (from the routes), the table of docs/rules.md
(from recollect.rules.groups), *What it costs* in docs/operations.md and the console's costs.json (from counted calls
and prices, infra/tools/costs), docs/specification.md (from infra/tools/statements), text/date_words.json (from
dateparser's tables), client/types.py and the types and operations of clients/typescript (from the OpenAPI document),
the client that waits (from the asynchronous one), the pinned requirements of the layers (from pyproject.toml),
infra/data.yaml (from template.yaml).
"""

import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import MISSING, fields, is_dataclass
from functools import partial
from pathlib import Path
from typing import Any

from infra.tools import dependencies
from infra.tools.client_types import FILE as CLIENT_TYPES
from infra.tools.client_types import client_types_file
from infra.tools.costs.page import console_file, operations_page
from infra.tools.data_template import FILE as DATA_TEMPLATE
from infra.tools.data_template import data_template_file
from infra.tools.date_words import FILE as DATE_WORDS
from infra.tools.date_words import date_words_file
from infra.tools.pictures import stale
from infra.tools.specification import specification_page
from infra.tools.sync_client import FILES as SYNC_CLIENT
from infra.tools.sync_client import sync_client_file
from infra.tools.typescript import OPERATIONS_FILE, SCHEMAS_FILE, operations_file, schemas_file
from recollect.rules.reading import kind_of
from recollect.settings import variables

ROOT = Path(__file__).resolve().parents[2]


def settings_page() -> str:
    """docs/settings.md."""
    rows = "\n".join(
        f"| `{name}` | {f'`{default}`' if default else ''} | {text} |" for name, default, text in variables()
    )
    return (
        "# Settings\n\n"
        "Generated from `recollect/settings.py` (`make docs`). Settings are read once, when a process starts; a wrong\n"
        "one stops it and names the variable. The AWS SDK's own variables (`AWS_REGION`, `AWS_ENDPOINT_URL_DYNAMODB`,\n"
        "`AWS_ENDPOINT_URL_S3`, …) hold as usual. A name that begins with `RECOLLECT_` and that nothing reads is most\n"
        "likely misspelt: each command says so in one line, with the nearest name, `recollect serve` in its log, and\n"
        "`recollect doctor` lists it.\n\n"
        f"| variable | default | meaning |\n|---|---|---|\n{rows}\n"
    )


def _code(text: str) -> str:
    return f"`{text}`" if text else ""


def openapi_page() -> str:
    """docs/openapi.json."""
    from recollect.entrypoints.http.openapi import document_json

    return document_json()


def rules_page() -> str:
    """docs/rules.md: its own words, and the table of all rules under its last heading."""
    words, heading, _ = (ROOT / "docs/rules.md").read_text(encoding="utf-8").partition("## All rules\n")
    table = "".join(f"| `{path}` | {default} | {bounds} | {meaning} |\n" for path, default, bounds, meaning in _rules())
    return f"{words}{heading}\n| rule | default | may be | meaning |\n|---|---|---|---|\n{table}"


def _rules() -> Iterator[tuple[str, str, str, str]]:
    """Path, default, bounds and meaning of each rule."""
    from recollect.rules.groups import CATEGORIES, RetentionRule, Rules

    groups = {group.name: getattr(Rules(), group.name) for group in fields(Rules) if group.init}
    for name, group in groups.items():
        if is_dataclass(group):
            yield from _rules_of(name, type(group))
        elif name == "tags":
            yield name, _json(group), CATEGORIES.bounds, "Category: the keywords that give it"
        else:
            yield from _rules_of(f"{name}[]", RetentionRule)


def _rules_of(group: str, kind: type[Any]) -> Iterator[tuple[str, str, str, str]]:
    for rule in fields(kind):
        default = rule.default_factory() if rule.default_factory is not MISSING else rule.default
        shown = "" if default is MISSING else _json(default)
        yield f"{group}.{rule.name}", shown, kind_of(rule).bounds, rule.metadata["meaning"]


def _json(value: object) -> str:
    return f"`{json.dumps(value, ensure_ascii=False)}`"


DOCUMENTS: dict[str, Callable[[], str]] = {
    "docs/settings.md": settings_page,
    "docs/openapi.json": openapi_page,
    "docs/specification.md": specification_page,
    "docs/rules.md": rules_page,
    "docs/operations.md": operations_page,
    "layers/memory/recollect/entrypoints/console/costs.json": console_file,
    DATE_WORDS: date_words_file,
    CLIENT_TYPES: lambda: client_types_file(openapi_page()),
    SCHEMAS_FILE: lambda: schemas_file(openapi_page()),
    OPERATIONS_FILE: lambda: operations_file(openapi_page()),
    **{file: partial(sync_client_file, file) for file in SYNC_CLIENT},
    DATA_TEMPLATE: data_template_file,
}


def main(arguments: list[str]) -> int:
    """Writes them all; with --check compares instead, and answers 1 where one is stale; old pictures are only named."""
    if "--check" not in arguments:
        write()
        return 0
    wrong = [f"{name} is stale: make docs" for name, make in DOCUMENTS.items() if _text_of(name) != make()]
    wrong += dependencies.check()
    told = [
        f"docs/console/{name}.png shows an older page: RECOLLECT_SCREENSHOTS=1 pytest tests/browser" for name in stale()
    ]
    sys.stderr.write("".join(f"{line}\n" for line in [*wrong, *told]))
    return 1 if wrong else 0


def write() -> None:
    """All of them; the layers' requirements are resolved anew, over the network."""
    for name, make in DOCUMENTS.items():
        (ROOT / name).write_text(make(), encoding="utf-8")
    dependencies.write()


def _text_of(name: str) -> str | None:
    path = ROOT / name
    return path.read_text(encoding="utf-8") if path.exists() else None


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
