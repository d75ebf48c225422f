"""What docs/benchmarks.md already tells of the parts that are not measured on this machine: it stands as it is.

Figures lie in build/bench and go with the machine. A run of a few parts then rewrites those parts; the rows of the
others, with the day on which they were made, their goals and their text are taken over from the page.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_ROW = re.compile(r"\| (?P<label>.+?) \| ")
_MADE = re.compile(r"\| `--only (?P<name>[a-z-]+)` \| ")
_MACHINE = re.compile(r"on one machine: (?P<machine>.+)\.$", re.MULTILINE)
_TITLE = re.compile(r"^## (?P<title>.+)$", re.MULTILINE)


def machine_of(page: str) -> str:
    """The machine that the page names."""
    found = _MACHINE.search(page)
    return found["machine"] if found else "none yet"


def kept_rows(page: str, measured: Iterable[str]) -> list[str]:
    """The lines of the table of parts that tell of others than these."""
    known = set(measured)
    lines = (line for line in page.splitlines() if line.startswith("| `--only "))
    return [line for line in lines if (found := _MADE.match(line)) and found["name"] not in known]


def kept_part(page: str, title: str) -> str | None:
    """A part of the page with its title, plots included; None where the page has none, or has it unmeasured."""
    begins = {found["title"]: found.start() for found in _TITLE.finditer(page)}
    if title not in begins:
        return None
    end = min((start for start in begins.values() if start > begins[title]), default=len(page))
    text = page[begins[title] : end].strip()
    return None if "Not measured yet: " in text else text


def merged_goals(old: str, new: str) -> str:
    """The table of goals: the rows of both, a newer one in the place of the older of the same goal."""
    head, rows = new.splitlines()[:2], new.splitlines()[2:]
    fresh = {_label(row): row for row in rows}
    before = [row for row in old.splitlines()[2:] if row.startswith("| ")]
    merged = [fresh.pop(_label(row), row) for row in before]
    return "\n".join([*head, *merged, *fresh.values()])


def goals_of(page: str) -> str:
    """The table of goals as it stands on the page; empty where there is none."""
    text = kept_part(page, "Goals") or ""
    return "\n".join(line for line in text.splitlines() if line.startswith("| "))


def _label(row: str) -> str:
    found = _ROW.match(row)
    return found["label"] if found else row
