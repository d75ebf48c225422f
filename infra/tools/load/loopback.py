"""Where load may go: to loopback addresses. What a name says counts for nothing, what it resolves to for everything."""

import ipaddress
import socket
from dataclasses import dataclass
from http.client import HTTPConnection
from urllib.parse import urlsplit


class NotThisMachine(Exception):
    """The address is, or may be, somebody else's, or is none."""


@dataclass(frozen=True, slots=True)
class Target:
    """A server of this machine: `address` is what was resolved, once, and is connected to as it stands.

    `host` is what the request's head calls it.
    """

    address: str
    port: int
    host: str

    def connect(self, timeout_seconds: float) -> HTTPConnection:
        """A connection to that address. Raises OSError, and NotThisMachine where its other end is elsewhere.

        It follows no redirect and knows no proxy: http.client does neither.
        """
        connection = HTTPConnection(self.address, self.port, timeout=timeout_seconds)
        connection.connect()
        try:
            require_loopback(connection.sock.getpeername()[0])
        except NotThisMachine:
            connection.close()
            raise
        return connection


def require_loopback(address: str) -> None:
    """Raises NotThisMachine unless this is a loopback address (127.0.0.0/8, ::1, or the former written as IPv6).

    `0.0.0.0` and `::` are none: they are every address of the machine, and of some systems the route out of it.
    """
    try:
        given = ipaddress.ip_address(address)
    except ValueError:
        raise NotThisMachine(f"{address} is no address") from None
    mapped = given.ipv4_mapped if isinstance(given, ipaddress.IPv6Address) else None
    if not (mapped or given).is_loopback:
        raise NotThisMachine(f"{address} is not this machine's loopback")


def target(url: str) -> Target:
    """What a URL `http://HOST[:PORT]` names. Raises NotThisMachine if any of its addresses is not loopback."""
    parts = urlsplit(url)
    if parts.scheme != "http" or not parts.hostname or parts.username is not None:
        raise NotThisMachine(f"{url} is no address such as http://127.0.0.1:8700")
    if parts.path not in ("", "/") or parts.query or parts.fragment:
        raise NotThisMachine(f"{url} has more than host and port")
    port = _port(url)
    addresses = _resolved(parts.hostname, port)
    for address in addresses:
        require_loopback(address)
    return Target(addresses[0], port, parts.netloc)


def _port(url: str) -> int:
    try:
        return urlsplit(url).port or 80
    except ValueError as error:
        raise NotThisMachine(f"{url}: {error}") from None


def _resolved(host: str, port: int) -> list[str]:
    """All addresses of a host. Raises NotThisMachine where it has none."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise NotThisMachine(f"{host}: {error}") from None
    if not found:
        raise NotThisMachine(f"{host} has no address")
    # An address of a link names its interface behind a percent sign.
    return [str(one[4][0]).partition("%")[0] for one in found]
