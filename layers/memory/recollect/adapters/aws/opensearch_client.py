"""The connection to OpenSearch: its address, SigV4 signing for managed domains, and its errors as Recollect's own.

opensearch-py is imported at the first request: it takes 0.2 s, which functions that do not search save.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from recollect.core.errors import (
    ConfigurationError,
    NotReady,
    RecollectError,
    Throttled,
    Unavailable,
    UpstreamFailed,
    WritesBlocked,
)

if TYPE_CHECKING:
    from opensearchpy import OpenSearch, Urllib3AWSV4SignerAuth
    from opensearchpy.exceptions import TransportError


URL_VARIABLE = "RECOLLECT_OPENSEARCH_URL"
WRITES_BLOCKED = (
    "the index is blocked for writes: the search engine's storage or memory is used up, "
    "and a larger volume or instance ends that; searches go on"
)
_BLOCKS = ("cluster_block_exception", "index_create_block_exception")
_DOMAIN = re.compile(r"\.(?P<region>[a-z0-9-]+)\.es\.amazonaws\.com(\.cn)?$|\.aos\.(?P<region2>[a-z0-9-]+)\.on\.aws$")


@dataclass(frozen=True, slots=True)
class Signing:
    """SigV4 with the credentials that the AWS SDK finds. `service` is `es` for a managed domain."""

    region: str
    service: str = "es"

    def auth(self) -> Urllib3AWSV4SignerAuth:
        """Signs each request, with fresh credentials. Raises ConfigurationError where there are none."""
        from botocore.session import get_session
        from opensearchpy import Urllib3AWSV4SignerAuth

        credentials = get_session().get_credentials()
        if credentials is None:
            raise ConfigurationError("AWS_ACCESS_KEY_ID", "no AWS credentials to sign requests to OpenSearch with")
        return Urllib3AWSV4SignerAuth(credentials, self.region, self.service)


def signing_for(url: str) -> Signing | None:
    """Signing for the address of a managed domain; None for any other, and where the URL has a user of its own."""
    parts = urlsplit(url)
    found = _DOMAIN.search(parts.hostname or "")
    if found is None or parts.username is not None:
        return None
    return Signing(found["region"] or found["region2"])


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenSearchConnection:
    """The engine's address, time-outs and retries.

    The URL may carry user and password (basic authentication); `signing` replaces them on a managed domain. A request
    ends after `timeout_seconds`; a broken connection, or a 502, 503 or 504, is tried again `retries` times. All tries
    together connect for `timeout_seconds` at most.
    """

    url: str
    signing: Signing | None = None
    timeout_seconds: float = 2.0
    retries: int = 1
    connections: int = 10

    def open(self) -> OpenSearch:
        """A client; nothing is sent yet. Raises ConfigurationError for a URL that is none."""
        from opensearchpy import OpenSearch
        from urllib3 import Timeout

        require_url(self.url)
        for name in ("opensearch", "opensearchpy.trace"):  # below a warning they log bodies: terms and vectors
            logging.getLogger(name).setLevel(logging.WARNING)
        signed = {"http_auth": self.signing.auth()} if self.signing else {}
        return OpenSearch(
            [self.url],
            timeout=Timeout(total=self.timeout_seconds, connect=self.timeout_seconds / (self.retries + 1)),
            max_retries=self.retries,
            retry_on_timeout=False,
            pool_maxsize=self.connections,
            **signed,
        )


def require_url(url: str) -> None:
    """Raises ConfigurationError unless it is an http or https address."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ConfigurationError(URL_VARIABLE, "an address such as https://host:9200 is needed")


@contextmanager
def translated_errors() -> Iterator[None]:
    """Turns opensearch-py's errors into RecollectError by type and status, never by text.

    An answer may quote the request, so the foreign error is not the cause.
    """
    from opensearchpy import exceptions

    try:
        yield
    except exceptions.ConnectionError as error:  # time-outs and broken TLS are such, too
        raise Unavailable(f"OpenSearch does not answer: {type(error).__name__}") from None
    except exceptions.TransportError as error:
        raise failure_of(error.status_code, _kind_of(error)) from None
    except exceptions.OpenSearchException as error:
        raise UpstreamFailed(f"OpenSearch answered what cannot be read: {type(error).__name__}") from None


def _kind_of(error: TransportError) -> str:
    """The type that the engine names; for a request that failed in parts, that of its first part."""
    parts = error.info.get("failures") if isinstance(error.info, dict) else None
    return str(parts[0].get("cause", {}).get("type", "")) if parts else error.error


def failure_of(status: int | str, kind: str) -> RecollectError:
    """The error of an engine's status and error type."""
    if is_block(status, kind):
        return WritesBlocked(WRITES_BLOCKED)
    if status == 429:
        return Throttled(f"OpenSearch is asked too much: {kind}")
    if status in (401, 403):
        return NotReady("OpenSearch refuses our credentials; see `recollect doctor`")
    if status == 404:
        return NotReady("the index is missing; `recollect init` creates it")
    if not isinstance(status, int) or status in (408, 502, 503, 504) or status >= 500:
        return Unavailable(f"OpenSearch failed with {status}: {kind}")
    return UpstreamFailed(f"OpenSearch refused a request with {status}: {kind}")


def is_block(status: int | str, kind: str) -> bool:
    """Whether the engine refuses all writes: 403, or 429 where it ran out of storage.

    A block of the same type with 503 is that of a cluster that has not started.
    """
    return status in (403, 429) and kind in _BLOCKS
