"""The one way out to services that speak plain HTTP: models, embedders, web search.

urllib3 does it, which every function has already: the AWS SDK stands on it. No redirect is followed, since an answer
that points elsewhere would take texts and keys there.
"""

import json
import logging
import math
import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from urllib.parse import unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

import certifi
import urllib3
from urllib3.exceptions import HTTPError, NewConnectionError, ProtocolError, ProxyError
from urllib3.exceptions import TimeoutError as TimedOut

from recollect.adapters.deadline import Deadline, within
from recollect.core.errors import CutAnswer, OutOfTime, RecollectError, Throttled, Unavailable, UpstreamFailed

_SLOW_DOWN = (429, 503)
_LONGEST_RETRY_AFTER_SECONDS = 86_400.0
_CHUNK_BYTES = 65_536
_CONNECTIONS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpService:
    """A service by what its errors call it, where it is, and what every request to it carries.

    `base_url` is what paths are put behind. An answer over `largest_answer_bytes`, decompressed, is refused.
    """

    name: str
    base_url: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    largest_answer_bytes: int = 16_000_000


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    """An answer as it came, of any status."""

    service: str
    status: int
    headers: Mapping[str, str]
    data: bytes = field(repr=False)

    @property
    def content(self) -> bytes:
        """The body of a 2xx. Raises Throttled (429, 503), Unavailable (other 5xx), UpstreamFailed (all else)."""
        if 200 <= self.status < 300:
            return self.data
        if self.status in _SLOW_DOWN:
            raise Throttled(f"{self.service} asks to slow down", retry_after_seconds(self.headers.get("Retry-After")))
        kind = Unavailable if self.status >= 500 else UpstreamFailed
        raise kind(f"{self.service} answered status {self.status}")


class HttpConnection:
    """Requests to one service, over connections that are kept. Safe to share between threads."""

    def __init__(self, service: HttpService) -> None:
        logging.getLogger("urllib3").setLevel(logging.WARNING)  # below a warning it logs addresses: what was searched
        self._service = service
        self._pool = _pool(service.base_url)

    def post(self, path: str, body: object, seconds: float) -> HttpAnswer:
        """Sends JSON. Raises OutOfTime, Unavailable (no connection), CutAnswer and UpstreamFailed."""
        data = json.dumps(body).encode()
        return self._request("POST", path, {"Content-Type": "application/json"}, data, seconds)

    def get(self, path: str, seconds: float) -> HttpAnswer:
        """Asks for a path, which may carry a query. Raises what `post` raises."""
        return self._request("GET", path, {}, None, seconds)

    def _request(
        self, method: str, path: str, headers: Mapping[str, str], body: bytes | None, seconds: float
    ) -> HttpAnswer:
        sent = {"User-Agent": "recollect", "Accept": "application/json", **self._service.headers, **headers}
        url = self._service.base_url + path
        return within(seconds, self._service.name, lambda: self._exchange(method, url, sent, body, seconds))

    def _exchange(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes | None, seconds: float
    ) -> HttpAnswer:
        deadline = Deadline(seconds)
        with self._translated("cannot be reached"):
            response = self._pool.request(
                method,
                url,
                body=body,
                headers=headers,
                timeout=urllib3.Timeout(total=seconds),
                retries=False,
                preload_content=False,
            )
        with self._translated("broke off its answer", cut=True):
            data = self._read(response, deadline)
        return HttpAnswer(self._service.name, response.status, response.headers, data)

    def _read(self, response: urllib3.BaseHTTPResponse, deadline: Deadline) -> bytes:
        """All of the body; the connection is kept for the next request only where it came whole."""
        data = bytearray()
        try:
            while chunk := response.read1(_CHUNK_BYTES):
                data += chunk
                self._check(len(data), deadline)
        except BaseException:
            response.close()
            raise
        response.release_conn()
        return bytes(data)

    def _check(self, length: int, deadline: Deadline) -> None:
        if length > self._service.largest_answer_bytes:
            raise UpstreamFailed(f"{self._service.name} answered more than {self._service.largest_answer_bytes} bytes")
        if deadline.seconds_left <= 0:
            raise OutOfTime(f"{self._service.name} did not answer in time")

    @contextmanager
    def _translated(self, what: str, *, cut: bool = False) -> Iterator[None]:
        """Foreign errors name addresses, headers and thus texts and keys: they are not shown as the cause."""
        try:
            yield
        except (NewConnectionError, ProxyError, ProtocolError) as error:  # the first counts as a time-out to urllib3
            raise self._broken(what, error, cut) from None
        except TimedOut:
            raise OutOfTime(f"{self._service.name} did not answer in time") from None
        except (HTTPError, ValueError) as error:  # ValueError: an address or a header that cannot be sent
            raise UpstreamFailed(f"{self._service.name} {what} ({type(error).__name__})") from None

    def _broken(self, what: str, error: Exception, cut: bool) -> RecollectError:
        return (CutAnswer if cut else Unavailable)(f"{self._service.name} {what} ({type(error).__name__})")


def retry_after_seconds(header: str | None) -> float | None:
    """Seconds (0 to a day) that a `Retry-After` asks for, given as seconds or as an HTTP date; else None."""
    if header is None:
        return None
    try:
        seconds = float(header) if header.strip().isdecimal() else _seconds_until(header)
    except (ValueError, TypeError, OverflowError):
        return None
    return min(max(0.0, seconds), _LONGEST_RETRY_AFTER_SECONDS) if not math.isnan(seconds) else None


def _seconds_until(http_date: str) -> float:
    moment = parsedate_to_datetime(http_date)
    return (moment.replace(tzinfo=moment.tzinfo or UTC) - datetime.now(UTC)).total_seconds()


def _pool(base_url: str) -> urllib3.PoolManager:
    """Connections to that address, through the proxy that the environment names for it."""
    parts = urlsplit(base_url)
    context = _trust() if parts.scheme == "https" else None
    proxy = None if proxy_bypass(parts.hostname or "") else getproxies().get(parts.scheme)
    if not proxy:
        return urllib3.PoolManager(maxsize=_CONNECTIONS, ssl_context=context)
    address = proxy if "://" in proxy else f"http://{proxy}"
    return urllib3.ProxyManager(
        address, maxsize=_CONNECTIONS, proxy_headers=_proxy_headers(address), ssl_context=context
    )


def _proxy_headers(proxy: str) -> Mapping[str, str]:
    parts = urlsplit(proxy)
    user = f"{unquote(parts.username)}:{unquote(parts.password or '')}" if parts.username else None
    return urllib3.make_headers(proxy_basic_auth=user)


def _trust() -> ssl.SSLContext:
    """The machine's certificates, with SSL_CERT_FILE, and certifi's: some Pythons bring none of their own."""
    context = ssl.create_default_context()
    context.load_verify_locations(certifi.where())
    return context
