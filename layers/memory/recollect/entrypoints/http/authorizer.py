"""Who asks, told before the API's functions run: by an API key or a JSON Web Token, in any header that a client has.

An HTTP API's own authorizer reads `Authorization: Bearer` and tokens alone. This one is a function that the API asks
first (a REQUEST authorizer, payload format 2.0). It has no identity source: one that is named must be in every request,
and a key comes in one of two headers. So nothing is cached, and a revoked key is refused at once.

It lets every request through with what it found, and the function behind answers 401, 403 or 503 as it does elsewhere:
the API itself would say 403 in its own words, and clients ask for a new token at a 401 alone.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import jwt
import urllib3
from jwt import PyJWKClient, PyJWKClientConnectionError, PyJWTError
from urllib3.exceptions import HTTPError

from recollect.api_keys import PREFIX, ApiKeys
from recollect.core.errors import ConfigurationError, Forbidden, Unauthenticated, Unavailable
from recollect.entrypoints.http.aws import call_of
from recollect.entrypoints.http.credentials import ClaimsReader, handed_on, read_by, refusal_handed_on, sent_key
from recollect.entrypoints.http.messages import LOCAL_SECONDS, Call
from recollect.ports import Items
from recollect.settings import Principal, Settings

_ALGORITHMS = ["RS256", "RS384", "RS512"]
"""Those of an HTTP API's authorizer."""
_KEYS_SECONDS = 3600.0
_NO_TOKEN = "the token is not valid"  # noqa: S105 - a sentence

Authorizer = Callable[[dict[str, Any], Any], dict[str, Any]]


def build_authorizer(settings: Settings, items: Items) -> Authorizer:
    """The handler of the function that the API asks. Raises ConfigurationError without an issuer of tokens."""
    if not settings.jwt_issuer:
        raise ConfigurationError("RECOLLECT_JWT_ISSUER", "is needed by the authorizer")
    tokens = IssuedTokens(settings.jwt_issuer, frozenset(settings.jwt_audiences), settings.call_timeout_seconds)
    readers = (StoredKeyReader(ApiKeys(items)), TokenReader(tokens, settings))
    authenticate = read_by(readers, "credentials are needed: Authorization: Bearer …, Token …, or x-api-key")

    def handler(event: dict[str, Any], _context: Any) -> dict[str, Any]:
        try:
            context = handed_on(authenticate(call_of(event, LOCAL_SECONDS)))
        except (Unauthenticated, Forbidden, Unavailable) as error:
            context = refusal_handed_on(error)
        return {"isAuthorized": True, "context": context}

    return handler


@dataclass(frozen=True, slots=True)
class StoredKeyReader:
    """A key that was made for the stack."""

    keys: ApiKeys

    def read(self, call: Call) -> Principal | None:
        given = sent_key(call.headers)
        if given is None or not given.startswith(PREFIX):
            return None
        principal = self.keys.find(given)
        if principal is None:
            raise Unauthenticated("the key is unknown")
        return principal


@dataclass(frozen=True)
class IssuedTokens:
    """The tokens of one issuer for these audiences. Its keys are kept for an hour, and read anew for an unknown one."""

    issuer: str
    audiences: frozenset[str]
    timeout_seconds: float

    def claims(self, token: str) -> Mapping[str, Any]:
        """The claims of a token, checked as an HTTP API's authorizer does: signature, issuer, audience, times.

        Raises Unauthenticated, and Unavailable where the issuer's keys cannot be read now.
        """
        try:
            key = self._keys.get_signing_key_from_jwt(token)
            options: Any = {"require": ["exp", "iss"], "verify_aud": False}
            claims = jwt.decode(token, key, algorithms=_ALGORITHMS, issuer=self.issuer, options=options)
        except PyJWKClientConnectionError:
            raise Unavailable("the issuer of the tokens does not answer") from None
        except (PyJWTError, ValueError, RecursionError):  # of what is no text, or JSON that is too deep
            raise Unauthenticated(_NO_TOKEN) from None
        given = claims.get("aud") or claims.get("client_id")
        named = given if isinstance(given, list) else [given]
        if not any(isinstance(one, str) and one in self.audiences for one in named):
            raise Unauthenticated(_NO_TOKEN)
        return claims

    @cached_property
    def _keys(self) -> PyJWKClient:
        """By OpenID discovery, at the first token."""
        place = _jwks_uri(f"{self.issuer.rstrip('/')}/.well-known/openid-configuration", self.timeout_seconds)
        return PyJWKClient(place, lifespan=_KEYS_SECONDS, timeout=self.timeout_seconds)


def _jwks_uri(address: str, timeout_seconds: float) -> str:
    try:
        found = urllib3.request("GET", address, timeout=timeout_seconds, retries=False, redirect=False)
        uri = json.loads(found.data)["jwks_uri"] if found.status == 200 else None
    except (HTTPError, ValueError, LookupError, TypeError):
        uri = None
    if not isinstance(uri, str):
        raise Unavailable("the issuer of the tokens does not tell its keys")
    return uri


@dataclass(frozen=True, slots=True)
class TokenReader:
    """A JSON Web Token, in whichever header a key may come."""

    tokens: IssuedTokens
    settings: Settings

    def read(self, call: Call) -> Principal | None:
        given = sent_key(call.headers)
        if given is None:
            return None
        return ClaimsReader(self.settings).read(replace(call, claims=self.tokens.claims(given)))
