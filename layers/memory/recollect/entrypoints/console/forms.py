"""What a form sends: fields of `application/x-www-form-urlencoded`, fields and a file of `multipart/form-data`."""

from collections.abc import Mapping
from email.message import EmailMessage
from email.parser import BytesParser
from email.policy import HTTP
from typing import Final
from urllib.parse import parse_qsl

from recollect.entrypoints.http.messages import Call

_MULTIPART: Final = "multipart/form-data"
_MOST_FIELDS: Final = 200


def form_of(call: Call) -> Mapping[str, str]:
    """The fields by their names, of a field that comes twice the last one; empty where the body is no form.

    Line breaks are `\\n`: browsers send `\\r\\n` for those in a text (HTML standard, 4.10.21.4).
    """
    kind = call.headers.get("content-type", "")
    try:
        fields = _parts_of(call.body, kind) if kind.lower().startswith(_MULTIPART) else _pairs_of(call.body)
    except ValueError:
        return {}
    return {name: value.replace("\r\n", "\n") for name, value in fields.items()}


def _pairs_of(body: bytes) -> dict[str, str]:
    return dict(parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True, max_num_fields=_MOST_FIELDS))


def _parts_of(body: bytes, kind: str) -> dict[str, str]:
    message = BytesParser(_class=EmailMessage, policy=HTTP).parsebytes(f"Content-Type: {kind}\r\n\r\n".encode() + body)
    fields: dict[str, str] = {}
    for part in list(message.iter_parts())[:_MOST_FIELDS]:
        name = part.get_param("name", header="content-disposition")
        payload = part.get_payload(decode=True)
        if isinstance(name, str) and isinstance(payload, bytes):
            fields[name] = payload.decode("utf-8", "replace")
    return fields
