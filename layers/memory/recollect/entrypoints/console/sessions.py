"""Who looks at the console: one cookie, and the token that a form must bring back.

The cookie holds a key of RECOLLECT_API_KEYS once somebody has signed in; before that, and where there are no keys,
random bytes. A form's token is a MAC of the cookie, so that only a page which was made for this browser can send one
(OWASP, *Cross-Site Request Forgery Prevention*, HMAC-based token). Behind an authorizer there is no cookie: what
carries a header `Authorization` is sent by no form of another site.
"""

import base64
import binascii
import hashlib
import hmac
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from typing import Self

COOKIE = "recollect_console"
PATH = "/console"
_PURPOSE = b"recollect console form"
_NONCE, _KEY = "n.", "k."
_LONGEST_COOKIE = 3_000


@dataclass(frozen=True, slots=True)
class Session:
    """What the cookie holds; `is_new` where the browser sent none that can be read."""

    value: str
    is_new: bool = False

    @classmethod
    def of(cls, headers: Mapping[str, str]) -> Self:
        """That of a request."""
        try:
            sent = SimpleCookie(headers.get("cookie", "")[: 4 * _LONGEST_COOKIE]).get(COOKIE)
        except CookieError:
            sent = None
        if sent is not None and len(sent.value) <= _LONGEST_COOKIE and sent.value.startswith((_NONCE, _KEY)):
            return cls(sent.value)
        return cls.begun()

    @classmethod
    def begun(cls) -> Self:
        """A new one, of nobody."""
        return cls(_NONCE + secrets.token_urlsafe(32), is_new=True)

    @classmethod
    def signed_in(cls, key: str) -> Self:
        """A new one of whoever has this key."""
        return cls(_KEY + base64.urlsafe_b64encode(key.encode()).decode().rstrip("="), is_new=True)

    @property
    def key(self) -> str | None:
        """The key that somebody signed in with."""
        if not self.value.startswith(_KEY):
            return None
        encoded = self.value.removeprefix(_KEY)
        try:
            return base64.urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4)).decode()
        except (ValueError, binascii.Error):
            return None

    @property
    def form_token(self) -> str:
        """What a form of this session brings back."""
        return hmac.new(self.value.encode(), _PURPOSE, hashlib.sha256).hexdigest()

    def accepts(self, form_token: str) -> bool:
        """Whether a form was made for this session."""
        return not self.is_new and hmac.compare_digest(self.form_token.encode(), form_token.encode("utf-8", "replace"))

    def cookie(self, *, secure: bool) -> str:
        """The header that stores it until the browser is closed."""
        return f"{COOKIE}={self.value}; Path={PATH}; HttpOnly; SameSite=Strict" + ("; Secure" if secure else "")
