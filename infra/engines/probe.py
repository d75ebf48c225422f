"""One real call to each engine: does it answer as the adapters will ask it?"""

from __future__ import annotations

import hashlib
import hmac
import http.client
import json
import urllib.request
from collections.abc import Mapping
from datetime import UTC, datetime

REGION = "us-east-1"
# The engines are new each time and listen on loopback only; DynamoDB Local takes letters and digits only.
ACCESS_KEY_ID = "recollectlocal"
SECRET_ACCESS_KEY = "recollectlocalsecret"
CALL_TIMEOUT_SECONDS = 10.0

# A proxy set in the environment must not see calls to loopback.
_opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def answers(name: str, port: int) -> bool:
    """Whether the engine `name` on `port` of 127.0.0.1 answers its call with success."""
    try:
        return {"opensearch": _opensearch, "dynamodb": _dynamodb, "s3": _s3}[name.partition("-")[0]](port)
    except (OSError, ValueError, http.client.HTTPException):
        return False


def _opensearch(port: int) -> bool:
    health = json.loads(_call(_request(port, "/_cluster/health?wait_for_status=yellow&timeout=5s")))
    _call(_request(port, "/_plugins/_knn/stats"))
    return health["status"] in ("green", "yellow")


def _dynamodb(port: int) -> bool:
    headers = {"content-type": "application/x-amz-json-1.0", "x-amz-target": "DynamoDB_20120810.ListTables"}
    return "TableNames" in json.loads(_call(_signed(port, "dynamodb", "POST", headers, b"{}")))


def _s3(port: int) -> bool:
    return b"ListAllMyBucketsResult" in _call(_signed(port, "s3", "GET", {}, b""))


def _request(
    port: int, path: str, headers: Mapping[str, str] | None = None, body: bytes = b""
) -> urllib.request.Request:
    return urllib.request.Request(f"http://127.0.0.1:{port}{path}", data=body or None, headers=dict(headers or {}))


def _call(request: urllib.request.Request) -> bytes:
    with _opener.open(request, timeout=CALL_TIMEOUT_SECONDS) as response:
        return bytes(response.read())


def _signed(port: int, service: str, method: str, headers: Mapping[str, str], body: bytes) -> urllib.request.Request:
    """A request for `/` with Signature Version 4, since the gateway refuses one without it."""
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    body_hash = hashlib.sha256(body).hexdigest()
    signed = {**headers, "host": f"127.0.0.1:{port}", "x-amz-content-sha256": body_hash, "x-amz-date": stamp}
    names = ";".join(sorted(signed))
    canonical = "\n".join([method, "/", "", *(f"{n}:{signed[n]}" for n in sorted(signed)), "", names, body_hash])
    scope = f"{stamp[:8]}/{REGION}/{service}/aws4_request"
    text = "\n".join(["AWS4-HMAC-SHA256", stamp, scope, hashlib.sha256(canonical.encode()).hexdigest()])
    signature = hmac.new(_signing_key(stamp[:8], service), text.encode(), hashlib.sha256).hexdigest()
    credential = f"Credential={ACCESS_KEY_ID}/{scope}, SignedHeaders={names}, Signature={signature}"
    return _request(port, "/", {**signed, "authorization": f"AWS4-HMAC-SHA256 {credential}"}, body)


def _signing_key(date: str, service: str) -> bytes:
    key = f"AWS4{SECRET_ACCESS_KEY}".encode()
    for part in (date, REGION, service, "aws4_request"):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    return key
