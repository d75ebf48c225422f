"""Calls of services over HTTP (models, embedders, web search), and the limit on the time of a call.

urllib3 makes the requests: every function has it already, since the AWS SDK needs it. No redirect is followed,
since an answer that points elsewhere would take texts and keys there.
"""

import json
import logging
import math
import ssl
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TypeVar
from urllib.parse import unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

import certifi
import urllib3
from urllib3.exceptions import HTTPError, NewConnectionError, ProtocolError, ProxyError
from urllib3.exceptions import TimeoutError as TimedOut

from recollect.adapters.connections import noted
from recollect.core.errors import CutAnswer, OutOfTime, Throttled, Unavailable, UpstreamFailed

T = TypeVar("T")

_SLOW_DOWN = (429, 503)
_LONGEST_RETRY_AFTER_SECONDS = 86_400.0
_CHUNK_BYTES = 65_536
_CONNECTIONS = 10


def within(seconds: float, service: str, call: Callable[[], T]) -> T:
    """The result of the call. Raises what it raises, or OutOfTime, naming the service, after `seconds`.

    The limit holds whatever the call waits for: name resolution, headers, a trickling body. A call that is given up
    goes on in its own thread until its own time-outs end it; its result is lost.
    """
    running: Future[T] = Future()
    if seconds > 0:
        threading.Thread(target=_run, args=(running, call), name=f"call to {service}", daemon=True).start()
        wait([running], seconds)
    if not running.done():
        raise OutOfTime(f"{service} did not answer in time")
    return running.result()


def _run(running: Future[T], call: Callable[[], T]) -> None:
    try:
        running.set_result(call())
    except BaseException as error:  # noqa: BLE001 - raised again where the call is waited for
        running.set_exception(error)


class Deadline:
    """An instant of the monotonic clock after which nothing more is waited for."""

    def __init__(self, seconds: float) -> None:
        self._until = time.monotonic() + seconds

    @property
    def seconds_left(self) -> float:
        """Seconds until then; negative afterwards."""
        return self._until - time.monotonic()


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpService:
    """A service: its name in errors, its address, and the headers of every request.

    Paths are appended to `base_url`. An answer over `largest_answer_bytes`, decompressed, is refused.
    """

    name: str
    base_url: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    largest_answer_bytes: int = 16_000_000


def openai_service(name: str, base_url: str, api_key: str | None) -> HttpService:
    """The server at `base_url`, up to and with `/v1`; `name` is what errors call it."""
    headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
    return HttpService(name=name, base_url=base_url.rstrip("/"), headers=headers)


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    """An answer of any status."""

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
    """Requests to one service over pooled connections. Safe to share between threads."""

    def __init__(self, service: HttpService) -> None:
        logging.getLogger("urllib3").setLevel(logging.WARNING)  # below a warning it logs addresses, thus queries
        self._service = service
        self._pool = _pool(service.base_url)
        noted(self, HttpConnection.disconnect)

    def disconnect(self) -> None:
        """Closes connections; the next request makes new ones."""
        self._pool.clear()

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
        """The whole body; a connection whose answer broke off is closed."""
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
            kind = CutAnswer if cut else Unavailable
            raise kind(f"{self._service.name} {what} ({type(error).__name__})") from None
        except TimedOut:
            raise OutOfTime(f"{self._service.name} did not answer in time") from None
        except (HTTPError, ValueError) as error:  # ValueError: an address or a header that cannot be sent
            raise UpstreamFailed(f"{self._service.name} {what} ({type(error).__name__})") from None


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
    """Connections to the address, through the proxy of the environment."""
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
    """The machine's certificates, with SSL_CERT_FILE, and certifi's: some Pythons have none."""
    context = ssl.create_default_context()
    context.load_verify_locations(certifi.where())
    return context
