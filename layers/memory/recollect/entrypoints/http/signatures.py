"""AWS Signature Version 4 of a request, checked by ourselves: the canonical request, its signature, and when it holds.

Source: the documentation of IAM, "Create a signed AWS API request"; what botocore signs for every service but S3. The
signature stands in the header `Authorization`. Host and date must be signed, and of the headers that say what a
request means those that it has; the body always is. Region and service may be any, since they are only part of the
key. A request can be repeated within `MOST_SKEW`, as at AWS itself.
"""

import hashlib
import hmac
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from urllib.parse import quote

from recollect.core.errors import Unauthenticated
from recollect.entrypoints.http.messages import Call

ALGORITHM = "AWS4-HMAC-SHA256"
MOST_SKEW = timedelta(minutes=5)
"""Between the date of a signature and the clock here, either way."""
_NEEDED_HEADERS = frozenset({"host", "x-amz-date"})
_MEANT_HEADERS = frozenset({"idempotency-key", "if-match", "if-none-match"})
_OURS = "x-recollect-"
_TERMINATOR = "aws4_request"
_DATE = "%Y%m%dT%H%M%SZ"
_UNRESERVED = "-._~"
_ANY_TEXT = "surrogatepass"
"""What is no Unicode is signed by nobody: it is refused as any other request, and is no failure of ours."""
_PART = r"[^/,\s]{1,128}"
_HEADER = re.compile(
    rf"{ALGORITHM}\s+Credential=({_PART})/(\d{{8}})/({_PART})/({_PART})/{_TERMINATOR}\s*,"
    r"\s*SignedHeaders=([a-z0-9;!#$%&'*+.^_`|~-]+)\s*,\s*Signature=([0-9a-f]{64})",
    re.ASCII,
)


@dataclass(frozen=True, slots=True)
class Signature:
    """What the header says: who signed, in which scope, which headers, and the signature in hexadecimal digits."""

    access_key_id: str
    scope: tuple[str, str, str]
    signed_headers: tuple[str, ...]
    value: str


def signature_in(header: str) -> Signature:
    """The signature of a header `Authorization`. Raises Unauthenticated for one that is none."""
    found = _HEADER.fullmatch(header.strip())
    if found is None:
        raise Unauthenticated("the signature cannot be read")
    key, date, region, service, names, value = found.groups()
    return Signature(key, (date, region, service), tuple(names.split(";")), value)


def check_signature(call: Call, signature: Signature, secret: str, now: datetime) -> None:
    """Raises Unauthenticated unless the request was signed with the secret, as it is, and about `now`."""
    signed_at = _signed_at(call, signature, now)
    expected = signature_of(call, signature, secret, signed_at)
    if not hmac.compare_digest(expected, signature.value):
        raise Unauthenticated("the signature is not that of this request")


def _signed_at(call: Call, signature: Signature, now: datetime) -> str:
    """The date that is signed, as it is written."""
    if not _needed_headers(call) <= set(signature.signed_headers) <= set(call.headers):
        raise Unauthenticated("host, x-amz-date and what says more of a request must be signed, and be there")
    written = call.headers["x-amz-date"].strip()
    try:
        moment = datetime.strptime(written, _DATE).replace(tzinfo=UTC)
    except ValueError:
        raise Unauthenticated("x-amz-date is no date") from None
    if written[:8] != signature.scope[0] or abs(now - moment) > MOST_SKEW:
        raise Unauthenticated("the signature is not of this time")
    return written


def _needed_headers(call: Call) -> set[str]:
    """Whose, once, in which version: whoever hears a request on its way may change none of it."""
    return {name for name in call.headers if name in _MEANT_HEADERS or name.startswith(_OURS)} | _NEEDED_HEADERS


def signature_of(call: Call, signature: Signature, secret: str, signed_at: str) -> str:
    """The signature that the request must have."""
    canonical = _canonical_request(call, signature.signed_headers)
    hashed = hashlib.sha256(canonical.encode("utf-8", _ANY_TEXT)).hexdigest()
    text = "\n".join((ALGORITHM, signed_at, "/".join((*signature.scope, _TERMINATOR)), hashed))
    key = f"AWS4{secret}".encode()
    for part in (*signature.scope, _TERMINATOR):
        key = hmac.digest(key, part.encode(), "sha256")
    return hmac.digest(key, text.encode(), "sha256").hex()


def _canonical_request(call: Call, signed_headers: Sequence[str]) -> str:
    """The hash of the body is made here, whatever `x-amz-content-sha256` says: no unsigned body passes."""
    lines = [
        call.method,
        quote(call.encoded_path, safe=f"/{_UNRESERVED}"),
        _canonical_query(call.query),
        *(f"{name}:{_canonical_value(call.headers, name)}" for name in signed_headers),
        "",
        ";".join(signed_headers),
        hashlib.sha256(call.body).hexdigest(),
    ]
    return "\n".join(lines)


def _canonical_query(pairs: Sequence[tuple[str, str]]) -> str:
    encoded = sorted((_quoted(name), _quoted(value)) for name, value in pairs)
    return "&".join(f"{name}={value}" for name, value in encoded)


def _quoted(text: str) -> str:
    return quote(text, safe=_UNRESERVED, errors=_ANY_TEXT)


def _canonical_value(headers: Mapping[str, str], name: str) -> str:
    return " ".join(headers[name].split())
