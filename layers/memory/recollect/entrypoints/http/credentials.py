"""Who asks (`docs/operations.md`): readers, each of one form of credentials, and in which order a server asks them.

| form | where | read by |
|---|---|---|
| claims of a JSON Web Token, which the API's authorizer has checked | the stack | `ClaimsReader` |
| a key or such a token, read by a function that the API asks (`authorizer`) | the stack | `HandedOnReader` |
| `Authorization: Bearer` or `Token` (mem0's clients), `x-api-key` (LangGraph's) | the laptop | `KeyReader` |
| AWS Signature Version 4 (boto3) | both | `SignatureReader` |

The tenant is always that of the credentials, never of the input.
"""

import hmac
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from recollect.core.errors import Forbidden, RecollectError, Unauthenticated, Unavailable
from recollect.core.time import utc_now
from recollect.entrypoints.http.messages import Call
from recollect.entrypoints.http.models import is_unicode
from recollect.entrypoints.http.signatures import ALGORITHM, check_signature, signature_in
from recollect.settings import Principal, Settings, SigningKey

LOCAL = Principal("local", admin=True)
_LONGEST_TENANT = 128
_KEY_SCHEMES = ("bearer", "token")
_NO_SECRET = "0" * 40

Authenticate = Callable[[Call], Principal]


class CredentialReader(Protocol):
    """Reads one form of credentials."""

    def read(self, call: Call) -> Principal | None:
        """Whose they are; None where the request has none of this form.

        Raises Unauthenticated for bad ones, and Forbidden for good ones without a tenant.
        """


@dataclass(frozen=True, slots=True)
class ClaimsReader:
    """Claims of a JWT that was checked before: without a tenant in them 403, never an anonymous one."""

    settings: Settings

    def read(self, call: Call) -> Principal | None:
        if call.claims is None:
            return None
        settings = self.settings
        tenant = checked_tenant(call.claims.get(settings.tenant_claim), "the token names no tenant")
        subject = call.claims.get(settings.subject_claim) if settings.subject_claim else None
        return Principal(tenant, settings.admin_scope in scopes_of(call.claims), subject, bool(settings.subject_claim))


@dataclass(frozen=True, slots=True)
class KeyReader:
    """A key that is sent as it is."""

    keys: Mapping[str, Principal]

    def read(self, call: Call) -> Principal | None:
        given = sent_key(call.headers)
        if given is None:
            return None
        principal = self._principal_of(given)
        if principal is None:
            raise Unauthenticated("the key is unknown")
        return principal

    def _principal_of(self, given: str) -> Principal | None:
        """Compares with every key in constant time."""
        sent, found = given.encode("utf-8", "replace"), None
        for key, principal in self.keys.items():
            if hmac.compare_digest(sent, key.encode("utf-8", "replace")):
                found = principal
        return found


def sent_key(headers: Mapping[str, str]) -> str | None:
    """What stands behind `Bearer` or `Token`, else in `x-api-key`; None without either."""
    scheme, _, given = headers.get("authorization", "").partition(" ")
    if scheme.lower() in _KEY_SCHEMES:
        return given.strip()
    return headers["x-api-key"].strip() if "x-api-key" in headers else None


@dataclass(frozen=True, slots=True)
class SignatureReader:
    """A signature of AWS's form; what its access key may, is in the settings. `clock` is the real time."""

    keys: Mapping[str, SigningKey]
    clock: Callable[[], datetime] = utc_now

    def read(self, call: Call) -> Principal | None:
        header = call.headers.get("authorization", "")
        if not header.startswith(ALGORITHM):
            return None
        signature = signature_in(header)
        key = self.keys.get(signature.access_key_id)
        check_signature(call, signature, key.secret if key else _NO_SECRET, self.clock())
        if key is None:
            raise Unauthenticated("the signature is not that of this request")
        return key.principal


_REFUSALS: Mapping[str, type[RecollectError]] = {one.__name__: one for one in (Unauthenticated, Forbidden, Unavailable)}


def handed_on(principal: Principal) -> dict[str, Any]:
    """A principal as the API's authorizer function hands it on; `HandedOnReader` reads it."""
    shown = {"tenant": principal.tenant, "admin": principal.admin, "limited": principal.limited_to_subject}
    return shown if principal.subject is None else {**shown, "subject": principal.subject}


def refusal_handed_on(error: RecollectError) -> dict[str, Any]:
    """A refusal likewise, by its kind (its subclasses are of that kind) and its sentence."""
    return {"refused": next(name for name, one in _REFUSALS.items() if isinstance(error, one)), "detail": str(error)}


@dataclass(frozen=True, slots=True)
class HandedOnReader:
    """What the API's authorizer function found: whoever it is, or why it is nobody."""

    def read(self, call: Call) -> Principal | None:
        found = call.handed_on
        if found is None:
            return None
        if "refused" in found:
            raise _REFUSALS.get(str(found["refused"]), Unauthenticated)(str(found.get("detail", "")))
        tenant = checked_tenant(found.get("tenant"), "the credentials name no tenant")
        limited = found.get("limited") not in (False, "false")
        return Principal(tenant, found.get("admin") in (True, "true"), found.get("subject"), limited)


def read_by(readers: Sequence[CredentialReader], otherwise: str) -> Authenticate:
    """Asks the readers in order; the first that finds its form decides. Without any, 401 with this sentence."""

    def authenticate(call: Call) -> Principal:
        for reader in readers:
            principal = reader.read(call)
            if principal is not None:
                return principal
        raise Unauthenticated(otherwise)

    return authenticate


def token_credentials(settings: Settings) -> Authenticate:
    """The cloud: what the API's authorizer has found; at the routes without one a signature."""
    readers = (HandedOnReader(), ClaimsReader(settings), SignatureReader(settings.signing_keys))
    return read_by(readers, "no token was checked for this request")


def signed_credentials(settings: Settings) -> Authenticate:
    """AgentCore's routes in the cloud, where no token is checked: a signature, whatever else is sent."""
    return read_by((SignatureReader(settings.signing_keys),), "the request must be signed (AWS Signature Version 4)")


def key_credentials(settings: Settings) -> Authenticate:
    """The laptop: a key or a signature; where no keys are set, the tenant `local`, admin, whatever is sent."""
    if not settings.has_keys:
        return lambda _: LOCAL
    readers = (SignatureReader(settings.signing_keys), KeyReader(settings.api_keys))
    return read_by(readers, "a key is needed: Authorization: Bearer …")


def checked_tenant(named: object, otherwise: str) -> str:
    """What is named, where it can be a tenant: 1 to 128 characters of Unicode. Raises Forbidden with `otherwise`."""
    if not isinstance(named, str) or not 1 <= len(named) <= _LONGEST_TENANT or not is_unicode(named):
        raise Forbidden(otherwise)
    return named


def scopes_of(claims: Mapping[str, Any]) -> frozenset[str]:
    """The scopes of a token, and the groups that Cognito names in it: its ID tokens have no scopes."""
    return _words(claims.get("scope") or claims.get("scp")) | _words(claims.get("cognito:groups"))


def _words(given: Any) -> frozenset[str]:
    """Of one text or a list; an HTTP API hands a list of a token over as the text "[a b]"."""
    words = given.strip("[]").replace(",", " ").split() if isinstance(given, str) else given
    return frozenset(word for word in words if isinstance(word, str)) if isinstance(words, list) else frozenset()
