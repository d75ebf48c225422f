"""Writes the generated documents, or with --check says which of them are stale.

Generated: docs/settings.md (from recollect.settings), docs/openapi.json (from the routes), the layer's pinned
requirements (from pyproject.toml and constraints.txt).
"""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from recollect.settings import variables

ROOT = Path(__file__).resolve().parent.parent


def settings_page() -> str:
    """docs/settings.md."""
    rows = "\n".join(
        f"| `{name}` | {f'`{default}`' if default else ''} | {text} |" for name, default, text in variables()
    )
    return (
        "# Settings\n\n"
        "Generated from `recollect/settings.py` (`make docs`). Settings are read once, when a process starts; a wrong\n"
        "one stops it and names the variable. The AWS SDK's own variables (`AWS_REGION`, `AWS_ENDPOINT_URL_DYNAMODB`,\n"
        "`AWS_ENDPOINT_URL_S3`, …) hold as usual.\n\n"
        f"| variable | default | meaning |\n|---|---|---|\n{rows}\n"
    )


def _code(text: str) -> str:
    return f"`{text}`" if text else ""


def openapi_page() -> str:
    """docs/openapi.json."""
    from recollect.entrypoints.http.openapi import document_json

    return document_json()


DOCUMENTS: dict[str, Callable[[], str]] = {
    "docs/settings.md": settings_page,
    "docs/openapi.json": openapi_page,
}


def main(arguments: list[str]) -> int:
    """Writes them all; with --check compares instead, and answers 1 where one is stale."""
    stale = []
    for name, make in DOCUMENTS.items():
        path, text = ROOT / name, make()
        if "--check" not in arguments:
            path.write_text(text, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != text:
            stale.append(name)
    for name in stale:
        sys.stderr.write(f"{name} is stale: make docs\n")
    requirements = subprocess.run([sys.executable, ROOT / "infra/dependencies.py", *arguments], check=False)
    return 1 if stale or requirements.returncode else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
