"""Which of the console's pictures in the documentation are older than the templates of the pages that they show.

The tests that make the pictures note of each the hash of its page's own templates; what every page shares (the frame,
macros, style) is not in it, so that not every small change asks for all pictures anew.
"""

import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
FOLDER: Final = ROOT / "docs/console"
_NOTES: Final = FOLDER / "pictures.json"
_TEMPLATES: Final = ROOT / "layers/memory/recollect/entrypoints/console/templates"
_SHARED: Final = ("base.html", "parts.html")
_USED: Final = re.compile(r'{% (?:include|from) "([^"]+)"')


def note(name: str) -> None:
    """That the picture of this name shows its page as it is now."""
    noted = {**_noted(), name: _hash_of(name)}
    _NOTES.write_text(json.dumps(noted, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def stale() -> list[str]:
    """The names of the pictures that show a page as it was."""
    noted = _noted()
    return sorted(one.stem for one in FOLDER.glob("*.png") if noted.get(one.stem) != _hash_of(one.stem))


def _noted() -> dict[str, str]:
    return dict(json.loads(_NOTES.read_text(encoding="utf-8"))) if _NOTES.exists() else {}


def _hash_of(name: str) -> str:
    texts = sorted(set(_sources(f"{name.removesuffix('-phone')}.html")))
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()[:16]


def _sources(template: str) -> Iterator[str]:
    """The text of a template, and of those that it includes."""
    text = (_TEMPLATES / template).read_text(encoding="utf-8")
    yield text
    for used in _USED.findall(text):
        if used not in _SHARED:
            yield from _sources(used)
