"""Small exports of our own making, and how to read them."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from recollect.importing.reading import ExportFile, read_entries
from recollect.importing.turns import BadEntry, Entry, ExportFormat, LeftOut, Turn


def entries_of(path: Path, content: str | bytes, wanted: str = "auto", **options: Any) -> list[Entry]:
    """What is read from a file with this content."""
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return list(read_entries(ExportFile(path=path, format=ExportFormat(wanted), **options)))


def turns_in(entries: Sequence[Entry]) -> list[Turn]:
    """The turns alone."""
    return [entry for entry in entries if isinstance(entry, Turn)]


def faults_in(entries: Sequence[Entry]) -> list[str]:
    """Places and reasons of what cannot be read."""
    return [f"{entry.place.label}: {entry.reason}" for entry in entries if isinstance(entry, BadEntry)]


def left_out_in(entries: Sequence[Entry]) -> list[str]:
    """Places of what nobody said."""
    return [entry.place.label for entry in entries if isinstance(entry, LeftOut)]


def json_lines(*objects: Any) -> str:
    """The objects, one a line."""
    return "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in objects)


def chatgpt_message(name: str, parent: str | None, role: str, text: str, **changes: Any) -> dict[str, Any]:
    """One node of ChatGPT's tree."""
    message = {
        "id": f"m-{name}",
        "author": {"role": role},
        "create_time": 1_714_550_400.5,
        "content": {"content_type": "text", "parts": [text]},
        "recipient": "all",
        "metadata": {},
        **changes,
    }
    return {"id": name, "parent": parent, "children": [], "message": message}


def chatgpt_conversation(*nodes: dict[str, Any], current: str, **changes: Any) -> dict[str, Any]:
    """One conversation of ChatGPT's export."""
    mapping = {node["id"]: node for node in nodes}
    return {
        "title": "A talk",
        "create_time": 1_714_550_000.0,
        "conversation_id": "talk-1",
        "current_node": current,
        "mapping": {"root": {"id": "root", "parent": None, "children": [], "message": None}, **mapping},
        **changes,
    }
