"""How both clients reach the server."""

from typing import Any

import httpx

from recollect import __version__


def client_options(base_url: str, api_key: str | None, timeout_seconds: float) -> dict[str, Any]:
    """Options of an httpx client. A redirect is not followed: it would carry the key to another place."""
    headers = {"User-Agent": f"recollect-python/{__version__}", "Accept": "application/json"}
    if api_key:
        headers["Authorization"] = f"Bearer {api_key}"
    timeout = httpx.Timeout(timeout_seconds)
    return {"base_url": base_url.rstrip("/"), "headers": headers, "timeout": timeout, "follow_redirects": False}
