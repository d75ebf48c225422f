"""Who asks under `sam local start-api`, whose emulator of the API checks no token and so hands no claims over.

A header names the tenant then, as on a laptop without keys. Two locks keep that from ever holding on AWS: a process
with RECOLLECT_LOCAL_API does not start unless its engines are on this machine (`bootstrap/local_engines.py`), and a
request must come from this machine to this machine, which none does that a real API hands over.
"""

import ipaddress
from contextlib import suppress
from urllib.parse import urlsplit

from recollect.entrypoints.http.credentials import Authenticate, checked_tenant, token_credentials
from recollect.entrypoints.http.gate import OWN_NAMES
from recollect.entrypoints.http.messages import Call
from recollect.settings import Principal, Settings

TENANT_HEADER = "X-Recollect-Tenant"


def local_credentials(settings: Settings) -> Authenticate:
    """Claims where there are some; else the tenant of the header, as its administrator. Without either 401."""
    by_token = token_credentials(settings)

    def authenticate(call: Call) -> Principal:
        named = call.headers.get(TENANT_HEADER.lower())
        if call.is_authorized or named is None or not _stays_here(call):
            return by_token(call)
        return Principal(checked_tenant(named, f"{TENANT_HEADER} names no tenant"), admin=True)

    return authenticate


def _stays_here(call: Call) -> bool:
    """Whether it comes from this machine, for a name of this machine, and from no other site's page."""
    origin = call.headers.get("origin")
    names = [f"//{call.headers.get('host', '')}", *([origin] if origin is not None else [])]
    return _is_loopback(call.source_address) and all(_host_of(name) in OWN_NAMES for name in names)


def _is_loopback(address: str | None) -> bool:
    with suppress(ValueError):
        return address is not None and ipaddress.ip_address(address).is_loopback
    return False


def _host_of(url: str) -> str | None:
    with suppress(ValueError):
        return urlsplit(url).hostname
    return None
