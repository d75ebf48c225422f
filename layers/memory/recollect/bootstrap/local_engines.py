"""Where a header may name the tenant (RECOLLECT_LOCAL_API): over engines of this machine, which hold nobody's data."""

import ipaddress
import re
from collections.abc import Iterable
from urllib.parse import urlsplit

from recollect.core.errors import ConfigurationError

VARIABLE = "RECOLLECT_LOCAL_API"
_CONTAINER_HOST = "host.docker.internal"
_CONTAINER_NAME = re.compile(r"[a-z][a-z0-9_-]*")


def require_local(endpoints: Iterable[str]) -> None:
    """Raises ConfigurationError unless each address is plain HTTP on this machine.

    That is loopback, the host of a container, or a name without a dot: a neighbour in a container's network. No
    endpoint of AWS is any of them.
    """
    for endpoint in endpoints:
        parts = urlsplit(endpoint)
        if parts.scheme != "http" or not _is_here(parts.hostname or ""):
            raise ConfigurationError(VARIABLE, f"is for `sam local` over engines on this machine, not {parts.hostname}")


def _is_here(host: str) -> bool:
    if host == _CONTAINER_HOST or _CONTAINER_NAME.fullmatch(host):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
