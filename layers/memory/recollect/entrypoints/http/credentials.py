"""Who asks: from a token that the authorizer has checked, or from the laptop's keys (api.md, *Who*)."""

import hmac
from collections.abc import Callable, Mapping
from typing import Any

from recollect.core.errors import Forbidden, Unauthenticated
from recollect.entrypoints.http.messages import Call
from recollect.entrypoints.http.models import is_unicode
from recollect.settings import Principal, Settings

LOCAL = Principal("local", admin=True)
_LONGEST_TENANT = 128

Authenticate = Callable[[Call], Principal]


def token_credentials(settings: Settings) -> Authenticate:
    """The cloud: claims of a JWT. Without any 401, without a tenant in them 403; never an anonymous tenant."""

    def authenticate(call: Call) -> Principal:
        if call.claims is None:
            raise Unauthenticated("no token was checked for this request")
        tenant = call.claims.get(settings.tenant_claim)
        if not isinstance(tenant, str) or not 1 <= len(tenant) <= _LONGEST_TENANT or not is_unicode(tenant):
            raise Forbidden("the token names no tenant")
        subject = call.claims.get(settings.subject_claim) if settings.subject_claim else None
        return Principal(tenant, settings.admin_scope in scopes_of(call.claims), subject, bool(settings.subject_claim))

    return authenticate


def scopes_of(claims: Mapping[str, Any]) -> frozenset[str]:
    """The scopes of a token, whether the issuer writes them as one text or as a list."""
    given = claims.get("scope") or claims.get("scp") or ""
    # An HTTP API hands a list of a token over as the text "[a b]".
    words = given.strip("[]").replace(",", " ").split() if isinstance(given, str) else given
    return frozenset(word for word in words if isinstance(word, str)) if isinstance(words, list) else frozenset()


def key_credentials(settings: Settings) -> Authenticate:
    """The laptop: a key of RECOLLECT_API_KEYS as bearer token; where none is set, the tenant `local`, admin."""

    def authenticate(call: Call) -> Principal:
        if not settings.api_keys:
            return LOCAL
        scheme, _, given = call.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer":
            raise Unauthenticated("a key is needed: Authorization: Bearer …")
        principal = _principal_of(given.strip(), settings.api_keys)
        if principal is None:
            raise Unauthenticated("the key is unknown")
        return principal

    return authenticate


def _principal_of(given: str, keys: Mapping[str, Principal]) -> Principal | None:
    """Compares with every key in constant time."""
    sent, found = given.encode("utf-8", "replace"), None
    for key, principal in keys.items():
        if hmac.compare_digest(sent, key.encode("utf-8", "replace")):
            found = principal
    return found
