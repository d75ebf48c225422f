"""What a form sends: fields of `application/x-www-form-urlencoded`, fields and a file of `multipart/form-data`."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import parse_qsl

from recollect.entrypoints.http.messages import Call

_MULTIPART: Final = "multipart/form-data"
_MOST_FIELDS: Final = 200
_BOUNDARY: Final = re.compile(r'boundary="?([^";,]{1,70})', re.IGNORECASE)
_NAME: Final = re.compile(r'[; ]name="([^"\r\n]*)"', re.IGNORECASE)
_FILE_NAME: Final = re.compile(r'[; ]filename="([^"\r\n]*)"', re.IGNORECASE)
_ESCAPES: Final = {"%22": '"', "%0D": "\r", "%0A": "\n"}


@dataclass(frozen=True, slots=True)
class Upload:
    """A file as it was sent: what the browser calls it, and its bytes."""

    name: str
    content: bytes


def form_of(call: Call) -> Mapping[str, str]:
    """The fields by their names, of a field that comes twice the last one; empty where the body is no form.

    Line breaks are `\\n`: browsers send `\\r\\n` for those in a text (HTML standard, 4.10.21.4). Files are left out.
    """
    kind = call.headers.get("content-type", "")
    try:
        fields = _texts_of(call.body, kind) if kind.lower().startswith(_MULTIPART) else _pairs_of(call.body)
    except ValueError:
        return {}
    return {name: value.replace("\r\n", "\n") for name, value in fields.items()}


def file_of(call: Call, field: str) -> Upload | None:
    """The file of a field; None where none was chosen."""
    for name, file_name, content in _parts_of(call.body, call.headers.get("content-type", "")):
        if name == field and file_name:
            return Upload(file_name, content)
    return None


def _pairs_of(body: bytes) -> dict[str, str]:
    return dict(parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True, max_num_fields=_MOST_FIELDS))


def _texts_of(body: bytes, kind: str) -> dict[str, str]:
    parts = _parts_of(body, kind)
    return {name: content.decode("utf-8", "replace") for name, file_name, content in parts if file_name is None}


def _parts_of(body: bytes, kind: str) -> Iterator[tuple[str, str | None, bytes]]:
    """Name, name of the file, and content of each part, as browsers write them (HTML standard, 4.10.21.8).

    `email` reads them too, line by line: seconds for a large file.
    """
    found = _BOUNDARY.search(kind)
    if found is None:
        return
    delimiter = b"\r\n--" + found[1].encode()
    for part in (b"\r\n" + body).split(delimiter, _MOST_FIELDS)[1:]:
        head, blank, content = part.partition(b"\r\n\r\n")
        headers = head.decode("utf-8", "replace")
        name, file_name = _NAME.search(headers), _FILE_NAME.search(headers)
        if blank and name is not None:
            yield _unescaped(name[1]), None if file_name is None else _unescaped(file_name[1]), content


def _unescaped(name: str) -> str:
    for escaped, character in _ESCAPES.items():
        name = name.replace(escaped, character)
    return name
