"""boto3's clients whose requests go to a surface instead of the network: signed, serialized and parsed by botocore."""

from typing import Any
from urllib.parse import urlsplit

import boto3
from botocore.awsrequest import AWSPreparedRequest, AWSResponse
from botocore.config import Config

from entrypoints.http.calling import ORIGIN, Surface

_NO_RETRIES = Config(retries={"total_max_attempts": 1}, region_name="us-west-2")


class _Raw:
    """What botocore reads of an answer that has come whole."""

    def __init__(self, body: bytes) -> None:
        self._body = body

    def stream(self, **_: Any) -> Any:
        """The body at once."""
        yield self._body


def aws_client(surface: Surface, service: str, key: str, secret: str, origin: str = ORIGIN) -> Any:
    """The client of a service, with these credentials."""

    def answered(request: AWSPreparedRequest, **_: Any) -> AWSResponse:
        parts = urlsplit(request.url)
        headers = {name: _text(value) for name, value in request.headers.items()} | {"host": parts.netloc}
        target = f"{parts.path}?{parts.query}" if parts.query else parts.path
        body = request.body if isinstance(request.body, bytes) or request.body is None else request.body.encode()
        answer = surface.send(request.method, target, body, headers)
        return AWSResponse(request.url, answer.status, answer.headers, _Raw(answer.text.encode()))

    client = boto3.client(
        service, endpoint_url=origin, config=_NO_RETRIES, aws_access_key_id=key, aws_secret_access_key=secret
    )
    client.meta.events.register_first("before-send.*.*", answered)
    return client


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)
