"""JSON in few bytes: what an item weighs is what its writing costs.

The first byte names the form, so that a later one can be told: 0 plain JSON, 1 raw deflate with `_DICTIONARY`, which
is frozen (what is stored was made with it). A turn of 1 KB fits in one write unit instead of two.
"""

import json
import zlib
from typing import Any

from recollect.domain.errors import StoredDataError

_PLAIN = b"\x00"
_DEFLATED = b"\x01"
_DICTIONARY = (
    b'"status":"duplicate","reason":"refused","errors":[{"loc":["msg":"event_id":"results":[{"status":"created",'
    b'"superseded_by":"superseded_at":"expires_at":"is_private":true,"views":"notes":"","category":"","title":"",'
    b'"space_id":"","key":"","household_id":"","persona_id":"","event_type":"preference","event_type":"emotion",'
    b'"event_type":"reminder","event_type":"task","source":"inferred","source":"system","source":"skill",'
    b'"content_type":"default","content_type":"contextualfact","content_type":"factuallearning",'
    b'"content_type":"userpreference","tags":["weather","greeting","news","time","preference","personal","question"],"metadata":{"source_id":"'
    b'"version":2,{"format":1,"id":"019","user_id":"","conversation_id":"019","role":"bot","speaker":"","content":"'
    b'","content_type":"assistantresponse","source":"conversation","timestamp":"202{"format":1,"id":"019'
    b'","user_id":"user-","conversation_id":"","role":"user","content":"I ","content_type":"userinput",'
    b'"source":"user","timestamp":"2026-01-01T00:00:00.000000Z","recorded_at":"2026-01-01T00:00:00.000000Z",'
    b'"importance":0.4}'
)


def pack_json(value: object) -> bytes:
    """The shorter of the two forms."""
    plain = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
    deflate = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS, 9, zlib.Z_DEFAULT_STRATEGY, _DICTIONARY)
    short = deflate.compress(plain) + deflate.flush()
    return _DEFLATED + short if len(short) < len(plain) else _PLAIN + plain


def unpack_json(data: bytes) -> Any:
    """Reads what `pack_json` wrote. Raises StoredDataError where it cannot."""
    try:
        return json.loads(_plain(data))
    except (zlib.error, ValueError) as error:
        raise StoredDataError("a packed record cannot be read") from error


def _plain(data: bytes) -> bytes:
    if data[:1] == _PLAIN:
        return data[1:]
    if data[:1] != _DEFLATED:
        raise StoredDataError("a packed record of an unknown form")
    return zlib.decompressobj(-zlib.MAX_WBITS, _DICTIONARY).decompress(data[1:])
