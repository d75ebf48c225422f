"""Which export a file is, told by how it begins."""

import json
from enum import StrEnum
from itertools import islice
from typing import IO

from recollect.core.errors import InvalidInput
from recollect.importing.json_lines import BYTE_ORDER_MARK, numbered_lines
from recollect.importing.whatsapp import is_message_line

_LINES_LOOKED_AT = 20
_HEAD_BYTES = 64 * 1024
_FORMATS = "turns, messages, chatgpt, claude, whatsapp"


class ExportFormat(StrEnum):
    """What `--format` takes. `turns`: JSON Lines; the others as their makers write them."""

    AUTO = "auto"
    TURNS = "turns"
    MESSAGES = "messages"
    CHATGPT = "chatgpt"
    CLAUDE = "claude"
    WHATSAPP = "whatsapp"


class Container(StrEnum):
    """How the entries lie in the file."""

    JSON_LINES = "json lines"
    JSON_DOCUMENT = "json document"
    TEXT = "text"


def container_of(stream: IO[bytes], wanted: ExportFormat) -> Container:
    """What the first lines look like. Raises InvalidInput where they look like nothing that can be read."""
    if wanted in (ExportFormat.TURNS, ExportFormat.WHATSAPP):
        return Container.JSON_LINES if wanted is ExportFormat.TURNS else Container.TEXT
    head = stream.read(_HEAD_BYTES).removeprefix(BYTE_ORDER_MARK).lstrip()
    if not head:
        raise InvalidInput("the file is empty")
    if any(is_message_line(line) for line in head.decode("utf-8", "replace").splitlines()[:_LINES_LOOKED_AT]):
        return Container.TEXT
    if head.startswith(b"["):
        return Container.JSON_DOCUMENT
    stream.seek(0)
    if any(_is_object(line) for _, _, line in islice(numbered_lines(stream), _LINES_LOOKED_AT)):
        return Container.JSON_LINES
    if head.startswith(b"{"):
        return Container.JSON_DOCUMENT
    raise InvalidInput(f"this is no export that can be told by its beginning; name it with --format ({_FORMATS})")


def _is_object(line: bytes | None) -> bool:
    if line is None or not line.startswith(b"{"):
        return False
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False
